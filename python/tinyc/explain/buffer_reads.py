"""What a tensor that is not a block costs: which memory is read, and where a region ends.

In: a value that is Non-SCoP in the IndexBook. Out: text. It says what the kernels do: see `tinyc.fusion.graph`.
"""

from tinyc.analysis.access import NonScop, trace
from tinyc.analysis.index_book.book import NonScopEntry
from tinyc.analysis.tiny_ops import producer_of
from tinyc.dialects.tiny import ops as tiny
from tinyc.dialects.tiny.ops import ReshapeOp
from tinyc.explain.subject import Subject
from tinyc.mlir import func, ir


def buffer_read(subject: Subject, value: ir.Value, operand: str) -> str | None:
    """Which buffer a Non-SCoP reshape reads and what that costs; None where `value` is none of these.

    `operand` is what the caller calls the tensor that is reshaped.
    """
    op = producer_of(value)
    if not isinstance(op, ReshapeOp) or not isinstance(subject.book[subject.names[value]], NonScopEntry):
        return None
    first = f"; {operand}, itself a movement, is copied to that buffer first" if _is_copied(op.operand) else ""
    is_result = any(isinstance(use.owner, func.ReturnOp) for use in value.uses)
    last = "; the function's result is a copy of it" if is_result else ""
    return f"the buffer of {operand} is read under the new shape, at no cost{first}{last}"


def whole_read(value: ir.Value, operand: str) -> str:
    """What an op that reads where its data says needs in memory; `operand` is the tensor that it reads from."""
    if isinstance(producer_of(value), tiny.GatherOp):
        return f"each element is computed where it is read; {operand} has to be in memory: a region ends there"
    return "it is computed as a whole, and read from memory: a region ends here"


def _is_copied(value: ir.Value) -> bool:
    """Whether a value gets a buffer by a copy: a movement does, unless it, too, reads a buffer under its shape."""
    op = producer_of(value)
    if op is None or not isinstance(op, tiny.MovementOp):
        return False
    access = trace(value)
    return not (isinstance(op, ReshapeOp) and isinstance(access, NonScop) and access.op == op)
