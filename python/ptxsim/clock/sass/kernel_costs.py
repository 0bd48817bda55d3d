"""PTX, architecture and entry → `KernelCost`: from ptxas' SASS, or an estimate where there is no ptxas or nvdisasm.

In: PTX text. Out: `KernelCost`. What ptxas makes of a text is kept in memory, by text, architecture and version.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from ptxsim.clock.sass.attribution import attribute
from ptxsim.clock.sass.class_weights import estimate_cost
from ptxsim.clock.sass.line_costs import KernelCost
from ptxsim.clock.sass.listing import SassFunction, SassInstruction, read_listing
from ptxsim.clock.sass.resources import PtxasWarning, ResourceUse, read_resources, read_warnings
from ptxsim.clock.sass.straight_runs import ptx_runs
from ptxsim.clock.sass.toolchain import Disassembly, SassTools, disassemble, find_program, find_sass_tools
from ptxsim.errors import InputError, suggest
from ptxsim.kernels import kernels_of
from ptxsim.linking.code import Code

#: How many texts' SASS is kept, and costs of kernels.
_KEPT = 64
_disassemblies: dict[tuple[str, str, str, str], Disassembly] = {}


def sass_cost(ptx: str, arch: str, entry: str, file: str | None = None) -> KernelCost:
    """The cost of each line of kernel `entry`, from the SASS that ptxas makes of `ptx` for `arch`, such as "sm_90a".

    Raises:
        InputError: there is no such kernel, a program is missing or too old.
        PtxError: the text is malformed, or ptxas refuses it; with its line.
        FileError: a program cannot be run.
    """
    return _from_sass(ptx, arch, entry, find_sass_tools(), file)


def kernel_cost(ptx: str, arch: str, entry: str, file: str | None = None) -> KernelCost:
    """The cost of each line of kernel `entry`: `sass_cost`, or an estimate where ptxas or nvdisasm is missing.

    Raises:
        InputError: there is no such kernel, or a program is too old.
        PtxError: the text is malformed, or ptxas refuses it; with its line.
        FileError: a program cannot be run.
    """
    missing = [name for name in ("ptxas", "nvdisasm") if find_program(name) is None]
    if missing:
        return estimated_cost(ptx, arch, entry, f"there is no {' and no '.join(missing)}")
    return sass_cost(ptx, arch, entry, file)


@dataclass(frozen=True)
class KernelSass:
    """A kernel's flat code, the SASS that a version of ptxas makes of it, what it takes of an SM, what is warned of."""

    code: Code
    function: SassFunction
    resources: ResourceUse
    warnings: tuple[PtxasWarning, ...]
    ptxas_version: str


def sass_of(ptx: str, arch: str, entry: str, file: str | None = None) -> KernelSass:
    """The SASS of kernel `entry` for `arch`, as it is.

    Raises:
        InputError: there is no such kernel, a program is missing or too old.
        PtxError: the text is malformed, or ptxas refuses it; with its line.
        FileError: a program cannot be run.
    """
    code = _code(ptx, entry)
    made = _disassembly(ptx, arch, find_sass_tools(), file)
    listed, resources = read_listing(made.listing), read_resources(made.said)
    if entry not in listed or entry not in resources:
        raise _no_code(made, entry, listed)
    return KernelSass(code, listed[entry], resources[entry], _warnings(made, entry), made.ptxas_version)


@lru_cache(_KEPT)
def estimated_cost(ptx: str, arch: str, entry: str, why: str = "asked for") -> KernelCost:
    """The cost of each line of kernel `entry` by the classes of its instructions; `why` it is an estimate.

    Raises:
        InputError: there is no such kernel.
        PtxError: the text is malformed.
    """
    return estimate_cost(ptx_runs(_code(ptx, entry)), arch, entry, why)


def _code(ptx: str, entry: str) -> Code:
    kernels = kernels_of(ptx).program.kernels
    if entry not in kernels:
        raise InputError(f"there is no kernel '{entry}'{suggest(entry, kernels)}")
    return kernels[entry]


@lru_cache(_KEPT)
def _from_sass(ptx: str, arch: str, entry: str, tools: SassTools, file: str | None) -> KernelCost:
    code = _code(ptx, entry)
    made = _disassembly(ptx, arch, tools, file)
    listed = read_listing(made.listing)
    functions = tuple(listed[name] for name in (entry, *code.routines) if name in listed)
    functions = tuple({function.name: function for function in functions}.values())
    if not functions or functions[0].name != entry:
        raise _no_code(made, entry, listed)
    runs = ptx_runs(code)
    found = attribute(runs, functions)
    return KernelCost(
        entry=entry,
        arch=arch,
        ptxas_version=made.ptxas_version,
        instructions=_all(functions),
        lines=found.lines,
        hot=found.hot,
        runs=found.runs,
        uncharged=found.uncharged,
        moved=found.moved,
        resources=read_resources(made.said).get(entry),
        warnings=_warnings(made, entry),
        run_of=runs.run_of,
    )


def _warnings(made: Disassembly, entry: str) -> tuple[PtxasWarning, ...]:
    return tuple(each for each in read_warnings(made.said) if each.kernel in ("", entry))


def _no_code(made: Disassembly, entry: str, listed: Iterable[str]) -> InputError:
    return InputError(f"ptxas {made.ptxas_version} makes no code of '{entry}'; it makes {', '.join(listed) or 'none'}")


def _all(functions: tuple[SassFunction, ...]) -> tuple[SassInstruction, ...]:
    return tuple(each for function in functions for each in function.instructions)


def _disassembly(ptx: str, arch: str, tools: SassTools, file: str | None) -> Disassembly:
    key = (hashlib.sha256(ptx.encode()).hexdigest(), arch, tools.ptxas_version, tools.nvdisasm_version)
    if key not in _disassemblies:
        if len(_disassemblies) >= _KEPT:
            del _disassemblies[next(iter(_disassemblies))]
        _disassemblies[key] = disassemble(ptx, arch, tools, file)
    return _disassemblies[key]
