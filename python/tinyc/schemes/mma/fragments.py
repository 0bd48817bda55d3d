"""Multiply slot where warpgroups make the factors of A in registers, of what its tiles have in shared memory.

A step along k is a fragment that is made and a product that is started: the next step's is made meanwhile. What a
prologue of the region computes, and what `wgmma` does not read of shared memory as it lies, come to tensor cores so.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.analysis.product_accesses import operand_source
from tinyc.dialects.gpu import statements as tgpu
from tinyc.dialects.gpu.dialect import GpuTile, frag_type
from tinyc.mlir import arith, ir
from tinyc.mlir.constants import i64
from tinyc.mlir.locations import here
from tinyc.schemes.mma.writer import StatementWriter, TileCorner


@dataclass(frozen=True)
class FragmentWriter:
    """Writes the products of the tiles `operands`, of what A is computed from and of B.

    `corner` is where the CTA's tile begins, `part` the row and the column in it at which the accumulators do.
    """

    writer: StatementWriter
    operands: Sequence[ir.Value]
    corner: TileCorner
    part: tuple[ir.Value, ir.Value]

    def make(self, stage: ir.Value, k: ir.Value, step: int = 0) -> ir.Value:
        """Emit the fragment of A that is multiplied in a step, of the tile of a stage, which begins at `k` along k."""
        parts = self.writer.parts
        rows, _ = parts.tiling.unit_tile
        kind = frag_type(GpuTile(parts.unit.factor, rows, parts.unit.depth), "a")
        always = ("k",) if parts.tiling.slices > 1 else ()
        guarded = parts.guarded(always, rows="m", columns="k")
        place = (self.operands[0], stage, self.corner.batch, self.corner.m, k, self.part[0])
        units = ir.DenseI64ArrayAttr.get(parts.tiling.units_of_role)
        sides = self.writer.operand_sides(0)
        statement = tgpu.LoadFragmentOp(kind, *place, i64(step), units, *sides, guarded, loc=here("a"))
        block = statement.body.blocks.append(self._source.type, arg_locs=[self._source.location])
        self.writer.write_operand(statement, 0, {self._source: block.arguments[0]})
        return statement.fragment

    def multiply(
        self,
        stage: ir.Value,
        k: ir.Value,
        accumulate: ir.Value,
        sums: ir.Value,
        in_flight: ir.Type,
        ahead: ir.Value | None = None,
    ) -> ir.Value:
        """Emit the products of a stage; the fragment of its first step may have been made `ahead`."""
        parts = self.writer.parts
        depth, (_, column) = parts.unit.depth, self.part
        yes = arith.constant(ir.IntegerType.get_signless(1), ir.BoolAttr.get(True))
        for step in range(0, parts.tiling.tile[2], depth):
            fragment = self.make(stage, k, step) if step or ahead is None else ahead
            adds = yes if step else accumulate
            factors = (fragment, self.operands[1], stage, column)
            product = tgpu.WgmmaFragmentOp(*factors, adds, sums, i64(step), in_flight, loc=here("acc"))
            sums = product.output
        return sums

    @functools.cached_property
    def _source(self) -> ir.Value:
        """The tensor of whose elements the tiles of A are."""
        parts = self.writer.parts
        found = operand_source(parts.origin.kernel, parts.contraction, 1 if parts.is_transposed else 0)
        assert found is not None  # its load has a source
        return found[0]
