"""Where a pass failed that is not tinyc's: the line of its file, and the op that it had in hand.

In: an exception out of Python that a user has written. Out: places, for a message in the traceback's stead.
"""

import traceback

from tinyc.diagnostics import Where
from tinyc.mlir import ir
from tinyc.mlir.bodies import nested
from tinyc.mlir.locations import where


def raised_at(error: BaseException, file: str) -> Where:
    """The innermost line of `file` that `error` came through; the file alone where it came through none."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return Where(file=file, line=error.lineno)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return Where(file=file, line=lines[-1] if lines else None)


def op_in_hand(error: BaseException, file: str, module: ir.Module) -> Where:
    """The place of the innermost op of `module` that a variable of the failing function refers to."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
    held = [each for each in (frames[-1].f_locals.values() if frames else ()) if _is_op(each)]
    # What a variable holds may be gone, and looking at it would end the process; comparing it does no harm.
    inner_first = nested(module)[:-1]
    found = (op for op in inner_first if any(_same(op, each) for each in held))
    return next((where(op.location) for op in found), Where())


def _is_op(value: object) -> bool:
    return isinstance(value, ir.Operation | ir.OpView)


def _same(op: ir.Operation, held: object) -> bool:
    try:
        return op == held
    except RuntimeError:  # an op that has been erased
        return False
