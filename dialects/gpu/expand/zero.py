"""`tgpu.zero` for one thread: a zero for each element of the accumulator that it owns."""

from tinyc.codegen import scalars
from tinyc.dialects.gpu.dialect import accumulator_layout, accumulator_tile
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.statements import ZeroOp


def expand(expansion: Expansion, op: ZeroOp) -> None:
    """Emit one constant, which all of them are."""
    tile = accumulator_tile(op.accumulator.type)
    zero = scalars.element_constant(tile.element, 0)
    layout = accumulator_layout(op.accumulator.type)
    count = tile.elements // expansion.threads.count if layout is None else layout.registers
    expansion.accumulators[op.accumulator] = [zero] * count
