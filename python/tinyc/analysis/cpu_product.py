"""How a CPU computes a matrix product: in tiles of rows and columns, for which operands are packed or read in place.

In: the fused loops of a kernel whose form is that of a product. Out: a `CpuProduct`. The loops along one operand are
the columns, those along the other one the rows: the places of all images of a convolution go together. What is done to
an operand on the way, such as a cast, is done for a tile, not for each row. Tiles are the same for every CPU, whose
vectors only say how they are filled.
"""

import functools
from dataclasses import dataclass

from tinyc.analysis.cpu_form import ProductLoops
from tinyc.analysis.kernel_loops import KernelLoops
from tinyc.analysis.poly_core.fused_loops import Phase
from tinyc.analysis.product_choices import ProductChoices
from tinyc.analysis.product_reads import ProductReads
from tinyc.analysis.strided_access import AxisRun
from tinyc.analysis.tile_sides import TileSide, tile_side, tiled_loops
from tinyc.analysis.tiny_ops import producer_of
from tinyc.analysis.window_box import AxisWindow, WindowBox, longest_window, window_box, windows_along, written_out_axes
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import axes, extents
from tinyc.expr.axes import Axis, Shape
from tinyc.expr.extents import Dim
from tinyc.mlir import ir
from tinyc.target import GENERIC_CPU, WIDEST_VECTORS, DotProduct
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

#: The rows and columns of whole micro-kernels of most CPUs.
_ROWS, _COLUMNS = 14, 64
#: The lanes of vectors, at most, and so the elements of a line that are packed by one transposition of registers.
TRANSPOSED_LANES = 16


