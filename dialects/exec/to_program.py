"""Exec → `runtime.Program`: the frozen form that the devices run.

In: a module with one `exec.function`. Out: plain data without MLIR, and beside it the elements of the constants.
"""

from collections.abc import Mapping

import numpy as np

from tinyc.diagnostics import TinycError
from tinyc.dialects.exec.ops import FunctionOp, exec_functions
from tinyc.mlir import ir
from tinyc.runtime.program import Program
from tinyc.vocabulary.elements import elements_of


def program_of(module: ir.Module) -> Program:
    """The host program of `module`.

    Raises:
        TinycError: `InvalidIr`: there is not exactly one `exec.function`; `InvalidAttribute`, `InvalidExtent`: an
            attribute does not mean what it should.
    """
    return _function_of(module).meaning()


def constants_of(module: ir.Module) -> Mapping[str, np.ndarray]:
    """The elements of the constants of a module's host program, by buffer: read-only, a mapped file not yet read.

    Raises:
        TinycError: as `program_of`; or the elements are left out of the text that the module comes from.
    """
    return {op.buffer.value: elements_of(op.value) for op in _function_of(module).buffers if op.value is not None}


def _function_of(module: ir.Module) -> FunctionOp:
    """The one `exec.function`; raises as `program_of`."""
    functions = exec_functions(module)
    if len(functions) != 1:
        raise TinycError(
            "InvalidIr", f"the module has {len(functions)} exec.functions and needs one; --region-to-exec makes it"
        )
    return functions[0]
