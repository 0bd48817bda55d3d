"""Plans of scheme `elementwise`: what it accepts, how many neighbours a thread takes at a time, and its grid."""

import dataclasses
from typing import TYPE_CHECKING

from tinyc.analysis.candidate import Candidate
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.plan.fields import Plan
from tinyc.schemes.scheme import PlanRefusals
from tinyc.target.target import Target

if TYPE_CHECKING:  # plans are judged where MLIR is not installed
    from tinyc.analysis.poly_core.fused_loops import FusedLoops

NAME = "elementwise"
THREADS_PER_CTA = 256
#: What a plan calls the axis along which a thread takes neighbours: the innermost one of the outputs.
AXIS = "n"
#: The widest access to global memory, and what a pass through shared memory moves.
ACCESS_BYTES, ROW_BYTES = 16, 128
#: The static shared memory of a CTA on every target.
SHARED_BYTES = 49152


def refusal_of(candidate: Candidate) -> str | None:
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


def loops_of(candidate: Candidate) -> "FusedLoops":
    """The fused loops of a candidate that is accepted."""
    assert not isinstance(candidate.loops, str)
    return candidate.loops


def default_width(candidate: Candidate) -> int:
    """As many neighbours as make one access of the widest elements of a buffer that is as large as the outputs.

    Wider runs would leave gaps between the accesses of neighbouring threads there. What is turned in shared memory is
    so in runs that divide both of its sides.
    """
    loops, width = loops_of(candidate), ACCESS_BYTES // _widest_bytes(candidate)
    turned = transposition(candidate)
    sides = [] if turned is None else [loops.extents[loop] for loop in turned]
    while width > 1 and any(extents.divide(side, width) is None for side in sides):
        width //= 2
    return width


def _widest_bytes(candidate: Candidate) -> int:
    largest = loops_of(candidate).steps
    full = [each for each in candidate.tensors if extents.product(each.shape) == largest] or candidate.tensors
    return max((each.element.size_bytes for each in full), default=1)


def transposition(candidate: Candidate) -> tuple[int, int] | None:
    """The two loops whose axes are turned in shared memory, if something lies across and is long enough to gain."""
    from tinyc.analysis.transposition import transposition_of  # MLIR: candidates of kernels have loops

    found = transposition_of(loops_of(candidate))
    if found is None:
        return None
    loops, tile = (found.innermost, found.across), tile_of(candidate)
    sides = [loops_of(candidate).extents[loop] for loop in loops]
    is_short = any(isinstance(side, int) and side < tile // 4 for side in sides)
    shared = (len(found.reads) + len(found.writes)) * tile * tile * _widest_bytes(candidate)
    return None if is_short or shared > SHARED_BYTES else loops


def tile_of(candidate: Candidate) -> int:
    """The side of a square that is turned: a row of it is as long as all banks of shared memory together."""
    return ROW_BYTES // _widest_bytes(candidate)


def complete_elementwise(plan: Plan, candidate: Candidate, refusals: PlanRefusals) -> Plan:
    """`plan` with the width of its accesses."""
    given = plan.vectorize
    if given is None:
        return dataclasses.replace(plan, vectorize={"axis": AXIS, "width": default_width(candidate)})
    if given["axis"] != AXIS:
        message = f"has the axis {given['axis']}, and scheme '{NAME}' takes neighbours along {AXIS}; write {AXIS}"
        refusals.add("PlanMismatch", "vectorize", message)
    return plan


def elementwise_grid(candidate: Candidate, width: int, target: Target) -> tuple[Dim, Dim, Dim]:
    """The CTAs that have a thread for each run of neighbours, as far as a grid has room for them.

    Raises:
        ExtentError: their number is not a representable extent.
    """
    loops, turned = loops_of(candidate), transposition(candidate)
    if turned is None:
        ctas = extents.ceildiv(loops.steps, width * THREADS_PER_CTA)
    else:
        tile = tile_of(candidate)
        counts = [extents.ceildiv(each, tile) if loop in turned else each for loop, each in enumerate(loops.extents)]
        ctas = extents.product(counts)
    return (min(ctas, target.ctas_per_grid_x) if isinstance(ctas, int) else ctas, 1, 1)
