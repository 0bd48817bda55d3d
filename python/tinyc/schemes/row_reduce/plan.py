"""Scheme `row_reduce`: what it accepts, and how the threads of a CTA share rows, by their length."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinyc.analysis.candidate import Candidate
from tinyc.expr import axes, extents
from tinyc.expr.extents import Dim
from tinyc.schemes.neighbours import loops_of
from tinyc.schemes.rows import go_across, row_element_bytes, row_length, rows_beside, runs_of

if TYPE_CHECKING:  # plans are judged where MLIR is not installed
    from tinyc.analysis.poly.block import PolyAccess
    from tinyc.analysis.poly_core.fused_loops import FusedLoops, Phase

_WARP, _THREADS = 32, 256
#: A warp takes a row of so many runs for each lane at most; a CTA takes longer ones, with so many for each thread.
_RUNS_OF_WARP, _RUNS_OF_CTA = 8, 4
_LONG_CTA, _LONGEST_CTA = 512, 1024
#: The elements of a row that a thread keeps in registers at most, so that it has some left: of a CTA of 512 threads, of
#: which each has 128 registers, and of 1024.
_KEPT, _KEPT_BY_LONGEST = 104, 40
#: Where rows go across, the bytes that threads beside each other take: four sectors, or as many more as make little of
#: the one that is touched besides where they do not begin with a sector.
_SECTOR_BYTES, _BESIDE_BYTES, _UNALIGNED_BYTES = 32, 128, 256
#: Of accesses that are smaller, those of a warp do not have four sectors; then a thread takes so many rows.
_SMALLEST_ACCESS, _APART = 4, 4


@dataclass(frozen=True)
class RowShape:
    """How rows are shared: the threads of a CTA along x and y, along which of the two they share a row (`lanes`).

    `width` is how many neighbours a thread takes at a time; where it is `unrolled`, it keeps what it has read. Where
    rows go across and are no multiple of that, a thread takes rows apart from each other, and `sector` elements less
    are a CTA's, so that accesses can begin where sectors do.
    """

    cta: tuple[int, int]
    lanes: str
    width: int
    unrolled: bool
    sector: int = 0

    @property
    def rows_per_cta(self) -> int:
        """How many rows a CTA computes at a time."""
        return self.cta[1] if self.lanes == "x" else self.cta[0] * self.width - self.sector

    def in_flight(self, loops: "FusedLoops") -> int:
        """How many accesses of a thread are on their way at a time: all of its part of a row, if it keeps that."""
        lengths = [length for phase in loops.phases if isinstance(length := row_length(phase), int)]
        if not self.unrolled:
            return 1
        if self.lanes == "x":
            return -(-runs_of(max(lengths), self.width) // self.cta[0])
        return -(-max(lengths) // self.cta[1])

    def shared_bytes(self, loops: "FusedLoops") -> int:
        """The shared memory in which warps exchange what they have: a value for each row that a warp has a part in."""
        if self.lanes == "x" and self.cta[0] <= _WARP:
            return 0
        warps, rows = self.cta[0] * self.cta[1] // _WARP, 1 if self.lanes == "x" else self.cta[0] * self.width
        sizes = [phase.block.element.accumulator.size_bytes for phase in loops.reductions]
        return warps * rows * sum(sizes)


def reduction_refusal(candidate: Candidate) -> str | None:
    """Why a candidate is no kernel of the scheme; None where it is one."""
    if candidate.scatter is not None or candidate.top_k is not None:
        return "its results are not computed row by row"
    if isinstance(candidate.loops, str):
        return candidate.loops
    if not candidate.loops.reductions:
        return "it has no reduction"
    if candidate.loops.products:
        return f"'{candidate.loops.products[0].block.name}' is a matrix product, and rows would share its operands"
    for phase in candidate.loops.reductions:
        name = phase.block.name
        if phase.scan_axis is not None:
            return f"'{name}' is a scan"
        if phase.inner:
            return f"'{name}' has several elements in a row"
        if any(_is_window(phase, access) for access in phase.block.accesses):
            return f"'{name}' reduces windows, which overlap"
    return None


def _is_window(phase: "Phase", access: "PolyAccess") -> bool:
    """Whether a dimension of what is read moves with the rows and with what is reduced."""
    rows = [axes.positions(row) for row in access.index]
    return any(row & set(phase.loops) and row & set(phase.reduced) for row in rows)


def reduction_shape(candidate: Candidate, width: int) -> RowShape:
    """The threads of a CTA, and how they share rows; rows of a length that is not known are a CTA's."""
    loops = loops_of(candidate)
    lengths = [row_length(phase) for phase in loops.phases]
    known = [each for each in lengths if isinstance(each, int)]
    longest = max(known) if len(known) == len(lengths) else None
    kept = width * _held(loops)
    if go_across(loops):
        return _across(candidate, width, kept, longest)
    if longest is None:
        return RowShape((_THREADS, 1), "x", width, unrolled=False)
    runs = runs_of(longest, width)
    if runs <= _WARP * _RUNS_OF_WARP:
        lanes = min(1 << max(runs - 1, 0).bit_length(), _WARP)
        return RowShape((lanes, _THREADS // lanes), "x", width, -(-runs // lanes) * kept <= _KEPT)
    threads = max(_THREADS, min(1 << (-(-runs // _RUNS_OF_CTA) - 1).bit_length(), _LONG_CTA))
    if -(-runs // threads) * kept <= _KEPT:
        return RowShape((threads, 1), "x", width, unrolled=True)
    return RowShape((_LONGEST_CTA, 1), "x", width, -(-runs // _LONGEST_CTA) * kept <= _KEPT_BY_LONGEST)


def _across(candidate: Candidate, width: int, kept: int, longest: int | None) -> RowShape:
    """The shape where rows go across: threads beside each other take whole sectors, those below them share rows."""
    element_bytes, rows = row_element_bytes(candidate), rows_beside(loops_of(candidate))
    is_few = isinstance(rows, int) and rows < _WARP
    if width * element_bytes < _SMALLEST_ACCESS and not is_few:
        return _apart(rows, _SECTOR_BYTES // element_bytes, kept // width, longest)
    is_aligned = extents.divide(rows * element_bytes, _SECTOR_BYTES) is not None
    beside = min((_BESIDE_BYTES if is_aligned else _UNALIGNED_BYTES) // (width * element_bytes), _WARP)
    if isinstance(rows, int):  # of few rows a warp takes several elements
        beside = min(beside, 1 << max(-(-rows // width) - 1, 0).bit_length())
    down = _THREADS // beside
    is_kept = longest is not None and -(-longest // down) * kept <= _KEPT
    return RowShape((beside, down), "y", width, is_kept)


def _apart(rows: Dim, sector: int, held: int, longest: int | None) -> RowShape:
    """The shape where an access has one element of a row, and rows begin anywhere in a sector of so many elements.

    There are as many threads below each other as rows of memory after which sectors begin in the same places again, or
    half as many where that is the longest CTA, whose threads have too few registers for their addresses.
    """
    again = sector // math.gcd(sector, rows) if isinstance(rows, int) else sector
    taken = _APART if not isinstance(rows, int) or rows + sector > _APART // 2 * _WARP else _APART // 2
    down = max(_THREADS // _WARP, min(again, _LONG_CTA // _WARP))
    is_kept = longest is not None and -(-longest // down) * taken * held <= _KEPT
    return RowShape((_WARP, down), "y", taken, is_kept, sector)


def _held(loops: "FusedLoops") -> int:
    """How many numbers a thread keeps for each element of a row: what several phases read, one at least."""
    anchors = {phase.block.name for phase in loops.phases}
    read = Counter(name for phase in loops.phases for name in {each.tensor for each in phase.block.accesses} - anchors)
    return max(1, sum(count > 1 for count in read.values()))
