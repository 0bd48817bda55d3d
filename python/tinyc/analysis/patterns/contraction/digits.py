"""Joint axes written in digits, so that what reads merged axes reads plain ones.

``floor(i0 / 14)`` and ``i0 - 14 * floor(i0 / 14)`` are the rows of an image of width 14 under a merged axis i0. Where
the divisors of an axis form a chain (each divides the next, the last the extent), the axis is a mixed-radix number, and
over its digits these rows are axes. Source: the cut points of recipe "polyhedral", §4.
"""

import functools
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tinyc.analysis.access import Access
from tinyc.expr import axes, extents
from tinyc.expr.axes import Axis, AxisExpr, Index, Shape
from tinyc.expr.extents import Dim


@dataclass(frozen=True)
class Digits:
    """The digits of the joint axes: their extents, which are those of each axis (`of`), and each axis as their sum.

    The coarsest digit of an axis comes first. An axis that is not split is its only digit.
    """

    shape: Shape
    of: tuple[tuple[int, ...], ...]
    index: Index

    @property
    def are_axes(self) -> bool:
        """Whether no axis is split: the digits are the joint axes."""
        return len(self.shape) == len(self.of)

    def axis_of(self, digit: int) -> int:
        """The joint axis that `digit` belongs to."""
        return next(axis for axis, digits in enumerate(self.of) if digit in digits)

    def names(self, axes: Sequence[str]) -> tuple[str, ...]:
        """The name of each digit, the joint axes being called `axes`: `m`, or `m.0, m.1` where m is split."""
        pairs = zip(axes, self.of, strict=True)
        parts = ([axis] if len(of) == 1 else [f"{axis}.{number}" for number in range(len(of))] for axis, of in pairs)
        return tuple(itertools.chain.from_iterable(parts))

    def rewrite(self, access: Access) -> Access:
        """An access over the joint axes as one over the digits."""
        if self.are_axes:
            return access
        return access.with_expressions(_composed(access.expressions, self.index, self.shape))


_composed = functools.lru_cache(maxsize=1 << 14)(axes.compose)


def split_digits(domain: Shape, accesses: Iterable[Access]) -> Digits:
    """The digits of `domain` in which the floor divisions of the accesses are axes, as far as there are any.

    An axis whose divisors form no chain stays whole, and its divisions stay with it.
    """
    cuts: dict[int, set[int]] = {}
    for access in accesses:
        for expression in access.expressions:
            for axis, step in _cut_points(expression):
                cuts.setdefault(axis, set()).add(step)
    return _digits(domain, tuple((axis, tuple(sorted(found))) for axis, found in sorted(cuts.items())))


@functools.lru_cache(maxsize=1 << 14)
def _cut_points(expression: AxisExpr) -> tuple[tuple[int, int], ...]:
    """(position of i, ``q / c``) for each ``floor((c * i + …) / q)`` that is in the expression."""
    return tuple(
        (atom.position, division.divisor // coefficient)
        for division in axes.divisions(expression)
        for atom, coefficient in division.numerator.terms
        if isinstance(atom, Axis) and division.divisor % coefficient == 0 and division.divisor > coefficient > 0
    )


@functools.lru_cache(maxsize=4096)
def _digits(domain: Shape, cuts: tuple[tuple[int, tuple[int, ...]], ...]) -> Digits:
    chosen = dict(cuts)
    shape: list[Dim] = []
    of: list[tuple[int, ...]] = []
    weights: list[list[int]] = []
    for axis, extent in enumerate(domain):
        sizes, steps = _radices(extent, chosen.get(axis, ()))
        of.append(tuple(range(len(shape), len(shape) + len(sizes))))
        weights.append(steps)
        shape += sizes
    digits = tuple(shape)
    index: list[AxisExpr] = []
    for positions, steps in zip(of, weights, strict=True):
        terms = (axes.axis(position, digits) * step for position, step in zip(positions, steps, strict=True))
        index.append(sum(terms, start=axes.constant(0)))
    return Digits(digits, tuple(of), tuple(index))


def _radices(extent: Dim, cuts: tuple[int, ...]) -> tuple[list[Dim], list[int]]:
    """The extents of the digits of an axis and what each counts; one digit where the cuts are not a chain."""
    steps = [1, *cuts]
    sizes: list[Dim] = []
    for step, coarser in zip(steps, (*cuts, extent), strict=True):
        size = extents.divide(coarser, step)
        if size is None or size == 1:
            return [extent], [1]
        sizes.append(size)
    return sizes[::-1], steps[::-1]
