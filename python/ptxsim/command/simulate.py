"""What `ptxsim` does: completes the launch from the kernel and Triton's facts, runs it, and tells the result.

In: the arguments as `arguments` reads them. Out: text on stdout, files, and the exit status.
"""

import argparse
import contextlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np

from ptxsim.command import elements
from ptxsim.command.argument_text import Given, Value, arrays_of, read_arguments, read_variable
from ptxsim.command.expected import Expectation
from ptxsim.command.files import write_array, write_file
from ptxsim.command.kernel_launch import NO_KERNEL, AskedLaunch, entry_of, in_file, ptx_place, ptx_text, resolved_launch
from ptxsim.command.kernel_text import kernel_lines
from ptxsim.command.report_text import finding_text, report_object
from ptxsim.command.triton_metadata import read_metadata
from ptxsim.counters import counter_tables
from ptxsim.errors import InputError, printable, suggest
from ptxsim.loaded_module import CHECKS
from ptxsim.machine.launch import Monitor
from ptxsim.module import Module, load
from ptxsim.report import Report
from ptxsim.tensor_maps.tensor_map import TensorMap
from ptxsim.variables import ModuleVariable

_SHOWN_ELEMENTS = 6
_SHOWN_FINDINGS = 20
_STDOUT = Path("-")


def simulate(
    arguments: argparse.Namespace,
    shown: Callable[[], AbstractContextManager[Monitor | None]] = contextlib.nullcontext,
) -> int:
    """Run a kernel; the exit status is 1 if something was found, or an array is not as expected.

    `shown` opens a display of how far it is.
    """
    with shown():
        text = ptx_text(arguments.ptx, arguments.arch)
    place = ptx_place(arguments.ptx)
    with shown(), in_file(place):
        module = Module.of_text(text) if arguments.list else load(text)
    if arguments.list:
        _list(module)
        return 0
    triton = read_metadata(arguments.triton) if arguments.triton is not None else None
    name = entry_of(module, arguments.entry, triton)
    kernel = module.kernel(name)
    extents = arguments.grid, arguments.block, arguments.cluster, arguments.dynamic_shared, arguments.clusters
    shape = resolved_launch(AskedLaunch(*extents), kernel, triton)
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
    with shown() as monitor, in_file(place):
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
        raise InputError(NO_KERNEL)
    for number, name in enumerate(module.kernels):
        sys.stdout.write("\n" if number else "")
        for title, text in kernel_lines(module.kernel(name), module.shared_memory(name), module.refused.get(name)):
            _line(title, text)


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
