"""Sums of sizes that are not known: which of two is no smaller, and one that is no smaller than either.

A height is a sum of terms, each a number of times: a size of a buffer, or a product of symbols out of one, in units of
the alignment. No term is ever negative, and of two terms one may be known to be no smaller than the other. Extents have
no maximum; the *join* of two heights stands for it: what both have, with the larger of the terms that pair off, and
what is left of either.
"""

import itertools
from collections.abc import Mapping
from typing import TypeAlias

from tinyc.expr import extents
from tinyc.expr.extents import Dim, Extent, ExtentError
from tinyc.vocabulary.alignment import ALIGNMENT_BYTES

#: The terms of a height, each with how often it is in the sum.
Height: TypeAlias = Mapping[Dim, int]


class Heights:
    """Heights over the sizes of one program, which are of about what they are at `sample`."""

    def __init__(self, sample: Mapping[str, int]) -> None:
        self._sample = sample
        #: For a term that is a size rounded up, its bytes before that.
        self._bytes: dict[Dim, Dim] = {}
        self._known: dict[Dim, bool] = {}

    def of_size(self, size: Dim) -> Height:
        """The height of one buffer."""
        units = extents.ceildiv(size, ALIGNMENT_BYTES)
        if isinstance(units, int):
            return {1: units} if units else {}
        if all(count > 0 and all(isinstance(atom, str) for atom in atoms) for atoms, count in units.terms):
            return {Extent(((atoms, 1),)) if atoms else 1: count for atoms, count in units.terms}
        self._bytes.setdefault(units, size)
        return {units: 1}

    def covers(self, larger: Height, smaller: Height) -> bool:
        """Whether one height is no smaller than another for all sizes (False: not known)."""
        more, less = _less(larger, smaller), _less(smaller, larger)
        return self._lacks(more, less) == 0 or self._paired(more, less) == (more, {})

    def join(self, one: Height, other: Height) -> Height:
        """A height that is no smaller than either for all sizes."""
        if self.covers(one, other):
            return one
        if self.covers(other, one):
            return other
        paired, rest = self._paired(_less(one, other), _less(other, one))
        found = [plus(plus(_common(one, other), paired), rest)]
        for larger, smaller in ((one, other), (other, one)):
            lacking = self._lacks(_less(larger, smaller), _less(smaller, larger))
            if lacking is not None:
                found.append(plus(larger, {1: lacking}))
        return min(found, key=self.at_sample)

    def at_sample(self, height: Height) -> int:
        """About what a height is, in units of the alignment."""
        return sum(count * value_at(term, self._sample) for term, count in height.items())

    def _lacks(self, more: Height, less: Height) -> int | None:
        """How many units `more` needs on top to be no smaller than `less`; None where it may need any number.

        What is rounded up term by term is less than one unit for each term above what is rounded up together.
        """
        terms = [({term: count for term, count in side.items() if term != 1}) for side in (more, less)]
        if not terms[1]:
            return max(0, less.get(1, 0) - more.get(1, 0))
        difference = extents.sum_of(
            self._bytes.get(term, term * ALIGNMENT_BYTES) * (sign * count)
            for side, sign in zip(terms, (1, -1), strict=True)
            for term, count in side.items()
        )
        if not self._is_nonnegative(difference):
            return None
        rounded = sum(count for term, count in terms[1].items() if term in self._bytes)
        return max(0, max(0, rounded - 1) + less.get(1, 0) - more.get(1, 0))

    def _paired(self, more: Height, less: Height) -> tuple[Height, Height]:
        """`more` with those of its terms that are smaller than ones of `less` replaced by them, and what is left over.

        Terms of `less` that are no larger than ones of `more` are gone, each with another one.
        """
        spare, kept, rest = dict(more), dict(more), dict(less)
        for is_replaced in (False, True):
            for term, other in itertools.product(less, more):
                both = min(rest[term], spare[other])
                if both and self._is_no_smaller(*((term, other) if is_replaced else (other, term))):
                    spare[other] -= both
                    rest[term] -= both
                    if is_replaced:
                        kept[other] -= both
                        kept[term] = kept.get(term, 0) + both
        return plus({}, kept), plus({}, rest)

    def _is_no_smaller(self, one: Dim, other: Dim) -> bool:
        if isinstance(one, int) or isinstance(other, int):
            return one == other
        sizes = [self._bytes.get(each, each * ALIGNMENT_BYTES) for each in (one, other)]
        return self._is_nonnegative(sizes[0] - sizes[1])

    def _is_nonnegative(self, difference: Dim) -> bool:
        if difference not in self._known:
            self._known[difference] = extents.is_nonnegative(difference)
        return self._known[difference]


def plus(one: Height, other: Height) -> Height:
    """The sum of two heights."""
    total = dict(one)
    for term, count in other.items():
        if count:
            total[term] = total.get(term, 0) + count
    return total


def _common(one: Height, other: Height) -> Height:
    return {term: min(count, other[term]) for term, count in one.items() if term in other}


def _less(one: Height, other: Height) -> dict[Dim, int]:
    """What one height has more of than another."""
    rests = ((term, count - other.get(term, 0)) for term, count in one.items())
    return {term: rest for term, rest in rests if rest > 0}


def height_bytes(height: Height) -> Dim:
    """A height as an extent in bytes."""
    return extents.sum_of(term * (count * ALIGNMENT_BYTES) for term, count in height.items())


def value_at(dim: Dim, values: Mapping[str, int]) -> int:
    """About what a size is at a sample: 0 where the program cannot be run at it."""
    try:
        return max(0, extents.evaluate(dim, values))
    except ExtentError:  # a division by zero
        return 0
