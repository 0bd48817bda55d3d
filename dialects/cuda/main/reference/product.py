"""The matrix product that an epilogue finishes, found from its accumulator: what it multiplies, element by element.

In: a statement that finishes an accumulator. Out: its two operands, and what it reads beside. The product is a
`tgpu.fma`, `tgpu.mma_sync` or `tgpu.wgmma`, in loops and in front of waits; an operand is what fills the tiles that it
multiplies.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tinyc.analysis.strided_access import AxisRun, Side
from tinyc.codegen import scalars
from tinyc.codegen.elements import IndexValues
from tinyc.diagnostics import TinycError
from tinyc.dialects.cuda.printer.folding import terminator
from tinyc.dialects.gpu.dialect import staged_tile
from tinyc.dialects.gpu.expand.accumulator import multiply_add
from tinyc.dialects.gpu.expand.flat_elements import FlatElements
from tinyc.dialects.gpu.expand.place import sides_of
from tinyc.dialects.gpu.kernel import GpuKernel
from tinyc.dialects.gpu.statements import (
    AddPartialOp,
    CpAsyncOp,
    EpilogueOp,
    EpilogueSlabOp,
    FmaOp,
    LdmatrixOp,
    LoadFragmentOp,
    LoadTileOp,
    MmaSyncOp,
    StorePartialOp,
    TmaLoadOp,
    WaitGroupOp,
    WgmmaFragmentOp,
    WgmmaOp,
)
from tinyc.dialects.gpu.strided_matrix import MATRIX_SIDES, StridedMatrix
from tinyc.dialects.launch import TensorMapArgument
from tinyc.expr import extents
from tinyc.expr.axes import Shape
from tinyc.mlir import arith, gpu, ir, memref, scf
from tinyc.mlir.locations import where
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.element_type import ElementType

#: What finishes an accumulator.
FinishingOp: TypeAlias = EpilogueOp | EpilogueSlabOp
#: What takes the sums of a product.
SummedOp: TypeAlias = FinishingOp | StorePartialOp
_LoadOp: TypeAlias = LoadTileOp | CpAsyncOp | TmaLoadOp


@dataclass(frozen=True)
class SidePlace:
    """An index along a side of a matrix, which several axes may make up: their extents, and where it is in each."""

    shape: Shape
    index: IndexValues

    def number(self, elements: FlatElements) -> ir.Value:
        """The index as one number."""
        return self.among(elements, (extents.product(self.shape),))[0]

    def among(self, elements: FlatElements, shape: Shape) -> IndexValues:
        """The same index where the side is made up of other axes; none where it has a single index."""
        if shape == self.shape or not shape:
            return self.index[: len(shape)]
        linear = elements.index(0)
        for extent, position in zip(self.shape, self.index, strict=True):
            linear = arith.addi(arith.muli(linear, elements.extent(extent)), position)
        return elements.delinearized(linear, shape)


#: A row, a column and a batch.
ProductPlaces: TypeAlias = tuple[SidePlace, SidePlace, SidePlace]


@dataclass(frozen=True)
class ComputedOperand:
    """An operand whose elements the body of a statement computes."""

    op: LoadTileOp | LoadFragmentOp

    def shape(self, side: str) -> Shape:
        """The axes of a side."""
        shape = tensor_type(self.op.loaded.type).shape
        return tuple(shape[axis] for axis in sides_of(self.op)[side])

    def element(self, elements: FlatElements, places: Sequence[SidePlace], wanted: ElementType) -> ir.Value:
        """Emit an element at a row, a column and a batch."""
        kind = tensor_type(self.op.loaded.type)
        index = [elements.index(0) for _ in kind.shape]
        for side, place in zip(MATRIX_SIDES, places, strict=True):
            parts = place.among(elements, self.shape(side))
            for axis, position in zip(sides_of(self.op)[side], parts, strict=True):
                index[axis] = position
        return scalars.cast(elements.at(self.op.loaded, tuple(index)), kind.element, wanted)


@dataclass(frozen=True)
class CopiedOperand:
    """An operand that is copied from a matrix in a buffer."""

    buffer: ir.Value
    matrix: StridedMatrix

    def shape(self, side: str) -> Shape:
        """The axes of a side."""
        return tuple(run.extent for run in self.matrix.side(side))

    def element(self, elements: FlatElements, places: Sequence[SidePlace], wanted: ElementType) -> ir.Value:
        """Emit an element at a row, a column and a batch."""
        linear = elements.extent(self.matrix.offset)
        for side, place in zip(MATRIX_SIDES, places, strict=True):
            parts = place.among(elements, self.shape(side))
            for run, position in zip(self.matrix.side(side), parts, strict=True):
                if run.stride != 0:
                    linear = arith.addi(linear, arith.muli(position, elements.extent(run.stride)))
        element = elements.element_of(self.buffer)
        stored = memref.load(elements.buffers[self.buffer], [linear])
        return scalars.cast(scalars.from_storage(element, stored), element, wanted)


@dataclass(frozen=True)
class MadeOperand:
    """An operand whose elements the body of a `tgpu.load_fragment` makes of copied ones."""

    op: LoadFragmentOp
    source: CopiedOperand

    def shape(self, side: str) -> Shape:
        """The axes of a side."""
        return ComputedOperand(self.op).shape(side)

    def element(self, elements: FlatElements, places: Sequence[SidePlace], wanted: ElementType) -> ir.Value:
        """Emit an element at a row, a column and a batch."""
        read = tensor_type(self.op.source.type).element
        elements.reduced[self.op.source] = lambda _: self.source.element(elements, places, read)
        return ComputedOperand(self.op).element(elements, places, wanted)


_Operand: TypeAlias = ComputedOperand | CopiedOperand | MadeOperand


def operands_of(op: SummedOp) -> tuple[_Operand, _Operand]:
    """The operands of the one product in the accumulator that a statement takes.

    Raises:
        TinycError: `InvalidIr`: the accumulator has not one product, or an operand not one source.
    """
    found = dict(_products(op.accumulator)).values()
    if len(found) != 1:
        raise _refused(op, f"{len(found)} products in one accumulator")
    ((lhs, rhs),) = found
    return _operand(op, lhs), _operand(op, rhs)


def sum_of_products(
    elements: FlatElements, operands: tuple[_Operand, _Operand], places: ProductPlaces, accumulator: ElementType
) -> ir.Value:
    """Emit the sum over k of the products for a row, a column and a batch."""
    (lhs, rhs), (rows, columns, batches) = operands, places
    summed = lhs.shape("columns")

    def step(reduction: IndexValues, so_far: list[ir.Value]) -> list[ir.Value]:
        k = SidePlace(summed, tuple(reduction))
        left = lhs.element(elements, (rows, k, batches), accumulator)
        right = rhs.element(elements, (k, columns, batches), accumulator)
        return [multiply_add(accumulator, left, right, so_far[0])]

    (total,) = elements.carried(summed, [scalars.element_constant(accumulator, 0)], step)
    return total


def partial_sums_of(accumulator: ir.Value) -> ir.Value | None:
    """The workspace from which an accumulator has all of its sums; None where a product has been added to it."""
    op = accumulator.owner
    if not isinstance(op, AddPartialOp) or next(_products(accumulator), None) is not None:
        return None
    return op.workspace


def residuals_of(op: FinishingOp) -> list[tuple[ir.BlockArgument, _Operand]]:
    """The tensors that an epilogue reads from tiles as it does its accumulator: the arguments of its body, and sources.

    Raises:
        TinycError: `InvalidIr`: one has not one source.
    """
    if isinstance(op, EpilogueOp):
        return []
    arguments = list(op.body_block.arguments)[1:]
    return [(each, _operand(op, tiles)) for each, tiles in zip(arguments, op.residuals, strict=True)]


def _products(accumulator: ir.Value) -> Iterator[tuple[Hashable, tuple[ir.Value, ir.Value]]]:
    """Yield the tiles of each product that is added up in an accumulator, with what says that two are one.

    Tensor cores multiply tiles piece by piece, a statement for each.
    """
    op = accumulator.owner
    if isinstance(op, FmaOp):
        yield op, (op.lhs, op.rhs)
        yield from _products(op.accumulator)
    elif isinstance(op, MmaSyncOp | WgmmaOp | WgmmaFragmentOp):
        tiles = (_tiles(op.lhs), _tiles(op.rhs))
        yield tiles, tiles
        yield from _products(op.accumulator)
    elif isinstance(op, AddPartialOp):
        yield from _products(op.accumulator)
    elif isinstance(op, WaitGroupOp) and isinstance(accumulator, ir.OpResult):
        yield from _products(op.operands[accumulator.result_number])
    elif isinstance(op, scf.ForOp) and isinstance(accumulator, ir.OpResult):
        yield from _products(terminator(op.body).operands[accumulator.result_number])
        yield from _products(op.initArgs[accumulator.result_number])


def _tiles(operand: ir.Value) -> ir.Value:
    """The tiles that a product multiplies, or that its fragment is loaded from, in a loop or before one."""
    value = operand.maybe_downcast()
    if isinstance(value, ir.BlockArgument) and isinstance(value.owner.owner.opview, scf.ForOp):
        return _tiles(value.owner.owner.opview.initArgs[value.arg_number - 1])
    op = operand.owner
    return op.tiles if isinstance(op, LdmatrixOp | LoadFragmentOp) else operand


def _operand(op: SummedOp, tiles: ir.Value) -> _Operand:
    """What fills tiles, or is made of what does."""
    copied = _loaded(op, tiles)
    makers = [use.owner for use in tiles.uses if isinstance(use.owner, LoadFragmentOp)]
    return MadeOperand(makers[0], copied) if makers and isinstance(copied, CopiedOperand) else copied


def _loaded(op: SummedOp, tiles: ir.Value) -> ComputedOperand | CopiedOperand:
    """What fills tiles."""
    loads = [use.owner for use in tiles.uses if isinstance(use.owner, LoadTileOp | CpAsyncOp | TmaLoadOp)]
    if isinstance(op, EpilogueOp) and len(loads) != 1:
        raise _refused(op, f"{len(loads)} loads of one operand")
    sources = {_source(each): each for each in loads}
    if len(sources) != 1:
        raise _refused(op, f"{len(sources)} sources of one operand")
    (load,) = sources.values()
    if isinstance(load, LoadTileOp):
        return ComputedOperand(load)
    if isinstance(load, CpAsyncOp):
        return CopiedOperand(load.buffer, StridedMatrix.of(load))
    return _mapped(op, load)


def _source(load: _LoadOp) -> Hashable:
    """What says that two loads are of one operand: a circular buffer has several."""
    if isinstance(load, TmaLoadOp):
        return load.map
    named = [f"{name} = {value}" for name, value in load.attributes.items() if name in (*MATRIX_SIDES, "offset")]
    return (type(load), load.buffer if isinstance(load, CpAsyncOp) else None, *sorted(named))


def _mapped(op: SummedOp, load: TmaLoadOp) -> CopiedOperand:
    """The matrix of a tensor map: the side whose elements are neighbours, the other, then the batch, fastest first."""
    block = load.map.owner
    function = block.owner.opview if isinstance(block, ir.Block) else None
    assert isinstance(function, gpu.GPUFuncOp)  # maps are its arguments
    kernel = GpuKernel(function)
    maps: dict[ir.Value, TensorMapArgument] = dict(
        zip(kernel.arguments[-len(kernel.tensor_maps) :], kernel.tensor_maps, strict=True)
    )
    found = maps[load.map]
    buffer, tiling = kernel.buffers[found.buffer], found.tiling
    size = staged_tile(load.tiles.type).tile.element.size_bytes
    strides = [extents.floordiv(each, size) for each in tiling.strides]
    runs: list[Side] = [(AxisRun(*each),) for each in zip(tiling.dims, (1, *strides), strict=True)]
    order = staged_tile(load.tiles.type).order
    rows, columns = (runs[1], runs[0]) if order == "row" else (runs[0], runs[1])
    batches: Side = tuple(run for side in runs[2:][::-1] for run in side)
    if batches and not isinstance(op, StorePartialOp):
        shape = tensor_type(op.accumulated.type).shape
        batch = extents.product(shape[axis] for axis in sides_of(op)["batches"])
        if extents.product(run.extent for run in batches) != batch:
            raise _refused(op, "a batch of which one operand has some axes alone")
    return CopiedOperand(buffer, StridedMatrix(0, rows, columns, batches))


def _refused(op: SummedOp, what: str) -> TinycError:
    return TinycError(
        "InvalidIr",
        f"'{op.operation.name}' has {what}; the CUDA check takes one product, of two operands with one load each; "
        "print the kernel without its host: remove the function that launches it from the module",
        where(op.location),
    )
