"""How a CPU computes a matrix product: in tiles of rows and columns, each operand packed once for a tile.

In: the fused loops of a kernel whose form is that of a product. Out: a `CpuProduct`. The last loop, or the last that is
long, is that of the columns; the rows are along another one. So what is done to an operand on the way, such as a cast,
is done for a tile, not for each row.
"""

from dataclasses import dataclass

from tinyc.analysis.cpu_form import ProductLoops, jumps
from tinyc.analysis.kernel_loops import KernelLoops
from tinyc.analysis.poly_core.fused_loops import Phase
from tinyc.analysis.tiny_ops import producer_of
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim
from tinyc.mlir import ir
from tinyc.target import GENERIC_CPU


@dataclass(frozen=True)
class CpuProduct:
    """A product in the `kernel`: of `left`, which has the rows, and `right`, with the columns.

    `op` is the sum, `phase` what computes it, `row_loop` and `column_loop` the positions of the loops along the rows
    and the columns.
    """

    kernel: KernelLoops
    op: tiny.ReduceOp
    phase: Phase
    row_loop: int
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

    def _lies_along(self, loop: int, but_not: int) -> bool:
        """Whether what is read along a loop, and not along the other one, are neighbours in memory there."""
        axis, other = self.phase.loops[loop], self.phase.loops[but_not]
        reads = [each for each in self.phase.block.accesses if other not in each.positions]
        return any(axis in each.positions and not jumps(each, axis) for each in reads)

    @property
    def rows(self) -> Dim:
        """How many rows there are."""
        return self.kernel.loops.extents[self.row_loop]

    @property
    def columns(self) -> Dim:
        """How many columns there are."""
        return self.kernel.loops.extents[self.column_loop]

    @property
    def depth(self) -> Dim:
        """How many products make an element."""
        return extents.product(self.phase.reduced_extents)

    @property
    def tiles(self) -> Shape:
        """The tiles along each loop, of one element along those that are not of rows and columns."""
        found = list(self.kernel.loops.extents)
        found[self.row_loop] = extents.ceildiv(self.rows, GENERIC_CPU.tile_rows)
        found[self.column_loop] = extents.ceildiv(self.columns, GENERIC_CPU.tile_columns)
        return tuple(found)

    @property
    def turns(self) -> Dim:
        """The trip count of the parallel outer loop."""
        return extents.product(self.tiles)


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
