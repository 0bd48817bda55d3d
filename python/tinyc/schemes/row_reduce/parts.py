"""Scheme `row_reduce`: rows in parts, where there are too few of them for the target's multiprocessors.

One kernel reduces each part as if it were a row, a second one what the parts of a row have found, in their order, and
computes the results. What does not make a whole part is left to the second one, which has as little to do as a part.
"""

import dataclasses
from typing import TYPE_CHECKING

from tinyc.analysis.candidate import Candidate
from tinyc.expr import extents
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim
from tinyc.plan.fields import Plan
from tinyc.plan.refusals import PlanRefusals
from tinyc.schemes.neighbours import loops_of, shared_by_ctas
from tinyc.schemes.row_reduce.plan import RowShape
from tinyc.schemes.rows import row_element_bytes, row_length
from tinyc.target.target import Target

if TYPE_CHECKING:  # plans are judged where MLIR is not installed
    from tinyc.analysis.poly_core.fused_loops import FusedLoops

#: What a plan calls the axis that is split: the elements of a row, one after the other.
ROW_AXIS = "k"
#: A CTA takes as many bytes at least, so that its threads have several accesses each, and more of rows of a length that
#: is not known, of which there may be many parts; where it is known, so many for each multiprocessor.
_LEAST_BYTES, _LONG_BYTES, _PARTS_PER_SM = 16 * 1024, 64 * 1024, 4
#: Where rows go across, each element of a part of which so many are one makes little of what the parts give.
_LEAST_ACROSS = 256
#: Where an axis is cut, it is behind so many elements: whole sectors of any elements.
_GRAIN = 64


def parts_refusal(candidate: Candidate) -> str | None:
    """Why the rows of a candidate of the scheme cannot be taken in parts; None where they can."""
    loops = loops_of(candidate)
    first, names = loops.reductions[0], {phase.block.name for phase in loops.reductions}
    for phase in loops.phases:
        name = phase.block.name
        if not phase.is_reduction and phase.inner:
            return f"'{name}' has several elements in a row"
        if phase.is_reduction and any(read.tensor in names for read in phase.block.accesses):
            return f"'{name}' needs another reduction of the row"
        if phase.is_reduction and (phase.block.statement.shape, phase.reduced) != (
            first.block.statement.shape,
            first.reduced,
        ):
            return f"'{name}' reduces other rows than '{first.block.name}'"
    return None


def default_part(candidate: Candidate, shape: RowShape, target: Target) -> int | None:
    """How many elements of a row a part has, where the time that parts save is worth the second launch.

    Rows of a number that is not known are taken to be many, a row of a length that is not known to be long.
    """
    loops = loops_of(candidate)
    ctas = shared_by_ctas(loops.steps, shape.rows_per_cta, target)[0]
    if parts_refusal(candidate) is not None or not isinstance(ctas, int) or not 0 < ctas < target.sms:
        return None
    length, bytes_beside = row_length(loops.reductions[0]), row_element_bytes(candidate) * shape.rows_per_cta
    if not isinstance(length, int):
        return _some_parts(loops, -(-_LONG_BYTES // bytes_beside))
    seconds = ctas * length * bytes_beside / target.global_bytes_per_second
    if seconds * (target.sms / ctas - 1) <= target.launch_seconds:
        return None
    least = max(-(-_LEAST_BYTES // bytes_beside), 1 if shape.lanes == "x" else _LEAST_ACROSS)
    return _some_parts(loops, max(least, -(-length * ctas // (_PARTS_PER_SM * target.sms))))


def _some_parts(loops: "FusedLoops", most: int) -> int | None:
    """`most`, if there are several parts of so many elements."""
    reduced = loops.reductions[0].reduced_extents
    return None if part_count(reduced, part_lengths(reduced, most)) == 1 else most


def with_parts(plan: Plan, candidate: Candidate, shape: RowShape, target: Target, refusals: PlanRefusals) -> Plan:
    """`plan` with the elements of a row that a part has: as given, where rows can be split, or the default."""
    if plan.split is None:
        most = default_part(candidate, shape, target)
        return plan if most is None else dataclasses.replace(plan, split={ROW_AXIS: most})
    reason = parts_refusal(candidate)
    if set(plan.split) != {ROW_AXIS}:
        message = f"splits {', '.join(plan.split)}, and scheme 'row_reduce' splits rows, whose axis is {ROW_AXIS}"
        refusals.add("PlanMismatch", "split", f"{message}; write {ROW_AXIS}")
    elif reason is not None:
        refusals.add("PlanMismatch", "split", f"asks for parts of rows that have none, since {reason}; leave it out")
    return plan


def part_lengths(reduced: Shape, most: int) -> Shape:
    """How long a part of `most` elements is along each of the axes that are reduced, outermost first.

    Along outer axes it has one element, along inner ones all; the axis between is cut, unless it leaves too much.
    """
    lengths, outer = list(reduced), 1
    for axis, extent in enumerate(reduced):
        inside = extents.product(reduced[axis + 1 :])
        if extent == 1:
            continue
        if isinstance(inside, int) and inside < most:
            lengths[axis] = _cut(extent, most // max(inside, 1), outer, _GRAIN if inside == 1 else 1)
            break
        lengths[axis], outer = 1, outer * extent
        if not isinstance(inside, int):
            break
    return tuple(lengths)


def part_count(reduced: Shape, lengths: Shape) -> Dim:
    """How many whole parts a row has."""
    pairs = zip(reduced, lengths, strict=True)
    return extents.product(1 if length == extent else extents.floordiv(extent, length) for extent, length in pairs)


def _cut(extent: Dim, most: int, outer: Dim, grain: int) -> Dim:
    """The length of a part along an axis: it divides the axis if that costs half of it at most."""
    most = max(most - most % grain, 1)
    if not isinstance(extent, int):
        return most if outer == 1 else extent
    if extent <= most:
        return extent
    length = next((each for each in range(most, most // 2, -grain) if extent % each == 0), most)
    left = outer * (extent % length)
    return length if isinstance(left, int) and left <= length <= extent // 2 else extent