@dataclass(frozen=True)
class RightMatrix:
    """A right operand that is a whole tensor: it has a row for each product or, transposed, for each column.

    What reads it takes `step` products at a time, in words of a `group` of neighbours.
    """

    element: ElementType
    products: int
    columns: int
    is_transposed: bool
    group: int = 1
    step: int = 1

    @property
    def whole_products(self) -> int:
        """The products with those of zeros that fill up the last step."""
        return -(-self.products // self.step) * self.step


@dataclass(frozen=True)
class CpuProduct:
    """A product in the `kernel`: of `left`, which has the rows, and `right`, with the columns.

    `op` is the sum, and `phase` what computes it. Where the left operand is a vector, there is one row, and no loop.
    Of the rows and columns, `sides` has all loops. Tiles are taken along the loops at the positions `order`, outermost
    first, of which the first `parallel` are in the parallel loop; by default all are, as they lie. What a plan says
    besides is in `asked`.
    """

    kernel: KernelLoops
    op: tiny.ReduceOp
    phase: Phase
    rows: TileSide
    columns: TileSide
    left: ir.Value
    right: ir.Value
    sides: ProductLoops
    order: tuple[int, ...]
    parallel: int
    asked: ProductChoices

    @property
    def row_axes(self) -> tuple[int, ...]:
        """The axes along the rows."""
        return tuple(self.phase.loops[place] for place in self.rows.loops)

    @property
    def column_axes(self) -> tuple[int, ...]:
        """The axes along the columns."""
        return tuple(self.phase.loops[place] for place in self.columns.loops)

    @functools.cached_property
    def reads(self) -> ProductReads:
        """How the operands lie in memory."""
        return ProductReads(self.kernel, self.phase, TRANSPOSED_LANES)

    @functools.cached_property
    def has_rows_inside(self) -> bool:
        """Whether the left operand is read row by row for a product, and not product by product for a row."""
        return bool(self.row_axes) and self.reads.are_along(self.row_axes, self.column_axes)

    @functools.cached_property
    def has_columns_inside(self) -> bool:
        """Whether the right operand is read column by column for a product, and not product by product for a column."""
        return self.reads.are_along(self.column_axes, self.row_axes)

    @property
    def depth(self) -> Dim:
        """How many products make an element."""
        return extents.product(self.phase.reduced_extents)

    @property
    def accumulator(self) -> ElementType:
        """The element type of the sums, in which operands are packed."""
        return self.phase.block.element.accumulator

    @functools.cached_property
    def dot(self) -> DotProduct | None:
        """How words of neighbours are multiplied; None where elements are, in vectors of the type of the sums."""
        form = self.asked.dot if self.asked.lanes is None else None
        return None if form is None else self.reads.in_words(form, self.left, self.right)

    @functools.cached_property
    def taps(self) -> int:
        """The products that are written out in packing columns: those of a window, or of a row of it, with guards."""
        reads = [each for each in self.phase.block.accesses if not each.positions.isdisjoint(self.column_axes)]
        if not self.has_columns_inside or not any(each.guards for each in reads):
            return 1
        inside = self.phase.reduced_extents[1:]
        taps = extents.product(inside[len(inside) - written_out_axes(inside) :])
        assert isinstance(taps, int)  # what is written out has a number of products
        return taps

    @functools.cached_property
    def windows(self) -> tuple[AxisWindow, ...]:
        """The windows of the right operand along all loops of columns, if their places could be packed once for all."""
        if not self.has_columns_inside or self.dot is not None:
            return ()
        return windows_along(self.kernel, self.phase, self.right, self.sides.columns)

    @functools.cached_property
    def box(self) -> WindowBox | None:
        """What is packed of the right operand, in boxes of places that windows share; None where lines are packed.

        That reads and writes less, and there are columns between the rows of a box that nobody reads.
        """
        if not self.packs_right:
            return None
        return window_box(self.windows, self.columns, self.rows.most, longest_window(self.accumulator.size_bytes))

    @property
    def packed_together(self) -> int:
        """The products of which a panel has all or none: those of a window. The last words of any number have zeros."""
        if self.dot is not None:
            return 1
        return self.taps if self.box is None else self.box.products

    @property
    def panel_depth(self) -> int:
        """The products that are packed at a time, at most, or that a tile reads in place before its next columns."""
        return self.asked.tile[2]

    @property
    def has_one_panel(self) -> bool:
        """Whether all products are packed at once."""
        return isinstance(self.depth, int) and self.depth <= self.panel_depth

    @property
    def reads_right_in_place(self) -> bool:
        """Whether the right operand is not packed, and its columns are vectors in memory as it is."""
        return not self.asked.packs_right

    @property
    def reads_left_in_place(self) -> bool:
        """Whether the left operand is not packed, and the elements of each row are beside each other in memory."""
        return not self.asked.packs_left

    @property
    def has_left_in_place(self) -> bool:
        """Whether the left operand may be read as it lies in memory, row by row."""
        return self.reads.is_one_row(self.left, self.phase.reduced, self.depth)

    @property
    def has_right_in_place(self) -> bool:
        """Whether the right operand may be read as it lies in memory, in vectors of columns."""
        return self.reads.is_one_row(self.right, self.column_axes, self.columns.lines)

    @property
    def has_left_in_vectors(self) -> bool:
        """Whether the left operand is in memory as it is packed, its neighbours without a gap."""
        if not self.has_rows_inside:
            return self.has_left_in_place
        return self.reads.is_one_row(self.left, self.row_axes, self.rows.lines)

    @property
    def has_right_in_vectors(self) -> bool:
        """The same of the right operand."""
        if self.has_columns_inside:
            return self.has_right_in_place
        return self.reads.is_one_row(self.right, self.phase.reduced, self.depth)

    @functools.cached_property
    def reads_right_in_panels(self) -> bool:
        """Whether the right operand is not packed, since its columns are in memory in panels (`region.PANELS`).

        They are all of them, and a panel is behind the last one: vectors may reach into it.
        """
        access = self.reads.access(self.right, self._right_element, group=self._right_group)
        if access is None or len(self.column_axes) != 1 or len(self.phase.reduced) != 1:
            return False
        (rows, room), columns, depth = tensor_type(access.source.type).shape, self.columns.lines, self.depth
        has_zeros = isinstance(columns, int) and isinstance(room, int) and room - columns >= region.PANEL_COLUMNS
        if self.dot is not None:
            whole = self.dot.form.words(depth) * self._right_group if isinstance(depth, int) else None
            has_zeros = has_zeros and isinstance(rows, int) and whole is not None and whole <= rows
        return (
            has_zeros
            and self._has_whole_panels
            and access.map == tuple(axes.term(Axis(each)) for each in (*self.phase.reduced, *self.column_axes))
        )

    @property
    def _right_element(self) -> ElementType:
        """The element type in which the right operand is multiplied."""
        return self.accumulator if self.dot is None else self.dot.right

    @property
    def _right_group(self) -> int:
        """The elements of the right operand that are multiplied at once for a sum."""
        return 1 if self.dot is None else self.dot.form.group

    @property
    def _right_step(self) -> int:
        """The products that the micro-kernel adds to a sum at a time."""
        return 1 if self.dot is None else self.dot.form.step_products

    @property
    def _has_whole_panels(self) -> bool:
        """Whether tiles begin with panels of the columns, so that no vector is in two of them, and with whole steps."""
        has_whole_steps = self.panel_depth % self._right_step == 0
        has_whole_columns = self.columns.most % region.PANEL_COLUMNS == 0 or self.columns.most == self.columns.lines
        return has_whole_columns and (has_whole_steps or self.has_one_panel)

    @property
    def packs_right(self) -> bool:
        """Whether the right operand is packed for each tile."""
        return not (self.reads_right_in_place or self.reads_right_in_panels)

    @functools.cached_property
    def right_matrix(self) -> tuple[ir.Value, RightMatrix] | None:
        """The right operand as a matrix, and its buffer, where it is packed and all of that; None where it is not."""
        access, products, columns = self.reads.access(self.right, self._right_element), self.depth, self.columns.lines
        if access is None or not (self.packs_right and isinstance(products, int) and isinstance(columns, int)):
            return None
        if not self._has_whole_panels:
            return None
        if len(self.column_axes) != 1 or len(self.phase.reduced) != 1 or min(products, columns) < 2:
            return None
        strided = self.reads.strided(self.right, access, (self.phase.reduced, self.column_axes, ()))
        source = access.source.owner
        assert isinstance(source, region.ReadOp)  # what `reads.access` finds
        if isinstance(strided, str) or extents.product(tensor_type(access.source.type).shape) != products * columns:
            return None
        along = strided.rows[-1:] + strided.columns[-1:]
        for is_transposed, strides in ((False, (columns, 1)), (True, (1, products))):
            if along == (AxisRun(products, strides[0]), AxisRun(columns, strides[1])):
                words = self._right_group, self._right_step
                return source.buffer, RightMatrix(self._right_element, products, columns, is_transposed, *words)
        return None

    @property
    def stack_bytes(self) -> int:
        """What a tile takes of the stack: a panel of a few rows, and their sums, unless workspaces have them."""
        depth = 0 if self.has_rows_inside or self.reads_left_in_place else self.room_in_panel
        sums = self.packed_columns + TRANSPOSED_LANES if self.has_one_panel else 0
        return (depth + sums) * self._most_rows * self.accumulator.size_bytes

    @property
    def room_in_panel(self) -> int:
        """The products that a panel has room for: what it has, and what fills up its last transposition."""
        packed = self.panel_depth if self.dot is None else self.dot.form.words(self.panel_depth)
        return -(-packed // TRANSPOSED_LANES) * TRANSPOSED_LANES + TRANSPOSED_LANES

    @property
    def _most_rows(self) -> int:
        in_tiles = None if self.dot is None else self.dot.form.tile_kernel_rows
        return _ROWS if in_tiles is None else in_tiles  # of a micro-kernel

    @property
    def packed_columns(self) -> int:
        """The columns that there is room for: those of a tile, and of what fills up its last micro-kernel."""
        widest = WIDEST_VECTORS * TRANSPOSED_LANES if self.reads_right_in_place else _COLUMNS
        return -(-self.column_slots // widest) * widest

    @property
    def column_slots(self) -> int:
        """The columns of a tile, at most, with those of a box that nobody reads."""
        return self.columns.most if self.box is None else self.box.span

    @property
    def workspaces(self) -> tuple[TensorType, ...]:
        """Memory that a launch has to itself."""
        return tuple(TensorType(self.accumulator, (size,)) for size in self.workspace_sizes)

    @property
    def workspace_sizes(self) -> tuple[int, ...]:
        """The elements of each of the `workspaces`.

        It is for a panel of the right operand, where that is packed; one of the left operand, where that is packed for
        all rows of a tile at once; and the sums, where a tile has several panels.
        """
        right = self.room_in_panel * self.packed_columns
        if self.box is not None:  # the last columns reach behind the last box
            right = self.panel_depth // self.box.products * self.box.places + self.packed_columns
        left = self.room_in_panel * (self.rows.most + self._most_rows)
        sums = (self.rows.most + self._most_rows) * (self.packed_columns + TRANSPOSED_LANES)
        are_needed = (
            (right, self.packs_right),
            (left, self.has_rows_inside and not self.reads_left_in_place),
            (sums, not self.has_one_panel),
        )
        return tuple(size for size, is_needed in are_needed if is_needed)

    @property
    def tiles(self) -> Shape:
        """The tiles along each loop, of one element along those that are not of rows and columns."""
        return tiled_loops(self.kernel, (self.rows, self.columns))

    @property
    def ordered_tiles(self) -> Shape:
        """The tiles along each loop, in the order in which they are taken."""
        return tuple(self.tiles[place] for place in self.order)

    @property
    def turns(self) -> Dim:
        """The trip count of the parallel outer loop."""
        return extents.product(self.ordered_tiles[: self.parallel])


def cpu_product(kernel: KernelLoops, found: ProductLoops) -> CpuProduct:
    """The product that a kernel is along the loops that `cpu_form` found, before its tiles are chosen.

    It has those that formation counts with, with all products in a panel, and packs both operands.
    """
    (phase,) = kernel.loops.reductions
    op = kernel.value(phase).owner
    assert isinstance(op, tiny.ReduceOp)  # what reduces
    terms = producer_of(op.operand)
    assert isinstance(terms, tiny.MulOp)  # what is summed
    left, right = terms.lhs, terms.rhs
    if found.has_columns_left:
        left, right = right, left
    loops = kernel.loops.extents
    rows = tile_side(loops, found.rows, GENERIC_CPU.tile_rows, _ROWS)
    columns = tile_side(loops, found.columns, GENERIC_CPU.tile_columns, _COLUMNS)
    depth = extents.product(phase.reduced_extents)
    tile = rows.most, columns.most, depth if isinstance(depth, int) else 1
    asked = ProductChoices(tile, packs_left=True, packs_right=True)
    order = tuple(range(len(loops)))
    return CpuProduct(kernel, op, phase, rows, columns, left, right, found, order, len(order), asked)
