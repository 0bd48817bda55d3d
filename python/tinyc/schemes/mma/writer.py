"""The statements that both architectures' kernels of the template have: loads by threads, epilogues, stores.

In: the parts of a region. Out: statements at the insertion point.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tinyc.analysis.strided_access import StridedAccess
from tinyc.codegen.words import AnyWord, Word, equals, parted, smaller, word_where
from tinyc.dialects.gpu import statements as tgpu
from tinyc.dialects.gpu.dialect import GpuTile, smem_type
from tinyc.dialects.gpu.dynamic_memory import OVERLAY
from tinyc.dialects.gpu.fragment_layout import FragmentLayout
from tinyc.dialects.gpu.shared_layout import Order
from tinyc.dialects.gpu.statements.load_tile import YieldOp
from tinyc.dialects.gpu.strided_matrix import StridedMatrix
from tinyc.dialects.region.kernel_body import needed_for
from tinyc.dialects.region.to_gpu.function import Frame, close_body, copy_body
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import arith, gpu, ir, scf
from tinyc.mlir.constants import i64
from tinyc.mlir.locations import here
from tinyc.schemes.mma.loads import WIDEST_COPY_BYTES, order_of, widest_swizzle
from tinyc.schemes.mma.parts import Parts
from tinyc.schemes.mma.tiling import MmaTiling
from tinyc.vocabulary.attributes import tensor_type, to_type
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

#: Bytes of an element of which a pair does not fit one bank.
_WIDE_BYTES = 4


def _narrowed(value: ir.Value, element: ElementType) -> ir.Value:
    """A factor in the element type of its tile, which holds all of its elements: it may have been widened from that."""
    kind = tensor_type(value.type)
    if kind.element is element:
        return value
    return tiny.CastOp(value, to_type(TensorType(element, kind.shape))).output


@dataclass(frozen=True)
class TileCorner:
    """Where a tile of the output begins."""

    batch: ir.Value
    m: ir.Value
    n: ir.Value


@dataclass(frozen=True)
class StatementWriter:
    """Writes the statements of a kernel that are the same on each architecture."""

    parts: Parts
    frame: Frame

    @functools.cached_property
    def zero(self) -> ir.Value:
        """Index 0, at the start of the function."""
        with ir.InsertionPoint.at_block_begin(self.frame.body):
            return self.frame.index(0)

    def circular_buffer(self, side: int) -> ir.Value:
        """Reserve the tiles of operand 0 or 1 in shared memory."""
        return tgpu.AllocSmemOp(self.parts.circular_buffer(side), loc=here("AB"[side])).tiles

    def load(self, side: int, tiles: ir.Value, stage: ir.Value, corner: TileCorner, k: ir.Value) -> None:
        """Emit the load of a tile of operand 0 or 1 by threads, without or by way of registers."""
        load = self.parts.loads[side]
        place = (corner.batch, corner.m, k) if side == 0 else (corner.batch, k, corner.n)
        if load.kind == "registers":
            self._load_computed(side, tiles, stage, place)
            return
        access, across = self.parts.copied_access(side), ("rows", "columns")[side]
        beyond = self._beyond(side, clamps=_is_whole(access, across, load.bytes))
        self._copy(tiles, stage, access, place, beyond, load.bytes)

    def _copy(
        self,
        tiles: ir.Value,
        stage: ir.Value,
        access: StridedAccess,
        place: tuple[ir.Value, ...],
        beyond: tuple[ir.ArrayAttr, ir.ArrayAttr],
        size: int,
    ) -> None:
        """Emit the copy of a tile by cp.async, so many bytes at a time, from a batch, row and column on."""
        buffer = self.frame.buffers[self.parts.origin.kernel.buffers[access.buffer]]
        matrix, (guarded, clamped) = StridedMatrix.of_access(access).attributes(), beyond
        tgpu.CpAsyncOp(
            tiles, stage, buffer, *place,
            matrix["offset"], matrix["rows"], matrix["columns"], matrix["batches"], guarded, clamped, i64(size),
        )  # fmt: skip

    def _beyond(self, side: int, clamps: bool) -> tuple[ir.ArrayAttr, ir.ArrayAttr]:
        """The sides at which a tile may reach beyond an operand: where it has zeros then, and where the last again.

        Along k are zeros; loads that run ahead reach there, and last slices. What is beyond along m and n is multiplied
        to what is not stored: where the load `clamps`, it is whatever costs least.
        """
        axes = {"rows": "m", "columns": "k"} if side == 0 else {"rows": "k", "columns": "n"}
        zeros = {each: axis for each, axis in axes.items() if axis == "k" or not clamps}
        tiling = self.parts.tiling
        always = ("k",) if tiling.stages > 1 or tiling.slices > 1 else ()
        others = {each: axis for each, axis in axes.items() if each not in zeros}
        return self.parts.guarded(always=always, **zeros), self.parts.guarded(always=(), **others)

    def _load_computed(self, side: int, tiles: ir.Value, stage: ir.Value, at: tuple[ir.Value, ...]) -> None:
        """Emit the load of a tile whose elements a body computes."""
        guarded = self._beyond(side, clamps=False)[0]
        statement = tgpu.LoadTileOp(tiles, stage, *at, *self.operand_sides(side), guarded)
        statement.body.blocks.append()
        self.write_operand(statement, side)

    def operand_sides(self, side: int) -> list[ir.Attribute]:
        """The axes of an operand along the rows and the columns of its tile, and of the batch."""
        m, n, k = self.parts.factor_axes
        axes = (m, k) if side == 0 else (k, n)
        return [ir.DenseI64ArrayAttr.get(each) for each in (*axes, self.parts.contraction.batch_axes)]

    def write_operand(
        self,
        statement: tgpu.LoadTileOp | tgpu.LoadFragmentOp,
        side: int,
        given: Mapping[ir.Value, ir.Value] | None = None,
    ) -> None:
        """Write the body that computes an operand from what is `given` as an argument, and from what it reads."""
        operand = self.parts.factors[side]
        known = dict(given or {})
        ops = needed_for(self.parts.origin.kernel, [operand], given=known)
        local = copy_body(self.frame, statement, ops, known)
        with ir.InsertionPoint(statement.body.blocks[0]):
            YieldOp(_narrowed(local[operand], self.parts.unit.factor))
        close_body(statement)

    # --- results ------------------------------------------------------------------------------------------------------

    def epilogue(
        self,
        number: int,
        accumulators: ir.Value,
        corner: TileCorner,
        tiles: ir.Value,
        slab: tuple[int, int],
        stage: ir.Value,
        residuals: Mapping[ir.Value, ir.Value],
    ) -> None:
        """Emit what the region makes of a slab of columns for output `number`, into a tile in shared memory.

        `residuals` are tiles that have the slab of what is read beside the accumulators.
        """
        parts, kernel = self.parts, self.parts.origin.kernel
        reduced: ir.Value = parts.contraction.reduce.results[0]
        output = kernel.yields[number]
        read = list(residuals)
        ops = [*needed_for(kernel, [output.value], given=[reduced, *read]), output]
        sides = [ir.DenseI64ArrayAttr.get(each) for each in parts.result_sides]
        guarded = parts.guarded(rows="m", columns="n")
        place = (accumulators, corner.batch, corner.m, corner.n, tiles, stage)
        columns, pieces = ir.DenseI64ArrayAttr.get(slab), i64(parts.pieces)
        statement = tgpu.EpilogueSlabOp(*place, list(residuals.values()), *sides, guarded, columns, pieces)
        given = [reduced, *read]
        block = statement.body.blocks.append(*(each.type for each in given), arg_locs=[each.location for each in given])
        copy_body(self.frame, statement, ops, dict(zip(given, block.arguments, strict=True)))
        close_body(statement)

    def store(self, number: int, tiles: ir.Value, corner: TileCorner, column: int, stage: ir.Value) -> None:
        """Emit the stores of a slab of output `number`, which begins `column` columns behind the tile's first."""
        parts, kernel = self.parts, self.parts.origin.kernel
        access = parts.product.results[number]
        assert isinstance(access, StridedAccess)  # else it is not staged
        matrix = StridedMatrix.of_access(access).attributes()
        buffer = self.frame.buffers[kernel.yields[number].buffer]
        n = arith.addi(corner.n, self.frame.index(column)) if column else corner.n
        width = i64(parts.stores[number].width)
        tgpu.StGlobalVecOp(
            tiles, stage, buffer, corner.batch, corner.m, n,
            matrix["offset"], matrix["rows"], matrix["columns"], matrix["batches"],
            parts.guarded(rows="m", columns="n"), width,
        )  # fmt: skip

    def result_tiles(self, layout: FragmentLayout) -> list[ir.Value]:
        """Reserve a tile of each output in shared memory, where what was multiplied has been."""
        tiles: list[ir.Value] = []
        for number in range(len(self.parts.product.results)):
            element = self.parts.element_of(number)
            order = self.parts.stores[number].order
            kind = result_type(GpuTile(element, layout.rows, layout.columns), 1, order, layout.unit_columns)
            tiles.append(_reserved_over(kind, "C"))
        return tiles

    def residual_tiles(self, layout: FragmentLayout) -> dict[ir.Value, ir.Value]:
        """Reserve a tile of each residual that is copied, there as well."""
        tiles: dict[ir.Value, ir.Value] = {}
        for value, (access, _) in self.parts.residuals.items():
            tile = GpuTile(access.element, layout.rows, layout.columns)
            tiles[value] = _reserved_over(result_type(tile, 1, order_of(access), layout.unit_columns), "R")
        return tiles

    def finish(
        self,
        sums: ir.Value,
        tiles: Sequence[ir.Value],
        residuals: Mapping[ir.Value, ir.Value],
        corner: TileCorner,
        layout: FragmentLayout,
    ) -> None:
        """Emit epilogue and stores of a CTA's whole tile, by way of those of `result_tiles` and `residual_tiles`."""
        if residuals:
            self._load_residuals(residuals, corner)
        for number, held in enumerate(tiles):
            own = {value: residuals[value] for value in self.parts.residuals_of(number)}
            self.epilogue(number, sums, corner, held, (0, layout.unit_columns), self.zero, own)
        gpu.barrier()
        for number, held in enumerate(tiles):
            self.store(number, held, corner, 0, self.zero)

    def _load_residuals(self, residuals: Mapping[ir.Value, ir.Value], corner: TileCorner) -> None:
        """Emit the copies of what is beside a tile's accumulators, and the wait for them.

        What is beyond the last row or column is computed with, and not stored.
        """
        for value, held in residuals.items():
            access, _ = self.parts.residuals[value]
            is_whole = all(_is_whole(access, side, WIDEST_COPY_BYTES) for side in ("rows", "columns"))
            sides, none = self.parts.guarded(rows="m", columns="n"), self.parts.guarded()
            beyond = (none, sides) if is_whole else (sides, none)
            self._copy(held, self.zero, access, (corner.batch, corner.m, corner.n), beyond, WIDEST_COPY_BYTES)
        kind = ir.StringAttr.get("cp_async")
        tgpu.CommitGroupOp(kind)
        tgpu.WaitGroupOp([], [], kind, i64(0))
        gpu.barrier()


