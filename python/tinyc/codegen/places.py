"""Where elements of dense buffers are: in row-major order, or in panels of columns."""

from tinyc.codegen.counters import Counters
from tinyc.dialects.region.ops import PANEL_COLUMNS
from tinyc.expr.axes import AxisExpr, Index, Shape
from tinyc.mlir import ir, memref


def element_place(counters: Counters, index: Index, shape: Shape, group: int | None) -> AxisExpr:
    """The number of an element, at an index, in the memory of a buffer of a shape.

    It lies in panels, with a group of rows beside each other, or row by row, where there is none.
    """
    if group is None:
        return counters.linear(index, shape)
    (row, column), (rows, columns) = index, shape
    assert isinstance(columns, int)  # the verifier sees to it
    panels = columns // PANEL_COLUMNS, PANEL_COLUMNS
    panel, near = counters.delinearized(column, panels)
    if group == 1:
        return counters.linear((panel, row, near), (panels[0], rows, PANEL_COLUMNS))
    assert isinstance(rows, int)  # as above
    word, neighbour = counters.delinearized(row, (rows // group, group))
    return counters.linear((panel, word, near, neighbour), (panels[0], rows // group, PANEL_COLUMNS, group))


def flat_view(memory: ir.Value, size: ir.Value) -> ir.Value:
    """Emit a memref of the `size` elements of a dense one, in the order in which they lie in memory."""
    dynamic = ir.ShapedType.get_dynamic_size()
    flat = ir.MemRefType.get([dynamic], ir.MemRefType(memory.type).element_type)
    return memref.reinterpret_cast(flat, memory, [], [size], [], [0], [dynamic], [1])
