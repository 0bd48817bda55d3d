"""Which op defines a value, and of what kind a Tiny op is: the questions that every analysis of IR asks."""

from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import ir
from tinyc.vocabulary.elementwise.row import Effort


def producer_of(value: ir.Value) -> ir.OpView | None:
    """The op that defines a value, or None for a block argument."""
    owner = value.owner
    return None if isinstance(owner, ir.Block) else owner


def is_stored(value: ir.Value) -> bool:
    """Whether a value is a tensor constant: in memory, as an argument is, before anything is computed."""
    return isinstance(value.owner, tiny.ConstOp) and value.owner.is_stored


def data_dependence(op: ir.OpView) -> str:
    """The reason why an op whose indices come from data is Non-SCoP."""
    return f"'{op.name}' reads where its data says"


def effort_of(op: ir.OpView) -> Effort:
    """What an element of an op's result takes, besides its operands."""
    if not isinstance(op, tiny.ElementwiseOp) or isinstance(op, tiny.CastOp):
        return Effort.SIMPLE
    return op.row.effort
