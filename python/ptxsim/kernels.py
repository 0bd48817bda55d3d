"""The kernels of a PTX text, each compiled when it is first asked for; what does not change from launch to launch.

In: PTX text. Out: `Kernels`. Modules of the same text share them: the last text is kept, for who loads a file again for
each of its kernels, or for each launch.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from ptxsim.engine.compile import compile_code
from ptxsim.engine.executable import Executable
from ptxsim.errors import PtxError
from ptxsim.linking.code import Program
from ptxsim.linking.link import link
from ptxsim.parsing.parser import parse
from ptxsim.parsing.targets import check_target


class Kernels:
    """A linked program, and its kernels as far as they have been compiled, or refused."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._compiled: dict[str, Executable | PtxError] = {}

    def compiled(self, name: str) -> Executable | PtxError:
        """A kernel that can run, or why it cannot: it uses what the simulator does not know, itself or by calls."""
        if name not in self._compiled:
            try:
                with _without_collection():
                    self._compiled[name] = compile_code(self.program.kernels[name])
            except PtxError as error:
                self._compiled[name] = error
        return self._compiled[name]


@lru_cache(1)
def kernels_of(text: str) -> Kernels:
    """The kernels of a text.

    Raises:
        PtxError: malformed text, with line and column.
    """
    with _without_collection():
        module = parse(text)
        check_target(module)
        return Kernels(link(module))


@contextmanager
def _without_collection() -> Iterator[None]:
    """Let the garbage collector rest: what loading makes stays, and to go through it again and again finds nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
