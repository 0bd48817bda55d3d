"""The rows of an operand that add up several axes: the digits of one number, or the windows of a convolution."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tinyc.analysis.access import Access
from tinyc.analysis.patterns.rejection import NoPattern, Reason
from tinyc.expr import axes
from tinyc.expr.axes import Axis, AxisExpr, Shape


@dataclass(frozen=True)
class Window:
    """Row `row` of the map of `operand` is ``stride * outer + dilation * kernel - pad``, with two axes."""

    operand: str
    row: int
    outer: int
    kernel: int
    stride: int
    dilation: int
    pad: int


def windows(name: str, access: Access, outer: Collection[int], k: Collection[int], domain: Shape) -> list[Window]:
    """The windows of an operand: rows of an axis of its own (one of `outer`) and a summed one (of `k`).

    Raises:
        NoPattern: a row in which several axes reach the same elements is not a window.
    """
    guarded = frozenset[int]().union(*(axes.positions(guard.expression) for guard in access.guards))
    found: list[Window] = []
    for number, row in enumerate(access.map):
        if len(row.terms) < 2 or (not axes.positions(row) & guarded and _is_mixed_radix(row, domain, gapless=True)):
            continue
        window = _window(name, number, row, outer, k)
        if window is not None:
            found.append(window)
        elif not _is_mixed_radix(row, domain, gapless=False):
            message = f"the index {row} is neither a window nor digits of one axis"
            raise NoPattern(Reason.OVERLAPPING_ROW, message, tuple(sorted(axes.positions(row))), ((name, number),))
    return found


def without_digits(left: Sequence[Window], right: Sequence[Window], domain: Shape) -> list[Window]:
    """The windows of both operands; where both have some, those of a side on which all are digits are none.

    Digits that a guard bounds may be either: a kernel whose taps are those of several phases is filled up with zeros.
    """
    sides = [left, right]
    if left and right:
        sides = [side for side in sides if not all(_is_digits(window, domain) for window in side)] or sides
    return [window for side in sides for window in side]


def _is_digits(window: Window, domain: Shape) -> bool:
    """Whether a window is a number of two digits from 0 on, the finer one that of the result."""
    return window.pad == 0 and window.stride == 1 and window.dilation == domain[window.outer]


def _is_mixed_radix(row: AxisExpr, domain: Shape, gapless: bool) -> bool:
    """Whether the axes are the digits of a mixed-radix number: each steps over what the finer ones reach.

    `gapless` numbers are those that have every value in a range.
    """
    reach = 1  # how many values the finer digits have between their least and greatest, both included
    for atom, coefficient in sorted(row.terms, key=lambda term: term[1]):
        if not isinstance(atom, Axis) or coefficient < reach or (gapless and coefficient != reach):
            return False
        extent = domain[atom.position]
        reach = reach + coefficient * (extent - 1) if isinstance(extent, int) else _BEYOND
    return True


#: More than any coefficient: nothing is coarser than a symbolic digit.
_BEYOND = 2**64


def _window(name: str, number: int, row: AxisExpr, outer: Collection[int], k: Collection[int]) -> Window | None:
    if len(row.terms) != 2 or not isinstance(row.constant, int):
        return None
    terms = {atom.position: coefficient for atom, coefficient in row.terms if isinstance(atom, Axis)}
    own, summed = [position for position in terms if position in outer], [p for p in terms if p in k]
    if len(own) != 1 or len(summed) != 1:
        return None
    return Window(name, number, own[0], summed[0], terms[own[0]], terms[summed[0]], -row.constant)
