"""How a CPU computes a matrix product: in tiles of rows and columns, each operand packed once for a tile.

In: the fused loops of a kernel whose form is that of a product. Out: a `CpuProduct`. The last loop, or the last that is
long, is that of the columns; the rows are along another one. So what is done to an operand on the way, such as a cast,
is done for a tile, not for each row. Tiles are the same for every CPU, whose vectors only say how they are filled.
"""

import functools
from dataclasses import dataclass

from tinyc.analysis.access import NonScop, shape_of, trace
from tinyc.analysis.cpu_form import ProductLoops, jumps
from tinyc.analysis.kernel_loops import KernelLoops
from tinyc.analysis.poly_core.fused_loops import Phase
from tinyc.analysis.strided_access import AxisRun, BufferAccess, strided_access
from tinyc.analysis.tiny_ops import producer_of
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim
from tinyc.mlir import ir
from tinyc.target import GENERIC_CPU, WIDEST_VECTORS
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

#: Of these many rows and columns tiles are made up, where there are several: whole micro-kernels of most CPUs.
_ROWS, _COLUMNS = 14, 64
#: The lanes of vectors, at most, and so the elements of a line that are packed by one transposition of registers.
TRANSPOSED_LANES = 16


@dataclass(frozen=True)
class CpuProduct:
    """A product in the `kernel`: of `left`, which has the rows, and `right`, with the columns.

    `op` is the sum, `phase` what computes it, `row_loop` and `column_loop` the positions of the loops along the rows
    and the columns. Where the left operand is a vector, there is one row, and no loop.
    """

    kernel: KernelLoops
    op: tiny.ReduceOp
    phase: Phase
    row_loop: int | None
    column_loop: int
    left: ir.Value
    right: ir.Value

    @property
    def has_rows_inside(self) -> bool:
        """Whether the left operand has neighbours along the rows beside each other in memory."""
        return self._lies_along(self.row_loop, but_not=self.column_loop)

    @property
    def has_columns_inside(self) -> bool:
        """Whether the right operand has neighbours along the columns beside each other in memory."""
        return self._lies_along(self.column_loop, but_not=self.row_loop)

    def _lies_along(self, loop: int | None, but_not: int | None) -> bool:
        """Whether what is read along a loop, and not along the other one, are neighbours in memory there."""
        if loop is None:
            return False
        axis, other = self.phase.loops[loop], None if but_not is None else self.phase.loops[but_not]
        reads = [each for each in self.phase.block.accesses if other not in each.positions]
        return any(axis in each.positions and not jumps(each, axis) for each in reads)

    @property
    def rows(self) -> Dim:
        """How many rows there are."""
        return 1 if self.row_loop is None else self.kernel.loops.extents[self.row_loop]

    @property
    def columns(self) -> Dim:
        """How many columns there are."""
        return self.kernel.loops.extents[self.column_loop]

    @property
    def depth(self) -> Dim:
        """How many products make an element."""
        return extents.product(self.phase.reduced_extents)

    @property
    def accumulator(self) -> ElementType:
        """The element type of the sums, in which operands are packed."""
        return self.phase.block.element.accumulator

    @property
    def tile_rows(self) -> int:
        """The rows of a tile, at most: of a product that would be one tile, and takes long, half of the rows."""
        most = GENERIC_CPU.tile_rows
        if isinstance(self.rows, int) and self._is_worth_two_turns:
            most = min(most, -(-self.rows // 2))
        return _even(self.rows, most, _ROWS)

    @property
    def _is_worth_two_turns(self) -> bool:
        """Whether all would be one tile, and two threads do half of it each in much less time."""
        rows, columns, loops = self.rows, self.columns, extents.product(self.kernel.loops.extents)
        terms = loops * self.depth
        if not isinstance(rows, int) or not isinstance(columns, int) or not isinstance(terms, int):
            return False
        is_one = rows <= GENERIC_CPU.tile_rows and columns <= GENERIC_CPU.tile_columns and loops == rows * columns
        return is_one and terms >= GENERIC_CPU.terms_worth_two_turns

    @property
    def tile_columns(self) -> int:
        """The columns of a tile, at most."""
        return _even(self.columns, GENERIC_CPU.tile_columns, _COLUMNS)

    @property
    def panel_depth(self) -> int:
        """The products that are packed at a time, at most, or that a tile reads in place before its next columns."""
        size = GENERIC_CPU.tile_depth_bytes // self.accumulator.size_bytes
        return _even(self.depth, TRANSPOSED_LANES if self.reads_right_in_place else size, 1)

    @property
    def has_one_panel(self) -> bool:
        """Whether all products are packed at once."""
        return isinstance(self.depth, int) and self.depth <= self.panel_depth

    @functools.cached_property
    def reads_right_in_place(self) -> bool:
        """Whether the right operand is not packed: few rows read it, and its columns are vectors in memory as it is."""
        is_few = isinstance(self.rows, int) and self.rows < GENERIC_CPU.rows_worth_packing
        is_same = tensor_type(self.right.type).element == self.accumulator
        return is_few and is_same and self._has_columns_beside_each_other

    @property
    def _has_columns_beside_each_other(self) -> bool:
        """Whether the right operand is in memory, and each of its columns right behind the one before."""
        dims = self.kernel.dims
        access = trace(self.right, dims)
        if isinstance(access, NonScop) or access.guards or not isinstance(access.source.owner, region.ReadOp):
            return False
        memory = BufferAccess(0, self.accumulator, shape_of(access.source, dims), access.map)
        axis, domain = self.phase.loops[self.column_loop], shape_of(self.right, dims)
        found = strided_access(memory, domain, ((), (axis,), ()))
        return not isinstance(found, str) and found.columns == (AxisRun(domain[axis], 1),)

    @property
    def room_in_panel(self) -> int:
        """The products that a panel has room for: what it has, and what fills up its last transposition."""
        return -(-self.panel_depth // TRANSPOSED_LANES) * TRANSPOSED_LANES + TRANSPOSED_LANES

    @property
    def packed_columns(self) -> int:
        """The columns that there is room for: those of a tile, and of what fills up its last micro-kernel."""
        widest = WIDEST_VECTORS * TRANSPOSED_LANES if self.reads_right_in_place else _COLUMNS
        return -(-self.tile_columns // widest) * widest

    @property
    def workspaces(self) -> tuple[TensorType, ...]:
        """Memory that a launch has to itself.

        It is for a panel of the right operand, where that is packed; one of the left operand, where that is packed for
        all rows of a tile at once; and the sums, where a tile has several panels.
        """
        right = self.room_in_panel * self.packed_columns
        left = self.room_in_panel * (self.tile_rows + _ROWS)
        sums = (self.tile_rows + _ROWS) * (self.packed_columns + TRANSPOSED_LANES)
        are_needed = (
            (right, not self.reads_right_in_place),
            (left, self.has_rows_inside),
            (sums, not self.has_one_panel),
        )
        return tuple(TensorType(self.accumulator, (size,)) for size, is_needed in are_needed if is_needed)

    @property
    def tiles(self) -> Shape:
        """The tiles along each loop, of one element along those that are not of rows and columns."""
        found = list(self.kernel.loops.extents)
        if self.row_loop is not None:
            found[self.row_loop] = extents.ceildiv(self.rows, self.tile_rows)
        found[self.column_loop] = extents.ceildiv(self.columns, self.tile_columns)
        return tuple(found)

    @property
    def turns(self) -> Dim:
        """The trip count of the parallel outer loop."""
        return extents.product(self.tiles)


def _even(extent: Dim, most: int, unit: int) -> int:
    """The size of parts of an extent, all about the same, of at most `most`; of several parts whole units."""
    if not isinstance(extent, int):
        return most
    parts = max(1, -(-extent // most))
    return max(1, extent) if parts == 1 else min(most, -(-extent // (parts * unit)) * unit)


def cpu_product(kernel: KernelLoops, found: ProductLoops) -> CpuProduct:
    """The product that a kernel is, in tiles along the loops that `cpu_form` found."""
    (phase,) = kernel.loops.reductions
    op = kernel.value(phase).owner
    assert isinstance(op, tiny.ReduceOp)  # what reduces
    product = producer_of(op.operand)
    assert isinstance(product, tiny.MulOp)  # what is summed
    left, right = product.lhs, product.rhs
    if found.has_columns_left:
        left, right = right, left
    return CpuProduct(kernel, op, phase, found.rows, found.columns, left, right)
