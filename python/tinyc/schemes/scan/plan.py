"""Plans of scheme `scan`: what it accepts, and how the threads of a CTA share rows, by their length."""

from dataclasses import dataclass

from tinyc.analysis.candidate import Candidate
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.schemes.elementwise.plan import loops_of
from tinyc.schemes.row_reduce.plan import is_across, row_length
from tinyc.target.target import Target

NAME = "scan"
_WARP, _THREADS = 32, 256
#: The threads of a CTA that walks down rows beside each other: no more than are needed to fill the GPU.
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


def refusal_of(candidate: Candidate) -> str | None:
    """Why a candidate is no kernel of the scheme; None where it is one."""
    if isinstance(candidate.loops, str):
        return candidate.loops
    loops = candidate.loops
    if [phase.scan_axis is None for phase in loops.reductions] != [False]:
        return "its reductions are not one scan"
    (scan,) = loops.reductions
    if scan.inner != (scan.scan_axis,):
        return f"'{scan.block.name}' has other axes in a row"
    if any(phase.inner_extents != scan.inner_extents for phase in loops.phases):
        return f"its results do not go along with '{scan.block.name}'"
    return None


def scan_shape(candidate: Candidate, width: int) -> ScanShape:
    """The threads of a CTA, and how they share rows."""
    loops = loops_of(candidate)
    if is_across(loops):
        return ScanShape((_BESIDE, 1), "y", width)
    length = row_length(loops.phases[-1])
    lanes = _THREADS
    if isinstance(length, int):
        runs = -(-(length + (width - 1 if length % width else 0)) // width)
        lanes = min(1 << max(runs - 1, 0).bit_length(), _THREADS)
    return ScanShape((lanes, _THREADS // lanes if lanes <= _WARP else 1), "x", width)


def scan_grid(candidate: Candidate, shape: ScanShape, target: Target) -> tuple[Dim, Dim, Dim]:
    """The CTAs that have a place for each row, as far as a grid has room for them.

    Raises:
        ExtentError: their number is not a representable extent.
    """
    ctas = extents.ceildiv(loops_of(candidate).steps, shape.rows_per_cta)
    return (min(ctas, target.ctas_per_grid_x) if isinstance(ctas, int) else ctas, 1, 1)
