"""Cumulative reductions: `pad → pool → reduce` recognised as a scan along one axis.

A scan reduces, for element i of an axis, the elements j up to i (or from i on). In Tiny that is a sum over k of what
stands at ``j = i + k + c``, with the neutral element where j is outside. Source: specification 003, Cumulative.
"""

import math
from dataclasses import dataclass, replace

from tinyc.analysis.access import Access, DimAxes
from tinyc.analysis.movement import Guard
from tinyc.analysis.patterns.reduce import Reduce, attempt
from tinyc.analysis.patterns.rejection import NoPattern, Reason, Rejected
from tinyc.dialects.tiny.ops import ReduceOp
from tinyc.expr import axes, extents
from tinyc.expr.axes import Axis, AxisExpr, Shape
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.element_type import ElementType


@dataclass(frozen=True)
class Scan:
    """A running reduction by `op` along the axis `axis` of the result.

    `element` says what is reduced, as an access over the axes of the result: element i takes what `element` reads at
    the positions up to i, or from i on where `reverse`; without i itself where `exclusive`.
    """

    element: Access
    op: str
    axis: int
    reverse: bool
    exclusive: bool

    def axes_of_rows(self, rank: int) -> list[int]:
        """The other axes, of a result of so many: each of their elements is a row that is walked along."""
        return [axis for axis in range(rank) if axis != self.axis]


@dataclass(frozen=True)
class _Run:
    """The guard ``0 <= i + k + offset < size``: i is `kept`, k is `summed`."""

    kept: int
    summed: int
    offset: int
    size: int


def detect_scan(reduce: ReduceOp | Reduce, dims: DimAxes | None = None) -> Scan | Rejected:
    """The scan that a `tiny.reduce` is, or the reason why it is not one; `dims` as in `attempt`."""
    return attempt(_scan, reduce, dims)


def _scan(reduce: Reduce) -> Scan:
    access, domain = reduce.access, reduce.domain
    summed = [position for position in reduce.reduced if domain[position] != 1]
    if len(summed) != 1:
        raise NoPattern(Reason.SUMMED_AXES, f"{len(summed)} axes are reduced, not one", tuple(summed))
    number, run = _running_guard(access, summed[0], domain)
    outside = {each.value for each in access.guards[: number + 1]}  # where it fails, an earlier one may decide
    element = tensor_type(reduce.operand.type).element
    if not all(_is_neutral(value, reduce.op, element) for value in outside):
        message = f"the outside is {', '.join(map(str, outside))}, which is not neutral for {reduce.op}"
        raise NoPattern(Reason.PAD_VALUE, message, (run.kept, run.summed))
    reverse, exclusive = _direction(run, domain)
    access = replace(access, guards=(*access.guards[:number], *access.guards[number + 1 :]))
    return Scan(_at_position(access, run, reduce), reduce.op, reduce.kept.index(run.kept), reverse, exclusive)


def _running_guard(access: Access, summed: int, domain: Shape) -> tuple[int, _Run]:
    """The guard that bounds ``i + k`` to a range as long as the axis i is, or the same mirrored."""
    for number, guard in enumerate(access.guards):
        run = _run(guard, summed)
        if run is not None and domain[run.kept] == run.size:
            return number, run
    message = f"nothing bounds the sum of i{summed} and a kept axis to the length of that kept axis"
    raise NoPattern(Reason.NO_BOUND, message, (summed,))


def _run(guard: Guard, summed: int) -> _Run | None:
    terms = dict(guard.expression.terms)
    sign = terms.pop(Axis(summed), 0)
    kept, offset = next(iter(terms), None), guard.expression.constant
    if abs(sign) != 1 or list(terms.values()) != [sign] or not isinstance(kept, Axis):
        return None
    if not isinstance(offset, int) or not isinstance(guard.size, int):
        return None
    # 0 <= c - (i + k) < size says the same as 0 <= i + k + (size - 1 - c) < size.
    return _Run(kept.position, summed, offset if sign == 1 else guard.size - 1 - offset, guard.size)


def _direction(run: _Run, domain: Shape) -> tuple[bool, bool]:
    """(reverse, exclusive): element i takes the positions ``i + offset`` to ``i + last`` that are inside."""
    last = domain[run.summed] + (run.offset - 1)
    if last in (0, -1) and run.offset + run.size - 1 <= 0:
        return False, last == -1
    if run.offset in (0, 1) and extents.is_nonnegative(last - (run.size - 1)):
        return True, run.offset == 1
    first, end = (axes.axis(run.kept, domain) + distance for distance in (run.offset, last))
    message = f"element i{run.kept} takes the positions {first} to {end} of {run.size}, not all up to it or from it on"
    raise NoPattern(Reason.NOT_ALL_ELEMENTS, message, (run.kept, run.summed))


def _at_position(access: Access, run: _Run, reduce: Reduce) -> Access:
    """The access at position ``j = i + k + offset``, over the axes of the result with j for i."""
    for number, row in enumerate(access.map):
        if not _runs(row, run):
            message = f"the index {row} does not go with i{run.kept} + i{run.summed}"
            raise NoPattern(Reason.NOT_RUNNING, message, (run.kept, run.summed), (("source", number),))
    if not all(_runs(guard.expression, run) for guard in access.guards):
        message = f"a mask does not go with i{run.kept} + i{run.summed}"
        raise NoPattern(Reason.NOT_RUNNING, message, (run.kept, run.summed))
    index = [row - run.offset if position == run.kept else row for position, row in enumerate(reduce.first)]
    return access.with_expressions(axes.compose(access.expressions, index, reduce.result))


def _runs(row: AxisExpr, run: _Run) -> bool:
    """Whether an index depends on i and k by their sum only."""
    terms = dict(row.terms)
    if terms.pop(Axis(run.kept), 0) != terms.pop(Axis(run.summed), 0):
        return False
    rest = frozenset[int]().union(
        *(axes.positions(atom.numerator) for atom in terms if isinstance(atom, axes.FloorDiv))
    )
    return not rest & {run.kept, run.summed}


def _is_neutral(value: bool | int | float, op: str, element: ElementType) -> bool:
    if op in ("sum", "prod"):
        return value == (op == "prod")
    if not element.is_float:
        least, greatest = element.integer_range
        return value == (greatest if op == "min" else least)
    return value == (math.inf if op == "min" else -math.inf)
