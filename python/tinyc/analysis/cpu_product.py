"""How a CPU computes a matrix product: in tiles of rows and columns, each operand packed once for a tile.

In: the fused loops of a kernel. Out: a `CpuProduct`, or None where they are no product of rows with columns, with
element-wise ops behind it. The last loop is that of the columns; the rows are along another one. So what is done to an
operand on the way, such as a cast, is done for a tile, not for each row.
"""

from dataclasses import dataclass

from tinyc.analysis.access import NonScop, trace
from tinyc.analysis.cpu_steps import strided_reads
from tinyc.analysis.kernel_loops import KernelLoops
from tinyc.analysis.patterns.contraction import is_summed_product
from tinyc.analysis.poly_core.fused_loops import Phase
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import axes, extents
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim
from tinyc.mlir import ir
from tinyc.target import GENERIC_CPU

#: So many rows are as fast in tiles as one by one, in lanes, where the columns do not lie along each other in memory.
ROWS_WORTH_A_TRANSPOSITION = 32


@dataclass(frozen=True)
class CpuProduct:
    """A product in the `kernel`: of `left`, which has the rows, and `right`, with the columns.

    `op` is the sum, `phase` what computes it, `row_loop` the position of the loop along the rows.
    """

    kernel: KernelLoops
    op: tiny.ReduceOp
    phase: Phase
    row_loop: int
    left: ir.Value
    right: ir.Value

    @property
    def rows(self) -> Dim:
        """How many rows there are."""
        return self.kernel.loops.extents[self.row_loop]

    @property
    def columns(self) -> Dim:
        """How many columns there are."""
        return self.kernel.loops.extents[-1]

    @property
    def depth(self) -> Dim:
        """How many products make an element."""
        return extents.product(self.phase.reduced_extents)

    @property
    def tiles(self) -> Shape:
        """The tiles along each loop, of one element along those that are not of rows and columns."""
        found = list(self.kernel.loops.extents)
        found[self.row_loop] = extents.ceildiv(self.rows, GENERIC_CPU.tile_rows)
        found[-1] = extents.ceildiv(self.columns, GENERIC_CPU.tile_elements)
        return tuple(found)


def cpu_product(kernel: KernelLoops) -> CpuProduct | None:
    """The product that a kernel is."""
    loops = kernel.loops
    if loops.why_no_product:
        return None
    (phase,) = loops.reductions
    op = kernel.value(phase).owner
    assert isinstance(op, tiny.ReduceOp)  # what reduces
    if not phase.loops or not is_summed_product(op):
        return None
    product = op.operand.owner
    assert isinstance(product, tiny.MulOp)  # what is summed
    columns = phase.loops[-1]
    right = [factor for factor in (product.lhs, product.rhs) if columns in _moved(kernel, factor)]
    if len(right) != 1:
        return None
    left = product.lhs if right[0] == product.rhs else product.rhs
    rows = _moved(kernel, left) - _moved(kernel, right[0])
    positions = [position for position, axis in enumerate(phase.loops) if axis in rows]
    if not positions:
        return None
    found = CpuProduct(kernel, op, phase, positions[-1], left, right[0])
    is_few = isinstance(found.rows, int) and found.rows < ROWS_WORTH_A_TRANSPOSITION
    return None if is_few and strided_reads(kernel, phase, columns) else found


def _moved(kernel: KernelLoops, factor: ir.Value) -> frozenset[int]:
    """The axes along which a factor of a product changes; all of them where that is not known."""
    access = trace(factor, kernel.dims)
    if isinstance(access, NonScop):
        return frozenset(range(sum(map(len, kernel.dims(factor)))))
    return frozenset[int]().union(*map(axes.positions, access.expressions))
