"""The door to the PTX simulator `ptxsim`: its interface under tinyc's name, its errors as tinyc's, with their codes.

In: PTX text of any compiler, and arrays; or the arguments of `tinyc simulate` and `tinyc time`. Out: reports and
estimates. What `ptxsim` raises is a `TinycError` here, and what PTX is malformed a `PtxError` that is of both families.

    module = simulator.load(ptx_text)
    report = module.launch("kernel", grid=(2, 1, 1), block=(128, 1, 1), args=[x, y, np.int32(1024)])
    estimate = module.time("kernel", grid=(2, 1, 1), block=(128, 1, 1), args=[x, y, np.int32(1024)], device="h100")
"""

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, ParamSpec, Self, TypeVar

import ptxsim
from ptxsim import CHECKS, Counterpart, Counters, Estimate, Finding, Report, Thread
from ptxsim.clock.code_source import versions_in_use
from ptxsim.clock.devices import DEVICES, device_of
from ptxsim.command.arguments import read_command_line
from ptxsim.command.simulate import simulate as simulate_kernel
from ptxsim.command.time_arguments import read_time_line
from ptxsim.machine.launch import Monitor
from tinyc.diagnostics import TinycError, Where, progress

__all__ = [
    "CHECKS",
    "Counterpart",
    "Counters",
    "Estimate",
    "Finding",
    "Module",
    "PtxError",
    "Report",
    "TensorMap",
    "Thread",
    "clocked_device",
    "load",
    "simulate",
    "time_kernels",
]

_P = ParamSpec("_P")
_R = TypeVar("_R")

_NAMES: dict[type[ptxsim.PtxsimError], str] = {
    ptxsim.TextError: "InvalidPtx",
    ptxsim.InputError: "InputMismatch",
    ptxsim.FileError: "UnreadableFile",
    ptxsim.MetadataError: "InvalidJson",
    ptxsim.MemoryShortage: "OutOfMemory",
}


class PtxError(ptxsim.PtxError, TinycError):
    """PTX text that is malformed, or that the simulator does not know: `message`, `line` and `column` (from 1)."""

    def __init__(self, message: str, line: int, column: int, file: str | None = None) -> None:
        ptxsim.PtxError.__init__(self, message, line, column, file)
        TinycError.__init__(self, "InvalidPtx", message, Where(file=file, line=line, column=column))

    def __str__(self) -> str:
        return TinycError.__str__(self)

    def at(self, where: Where) -> "PtxError":
        """The same error with the parts of its place that it lacks taken from `where`."""
        error = PtxError(self.message, self.line, self.column, self.file)
        error.where = self.where.completed(where)
        return error


def _with_codes(call: Callable[_P, _R]) -> Callable[_P, _R]:
    """`call`, raising tinyc's errors in place of ptxsim's."""

    @functools.wraps(call)
    def called(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return call(*args, **kwargs)
        except ptxsim.PtxError as error:
            raise PtxError(error.message, error.line, error.column, error.file) from None
        except ptxsim.PtxsimError as error:
            raise TinycError(_NAMES[type(error)], error.message, Where(file=error.file)) from None

    return called


class Module(ptxsim.Module):
    """A module whose kernels can be launched; `.global` variables start anew with each launch."""

    kernel = _with_codes(ptxsim.Module.kernel)
    shared_memory = _with_codes(ptxsim.Module.shared_memory)
    launch = _with_codes(ptxsim.Module.launch)
    time = _with_codes(ptxsim.Module.time)

    @_with_codes
    def variable(self, name: str) -> "ModuleVariable":
        """A variable in global or constant memory, to be written before a launch and read after it."""
        found = super().variable(name)
        return ModuleVariable(found.declared, found.contents, found.change)


class ModuleVariable(ptxsim.ModuleVariable):
    """A variable of a module; see `ptxsim.ModuleVariable`."""

    write = _with_codes(ptxsim.ModuleVariable.write)
    read = _with_codes(ptxsim.ModuleVariable.read)


class TensorMap(ptxsim.TensorMap):
    """A tensor in global memory and a box of it; made by `tiled` or `im2col`."""

    @classmethod
    def tiled(cls, *args: Any, **kwargs: Any) -> Self:
        """Make a map of tiles; the parameters are those of `ptxsim.TensorMap.tiled`."""
        return _with_codes(super().tiled)(*args, **kwargs)

    @classmethod
    def im2col(cls, *args: Any, **kwargs: Any) -> Self:
        """Make a map of columns of an image; the parameters are those of `ptxsim.TensorMap.im2col`."""
        return _with_codes(super().im2col)(*args, **kwargs)


@_with_codes
def load(text: str) -> Module:
    """Load the module of a PTX text.

    Raises:
        PtxError: malformed text, or no kernel without an instruction that the simulator does not know; with line and
            column.
        TinycError: `InvalidPtx`: no text.
    """
    return Module.of_text(text).runnable()


@_with_codes
def simulate(argv: Sequence[str], shown: Callable[[str], AbstractContextManager[None]]) -> int:
    """Run `tinyc simulate` with `argv`; the exit status is 1 if something was found.

    What is done inside of `shown(title)` tells its progress there.
    """

    @contextlib.contextmanager
    def shown_launch() -> Iterator[Monitor]:
        with shown("simulate"):
            yield launch_progress("")

    return simulate_kernel(read_command_line(argv, "tinyc simulate"), shown_launch)


@_with_codes
def time_kernels(argv: Sequence[str], shown: Callable[[str], AbstractContextManager[None]]) -> int:
    """Run `tinyc time` with `argv`; the exit status. `shown` is that of `simulate`."""
    from ptxsim.command.time_kernels import time_kernels as times

    return times(read_time_line(argv, "tinyc time"), lambda: shown("time"))


@_with_codes
def clocked_device(arch: str, asked: str | None = None) -> str:
    """The device whose time is told: the one that is asked for, else one of the architecture: "h100" of "sm_90a".

    Raises:
        TinycError: `InputMismatch`: there is no such device, or none of that architecture; or SASS is asked for, and
            ptxas or nvdisasm is missing.
    """
    versions_in_use()
    if asked is not None:
        return device_of(asked).name
    name = next((name for name, device in DEVICES.items() if device.arch == arch), None)
    if name is None:
        known = ", ".join(f"{name} ({device.arch})" for name, device in DEVICES.items())
        raise TinycError("InputMismatch", f"the clock has no device of {arch}; there are {known}; choose one of these")
    return name


def launch_progress(of: str) -> Monitor:
    """What a launch tells its progress by; `of` stands before it."""

    def tell(ended: int, ctas: int, executed: int) -> None:
        progress(f"{of}{executed} warp-instructions, CTA", min(ended + 1, ctas), ctas)

    return tell
