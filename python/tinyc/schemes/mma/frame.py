"""What both architectures' kernels of the template have: the frame, the coordinates of tiles, loads, results.

In: a region with its complete plan. Out: statements at the insertion point.
"""

import functools
from dataclasses import dataclass
from typing import TypeVar

from tinyc.analysis.candidate import MatrixProduct, StridedAccess
from tinyc.analysis.kernel_candidate import contraction_of
from tinyc.analysis.kernel_loops import kernel_loops
from tinyc.analysis.patterns.contraction import Contraction
from tinyc.codegen.words import AnyWord, Word, equals, parted, smaller, word_where
from tinyc.dialects.gpu import statements as tgpu
from tinyc.dialects.gpu.dialect import GpuTile, smem_type
from tinyc.dialects.gpu.statements.load_tile import YieldOp
from tinyc.dialects.gpu.strided_matrix import StridedMatrix
from tinyc.dialects.region.to_gpu.function import Frame, Origin, close_body, copy_body, needed_for
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, ir, scf
from tinyc.mlir.locations import here
from tinyc.schemes.mma.loads import Load, loads_of
from tinyc.schemes.mma.matrix_unit import MatrixUnit, matrix_unit
from tinyc.schemes.mma.tiling import MmaTiling, tiling_of
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.element_type import ElementType

_Value = TypeVar("_Value")
#: Bytes of the widest store of a thread.
_STORE_BYTES = 16


@dataclass(frozen=True)
class TileCorner:
    """Where a tile of the output begins."""

    batch: ir.Value
    m: ir.Value
    n: ir.Value


