"""What the executors ask of a value in the IR: whether it exists outside a sum."""

from collections.abc import Sequence

from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import ir


def summed_products(needed: Sequence[ir.OpView]) -> set[ir.Value]:
    """The results of `mul` whose only use, among the needed ops, is a `sum`: it forms them in its own type."""
    return {
        value
        for value, (reader, *others) in _readers(needed).items()
        if isinstance(value.owner, tiny.MulOp) and not others and _is_sum(reader)
    }


def cut_pads(needed: Sequence[ir.OpView]) -> set[ir.Value]:
    """The results of `pad` of which, among the needed ops, a `shrink` alone reads a part: no more of them is formed."""
    return {
        value
        for value, readers in _readers(needed).items()
        if isinstance(value.owner, tiny.PadOp) and all(isinstance(reader, tiny.ShrinkOp) for reader in readers)
    }


def _readers(needed: Sequence[ir.OpView]) -> dict[ir.Value, list[ir.OpView]]:
    readers: dict[ir.Value, list[ir.OpView]] = {}
    for op in needed:
        for operand in op.operands:
            readers.setdefault(operand, []).append(op)
    return readers


def _is_sum(op: ir.OpView) -> bool:
    return isinstance(op, tiny.ReduceOp) and op.op.value == "sum"
