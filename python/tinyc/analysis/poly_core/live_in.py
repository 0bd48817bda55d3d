"""Live-in sets: the elements of each block that one iteration of the fused loops reads, and so keeps on chip.

An iteration (a *step*) is one instance along each common loop of the sinks, the blocks that nothing inside reads, and
all along their other axes. The live-in of a producer is the box that its consumers read in the step; for that box, the
producer reads a wider one of its own producers (with its halo), and so on backwards: a footprint propagated through the
group. Boxes are over-approximated by interval arithmetic, for any sizes; they are exact where what is read is a box, no
floor division is between, and no pad clips it. They begin anywhere and overlap from step to step, so that their widths
are others than those of tiles side by side (`footprint`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.analysis.poly.block import PolyAccess, PolyBlock
from tinyc.analysis.poly_core.loops import Loop, sinks
from tinyc.expr import axes, extents
from tinyc.expr.axes import Atom, Axis, AxisExpr, Index, Shape
from tinyc.expr.extents import Dim

#: Boxes that are kept apart for a block; where it is read at more places, the whole tensor counts.
_MAX_BOXES = 4


@dataclass(frozen=True)
class _Box:
    """The box ``starts[k] + [0, widths[k])`` along each dimension or axis k; `starts` are over the loop counters."""

    starts: Index
    widths: Shape

    @property
    def elements(self) -> Dim:
        return extents.product(self.widths)


def live_in_elements(blocks: Sequence[PolyBlock], loops: Sequence[Loop]) -> dict[str, Dim]:
    """At most how many elements of each block the others read in one step of `loops`; 0 where none reads it.

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
    """The instances of a sink that a step is made for."""
    starts, widths = [axes.constant(0)] * len(block.statement.shape), list(block.statement.shape)
    for number, loop in enumerate(loops):
        position = loop.axis_of(block.name)
        if position is not None:
            starts[position], widths[position] = axes.axis(number, steps), 1
    return _Box(tuple(starts), tuple(widths))


def _of(block: PolyBlock, box: _Box) -> _Box:
    """The instances of a block that write a box of its tensor: the preimage under its write."""
    starts, widths = [axes.constant(0)] * len(block.statement.shape), list(block.statement.shape)
    for written, start, width in zip(block.write, box.starts, box.widths, strict=True):
        for position in axes.positions(written):
            starts[position], widths[position] = start, width
    return _Box(tuple(starts), tuple(widths))


def _read(read: PolyAccess, instances: _Box, steps: Shape, tensor: Shape) -> _Box:
    """The box of a tensor that instances read: the image under the access."""
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
    """The interval of a subscript over a box of instances: its start, and its width at most."""
    start, span = axes.constant(row.constant), 0
    for atom, coefficient in row.terms:
        first, width = _value(atom, instances, steps)
        start = start + (first if coefficient > 0 else first + (width - 1)) * coefficient
        span = span + (width - 1) * abs(coefficient)
    return start, span + 1


def _value(atom: Atom, instances: _Box, steps: Shape) -> tuple[AxisExpr, Dim]:
    if isinstance(atom, Axis):
        return instances.starts[atom.position], instances.widths[atom.position]
    start, width = _reached(atom.numerator, instances, steps)
    return axes.floordiv_within(start, atom.divisor, steps), extents.ceildiv(width - 1, atom.divisor) + 1


def _within(start: AxisExpr, width: Dim, extent: Dim) -> tuple[AxisExpr, Dim]:
    """A range along a dimension; all of the dimension where the range is not known to be less."""
    is_less = isinstance(width, int) or extents.is_nonnegative(extent - width)
    return (start, width) if is_less and not extents.is_nonnegative(width - extent) else (axes.constant(0), extent)


def _add(boxes: list[_Box], new: _Box, tensor: Shape) -> None:
    """Put a box among those of a tensor, merged with those whose hull with it is no larger than both are."""
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
    """The bounding box of two, or None where their distance is not known."""
    if one == other:
        return one
    starts: list[AxisExpr] = []
    widths: list[Dim] = []
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
