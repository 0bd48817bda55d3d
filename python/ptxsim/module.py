"""A loaded PTX module and its kernels, ready to be launched.

In: PTX text. Out: `Module`; every kernel is compiled when the module is loaded, so that what the simulator does
not know is an error before anything runs.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

from ptxsim.engine.compile import compile_code
from ptxsim.engine.executable import Executable
from ptxsim.errors import InputError, TextError, suggest
from ptxsim.launch import Dim3, LaunchShape, launch
from ptxsim.linking.code import Program
from ptxsim.linking.link import link
from ptxsim.machine.launch import Monitor
from ptxsim.parsing.parser import parse
from ptxsim.parsing.syntax import Function
from ptxsim.parsing.targets import check_target
from ptxsim.report import KINDS, Report

#: The checks of a launch that are on where none are named.
CHECKS = tuple(KINDS)


def load(text: str) -> "Module":
    """The module of a PTX text.

    Raises:
        PtxError: malformed text, or an instruction that the simulator does not know; with line and column.
        TextError: it is not text.
    """
    return Module.of_text(text)


class SharedMemory(NamedTuple):
    """Shared memory of a kernel: bytes of its own variables, and the name of its external array, "" without one."""

    static_bytes: int
    dynamic: str


class Module:
    """A module whose kernels can be launched; `.global` variables start anew with each launch."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._executables: dict[str, Executable] = {name: compile_code(code) for name, code in program.kernels.items()}

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Load a module; see `load`."""
        if not isinstance(text, str):
            raise TextError(f"'{type(text).__name__}' is given; give the text of a module, a str")
        module = parse(text)
        check_target(module)
        return cls(link(module))

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of the kernels, in the order of the text."""
        return tuple(self._executables)

    def kernel(self, name: str) -> Function:
        """The declaration of a kernel: its parameters and its directives.

        Raises:
            InputError: there is no such kernel.
        """
        return self._executable(name).code.kernel.function

    def shared_memory(self, name: str) -> SharedMemory:
        """The shared memory of a kernel, and whether its launch has to give more.

        Raises:
            InputError: there is no such kernel.
        """
        code = self._executable(name).code
        external = [each.variable.name for each in code.shared_variables if each.variable.linkage == "extern"]
        return SharedMemory(code.shared_bytes, external[0] if external else "")

    def launch(
        self,
        name: str,
        grid: Dim3,
        block: Dim3,
        args: Sequence[object],
        dynamic_shared_bytes: int = 0,
        cluster: Dim3 | None = None,
        checks: Sequence[str] = CHECKS,
        ignore: Sequence[str] = (),
        monitor: Monitor | None = None,
    ) -> Report:
        """Run a kernel and return what was found and counted; array arguments are updated in place.

        `grid` counts CTAs, `block` threads and `cluster` CTAs of a cluster, (x, y, z) each; without `cluster` the
        kernel's own directive holds. An argument is an array, a numpy scalar of its parameter's width, bytes, or a
        `TensorMap`. `ignore` has kinds of findings that are not reported ("race"), or not for a line ("race:123").
        `monitor` is called now and then with the CTAs that have ended, all CTAs, and the warp-instructions so far.

        Raises:
            InputError: there is no such kernel, check or kind, or a shape or argument does not fit.
        """
        executable = self._executable(name)
        shape = LaunchShape.of(executable, grid, block, cluster, dynamic_shared_bytes)
        return launch(self._program, executable, shape, args, checks, ignore, monitor)

    def _executable(self, name: str) -> Executable:
        executable = self._executables.get(name)
        if executable is None:
            raise InputError(f"there is no kernel '{name}'{suggest(name, self.kernels)}")
        return executable
