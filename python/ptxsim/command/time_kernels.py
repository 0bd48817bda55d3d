"""What `ptxsim time` does: completes the launches, has them timed, and tells the result.

In: the arguments as `time_arguments` reads them. Out: text on stdout, files, and the exit status, 0.
"""

import argparse
import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ptxsim.clock.code_source import versions_in_use
from ptxsim.clock.devices import Device, device_of
from ptxsim.clock.estimate import Estimate
from ptxsim.clock.kernel_launch import KernelLaunch
from ptxsim.clock.replay.timeline import Timeline
from ptxsim.clock.report.estimate_object import device_object, estimate_object
from ptxsim.clock.report.estimate_text import device_table, estimate_text
from ptxsim.clock.report.pair import EstimatePair, pair_object, pair_text
from ptxsim.clock.report.roofline import roofline_svg
from ptxsim.clock.report.stalls import stalls_svg
from ptxsim.clock.report.trace import TracedKernel, trace_text
from ptxsim.clock.timing import estimate_launch
from ptxsim.command.argument_text import Value, read_arguments, read_variable
from ptxsim.command.files import write_file
from ptxsim.command.kernel_launch import (
    AskedLaunch,
    ResolvedLaunch,
    entry_of,
    in_file,
    ptx_place,
    ptx_text,
    resolved_launch,
)
from ptxsim.command.triton_metadata import read_metadata
from ptxsim.errors import FileError, InputError, printable
from ptxsim.module import load

_STDOUT = Path("-")
#: The grid of a command line that times nothing.
_ONE = (1, 1, 1)
_T = TypeVar("_T")


@dataclass(frozen=True)
class TimedKernel:
    """A kernel that has been timed: its file, its launch, its estimate, and what the replay did if that is asked for.

    `took_seconds` are those of this machine.
    """

    path: Path
    shape: ResolvedLaunch
    lines: Sequence[str]
    estimate: Estimate
    timeline: Timeline | None
    took_seconds: float


def time_kernels(
    arguments: argparse.Namespace, shown: Callable[[], AbstractContextManager[object]] = contextlib.nullcontext
) -> int:
    """Time one kernel, or two beside each other; `shown` opens a display of how far it is."""
    device = device_of(arguments.device)
    timed: list[TimedKernel] = []
    if arguments.ptx:  # before anything takes its time
        _require_places(arguments)
        versions_in_use()
    for number, path in enumerate(arguments.ptx):
        with shown(), _naming(path if len(arguments.ptx) > 1 else None):
            timed.append(_timed(arguments, number, path, device))
    names = _names(timed)
    if arguments.json != _STDOUT:
        _tell(arguments, device, timed, names)
    for path, text in _files(arguments, timed, names):
        write_file(path, text)
    if arguments.json is not None:
        _write_json(arguments, device, timed)
    return 0


def _timed(arguments: argparse.Namespace, number: int, path: Path, device: Device) -> TimedKernel:
    """Time a kernel: the first one, or the second, as it is asked for."""
    text = ptx_text(path, arguments.arch or device.arch)
    triton_file = _own(arguments.triton, number)
    triton = None if triton_file is None else read_metadata(triton_file)
    started = time.perf_counter()
    with in_file(ptx_place(path)):
        module = load(text)
    entry = entry_of(module, _own(arguments.entry, number), triton)
    kernel = module.kernel(entry)
    grid, block, cluster = (_own(each, number) for each in (arguments.grid, arguments.block, arguments.cluster))
    asked = AskedLaunch(grid or _ONE, block, cluster, _own(arguments.dynamic_shared, number))
    shape = resolved_launch(asked, kernel, triton)
    given = arguments.second_arg if number and arguments.second_arg else arguments.arg
    values: Sequence[Value] = [each.value for each in read_arguments(given, arguments.seed)]
    if triton is not None:
        programs = shape.grid[0] * shape.grid[1] * shape.grid[2]
        values = triton.arguments(values, kernel.parameters, programs)
    for variable, value in arguments.set:
        module.variable(variable).write(read_variable(variable, value, arguments.seed))
    extents = shape.dynamic_shared_bytes, shape.cluster or module.required_cluster(entry)
    launch = KernelLaunch(text, entry, shape.grid, shape.block, values, *extents)
    timeline = Timeline() if arguments.trace is not None else None
    with in_file(ptx_place(path)):
        estimate = estimate_launch(launch, device.name, arguments.clusters, timeline, module, warm=not arguments.cold)
    return TimedKernel(path, shape, text.split("\n"), estimate, timeline, time.perf_counter() - started)