def place_of_tile(number: AnyWord, counts: tuple[AnyWord, AnyWord], tiling: MmaTiling) -> tuple[AnyWord, AnyWord]:
    """Emit which tile along m and n a number is: bands of `group` tiles across, walked along.

    Only the last band may be narrower; each width that is a number is divided by apart, which takes no division.
    """
    across, along = counts if tiling.along == "n" else counts[::-1]
    band, inside = parted(number, along * tiling.group)
    first = band * tiling.group
    if isinstance(across, Word):
        step, place = parted(inside, smaller(across - first, tiling.group))
    else:
        whole, last = divmod(across, tiling.group)
        step, place = parted(inside, tiling.group if whole else last)
        if whole and last:
            is_last = equals(band, whole)
            step, place = (
                word_where(is_last, narrow, wide)
                for narrow, wide in zip(parted(inside, last), (step, place), strict=True)
            )
    return (first + place, step) if tiling.along == "n" else (step, first + place)


def _is_whole(access: StridedAccess, side: str, size: int) -> bool:
    """Whether the last copy of so many bytes along a side ends where that does."""
    return access.contiguous != side or StridedMatrix.of_access(access).is_whole(
        side, size // access.element.size_bytes
    )


def _reserved_over(kind: ir.Type, name: str) -> ir.Value:
    """Reserve tiles where what was multiplied has been."""
    op = tgpu.AllocSmemOp(kind, loc=here(name))
    op.attributes[OVERLAY] = ir.UnitAttr.get()
    return op.tiles


def result_type(tile: GpuTile, count: int, order: Order, unit_columns: int = 0) -> ir.Type:
    """The tiles of finished elements in shared memory, so many, swizzled as far as their lines are.

    The pairs of 8 bytes that a unit stores are in different banks where it has whole lines of the swizzle: of those of
    a tile that has several units side by side, of `unit_columns` each.
    """
    line = tile.columns if order == "row" else tile.rows
    if order == "row" and tile.element.size_bytes == _WIDE_BYTES:
        line = math.gcd(line, unit_columns)
    return smem_type(tile, count, order, widest_swizzle(line * tile.element.size_bytes))


def rolled(loop: scf.ForOp) -> scf.ForOp:
    """A loop whose body LLVM is to leave as it is: it has been unrolled as far as it should be."""
    loop.attributes["loop_annotation"] = ir.Attribute.parse("#llvm.loop_annotation<unroll = <disable = true>>")
    return loop
