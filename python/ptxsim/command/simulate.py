"""What `ptxsim` does: completes the launch from the kernel and Triton's facts, runs it, and tells the result.

In: the arguments as `arguments` reads them. Out: text on stdout, files, and the exit status.
"""

import argparse
import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np

from ptxsim.command import elements
from ptxsim.command.argument_text import Given, Value, arrays_of, read_arguments, read_variable
from ptxsim.command.cuda_source import compiled_cuda, is_cuda
from ptxsim.command.expected import Expectation
from ptxsim.command.files import read_file, write_array, write_file
from ptxsim.command.kernel_text import kernel_lines, times
from ptxsim.command.report_text import finding_text, report_object
from ptxsim.command.triton_metadata import TritonMetadata, read_metadata
from ptxsim.counters import counter_tables
from ptxsim.errors import InputError, PtxError, TextError, printable, suggest
from ptxsim.launch import Dim3
from ptxsim.machine.launch import Monitor
from ptxsim.module import CHECKS, Module, load
from ptxsim.parsing.syntax import Function
from ptxsim.report import Report
from ptxsim.tensor_maps.tensor_map import TensorMap
from ptxsim.variables import ModuleVariable

_SHOWN_ELEMENTS = 6
_SHOWN_FINDINGS = 20
_STDOUT = Path("-")
_NO_KERNEL = "the file has no kernel (.entry)"


@dataclass(frozen=True)
class ResolvedLaunch:
    """How a kernel is launched, complete."""

    grid: Dim3
    block: Dim3
    cluster: Dim3 | None
    dynamic_shared_bytes: int
    clusters: tuple[int, ...] | None

    def __str__(self) -> str:
        cluster = f", cluster {times(self.cluster)}" if self.cluster else ""
        if self.clusters is not None:
            cluster += f", of its clusters {', '.join(map(str, self.clusters))} only"
        shared = f", {self.dynamic_shared_bytes} bytes of dynamic shared memory" if self.dynamic_shared_bytes else ""
        return f"grid {times(self.grid)}, block {times(self.block)}{cluster}{shared}"


def simulate(
    arguments: argparse.Namespace,
    shown: Callable[[], AbstractContextManager[Monitor | None]] = contextlib.nullcontext,
) -> int:
    """Run a kernel; the exit status is 1 if something was found, or an array is not as expected.

    `shown` opens a display of how far it is.
    """
    with shown():
        text = compiled_cuda(arguments.ptx, arguments.arch) if is_cuda(arguments.ptx) else _text(arguments.ptx)
    # Lines are those of the PTX: they are not to be taken for the source's.
    place = f"{arguments.ptx} [PTX]" if is_cuda(arguments.ptx) else str(arguments.ptx)
    with shown(), _in_file(place):
        module = Module.of_text(text) if arguments.list else load(text)
    if arguments.list:
        _list(module)
        return 0
    triton = read_metadata(arguments.triton) if arguments.triton is not None else None
    name = _entry(module, arguments.entry, triton)
    kernel = module.kernel(name)
    shape = _shape(arguments, kernel, triton)
    given = read_arguments(arguments.arg, arguments.seed)
    for variable, value in arguments.set:
        module.variable(variable).write(read_variable(variable, value, arguments.seed))
    saved = [(_holder(each, given, module), path) for each, path in arguments.save]
    tolerances = arguments.rtol, arguments.atol
    expected = [
        Expectation.of_file(each, path, _holder(each, given, module), *tolerances) for each, path in arguments.expect
    ]
    values: Sequence[Value] = [each.value for each in given]
    if triton is not None:
        values = triton.arguments(values, kernel.parameters, int(np.prod(shape.grid)))
    checks = CHECKS if arguments.checks is None else arguments.checks
    started = time.perf_counter()
    options = (shape.dynamic_shared_bytes, shape.cluster, checks, arguments.ignore, _names(values, given))
    with shown() as monitor, _in_file(place):
        report = module.launch(name, shape.grid, shape.block, values, *options, monitor, shape.clusters)
    seconds = time.perf_counter() - started
    lines = text.split("\n")
    differences = [(each.name, each.difference()) for each in expected]
    if arguments.json != _STDOUT:
        _line("kernel", f"{name} of {arguments.ptx}")
        _line("launch", str(shape))
        _line("run", f"{seconds:.3f} s, {report.counters.warp_instructions} warp-instructions")
        _tell_arrays(given)
        _tell(report, place, lines, differences)
    for holder, path in saved:
        write_array(path, elements.stored(holder if isinstance(holder, np.ndarray) else holder.read()))
    if arguments.json is not None:
        facts = {"ptx": str(arguments.ptx), "kernel": name, "checks": checks, "seconds": seconds} | vars(shape)
        facts |= report_object(report, lines)
        facts["expect"] = [{"name": each, "difference": difference} for each, difference in differences]
        _write_json(arguments.json, facts)
    return 0 if report.ok and not any(difference for _, difference in differences) else 1


def _holder(name: str, given: Sequence[Given], module: Module) -> np.ndarray | ModuleVariable:
    """What holds a result of that name: an array argument, or else a variable of the module."""
    arrays = arrays_of(given)
    if name in arrays:
        return arrays[name]
    if name in module.variables:
        return module.variable(name)
    raise InputError(f"there is no array argument or variable '{name}'{suggest(name, [*arrays, *module.variables])}")


