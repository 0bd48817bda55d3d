"""What one step of the common loops needs of each block, and so holds of it while the blocks behind are computed.

A step is one instance along each common loop of the blocks that nothing inside reads, and all along their other axes.
What these read of a producer is a box at a place that moves with the loops; for that box, the producer reads a wider
one, and so on backwards. Boxes are by interval arithmetic: tiles that lie side by side have other widths than boxes
that begin anywhere and overlap from step to step. They hold all that is read for any sizes, and no more where what is
read is a box, no floor division is between, and no pad clips it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.analysis import axes, extents
from tinyc.analysis.axes import Axis, AxisExpr, FloorDiv, Index, Shape
from tinyc.analysis.extents import Dim
from tinyc.analysis.poly.block import PolyAccess, PolyBlock
from tinyc.analysis.poly_core.loops import Loop, sinks

#: Boxes that are kept apart for a block; where it is read at more places, all of it counts.
_MAX_BOXES = 4


@dataclass(frozen=True)
class _Box:
    """The range ``starts[k] + [0, widths[k])`` along each row or axis k; starts are over the steps of the loops."""

    starts: Index
    widths: Shape

    @property
    def elements(self) -> Dim:
        return extents.product(self.widths)


def held_elements(blocks: Sequence[PolyBlock], loops: Sequence[Loop]) -> dict[str, Dim]:
    """Return how many elements of each block the others read in one step of `loops`, at most; 0 where none reads it.

    The blocks are in program order; all that nothing inside reads have the same extents along the loops.
    """
    ends = sinks(blocks)
    steps = tuple(_extent(ends[0], loop) for loop in loops)
    whole = {block.name: block.written_shape for block in blocks}
    needs: dict[str, list[_Box]] = {block.name: [] for block in blocks}
    for block in reversed(blocks):
        instances = [_step(block, loops, steps)] if block in ends else [_of(block, box) for box in needs[block.name]]
        for read in dict.fromkeys(block.accesses):
            if read.tensor in needs:
                for box in instances:
                    _add(needs[read.tensor], _read(read, box, steps, whole[read.tensor]), whole[read.tensor])
    return {name: sum((box.elements for box in boxes), start=0) for name, boxes in needs.items()}


def _extent(block: PolyBlock, loop: Loop) -> Dim:
    position = loop.axis_of(block.name)
    assert position is not None, "what nothing inside reads has each loop"
    return block.statement.shape[position]


def _step(block: PolyBlock, loops: Sequence[Loop], steps: Shape) -> _Box:
    """Return the instances of a block that a step is made for."""
    starts, widths = [axes.constant(0)] * len(block.statement.shape), list(block.statement.shape)
    for number, loop in enumerate(loops):
        position = loop.axis_of(block.name)
        if position is not None:
            starts[position], widths[position] = axes.axis(number, steps), 1
    return _Box(tuple(starts), tuple(widths))


def _of(block: PolyBlock, box: _Box) -> _Box:
    """Return the instances of a block that write a box of its tensor."""
    starts, widths = [axes.constant(0)] * len(block.statement.shape), list(block.statement.shape)
    for written, start, width in zip(block.write, box.starts, box.widths, strict=True):
        for position in axes.positions(written):
            starts[position], widths[position] = start, width
    return _Box(tuple(starts), tuple(widths))


def _read(read: PolyAccess, instances: _Box, steps: Shape, tensor: Shape) -> _Box:
    """Return the box of a tensor that instances read."""
    if 0 in instances.widths:
        return _Box((axes.constant(0),) * len(tensor), (0,) * len(tensor))
    plain = [None if read.guards else axes.plain_axis(row) for row in read.index]
    ranges = [
        _within(*_reached(row, instances, steps), extent)
        if position is None
        else (instances.starts[position], instances.widths[position])
        for row, position, extent in zip(read.index, plain, tensor, strict=True)
    ]
    return _Box(tuple(start for start, _ in ranges), tuple(width for _, width in ranges))


def _reached(row: AxisExpr, instances: _Box, steps: Shape) -> tuple[AxisExpr, Dim]:
    """Return where the values of a row over a box of instances start, and how many follow each other at most."""
    start, span = axes.constant(row.constant), 0
    for atom, coefficient in row.terms:
        first, width = _value(atom, instances, steps)
        start = start + (first if coefficient > 0 else first + (width - 1)) * coefficient
        span = span + (width - 1) * abs(coefficient)
    return start, span + 1


def _value(atom: Axis | FloorDiv, instances: _Box, steps: Shape) -> tuple[AxisExpr, Dim]:
    if isinstance(atom, Axis):
        return instances.starts[atom.position], instances.widths[atom.position]
    start, width = _reached(atom.numerator, instances, steps)
    return axes.floordiv(start, atom.divisor, steps), extents.ceildiv(width - 1, atom.divisor) + 1


def _within(start: AxisExpr, width: Dim, extent: Dim) -> tuple[AxisExpr, Dim]:
    """Return a range; all along the row where the range is not known to be less."""
    is_less = isinstance(width, int) or extents.is_nonnegative(extent - width)
    return (start, width) if is_less and not extents.is_nonnegative(width - extent) else (axes.constant(0), extent)


def _add(boxes: list[_Box], new: _Box, tensor: Shape) -> None:
    """Put a box among those of a tensor, as one with those that it makes no larger box with than both are."""
    for box in boxes:
        hull = _hull(box, new, tensor)
        if hull is not None and extents.is_nonnegative(box.elements + new.elements - hull.elements):
            boxes.remove(box)
            _add(boxes, hull, tensor)
            return
    boxes.append(new)
    if len(boxes) > _MAX_BOXES:
        boxes[:] = [_Box((axes.constant(0),) * len(tensor), tensor)]


def _hull(one: _Box, other: _Box, tensor: Shape) -> _Box | None:
    """Return the box around two of a tensor, or None where it is not known how far apart they are."""
    if one == other:
        return one
    starts, widths = [], []
    for start, width, second, wide, extent in zip(
        one.starts, one.widths, other.starts, other.widths, tensor, strict=True
    ):
        distance = (second - start).constant if not (second - start).terms else None
        if extent in (width, wide):
            start, width = axes.constant(0), extent
        elif isinstance(distance, int) and isinstance(width, int) and isinstance(wide, int):
            first = min(distance, 0)
            start, width = _within(start + first, max(width, distance + wide) - first, extent)
        elif distance != 0 or width != wide:
            return None
        starts.append(start)
        widths.append(width)
    return _Box(tuple(starts), tuple(widths))
