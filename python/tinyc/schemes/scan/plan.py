"""Scheme `scan`: what it accepts, and how the threads of a CTA share rows, by their length."""

from dataclasses import dataclass

from tinyc.analysis.candidate import Candidate
from tinyc.expr import axes
from tinyc.schemes.neighbours import loops_of
from tinyc.schemes.rows import go_across, row_length, runs_of

_WARP, _THREADS = 32, 256
#: The threads of a CTA where rows go across and each has its own: no more than two warps, for rows may be few.
_BESIDE = 64


@dataclass(frozen=True)
class ScanShape:
    """How rows are shared: the threads of a CTA along x and y, and along which of the two they share a row."""

    cta: tuple[int, int]
    lanes: str
    width: int

    @property
    def rows_per_cta(self) -> int:
        """How many rows a CTA computes at a time."""
        return self.cta[1] if self.lanes == "x" else self.cta[0] * self.width


def scan_refusal(candidate: Candidate) -> str | None:
    """Why a candidate is no kernel of the scheme; None where it is one."""
    if isinstance(candidate.loops, str):
        return candidate.loops
    loops = candidate.loops
    if [phase.scan_axis is None for phase in loops.reductions] != [False]:
        return "its reductions are not one scan"
    (scan,) = loops.reductions
    along = scan.scan_axis
    if along is None or scan.inner != (along,):
        return f"'{scan.block.name}' has other axes in a row"
    place = scan.block.write.index(axes.axis(along, scan.block.statement.shape))
    for phase in loops.phases:
        # A thread has the elements of the scan that it has come by, and no others.
        rows = [read.index[place] for read in phase.block.accesses if read.tensor == scan.block.name]
        if phase.inner_extents != scan.inner_extents or any(axes.plain_axis(row) != phase.inner[0] for row in rows):
            return f"'{phase.block.name}' does not go along with '{scan.block.name}'"
    return None


def scan_shape(candidate: Candidate, width: int) -> ScanShape:
    """The threads of a CTA, and how they share rows; rows of a length that is not known are a CTA's."""
    loops = loops_of(candidate)
    if go_across(loops):
        return ScanShape((_BESIDE, 1), "y", width)
    length = row_length(loops.phases[-1])
    lanes = _THREADS
    if isinstance(length, int):
        lanes = min(1 << max(runs_of(length, width) - 1, 0).bit_length(), _THREADS)
    return ScanShape((lanes, _THREADS // lanes if lanes <= _WARP else 1), "x", width)