@dataclass(frozen=True)
class Parts:
    """A region that becomes a kernel of the template, and what its plan has decided."""

    origin: Origin
    product: MatrixProduct
    contraction: Contraction
    unit: MatrixUnit
    tiling: MmaTiling
    loads: tuple[Load, Load]

    @classmethod
    def of(cls, origin: Origin, guarded: bool = True) -> "Parts":
        """The parts of a region whose plan is complete; without `guarded` its loads need nothing of the sizes."""
        product = filled(origin.candidate.product)
        contraction = contraction_of(origin.kernel, kernel_loops(origin.kernel.op))
        assert not isinstance(contraction, str)  # the candidate has a product
        unit = matrix_unit(product, origin.target, origin.plan.precision or "ieee")
        assert not isinstance(unit, str)  # the scheme has accepted it
        tiling = tiling_of(origin.plan, unit.threads)
        return cls(origin, product, contraction, unit, tiling, loads_of(origin.plan, product, unit, guarded))

    @functools.cached_property
    def counts(self) -> tuple[Dim, Dim]:
        """Tiles along m and n."""
        return self.tiling.tiles_of(self.product)

    @functools.cached_property
    def steps(self) -> Dim:
        """Tiles along k."""
        return extents.ceildiv(self.product.k, self.tiling.tile[2])

    def guarded(self, always: tuple[str, ...] = (), **axes: str) -> ir.ArrayAttr:
        """The sides, as `rows="m"`, along whose axis the plan says that a tile may reach beyond the product."""
        tails = (*filled(self.origin.plan.predicate_tail), *always)
        return ir.ArrayAttr.get([ir.StringAttr.get(side) for side, axis in axes.items() if axis in tails])


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

    def circular_buffer(self, side: int, stages: int) -> ir.Value:
        """Reserve the tiles of operand 0 or 1 in shared memory."""
        parts, load = self.parts, self.parts.loads[side]
        bm, bn, bk = parts.tiling.tile
        tile = GpuTile(parts.unit.factor, *((bm, bk), (bk, bn))[side])
        kind = smem_type(tile, stages, load.order, load.swizzle)
        return tgpu.AllocSmemOp(kind, loc=here("AB"[side])).tiles

    def load(self, side: int, tiles: ir.Value, stage: ir.Value, corner: TileCorner, k: ir.Value) -> None:
        """Emit the load of a tile of operand 0 or 1 by threads, without or by way of registers."""
        load, guarded = self.parts.loads[side], self._guards_of(side)
        row, column = (corner.m, k) if side == 0 else (k, corner.n)
        if load.kind == "registers":
            self._load_computed(side, tiles, stage, (corner.batch, row, column))
            return
        access = self.operand_access(side)
        buffer = self.frame.buffers[self.parts.origin.kernel.buffers[access.buffer]]
        matrix = StridedMatrix.of_access(access).attributes()
        size = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), load.bytes)
        tgpu.CpAsyncOp(
            tiles, stage, buffer, corner.batch, row, column,
            matrix["offset"], matrix["rows"], matrix["columns"], matrix["batches"], guarded, size,
        )  # fmt: skip

    def operand_access(self, side: int) -> StridedAccess:
        """Where the elements of an operand are that is copied as it is."""
        access = (self.parts.product.lhs, self.parts.product.rhs)[side].access
        assert isinstance(access, StridedAccess)  # else its load is through registers
        return access

    def _guards_of(self, side: int) -> ir.ArrayAttr:
        """The sides at which a tile may reach beyond an operand; loads that run ahead do along k."""
        sides = {"rows": "m", "columns": "k"} if side == 0 else {"rows": "k", "columns": "n"}
        return self.parts.guarded(always=("k",) if self.parts.tiling.stages > 1 else (), **sides)

    def _load_computed(self, side: int, tiles: ir.Value, stage: ir.Value, at: tuple[ir.Value, ...]) -> None:
        """Emit the load of a tile whose elements a body computes."""
        contraction, kernel = self.parts.contraction, self.parts.origin.kernel
        roles, operand = contraction.axis_roles, contraction.multiply.operands[side]
        axes = (roles.m, roles.k) if side == 0 else (roles.k, roles.n)
        sides = [ir.DenseI64ArrayAttr.get(each) for each in (*axes, contraction.batch_axes)]
        statement = tgpu.LoadTileOp(tiles, stage, *at, *sides, self._guards_of(side))
        block = statement.body.blocks.append()
        local = copy_body(self.frame, statement, needed_for(kernel, [operand]))
        with ir.InsertionPoint(block):
            YieldOp(local[operand])
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
    ) -> None:
        """Emit what the region makes of a slab of columns for output `number`, into a tile in shared memory."""
        parts, kernel = self.parts, self.parts.origin.kernel
        reduced: ir.Value = parts.contraction.reduce.results[0]
        output = kernel.yields[number]
        ops = [*needed_for(kernel, [output.value], given=[reduced]), output]
        sides = [ir.DenseI64ArrayAttr.get(each) for each in parts.contraction.result_sides]
        guarded = parts.guarded(rows="m", columns="n")
        place = (accumulators, corner.batch, corner.m, corner.n, tiles, stage)
        statement = tgpu.EpilogueSlabOp(*place, *sides, guarded, ir.DenseI64ArrayAttr.get(slab))
        block = statement.body.blocks.append(reduced.type, arg_locs=[reduced.location])
        copy_body(self.frame, statement, ops, {reduced: block.arguments[0]})
        close_body(statement)

    def store(self, number: int, tiles: ir.Value, corner: TileCorner, column: int, stage: ir.Value) -> None:
        """Emit the stores of a slab of output `number`, which begins `column` columns behind the tile's first."""
        parts, kernel = self.parts, self.parts.origin.kernel
        access = parts.product.results[number]
        assert isinstance(access, StridedAccess)  # else it is not staged
        matrix = StridedMatrix.of_access(access).attributes()
        buffer = self.frame.buffers[kernel.yields[number].buffer]
        n = arith.addi(corner.n, self.frame.index(column)) if column else corner.n
        width = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), store_width(access))
        tgpu.StGlobalVecOp(
            tiles, stage, buffer, corner.batch, corner.m, n,
            matrix["offset"], matrix["rows"], matrix["columns"], matrix["batches"],
            parts.guarded(rows="m", columns="n"), width,
        )  # fmt: skip

    @staticmethod
    def element_of(parts: Parts, number: int) -> ElementType:
        """The element type of an output."""
        return tensor_type(parts.origin.kernel.yields[number].value.type).element


def store_width(access: StridedAccess) -> int:
    """How many neighbours of an output one store takes: as many as divide its rows' ends and beginnings."""
    width = _STORE_BYTES // access.element.size_bytes
    if access.contiguous != "columns":
        return 1
    distances = [access.offset, *(run.stride for run in (*access.rows, *access.columns[:-1], *access.batch))]
    distances += [run.extent for run in access.columns[-1:]]
    while width > 1 and any(extents.divide(each, width) is None for each in distances):
        width //= 2
    return width


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


def rolled(loop: scf.ForOp) -> scf.ForOp:
    """A loop whose body LLVM is to leave as it is: it has been unrolled as far as it should be."""
    loop.attributes["loop_annotation"] = ir.Attribute.parse("#llvm.loop_annotation<unroll = <disable = true>>")
    return loop


def filled(value: _Value | None) -> _Value:
    """A field that every complete plan of the scheme has."""
    assert value is not None
    return value