def _require_places(arguments: argparse.Namespace) -> None:
    """Check that files can be where they are to be written, and are no kernels.

    Raises:
        FileError.
    """
    written = (arguments.json, arguments.trace, arguments.roofline, arguments.stalls)
    for path in (each for each in written if each not in (None, _STDOUT)):
        if not path.parent.is_dir():
            raise FileError(f"cannot write the file: there is no folder {path.parent}", str(path))
        if any(path.exists() and each.exists() and path.samefile(each) for each in arguments.ptx):
            raise FileError("that is a kernel, which would be gone; name another file", str(path))


def _own(given: Sequence[_T], number: int) -> _T | None:
    """What is given for a kernel: its own, or the only one."""
    return given[min(number, len(given) - 1)] if given else None


@contextlib.contextmanager
def _naming(path: Path | None) -> Iterator[None]:
    """Let what does not fit a launch of one of two kernels name its file."""
    try:
        yield
    except InputError as error:
        raise InputError(error.message, error.file or (None if path is None else str(path))) from None


def _names(timed: Sequence[TimedKernel]) -> list[str]:
    """What kernels are called beside each other: by what tells them apart, files, else kernels, else their order."""
    for names in ([each.path.name for each in timed], [each.estimate.kernel for each in timed]):
        if len(set(names)) == len(timed):
            return names
    paths = [str(each.path) for each in timed]
    return paths if len(set(paths)) == len(paths) else ["first", "second"]


def _tell(arguments: argparse.Namespace, device: Device, timed: Sequence[TimedKernel], names: Sequence[str]) -> None:
    """Print what is known: of one kernel all, of two where they differ."""
    for each in timed:
        _line("kernel", f"{each.estimate.kernel} of {each.path}")
        _line("launch", str(each.shape))
        _line("run", f"{each.took_seconds:.3f} s, {arguments.clusters} clusters at most recorded")
    if len(timed) == 1:
        _text(estimate_text(timed[0].estimate, timed[0].lines))
    elif timed:
        _line("device", f"{device.title}, {device.arch}")
        _text(pair_text(_pair(timed), (names[0], names[1])))
        for name, each in zip(names, timed, strict=True):
            for caution in each.estimate.cautions:
                _line("caution", f"{name}: {caution}")
    if arguments.device_table:
        _text(f"{chr(10) * bool(timed)}{device_table(device)}")


def _pair(timed: Sequence[TimedKernel]) -> EstimatePair:
    first, second = timed
    return EstimatePair(first.estimate, second.estimate, first.lines, second.lines)


def _files(
    arguments: argparse.Namespace, timed: Sequence[TimedKernel], names: Sequence[str]
) -> Iterator[tuple[Path, str]]:
    """The files that are asked for: timeline and charts."""
    estimates = {name: each.estimate for name, each in zip(names, timed, strict=True)}
    if not estimates:
        return
    if arguments.trace is not None:
        traced = [
            TracedKernel(name, each.timeline, each.estimate, each.lines)
            for name, each in zip(names, timed, strict=True)
            if each.timeline is not None
        ]
        yield arguments.trace, trace_text(traced)
    if arguments.roofline is not None:
        yield arguments.roofline, roofline_svg(estimates)
    if arguments.stalls is not None:
        lines = {name: each.lines for name, each in zip(names, timed, strict=True)}
        yield arguments.stalls, stalls_svg(estimates, lines)


def _write_json(arguments: argparse.Namespace, device: Device, timed: Sequence[TimedKernel]) -> None:
    facts: dict[str, object] = {
        "kernels": [
            {"ptx": str(each.path), "grid": each.shape.grid, "block": each.shape.block, "cluster": each.shape.cluster}
            | {"dynamic_shared_bytes": each.shape.dynamic_shared_bytes, "took_seconds": each.took_seconds}
            | estimate_object(each.estimate, each.lines)
            for each in timed
        ]
    }
    if len(timed) > 1:
        facts["pair"] = pair_object(_pair(timed))
    if arguments.device_table:
        facts["device"] = device_object(device)
    text = f"{json.dumps(facts, indent=2)}\n"
    if arguments.json == _STDOUT:
        sys.stdout.write(text)
    else:
        write_file(arguments.json, text)


def _line(title: str, text: str) -> None:
    sys.stdout.write(f"{title:<9}{printable(text)}\n")


def _text(text: str) -> None:
    sys.stdout.write(f"{printable(text, chr(10))}\n")
