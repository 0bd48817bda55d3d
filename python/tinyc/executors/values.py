"""What the executors ask of a value in the IR: whether it exists outside a sum."""

from collections.abc import Sequence

from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import ir


def summed_products(needed: Sequence[ir.OpView]) -> set[ir.Value]:
    """The results of `mul` whose only use, among the needed ops, is a `sum`: it forms them in its own type."""
    readers: dict[ir.Value, list[ir.OpView]] = {}
    for op in needed:
        for operand in op.operands:
            readers.setdefault(operand, []).append(op)
    return {
        value
        for value, (reader, *others) in readers.items()
        if isinstance(value.owner, tiny.MulOp) and not others and _is_sum(reader)
    }


def _is_sum(op: ir.OpView) -> bool:
    return isinstance(op, tiny.ReduceOp) and op.op.value == "sum"
