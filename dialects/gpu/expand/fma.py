"""`tgpu.fma` for one thread: the products of its rows and its columns, added to the accumulators that it owns."""

import itertools

from tinyc.codegen import scalars
from tinyc.codegen.elements import IndexValues
from tinyc.dialects.gpu.dialect import accumulator_tile
from tinyc.dialects.gpu.expand.accumulator import multiply_add, owned_columns, owned_rows
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.threads import comment
from tinyc.dialects.gpu.statements import FmaOp
from tinyc.mlir import ir


def expand(expansion: Expansion, op: FmaOp) -> None:
    """Emit the loop along k over the tiles in one stage, which carries the accumulators."""
    elements, stage = expansion.elements, expansion.values[op.stage]
    lhs, rhs = expansion.buffers[op.lhs], expansion.buffers[op.rhs]
    tile = accumulator_tile(op.accumulator.type)
    rows, columns = owned_rows(expansion, tile), owned_columns(expansion, tile)

    def step(index: IndexValues, so_far: list[ir.Value]) -> list[ir.Value]:
        (k,) = index
        comment(f"fma: {len(rows)}x{len(columns)} accumulators of a {tile} tile")
        left = [scalars.cast(lhs.load(elements, stage, row, k), lhs.tile.element, tile.element) for row in rows]
        right = [scalars.cast(rhs.load(elements, stage, k, at), rhs.tile.element, tile.element) for at in columns]
        pairs = itertools.product(left, right)
        return [multiply_add(tile.element, *pair, total) for pair, total in zip(pairs, so_far, strict=True)]

    start = expansion.accumulators[op.accumulator]
    expansion.accumulators[op.output] = elements.carried([lhs.tile.columns], start, step)
