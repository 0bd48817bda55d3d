"""Lanes of a warp that exchange register values: `gpu.shuffle` of any type that a register has."""

from tinyc.dialects.gpu.kernel import WARP_LANES
from tinyc.mlir import arith, gpu, ir
from tinyc.mlir.constants import number


def shuffled(mode: gpu.ShuffleMode, value: ir.Value, offset: int | ir.Value) -> ir.Value:
    """Emit the exchange; what is narrower than a word goes in one. `offset` is a number or an index."""
    i32 = ir.IntegerType.get_signless(32)
    is_narrow = isinstance(value.type, ir.IntegerType) and value.type.width < i32.width
    word = arith.extui(i32, value) if is_narrow else value
    by = arith.index_cast(i32, offset) if isinstance(offset, ir.Value) else number(offset, i32)
    found = gpu.ShuffleOp(word, by, number(WARP_LANES, i32), mode).shuffleResult
    return arith.trunci(value.type, found) if is_narrow else found
