"""What both architectures' kernels of the template have: the frame, the coordinates of tiles, loads, results.

In: a region with its complete plan. Out: statements at the insertion point.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tinyc.analysis.candidate import MatrixProduct, StridedAccess
from tinyc.analysis.kernel_candidate import contraction_of
from tinyc.analysis.kernel_loops import KernelLoops, kernel_loops
from tinyc.analysis.patterns.contraction import Contraction
from tinyc.analysis.strided_access import residual_accesses
from tinyc.codegen.words import AnyWord, Word, equals, parted, smaller, word_where
from tinyc.dialects.gpu import statements as tgpu
from tinyc.dialects.gpu.dialect import GpuTile, smem_type
from tinyc.dialects.gpu.fragment_layout import FragmentLayout
from tinyc.dialects.gpu.statements.load_tile import YieldOp
from tinyc.dialects.gpu.strided_matrix import StridedMatrix
from tinyc.dialects.region.to_gpu.function import Frame, Origin, close_body, copy_body, needed_for
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, gpu, ir, scf
from tinyc.mlir.constants import i64
from tinyc.mlir.locations import here
from tinyc.schemes.mma.loads import Load, Needs, loads_of, widest_swizzle
from tinyc.schemes.mma.matrix_unit import MatrixUnit, matrix_unit
from tinyc.schemes.mma.stores import WIDEST_STORE_BYTES, Store, box_needs, store_of
from tinyc.schemes.mma.tiling import MmaTiling, tiling_of, workspaces_of
from tinyc.vocabulary.attributes import tensor_type, to_type
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

_Value = TypeVar("_Value")


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
class Parts:
    """A region that becomes a kernel of the template, and what its plan has decided.

    `workspaces` are those of slices of k.
    """

    origin: Origin
    product: MatrixProduct
    kernel_loops: KernelLoops
    contraction: Contraction
    unit: MatrixUnit
    tiling: MmaTiling
    loads: tuple[Load, Load]
    workspaces: Mapping[str, TensorType]
    is_guarded: bool = True

    @classmethod
    def of(cls, origin: Origin, guarded: bool = True) -> "Parts":
        """The parts of a region whose plan is complete; without `guarded` its loads need nothing of the sizes."""
        product = filled(origin.candidate.product)
        loops = kernel_loops(origin.kernel.op)
        contraction = contraction_of(origin.kernel, loops)
        assert not isinstance(contraction, str)  # the candidate has a product
        assert not isinstance(loops, str)
        unit = matrix_unit(product, origin.target, origin.plan.precision or "ieee")
        assert not isinstance(unit, str)  # the scheme has accepted it
        tiling = tiling_of(origin.plan, unit.threads)
        loads = loads_of(origin.plan, product, unit, guarded)
        return cls(origin, product, loops, contraction, unit, tiling, loads, workspaces_of(product, [tiling]), guarded)

    @property
    def is_specialised(self) -> bool:
        """Whether one warpgroup loads, by TMA, what others multiply."""
        return self.tiling.is_persistent and all(load.kind == "tma" for load in self.loads)

    @property
    def is_one_walk(self) -> bool:
        """Whether one index of CTAs goes over all tiles, m and n being fused; else there is a grid of them."""
        return "m.o" not in filled(self.origin.plan.bind)

    @functools.cached_property
    def stores(self) -> tuple[Store, ...]:
        """How each output is stored: of the widest elements as many at a time as the plan says."""
        accesses = [each for each in self.product.results if isinstance(each, StridedAccess)]  # others are refused
        widest = max(each.element.size_bytes for each in accesses)
        most_bytes = min(WIDEST_STORE_BYTES, filled(self.origin.plan.vectorize)["width"] * widest)
        by_tma = self.is_specialised and self.tiling.finishes
        return tuple(store_of(each, by_tma, self.is_guarded, most_bytes) for each in accesses)

    @functools.cached_property
    def residuals(self) -> dict[ir.Value, tuple[StridedAccess, Needs]]:
        """What the epilogue reads beside each accumulator and TMA brings to shared memory, with what that needs.

        Of a slice of k it is not known before the end of the products whether it will be needed.
        """
        if not self.is_specialised or self.tiling.slices > 1:
            return {}
        found = residual_accesses(self.origin.kernel, self.kernel_loops, self.contraction)
        needs = {value: box_needs(access, self.is_guarded) for value, access in found.items()}
        boxes = {value: (found[value], each) for value, each in needs.items() if each is not None}
        # Operands of a statement that have one name have one type; what is of another one threads read themselves.
        elements = [tensor_type(value.type).element for value in boxes]
        return {value: box for value, box in boxes.items() if tensor_type(value.type).element == elements[0]}

    @functools.cached_property
    def needs(self) -> Needs:
        """What has to be a multiple, of an extent, for this kernel to be launched."""
        slots = [slot.needs for slot in (*self.loads, *self.stores)] + [needs for _, needs in self.residuals.values()]
        return tuple(dict.fromkeys(need for needs in slots for need in needs))

    @functools.cached_property
    def counts(self) -> tuple[Dim, Dim]:
        """Tiles along m and n."""
        return self.tiling.tiles_of(self.product)

    @functools.cached_property
    def steps(self) -> Dim:
        """Tiles along k of each slice of it; the last slices may reach beyond k."""
        return extents.ceildiv(extents.ceildiv(self.product.k, self.tiling.tile[2]), self.tiling.slices)

    def circular_buffer(self, side: int) -> ir.Type:
        """The tiles of operand 0 or 1 in shared memory."""
        load, (bm, bn, bk) = self.loads[side], self.tiling.tile
        tile = GpuTile(self.unit.factor, *((bm, bk), (bk, bn))[side])
        return smem_type(tile, self.tiling.stages, load.order, load.swizzle)

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

    def circular_buffer(self, side: int) -> ir.Value:
        """Reserve the tiles of operand 0 or 1 in shared memory."""
        return tgpu.AllocSmemOp(self.parts.circular_buffer(side), loc=here("AB"[side])).tiles

    def load(self, side: int, tiles: ir.Value, stage: ir.Value, corner: TileCorner, k: ir.Value) -> None:
        """Emit the load of a tile of operand 0 or 1 by threads, without or by way of registers."""
        load = self.parts.loads[side]
        row, column = (corner.m, k) if side == 0 else (k, corner.n)
        if load.kind == "registers":
            self._load_computed(side, tiles, stage, (corner.batch, row, column))
            return
        access = self.operand_access(side)
        buffer = self.frame.buffers[self.parts.origin.kernel.buffers[access.buffer]]
        matrix = StridedMatrix.of_access(access)
        size = i64(load.bytes)
        said, across = matrix.attributes(), ("rows", "columns")[side]
        is_whole = access.contiguous != across or matrix.is_whole(across, load.bytes // access.element.size_bytes)
        guarded, clamped = self._beyond(side, clamps=is_whole)
        tgpu.CpAsyncOp(
            tiles, stage, buffer, corner.batch, row, column,
            said["offset"], said["rows"], said["columns"], said["batches"], guarded, clamped, size,
        )  # fmt: skip

    def operand_access(self, side: int) -> StridedAccess:
        """Where the elements of an operand are that is copied as it is."""
        access = (self.parts.product.lhs, self.parts.product.rhs)[side].access
        assert isinstance(access, StridedAccess)  # else its load is through registers
        return access

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
        contraction, kernel = self.parts.contraction, self.parts.origin.kernel
        roles, operand = contraction.axis_roles, contraction.multiply.operands[side]
        axes = (roles.m, roles.k) if side == 0 else (roles.k, roles.n)
        sides = [ir.DenseI64ArrayAttr.get(each) for each in (*axes, contraction.batch_axes)]
        statement = tgpu.LoadTileOp(tiles, stage, *at, *sides, self._beyond(side, clamps=False)[0])
        block = statement.body.blocks.append()
        local = copy_body(self.frame, statement, needed_for(kernel, [operand]))
        with ir.InsertionPoint(block):
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
        sides = [ir.DenseI64ArrayAttr.get(each) for each in parts.contraction.result_sides]
        guarded = parts.guarded(rows="m", columns="n")
        place = (accumulators, corner.batch, corner.m, corner.n, tiles, stage)
        slab_attribute = ir.DenseI64ArrayAttr.get(slab)
        statement = tgpu.EpilogueSlabOp(*place, list(residuals.values()), *sides, guarded, slab_attribute)
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
            element = StatementWriter.element_of(self.parts, number)
            swizzle = widest_swizzle(layout.columns * element.size_bytes)
            kind = smem_type(GpuTile(element, layout.rows, layout.columns), 1, "row", swizzle)
            op = tgpu.AllocSmemOp(kind, loc=here("C"))
            op.attributes["tgpu.overlay"] = ir.UnitAttr.get()
            tiles.append(op.tiles)
        return tiles

    def finish(self, sums: ir.Value, tiles: Sequence[ir.Value], corner: TileCorner, layout: FragmentLayout) -> None:
        """Emit epilogue and stores of a CTA's whole tile, by way of those of `result_tiles`."""
        for number, held in enumerate(tiles):
            self.epilogue(number, sums, corner, held, (0, layout.unit_columns), self.zero, {})
        gpu.barrier()
        for number, held in enumerate(tiles):
            self.store(number, held, corner, 0, self.zero)

    @staticmethod
    def element_of(parts: Parts, number: int) -> ElementType:
        """The element type of an output."""
        return tensor_type(parts.origin.kernel.yields[number].value.type).element


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