def _list(module: Module) -> None:
    if not module.kernels:
        raise InputError(_NO_KERNEL)
    for number, name in enumerate(module.kernels):
        sys.stdout.write("\n" if number else "")
        for title, text in kernel_lines(module.kernel(name), module.shared_memory(name), module.refused.get(name)):
            _line(title, text)


def _text(path: Path) -> str:
    try:
        return read_file(path).decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"the file is not text (byte 0x{error.object[error.start]:02x} at offset {error.start}); give PTX"
        raise TextError(message, str(path)) from None


@contextlib.contextmanager
def _in_file(place: str) -> Iterator[None]:
    """Let what is wrong with the PTX name its file."""
    try:
        yield
    except PtxError as error:
        raise PtxError(error.message, error.line, error.column, place) from None


def _entry(module: Module, asked: str | None, triton: TritonMetadata | None) -> str:
    """The kernel that is asked for; without a name the one of Triton's file, or the only one."""
    if asked is not None:
        return asked
    if triton is not None and triton.name is not None:
        return triton.name
    if len(module.kernels) == 1:
        return module.kernels[0]
    if not module.kernels:
        raise InputError(_NO_KERNEL)
    raise InputError(f"the file has the kernels {', '.join(module.kernels)}; choose one with --entry")


def _shape(arguments: argparse.Namespace, kernel: Function, triton: TritonMetadata | None) -> ResolvedLaunch:
    """The launch's shape: what is asked for, else what the kernel requires, else what Triton says."""
    required = kernel.directives.get("reqntid")
    block = arguments.block or (_three(required) if required else None)
    grid, cluster, shared = arguments.grid, arguments.cluster, arguments.dynamic_shared
    if triton is not None:
        block = block or (triton.threads, 1, 1)
        shared = triton.shared_bytes if shared is None else shared
        if triton.ctas > 1:  # Triton counts programs, each a cluster along x
            grid, cluster = (grid[0] * triton.ctas, grid[1], grid[2]), cluster or (triton.ctas, 1, 1)
    if block is None:
        message = f"kernel '{kernel.name}' does not say how many threads a CTA has; say so, as in --block 128"
        raise InputError(message)
    of_one = cluster or _three(kernel.directives.get("reqnctapercluster", ()))
    clusters = _cluster_numbers(arguments.clusters, prod(grid) // max(1, prod(of_one)))
    return ResolvedLaunch(grid, block, cluster, shared or 0, clusters)


def _cluster_numbers(asked: Sequence[int | None] | None, count: int) -> tuple[int, ...] | None:
    """The clusters that are run, where not all are; None among those asked for is the last of `count`."""
    return None if asked is None else tuple(count - 1 if number is None else number for number in asked)


def _three(extents: Sequence[int]) -> Dim3:
    x, y, z = (*extents, 1, 1, 1)[:3]
    return x, y, z


def _names(values: Sequence[Value], given: Sequence[Given]) -> list[str]:
    """What findings call the arrays among the values; those that Triton's runtime adds have no name."""
    arrays = [value.global_address if isinstance(value, TensorMap) else value for value in values]
    return [next((each.name for each in given if each.array is array), "scratch") for array in arrays]


def _tell_arrays(given: Sequence[Given]) -> None:
    for each in given:
        if each.array is not None:
            _line("array", f"{each.name}: {_described(each.array)}")


def _tell(report: Report, place: str, lines: Sequence[str], differences: Sequence[tuple[str, str | None]]) -> None:
    for text in report.printed.splitlines():
        _line("printf", text)
    for warning in report.warnings[:_SHOWN_FINDINGS]:
        sys.stdout.write(f"\nwarning: {finding_text(warning, place, lines)}\n")
    for finding in report.findings[:_SHOWN_FINDINGS]:
        sys.stdout.write(f"\n{finding_text(finding, place, lines)}\n")
    more = len(report.findings) - _SHOWN_FINDINGS
    if more > 0:
        sys.stdout.write(f"\nand {more} more; --json FILE has all of them\n")
    for table in counter_tables(report.counters, lines):
        text = printable(str(table), "\n")
        sys.stdout.write(f"\n{text}\n")
    sys.stdout.write("\n")
    for name, difference in differences:
        _line("expect", f"{name}: {difference or 'as expected'}")
    ignored = f"; {_counted(report.ignored, 'finding')} ignored" if report.ignored else ""
    failed = [_counted(len(report.findings), "finding")] * (not report.ok)
    different = sum(difference is not None for _, difference in differences)
    failed += [f"{_counted(different, 'array')} not as expected"] * (different > 0)
    found = f"FAILED: {', '.join(failed)}" if failed else "no findings"
    warned = f"; {_counted(len(report.warnings), 'warning')}" if report.warnings else ""
    _line("result", found + warned + ignored)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _write_json(path: Path, report: dict[str, object]) -> None:
    text = f"{json.dumps(report, indent=2)}\n"
    if path == _STDOUT:
        sys.stdout.write(text)
    else:
        write_file(path, text)


def _described(array: np.ndarray) -> str:
    """Type, shape and the first few elements of an array, integers exactly."""
    form = "d" if array.dtype.kind in "iu" else ".6g"
    first = " ".join(f"{number:{form}}" for number in array.ravel()[:_SHOWN_ELEMENTS].tolist())
    more = " …" if array.size > _SHOWN_ELEMENTS else ""
    return f"{elements.name_of(array.dtype)} {list(array.shape)}  {first}{more}"


def _line(title: str, text: str) -> None:
    sys.stdout.write(f"{title:<9}{printable(text)}\n")
