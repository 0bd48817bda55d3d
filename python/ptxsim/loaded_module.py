"""A loaded PTX module and its kernels, ready to be launched; `module` adds what needs the clock.

In: PTX text. Out: `LoadedModule`. A kernel that uses what the simulator does not know is refused before any of it runs;
the others of the file are not.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

from ptxsim.engine.executable import Executable
from ptxsim.errors import InputError, PtxError, TextError, suggest
from ptxsim.kernels import Kernels, kernels_of
from ptxsim.launch import Dim3, LaunchShape, launch
from ptxsim.linking.code import Code
from ptxsim.machine.launch import Monitor
from ptxsim.machine.observer import Observer
from ptxsim.parsing.syntax import Function
from ptxsim.report import KINDS, Report
from ptxsim.variables import ModuleVariable, ModuleVariables

#: The checks of a launch that are on where none are named.
CHECKS = tuple(KINDS)


class SharedMemory(NamedTuple):
    """Shared memory of a kernel: bytes of its own variables, and the name of its external array, "" without one."""

    static_bytes: int
    dynamic: str


class LoadedModule:
    """A module whose kernels can be launched, and its `text`.

    `.global` variables start anew with each launch, with what is written.
    """

    def __init__(self, text: str, kernels: Kernels) -> None:
        self.text = text
        self._kernels = kernels
        self._program = kernels.program
        self._variables = ModuleVariables(kernels.program)

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Load a module, also one of which no kernel can run."""
        if not isinstance(text, str):
            raise TextError(f"'{type(text).__name__}' is given; give the text of a module, a str")
        return cls(text, kernels_of(text))

    def runnable(self) -> Self:
        """The module itself.

        Raises:
            PtxError: it has kernels, and all of them are refused; the first one's error.
        """
        if self.kernels and all(isinstance(self._kernels.compiled(name), PtxError) for name in self.kernels):
            raise next(iter(self.refused.values()))
        return self

    @property
    def refused(self) -> dict[str, PtxError]:
        """The kernels that use, themselves or by calls, what the simulator does not know; each with its error."""
        compiled = {name: self._kernels.compiled(name) for name in self.kernels}
        return {name: error for name, error in compiled.items() if isinstance(error, PtxError)}

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of the kernels, in the order of the text."""
        return tuple(self._program.kernels)

    def kernel(self, name: str) -> Function:
        """The declaration of a kernel: its parameters and its directives.

        Raises:
            InputError: there is no such kernel.
        """
        return self._code(name).kernel.function

    def required_cluster(self, name: str) -> Dim3:
        """The CTAs of a cluster that a kernel requires, (1, 1, 1) where it requires none.

        Raises:
            InputError: there is no such kernel.
        """
        x, y, z = (*self.kernel(name).directives.get("reqnctapercluster", ()), 1, 1, 1)[:3]
        return x, y, z

    def shared_memory(self, name: str) -> SharedMemory:
        """The shared memory of a kernel, and whether its launch has to give more.

        Raises:
            InputError: there is no such kernel.
        """
        code = self._code(name)
        external = [each.variable.name for each in code.shared_variables if each.variable.linkage == "extern"]
        return SharedMemory(code.shared_bytes, external[0] if external else "")

    @property
    def target(self) -> str:
        """The target that the text is for, such as "sm_90a"."""
        return self._program.module.target[0]

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables in global and constant memory."""
        return self._variables.names

    def variable(self, name: str) -> ModuleVariable:
        """A variable in global or constant memory, to be written before a launch and read after it.

        Raises:
            InputError: there is no such variable.
        """
        return self._variables.variable(name)

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
        names: Sequence[str] = (),
        monitor: Monitor | None = None,
        clusters: Sequence[int] | None = None,
    ) -> Report:
        """Run a kernel and return what was found and counted; array arguments are updated in place.

        `grid` counts CTAs, `block` threads and `cluster` CTAs of a cluster, (x, y, z) each; without `cluster` the
        kernel's own directive holds. An argument is an array, a numpy scalar of its parameter's width, bytes, or a
        `TensorMap`, whose bytes go to global memory where the parameter is a pointer. `ignore` has kinds of findings
        that are not reported ("race"), or not for a line ("race:123"). `names` are what findings call the arguments,
        in place of the parameters' names. `monitor` is called now and then with the CTAs that have ended, all CTAs,
        and the warp-instructions so far. `clusters` are the numbers, x fastest, of the clusters that are run (CTAs,
        where there are no clusters), all where it is None; the kernel sees the whole grid.

        Raises:
            InputError: there is no such kernel, check or kind, or a shape or argument does not fit.
            PtxError: the kernel is refused.
        """
        executable = self._executable(name)
        shape = LaunchShape.of(executable, grid, block, cluster, clusters, dynamic_shared_bytes)
        return launch(self._program, self._variables, executable, shape, args, checks, ignore, names, monitor)

    def check_launch(
        self, name: str, grid: Dim3, block: Dim3, cluster: Dim3 | None = None, dynamic_shared_bytes: int = 0
    ) -> None:
        """Check the shape of a launch against the kernel's directives.

        Raises:
            InputError: with what does not fit; or there is no such kernel.
            PtxError: the kernel is refused.
        """
        LaunchShape.of(self._executable(name), grid, block, cluster, None, dynamic_shared_bytes)

    def launch_observed(
        self,
        observer: Observer,
        name: str,
        grid: Dim3,
        block: Dim3,
        args: Sequence[object],
        dynamic_shared_bytes: int = 0,
        cluster: Dim3 | None = None,
        clusters: Sequence[int] | None = None,
        checks: Sequence[str] = (),
        names: Sequence[str] = (),
        monitor: Monitor | None = None,
    ) -> Report:
        """Run a kernel as `launch` does, and tell `observer` what happens: for packages of `ptxsim` itself.

        Raises:
            InputError: as for `launch`; or `checks` has "races", which is an observer, too.
            PtxError: the kernel is refused.
        """
        executable = self._executable(name)
        shape = LaunchShape.of(executable, grid, block, cluster, clusters, dynamic_shared_bytes)
        return launch(
            self._program, self._variables, executable, shape, args, checks, (), names, monitor, observer=observer
        )

    def _executable(self, name: str) -> Executable:
        self._code(name)
        executable = self._kernels.compiled(name)
        if isinstance(executable, PtxError):
            message = f"kernel '{name}' cannot run: {executable.message}"
            raise PtxError(message, executable.line, executable.column)
        return executable

    def _code(self, name: str) -> Code:
        code = self._program.kernels.get(name)
        if code is None:
            raise InputError(f"there is no kernel '{name}'{suggest(name, self.kernels)}")
        return code
