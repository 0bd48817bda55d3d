"""Where buffers lie in the arena: offsets for buffers with lifetimes, and the check that none overlap.

A buffer is alive in the generations `first … last`. Sizes are extents in bytes; offsets come out as formulas over them,
each a multiple of `ALIGNMENT_BYTES`. Pure Python.
"""

import bisect
import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.expr import extents
from tinyc.expr.extents import Dim

#: Where the arena starts is a multiple of this, and so is each offset into it; it is what a GPU's driver gives, too.
ALIGNMENT_BYTES = 256


@dataclass(frozen=True)
class Request:
    """A buffer that needs a place: its size in bytes and the generations in which it is alive."""

    size: Dim
    first: int
    last: int


@dataclass(frozen=True)
class Placed:
    """A buffer at an offset, all sizes known."""

    name: str
    start: int
    size: int
    first: int
    last: int


@dataclass
class _Slot:
    size: Dim
    free_after: int


def aligned_size(size: Dim) -> Dim:
    """`size` rounded up to the alignment."""
    return extents.ceildiv(size, ALIGNMENT_BYTES) * ALIGNMENT_BYTES


def arena_offsets(requests: Sequence[Request]) -> tuple[list[Dim], Dim]:
    """The offset of each buffer and the size of the arena.

    Buffers take slots: one that nothing alive holds and that has the same size, or is known to be larger for all
    sizes, or to be smaller, and then grows; a new one where there is none.
    """
    slots: list[_Slot] = []
    taken = [0] * len(requests)
    for position in sorted(range(len(requests)), key=lambda each: requests[each].first):
        taken[position] = _take(slots, requests[position])
    starts: list[Dim] = []
    total: Dim = 0
    for slot in slots:
        starts.append(total)
        total = total + aligned_size(slot.size)
    return [starts[slot] for slot in taken], total


def _take(slots: list[_Slot], request: Request) -> int:
    free = [number for number, slot in enumerate(slots) if slot.free_after < request.first]
    for fits in (_same, _larger, _smaller):
        for number in free:
            if fits(slots[number].size, request.size):
                grown = request.size if fits is _smaller else slots[number].size
                slots[number] = _Slot(grown, request.last)
                return number
    slots.append(_Slot(request.size, request.last))
    return len(slots) - 1


def _same(slot: Dim, size: Dim) -> bool:
    return slot == size


def _larger(slot: Dim, size: Dim) -> bool:
    return extents.is_nonnegative(slot - size)


def _smaller(slot: Dim, size: Dim) -> bool:
    return extents.is_nonnegative(size - slot)


def in_slots(starts: Sequence[Dim], requests: Sequence[Request], total: Dim) -> bool:
    """Whether buffers lie in slots, each as large as its largest buffer and with one buffer at a time.

    Slots stand one behind the other from 0 to `total`. True holds for all sizes of at least 0; False: not known.
    """
    slots: dict[Dim, list[Request]] = {}
    for start, request in zip(starts, requests, strict=True):
        slots.setdefault(start, []).append(request)
    end: Dim = 0
    while end in slots:
        held = slots.pop(end)
        size = _largest(held)
        if size is None or _meet(held):
            return False
        end = end + aligned_size(size)
    return not slots and end == total


def _largest(requests: Sequence[Request]) -> Dim | None:
    """The size that is known to be no smaller than any other, or None."""
    largest = requests[0].size
    for request in requests:
        if _smaller(largest, request.size):
            largest = request.size
    return largest if all(_larger(largest, request.size) for request in requests) else None


def _meet(requests: Sequence[Request]) -> bool:
    """Whether two buffers are alive in one generation."""
    ordered = sorted(requests, key=lambda each: each.first)
    return any(later.first <= earlier.last for earlier, later in itertools.pairwise(ordered))


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
