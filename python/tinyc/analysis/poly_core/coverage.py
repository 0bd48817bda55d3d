"""Coverage: whether the steps of the common loops, taken together, compute all that a group has to leave in memory.

Steps are made for the blocks that nothing inside reads, one instance of each along each loop: these have to be equally
many. Of other blocks, a step computes what is read: one whose tensor is read outside, too, is *covered* where a block
inside that is covered itself reads each element of it. Closed forms show that or it counts as not covered. Symbolic
extents are taken to be 1 or more: of an empty tensor, nothing is read.
"""

from collections.abc import Collection, Sequence

from tinyc.analysis.movement import Guard
from tinyc.analysis.poly.block import PolyAccess, PolyBlock
from tinyc.analysis.poly_core.loops import Loop, sinks
from tinyc.expr import axes, extents
from tinyc.expr.axes import Axis, AxisExpr, Shape
from tinyc.expr.extents import Dim


def why_not_covered(blocks: Sequence[PolyBlock], results: Collection[str], loops: Sequence[Loop]) -> str | None:
    """Why the steps of `loops` may not compute all `results` of `blocks`, in program order, or None.

    Each of `loops` runs over all that nothing inside reads.
    """
    ends = sinks(blocks)
    for loop in loops:
        first, *others = ((end, _axis(end, loop)) for end in ends)
        for other in others:
            if _extent(*first) != _extent(*other):
                return f"a step along {_text(*first)} is not one along {_text(*other)}: the steps are not equally many"
    read_inside = [block.name for block in blocks if block.name in results and block not in ends]
    covered = _covered(blocks) if read_inside else set[str]()
    for name in read_inside:
        if name not in covered:
            return f"'{name}' is read outside, and no block that reads it inside is known to read all of it"
    return None


def _axis(block: PolyBlock, loop: Loop) -> int:
    position = loop.axis_of(block.name)
    assert position is not None, "what nothing inside reads has each loop"
    return position


def _extent(block: PolyBlock, position: int) -> Dim:
    return block.statement.shape[position]


def _text(block: PolyBlock, position: int) -> str:
    return f"{block.statement.axes[position]} ({_extent(block, position)}) of '{block.name}'"


def _covered(blocks: Sequence[PolyBlock]) -> set[str]:
    """The names of the blocks of whose tensors all elements are computed in some step."""
    shapes = {block.name: block.written_shape for block in blocks}
    covered = {block.name for block in sinks(blocks)}
    for block in reversed(blocks):
        if block.name in covered:
            inside = (read for read in block.accesses if read.tensor in shapes)
            covered |= {each.tensor for each in inside if reads_all(each, block.statement.shape, shapes[each.tensor])}
    return covered


def reads_all(read: PolyAccess, shape: Shape, tensor: Shape) -> bool:
    """Whether the instances over `shape` read each element of a tensor (False: closed forms do not show it)."""
    moving = [axes.positions(row) for row in read.index]
    if 0 in shape or sum(map(len, moving)) > len(frozenset[int]().union(*moving)):
        return False  # rows that share an axis may take their values in few combinations
    rows = list(zip(read.index, tensor, strict=True))
    return all(_takes_all(row, shape, extent) for row, extent in rows) and all(
        any(_passes_all(guard, row, extent) for row, extent in rows) for guard in read.guards
    )


def _takes_all(row: AxisExpr, shape: Shape, extent: Dim) -> bool:
    """Whether a row takes each value from 0 below `extent`."""
    plain = axes.plain_axis(row)
    if plain is not None and shape[plain] == extent:
        return True
    low, span = row.constant, 0
    for atom, coefficient in sorted(row.terms, key=lambda term: abs(term[1])):
        if not isinstance(atom, Axis) or not extents.is_nonnegative(span + 1 - abs(coefficient)):
            return False  # the axis so far does not fill the step of the next one
        reach = (shape[atom.position] - 1) * abs(coefficient)
        low, span = low - (reach if coefficient < 0 else 0), span + reach
    return extents.is_nonnegative(-low) and extents.is_nonnegative(low + span - (extent - 1))


def _passes_all(guard: Guard, row: AxisExpr, extent: Dim) -> bool:
    """Whether a guard bounds a row, and no tighter than its extent does."""
    distance = guard.expression - row
    if distance.terms:
        return False
    return extents.is_nonnegative(distance.constant) and extents.is_nonnegative(guard.size - extent - distance.constant)
