"""Whether a layout is right: for all sizes, by proof, or at some, by looking.

What is proved is that of two buffers that interfere one starts no lower than the other ends, that all start at
multiples of the alignment and end inside the arena. Of sizes it is known that none is negative, and, of some pairs,
which is no smaller: an offset is a sum of sizes, and what is left of one less another has to be such a sum.
"""

import bisect
import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.analysis.arena.heights import Heights
from tinyc.analysis.arena.lifetimes import Request, interference
from tinyc.expr import extents
from tinyc.expr.extents import Dim, Extent, Monomial
from tinyc.expr.maximum import MaximumDim, maximum_dims
from tinyc.vocabulary.alignment import ALIGNMENT_BYTES, aligned_size

#: Pairs of buffers that a proof looks at, at the most; it takes about 20 µs for each.
_MAX_PAIRS = 200_000


@dataclass(frozen=True)
class Placed:
    """A buffer at an offset, all sizes known."""

    name: str
    start: int
    size: int
    first: int
    last: int


def is_proved_apart(offsets: Sequence[Dim], requests: Sequence[Request], total: MaximumDim) -> bool:
    """Whether a layout is right for all sizes of at least 0; False: not known.

    Raises:
        ExtentError: a difference of two offsets is beyond what an extent can say.
    """
    if not all(_is_aligned(offset) for offset in (*offsets, *maximum_dims(total))):
        return False
    pairs = interference(requests, _MAX_PAIRS)
    if pairs is None:
        return False
    sizes = _Sizes([request.size for request in requests])
    ends = [offset + aligned_size(each.size) for offset, each in zip(offsets, requests, strict=True)]
    inside = (
        sizes.cover(offset) and any(sizes.cover(last - end) for last in maximum_dims(total))
        for offset, end in zip(offsets, ends, strict=True)
    )
    return all(inside) and all(
        sizes.cover(offsets[one] - ends[other]) or sizes.cover(offsets[other] - ends[one])
        for one, others in enumerate(pairs)
        for other in others
        if other < one
    )


def _is_aligned(offset: Dim) -> bool:
    terms = offset.terms if isinstance(offset, Extent) else (((), offset),)
    return all(coefficient % ALIGNMENT_BYTES == 0 for _, coefficient in terms)


class _Sizes:
    """What is known of sizes, to show that a difference of offsets is not negative.

    Such a difference is read as a sum of heights: each size whose formula does not show it stands for one of its terms,
    less the rest of it, wherever that term is.
    """

    def __init__(self, sizes: Sequence[Dim]) -> None:
        self._heights = Heights({})
        self._replaced: list[tuple[Monomial, int, Dim]] = []
        self._units: dict[str, Dim] = {}
        self._known: dict[Dim, bool] = {}
        for size in dict.fromkeys(sizes):
            for units in self._heights.of_size(size):
                rest = self._named(units)
                terms = [(atoms, count) for atoms, count in _terms(rest) if abs(count) == 1 and _is_free(atoms)]
                if not _is_plain(units) and terms:
                    atoms, sign = terms[-1]
                    name = extents.symbol(f"{_NAME}{len(self._replaced)}")
                    self._replaced.append((atoms, sign, name - rest))
                    self._units[str(name)] = units

    def _named(self, units: Dim) -> Dim:
        """A formula with names for sizes in the place of their terms."""
        for atoms, sign, instead in self._replaced:
            count = dict(_terms(units)).get(atoms, 0)
            if count:
                units = units + instead * (count * sign)
        return units

    def cover(self, difference: Dim) -> bool:
        """Whether a multiple of the alignment is at least 0 for all sizes."""
        if difference not in self._known:
            self._known[difference] = extents.is_nonnegative(difference) or self._is_covered(difference)
        return self._known[difference]

    def _is_covered(self, difference: Dim) -> bool:
        more: dict[Dim, int] = {}
        less: dict[Dim, int] = {}
        for atoms, count in _terms(self._named(extents.floordiv(difference, ALIGNMENT_BYTES))):
            term: Dim = Extent(((atoms, 1),)) if atoms else 1
            term = self._units.get(str(term), term)
            if count < 0:
                less[term] = -count
            elif term in self._units.values() or extents.is_nonnegative(term):
                more[term] = count
            else:
                return False
        return self._heights.covers(more, less)


#: What the names of sizes begin with, and no symbol does.
_NAME = "%"


def _terms(dim: Dim) -> Sequence[tuple[Monomial, int]]:
    if isinstance(dim, Extent):
        return dim.terms
    return (((), dim),) if dim else ()


def _is_plain(units: Dim) -> bool:
    """Whether a term of a height is a number, or a product of symbols."""
    atoms = () if isinstance(units, int) else units.atoms
    return all(isinstance(atom, str) for atom in atoms) and extents.is_nonnegative(units)


def _is_free(atoms: Monomial) -> bool:
    return bool(atoms) and not any(isinstance(atom, str) and atom.startswith(_NAME) for atom in atoms)


def overlaps(placed: Sequence[Placed]) -> list[tuple[Placed, Placed]]:
    """Pairs that share a byte while both are alive: for each buffer at most its nearest neighbours."""
    found: list[tuple[Placed, Placed]] = []
    alive: list[tuple[int, str, Placed]] = []  # by start
    leaving: list[tuple[int, int, str]] = []
    for buffer in sorted((each for each in placed if each.size), key=lambda each: (each.first, each.name)):
        while leaving and leaving[0][0] < buffer.first:
            _, start, name = heapq.heappop(leaving)
            del alive[bisect.bisect_left(alive, (start, name), key=lambda entry: entry[:2])]
        position = bisect.bisect_left(alive, (buffer.start, buffer.name), key=lambda entry: entry[:2])
        for _, _, other in alive[max(position - 1, 0) : position + 1]:
            if other.start < buffer.start + buffer.size and buffer.start < other.start + other.size:
                found.append((other, buffer))
        alive.insert(position, (buffer.start, buffer.name, buffer))
        heapq.heappush(leaving, (buffer.last, buffer.start, buffer.name))
    return found
