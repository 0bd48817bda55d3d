"""One launch: checks what is asked for, makes the memory, runs the grid, and gives the arrays back.

In: a compiled kernel, the launch's shape, arguments. Out: `Report`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ptxsim.engine.executable import Executable
from ptxsim.engine.grid import run_grid
from ptxsim.errors import InputError, suggest
from ptxsim.ignored import Ignored
from ptxsim.linking.code import Program
from ptxsim.machine.address_names import AddressNames, Named
from ptxsim.machine.findings import Findings
from ptxsim.machine.launch import Launch, Monitor
from ptxsim.machine.observer import Observer
from ptxsim.machine.tally import counters
from ptxsim.memory.arguments import arguments, maps_in_memory
from ptxsim.memory.global_memory import GlobalMemory
from ptxsim.parsing.syntax import Location
from ptxsim.parsing.target import Target
from ptxsim.parsing.targets import CLUSTERS
from ptxsim.races.detector import Races
from ptxsim.report import KINDS, SAME_VALUE, WARNINGS, Report
from ptxsim.tensor_maps.tensor_map import TensorMap
from ptxsim.variables import ModuleVariables

Dim3 = tuple[int, int, int]

#: What every GPU that is modelled takes. Source: CUDA C++ Programming Guide, "Compute Capabilities".
_MOST_THREADS = 1024
_MOST_BLOCK = (1024, 1024, 64)
_MOST_GRID = (2**31 - 1, 65535, 65535)
_MOST_CLUSTER_CTAS = 16
_MOST_SHARED_BYTES = {"sm_80": 163 * 1024, "sm_90": 227 * 1024, "sm_90a": 227 * 1024}
_ANY_SHARED_BYTES = 227 * 1024


@dataclass(frozen=True)
class LaunchShape:
    """How many CTAs, threads of each, CTAs of a cluster, which clusters are run, and how much dynamic shared memory."""

    grid: Dim3
    block: Dim3
    cluster: Dim3
    clusters: Sequence[int]
    dynamic_shared_bytes: int
    explicit_cluster: bool

    @classmethod
    def of(
        cls,
        executable: Executable,
        grid: Dim3,
        block: Dim3,
        cluster: Dim3 | None,
        clusters: Sequence[int] | None,
        dynamic: int,
    ) -> "LaunchShape":
        """The shape, checked against the kernel's directives; `clusters` are the numbers of those that are run.

        Raises:
            InputError: with what does not fit.
        """
        directives = executable.code.kernel.function.directives
        own = _three(directives.get("reqnctapercluster", ()))
        wanted = cluster or own
        _check_extents("grid", grid, _MOST_GRID)
        _check_extents("block", block, _MOST_BLOCK)
        _check_extents("cluster", wanted, (_MOST_CLUSTER_CTAS, _MOST_CLUSTER_CTAS, _MOST_CLUSTER_CTAS))
        _check_threads(block, directives)
        if any(extent % size for extent, size in zip(grid, wanted, strict=True)):
            raise InputError(f"grid {grid} is no multiple of cluster {wanted}")
        if "reqnctapercluster" in directives and wanted != own:
            raise InputError(f"cluster {wanted} is given, and the kernel requires {own}")
        if not isinstance(dynamic, int | np.integer) or dynamic < 0:
            raise InputError(f"dynamic_shared_bytes is {dynamic!r}; it is an integer from 0 on")
        explicit = cluster is not None or "reqnctapercluster" in directives or "explicitcluster" in directives
        extents = _three(grid), _three(block), _three(wanted)
        return cls(*extents, _chosen_clusters(clusters, prod(grid) // prod(wanted)), dynamic, explicit)


def _three(extents: Sequence[int]) -> Dim3:
    x, y, z = (*extents, 1, 1, 1)[:3]
    return (x, y, z)


def _chosen_clusters(given: object, count: int) -> Sequence[int]:
    """The numbers of the clusters that are run, of `count`, in ascending order: all where None is given."""
    if given is None:
        return range(count)
    entries = [*given] if isinstance(given, Iterable) else []
    numbers = sorted(int(each) for each in entries if isinstance(each, int | np.integer))
    if not numbers or len(numbers) < len(entries):
        raise InputError(f"clusters is {given!r}; give the numbers of the clusters to run, as in (0, {count // 2})")
    for number, times in Counter(numbers).items():
        if not 0 <= number < count:
            message = f"there is no cluster {number}; the grid has {count}, numbered from 0 to {count - 1}, x fastest"
            raise InputError(message)
        if times > 1:
            raise InputError(f"cluster {number} is given {times} times in clusters; a cluster is run once")
    return numbers


def _check_extents(name: str, extents: object, most: Dim3) -> None:
    given = tuple(extents) if isinstance(extents, Iterable) else ()
    whole = len(given) == 3 and all(isinstance(extent, int | np.integer) for extent in given)
    if not whole or not all(1 <= extent <= bound for extent, bound in zip(given, most, strict=True)):
        raise InputError(f"{name} is {given or extents}; it has three extents from 1 to {most}")


def _check_threads(block: Dim3, directives: dict[str, tuple[int, ...]]) -> None:
    threads = block[0] * block[1] * block[2]
    if threads > _MOST_THREADS:
        raise InputError(f"block {block} has {threads} threads; a CTA has {_MOST_THREADS} at most")
    required = directives.get("reqntid")
    if required is not None and _three(required) != tuple(block):
        raise InputError(f"block {block} is given, and the kernel requires {_three(required)}")
    most = directives.get("maxntid")
    if most is not None and threads > int(np.prod(most)):
        raise InputError(f"block {block} has {threads} threads, and the kernel allows {most}")


def launch(
    program: Program,
    variables: ModuleVariables,
    executable: Executable,
    shape: LaunchShape,
    args: Sequence[object],
    checks: Sequence[str],
    ignore: Sequence[str],
    names: Sequence[str],
    monitor: Monitor | None,
    observer: Observer | None = None,
) -> Report:
    """Run a kernel; see `Module.launch`.

    `observer` is told what happens, in place of the race detector.
    """
    _check_names(checks)
    _check_observer(observer, checks)
    ignored = Ignored.of(ignore)
    _check_cluster(program, shape)
    _check_shared(program, executable, shape)
    places = GlobalMemory(_arrays(args).values())
    module_base = places.reserve(program.global_memory.size)
    parameters = [each for each in executable.code.kernel.parameters if isinstance(each, Location)]
    maps = maps_in_memory(parameters, args, places.add)
    passed = [maps.get(number, argument) for number, argument in enumerate(args)]
    entry = arguments(parameters, executable.code.parameter_bytes, passed, places.add)
    memory = places.memory()
    constants = variables.fill(memory, module_base)
    called = [*names, *(each.variable.name for each in parameters[len(names) :])]
    named = _named(args, called, places)
    named_maps = _named_maps(maps, called, places)
    given = [*named.values(), *named_maps.values()]
    extents = shape.grid, shape.block, shape.cluster, shape.clusters
    findings = Findings(
        executable.code,
        *extents,
        AddressNames.of(executable.code, shape.dynamic_shared_bytes, variables.named(module_base), given),
        frozenset(checks),
    )
    state = Launch(
        executable.code,
        *extents,
        shape.dynamic_shared_bytes,
        memory,
        constants,
        entry,
        module_base,
        findings,
        explicit_cluster=shape.explicit_cluster,
        monitor=monitor,
    )
    state.observer = observer or _detector(state, executable, checks)
    state.observer.began(state)
    with np.errstate(all="ignore"):  # for every arithmetic instruction at once
        run_grid(state, executable)
    state.observer = Observer()
    places.copy_back(memory)
    variables.keep(memory, constants, module_base)
    return _report(state, ignored, named, named_maps)


def _detector(state: Launch, executable: Executable, checks: Sequence[str]) -> Observer:
    """The race detector, or an observer that does nothing."""
    if "races" not in checks:
        return Observer()
    return Races(state, lambda: executable.telling, same_value=SAME_VALUE in checks)


def _report(state: Launch, ignored: Ignored, named: dict[int, Named], maps: dict[int, Named]) -> Report:
    everything = state.findings.found
    found = [each for each in everything if not ignored.covers(each)]
    warnings = [each for each in found if any(each.kind in kinds for kinds in WARNINGS.values())]
    return Report(
        [each for each in found if each not in warnings],
        counters(state, named, maps),
        {number: array.start for number, array in named.items()},
        len(everything) - len(found),
        warnings,
        "".join(state.printed),
    )


def _named(args: Sequence[object], called: Sequence[str], places: GlobalMemory) -> dict[int, Named]:
    """The array of each argument that has one, as findings call it."""
    return {
        number: Named(called[number], "global", places.add(array), array.nbytes, is_array=True)
        for number, array in _arrays(args).items()
    }


def _named_maps(maps: dict[int, np.ndarray], called: Sequence[str], places: GlobalMemory) -> dict[int, Named]:
    """The bytes of each tensor map that is in global memory, as findings call them."""
    return {
        number: Named(f"map of {called[number]}", "global", places.add(contents), contents.nbytes)
        for number, contents in maps.items()
    }


def _arrays(args: Sequence[object]) -> dict[int, np.ndarray]:
    """The array of each argument that has one, by its number."""
    arrays = {number: each.global_address if isinstance(each, TensorMap) else each for number, each in enumerate(args)}
    return {number: array for number, array in arrays.items() if isinstance(array, np.ndarray)}


def _check_observer(observer: Observer | None, checks: Sequence[str]) -> None:
    if observer is not None and "races" in checks:
        raise InputError("an observer is given, and the check 'races' is one; give checks without 'races'")


def _check_names(checks: Sequence[str]) -> None:
    known = (*KINDS, SAME_VALUE)
    if isinstance(checks, str):
        raise InputError(f"checks is '{checks}'; give a row of names, as in ('{checks}',)")
    for check in checks:
        if check not in known:
            raise InputError(f"there is no check '{check}'{suggest(check, known)}")


def _check_cluster(program: Program, shape: LaunchShape) -> None:
    target = Target.of(program.module.target[0])
    if shape.cluster != (1, 1, 1) and not target.has(CLUSTERS):
        message = f"cluster {shape.cluster} is given; the module is for {target}, and clusters need {CLUSTERS}"
        raise InputError(message)


def _check_shared(program: Program, executable: Executable, shape: LaunchShape) -> None:
    target = program.module.target[0]
    most = _MOST_SHARED_BYTES.get(target, _ANY_SHARED_BYTES)
    wanted = executable.code.dynamic_offset + shape.dynamic_shared_bytes
    if wanted > most:
        raise InputError(f"a CTA takes {wanted} bytes of shared memory; {target} has {most}")
