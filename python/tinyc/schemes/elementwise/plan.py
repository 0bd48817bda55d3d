"""Scheme `elementwise`: what it accepts, how many neighbours a thread takes at a time, and what is turned."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinyc.analysis.candidate import Candidate
from tinyc.expr import axes, extents
from tinyc.expr.extents import Dim
from tinyc.schemes.neighbours import ACCESS_BYTES, loops_of, shared_by_ctas, widest_bytes
from tinyc.schemes.shared_operands import SharedOperand, shared_operands
from tinyc.target.target import Target

if TYPE_CHECKING:  # plans are judged where MLIR is not installed
    from tinyc.analysis.poly.block import PolyAccess
    from tinyc.analysis.poly_core.fused_loops import Phase
    from tinyc.analysis.transposition import Transposition

CTA_THREADS = 256
#: What a pass through the banks of shared memory moves.
_PASS_BYTES = 128
#: A square is not worth its barriers where a side of what is turned is a smaller part of one of its own.
_SMALLEST_PART = 4


@dataclass(frozen=True)
class Squares:
    """Squares that are turned in shared memory: their sides in elements, and the numbers of the two loops."""

    side: int
    loops: tuple[int, int]
    shared_bytes: int


def elementwise_refusal(candidate: Candidate) -> str | None:
    """Why a candidate is no kernel of the scheme; None where it is one."""
    if candidate.scatter is not None or candidate.top_k is not None:
        return "its results are not computed element by element"
    if isinstance(candidate.loops, str):
        return candidate.loops
    if candidate.loops.reductions:
        return "it has a reduction"
    if any(phase.inner for phase in candidate.loops.phases):
        return "its results do not have the same elements"
    return None


def squares_of(candidate: Candidate, target: Target) -> Squares | None:
    """The squares of a kernel in which something lies across another axis, if they are worth it and fit."""
    from tinyc.analysis.transposition import transposition_of  # MLIR: candidates with loops are of kernels

    loops = loops_of(candidate)
    found: Transposition | None = transposition_of(loops)
    if found is None:
        return None
    element_bytes = widest_bytes(candidate, loops.steps)
    side = _PASS_BYTES // element_bytes
    sides = [loops.extents[loop] for loop in (found.innermost, found.across)]
    shared_bytes = (len(found.reads) + len(found.writes)) * side * side * element_bytes
    is_small = any(isinstance(each, int) and each * _SMALLEST_PART < side for each in sides)
    if is_small or shared_bytes > target.shared_bytes_per_cta_static:
        return None
    return Squares(side, (found.innermost, found.across), shared_bytes)


def neighbours_of(candidate: Candidate, squares: Squares | None) -> int:
    """As many neighbours as make one access of the widest elements.

    In squares they divide both sides. Where what is read has its elements in other places than the results, behind a
    border or from the second one on, they divide its rows and where it begins: else an access would have parts of two.
    """
    loops = loops_of(candidate)
    width = ACCESS_BYTES // widest_bytes(candidate, loops.steps)
    if squares is None:
        parts = [part for phase in loops.phases for access in phase.block.accesses for part in _parts(phase, access)]
    else:
        parts = [loops.extents[loop] for loop in squares.loops]
    while width > 1 and any(extents.divide(part, width) is None for part in parts):
        width //= 2
    return width


def shared_by_elements(candidate: Candidate, width: int, squares: Squares | None) -> tuple[SharedOperand, ...]:
    """What lies along the last axes of the results, where the elements of a CTA go along these several times."""

    def in_common(phase: "Phase", access: "PolyAccess") -> Dim | None:
        shape = phase.block.statement.shape
        moving = [position for position in phase.loops if shape[position] != 1]
        last = [position for position in moving if position >= min(access.positions)]
        row = extents.product(shape[position] for position in last)
        is_row = [axes.plain_axis(each) for each in access.index if each.terms] == last != moving
        return row if is_row and isinstance(row, int) and row < width * CTA_THREADS else None

    return () if squares is not None else shared_operands(candidate, in_common)


def _parts(phase: "Phase", access: "PolyAccess") -> list[Dim]:
    """What runs along the innermost loop must divide, so that an access reads all elements of one."""
    shape, rows = phase.block.statement.shape, [row for row in access.index if row.terms]
    moving = [position for position in phase.loops if shape[position] != 1]
    read = frozenset[int]().union(*(axes.positions(row) for row in rows))
    is_in_place = not access.guards and [axes.plain_axis(row) for row in rows] == moving
    if is_in_place or not moving or read != frozenset(moving) or moving[-1] not in axes.positions(rows[-1]):
        return []
    begins = axes.plain_axis(rows[-1] - rows[-1].constant) == moving[-1]
    return [shape[moving[-1]], rows[-1].constant] if begins else [1]


def elementwise_grid(candidate: Candidate, width: int, squares: Squares | None, target: Target) -> tuple[Dim, Dim, Dim]:
    """The CTAs that have a thread for each run of neighbours, or one for each square.

    Raises:
        ExtentError: their number is not a representable extent.
    """
    loops = loops_of(candidate)
    if squares is None:
        return shared_by_ctas(loops.steps, width * CTA_THREADS, target)
    counts = [
        extents.ceildiv(each, squares.side) if loop in squares.loops else each
        for loop, each in enumerate(loops.extents)
    ]
    return shared_by_ctas(extents.product(counts), 1, target)
