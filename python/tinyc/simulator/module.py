"""A loaded PTX module and its kernels, ready to be launched.

In: PTX text. Out: `Module`; every kernel is compiled when the module is loaded, so that what the simulator does
not know is an error before anything runs.
"""

from collections.abc import Sequence

from tinyc.diagnostics import TinycError, suggest
from tinyc.simulator.code import Program
from tinyc.simulator.engine.compile import Executable, compile_code
from tinyc.simulator.launch import Dim3, LaunchShape, launch
from tinyc.simulator.link import link
from tinyc.simulator.parser import parse
from tinyc.simulator.report import KINDS, Report
from tinyc.simulator.syntax import Function

#: The checks of a launch that are on where none are named.
CHECKS = tuple(KINDS)


def load(text: str) -> "Module":
    """Return the module of a PTX text.

    Raises:
        PtxError: malformed text, or an instruction that the simulator does not know; with line and column.
    """
    return Module(link(parse(text)))


class Module:
    """A module whose kernels can be launched; `.global` variables start anew with each launch."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._executables: dict[str, Executable] = {name: compile_code(code) for name, code in program.kernels.items()}

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of the kernels, in the order of the text."""
        return tuple(self._executables)

    def kernel(self, name: str) -> Function:
        """Return how a kernel is declared: its parameters and its directives.

        Raises:
            TinycError: `InputMismatch`: there is no such kernel.
        """
        return self._executable(name).code.kernel.function

    def launch(
        self,
        name: str,
        grid: Dim3,
        block: Dim3,
        args: Sequence[object],
        dynamic_shared_bytes: int = 0,
        cluster: Dim3 | None = None,
        checks: Sequence[str] = CHECKS,
    ) -> Report:
        """Run a kernel and return what was found and counted; array arguments are updated in place.

        `grid` counts CTAs, `block` threads and `cluster` CTAs of a cluster, (x, y, z) each; without `cluster` the
        kernel's own directive holds. An argument is an array, a numpy scalar of its parameter's width, bytes, or a
        `TensorMap`.

        Raises:
            TinycError: `InputMismatch`: there is no such kernel or check, or the shape or an argument does not fit.
        """
        executable = self._executable(name)
        shape = LaunchShape.of(executable, grid, block, cluster, dynamic_shared_bytes)
        return launch(self._program, executable, shape, args, checks)

    def _executable(self, name: str) -> Executable:
        executable = self._executables.get(name)
        if executable is None:
            raise TinycError("InputMismatch", f"there is no kernel '{name}'{suggest(name, self.kernels)}")
        return executable
