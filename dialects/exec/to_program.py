"""Exec → `runtime.Program`: the frozen form that the devices run.

In: a module with one `exec.function`. Out: plain data without MLIR.
"""

from tinyc.diagnostics import TinycError
from tinyc.dialects.exec.ops import exec_functions
from tinyc.mlir import ir
from tinyc.runtime.program import Program


def program_of(module: ir.Module) -> Program:
    """The host program of `module`.

    Raises:
        TinycError: `InvalidIr`: there is not exactly one `exec.function`; `InvalidAttribute`, `InvalidExtent`: an
            attribute does not mean what it should.
    """
    functions = exec_functions(module)
    if len(functions) != 1:
        raise TinycError(
            "InvalidIr", f"the module has {len(functions)} exec.functions and needs one; --region-to-exec makes it"
        )
    return functions[0].meaning()
