"""Folds (col2im): windows laid over each other at a stride and summed, recognised in `reshape / pad → pool → reduce`.

A fold is the adjoint of `tiny.pool`: position p of the result sums, over the taps t of a window, element
``[window, t]`` of the source with ``window * stride + t * dilation - pad == p``, where there is such a window. In Tiny
that is a sum of reads which are 0 where no window is. Source: specification 003, Fold (col2im).
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tinyc.analysis.access import Access, DimAxes, shape_of
from tinyc.analysis.movement import Guard
from tinyc.analysis.patterns.reduce import Reduce, attempt
from tinyc.analysis.patterns.rejection import NoPattern, Reason, Rejected
from tinyc.analysis.patterns.unwrapping import canonical, unwrapped
from tinyc.dialects.tiny.ops import ReduceOp
from tinyc.expr import axes, extents
from tinyc.expr.axes import Axis, AxisExpr, Shape
from tinyc.mlir import ir


@dataclass(frozen=True)
class FoldAxis:
    """Axis `position` of the result is ``stride * window + dilation * tap - pad`` by two rows of the source's index."""

    position: int
    window: int
    tap: int
    stride: int
    dilation: int
    pad: int


@dataclass(frozen=True)
class Fold:
    """A fold of `source` along `axes`; `rows` are (row, index) of its other rows, over the axes of the result."""

    source: ir.Value
    axes: tuple[FoldAxis, ...]
    rows: tuple[tuple[int, AxisExpr], ...]


def detect_fold(reduce: ReduceOp | Reduce, dims: DimAxes | None = None) -> Fold | Rejected:
    """The fold that a `tiny.reduce` is, or the reason why it is not one; `dims` as in `attempt`."""
    return attempt(_fold, reduce, dims)


def _fold(reduce: Reduce) -> Fold:
    reduce.require_sum()
    access, domain = reduce.access, reduce.domain
    for guard in access.guards:
        if guard.value != 0:
            where = tuple(sorted(axes.positions(guard.expression)))
            raise NoPattern(Reason.PAD_VALUE, f"the outside is {guard.value}, not 0", where)
    access, shape = unwrapped(access, domain), shape_of(access.source, reduce.dims)
    pending, summed = list(access.guards), (position for position in reduce.reduced if domain[position] != 1)
    found = [_fold_axis(access, shape, position, reduce.kept, pending, domain) for position in summed]
    if not found or pending:
        rest = f"the mask {pending[0]} is of no window" if pending else "no axis is summed"
        raise NoPattern(Reason.NO_BOUND if pending else Reason.SUMMED_AXES, rest)
    return Fold(access.source, tuple(found), _other_rows(access, found, reduce))


def _fold_axis(
    access: Access, shape: Shape, summed: int, kept: tuple[int, ...], pending: list[Guard], domain: Shape
) -> FoldAxis:
    """The fold over the taps that are the axis `summed`; its guards are taken from `pending`.

    `shape` is that of the source.
    """
    for (tap, sign, least), bound in itertools.product(_taps(access, summed, shape, domain), pending):
        skew = _skew(bound, summed, kept)
        if skew is None or skew.slope * sign >= 0:
            continue
        for stride, window, used in _windows(access, bound, pending, shape, domain):
            for guard in used:
                pending.remove(guard)
            dilation = -skew.slope * sign  # i = sign * (tap - least)
            return FoldAxis(kept.index(skew.position), window, tap, stride, dilation, skew.offset + dilation * least)
    message = f"the summed axis i{summed} is not the taps of windows that are laid over each other"
    raise NoPattern(Reason.NO_TAP, message, (summed,))


class _Skew(NamedTuple):
    """The expression that is bounded: ``position + slope * i + offset``, with a kept axis and the summed axis i."""

    position: int
    slope: int
    offset: int


def _skew(bound: Guard, summed: int, kept: tuple[int, ...]) -> _Skew | None:
    terms, offset = dict(bound.expression.terms), bound.expression.constant
    slope = terms.pop(Axis(summed), 0)
    position = next(iter(terms), None)
    if list(terms.values()) != [1] or not isinstance(position, Axis) or not isinstance(offset, int):
        return None
    return _Skew(position.position, slope, offset) if position.position in kept else None


def _taps(access: Access, summed: int, shape: Shape, domain: Shape) -> Iterator[tuple[int, int, int]]:
    """Yield (row, sign, b) for each row ``sign * i + b`` that runs over a whole axis of the source."""
    for number, row in enumerate(access.map):
        sign = dict(row.terms).get(Axis(summed), 0)
        whole = len(row.terms) == 1 and abs(sign) == 1 and shape[number] == domain[summed]
        if whole and row.constant == (0 if sign == 1 else shape[number] - 1) and isinstance(row.constant, int):
            yield number, sign, row.constant


def _windows(
    access: Access, bound: Guard, pending: list[Guard], shape: Shape, domain: Shape
) -> Iterator[tuple[int, int, list[Guard]]]:
    """Yield (stride, row, guards): the row is the bounded expression divided by the stride, where it is a multiple."""
    strides = {1} | {division.divisor for row in access.map for division in axes.divisions(row)}
    for stride in sorted(strides):
        quotient = axes.floordiv_within(bound.expression, stride, domain)
        used, remainder = [bound], canonical(bound.expression - quotient * stride, domain)
        if stride > 1:
            masks = (each for each in pending if each.size == 1 and canonical(each.expression, domain) == remainder)
            mask = next(masks, None)
            if mask is None:
                continue
            used.append(mask)
        for number, row in enumerate(access.map):
            missing = shape[number] * stride - bound.size
            covers = extents.is_nonnegative(missing) and extents.is_nonnegative(stride - 1 - missing)
            if covers and canonical(row, domain) == canonical(quotient, domain):
                yield stride, number, used


def _other_rows(access: Access, found: list[FoldAxis], reduce: Reduce) -> tuple[tuple[int, AxisExpr], ...]:
    """The rows that are of no window, over the axes of the result."""
    folded = {row for each in found for row in (each.window, each.tap)}
    if len(folded) != 2 * len(found) or len({each.position for each in found}) != len(found):
        raise NoPattern(Reason.NO_TAP, "two summed axes are the taps of the same windows")
    taken = {reduce.kept[each.position] for each in found} | {*reduce.reduced}
    others = {number: row for number, row in enumerate(access.map) if number not in folded}
    for number, row in others.items():
        if axes.positions(row) & taken:
            message = f"the index {row} moves with a window"
            raise NoPattern(Reason.NOT_RUNNING, message, tuple(sorted(axes.positions(row))), (("source", number),))
    return tuple((number, axes.substitute_axes(row, reduce.first, reduce.result)) for number, row in others.items())
