"""What schemes share whose threads take several neighbouring elements at a time, `vectorize.width` of a plan.

In: a candidate with fused loops. Out: how many neighbours one access takes, plans with that decided, and grids.
"""

import dataclasses
import itertools
from typing import TYPE_CHECKING

from tinyc.analysis.candidate import Candidate
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.plan.fields import Plan
from tinyc.plan.refusals import PlanRefusals
from tinyc.target.target import Target

if TYPE_CHECKING:  # plans are judged where MLIR is not installed
    from tinyc.analysis.poly_core.fused_loops import FusedLoops

#: The widest access to global memory.
ACCESS_BYTES = 16
#: What a plan calls the axis along which a thread takes neighbours: the innermost one in memory.
NEIGHBOUR_AXIS = "n"


def loops_of(candidate: Candidate) -> "FusedLoops":
    """The fused loops of a candidate that has some."""
    assert not isinstance(candidate.loops, str)
    return candidate.loops


def widest_bytes(candidate: Candidate, count: Dim) -> int:
    """The size of the widest elements of the buffers that have `count` of them or more; of all where none has.

    Runs of neighbours are made for these: longer ones would leave gaps between the accesses of neighbouring threads.
    """
    has = (extents.is_nonnegative(extents.product(each.shape) - count) for each in candidate.tensors)
    full = list(itertools.compress(candidate.tensors, has)) or candidate.tensors
    return max((each.element.size_bytes for each in full), default=1)


def access_bytes(candidate: Candidate, count: Dim, width: int) -> int:
    """The bytes of an access to `width` neighbours in the buffer of the widest elements that has `count` of them."""
    return min(ACCESS_BYTES, width * widest_bytes(candidate, count))


def with_width(plan: Plan, scheme: str, default: int, most: int, refusals: PlanRefusals) -> Plan:
    """`plan` with the neighbours that a thread takes at a time: as given, `most` at most, or the default."""
    given = plan.vectorize
    if given is None:
        return dataclasses.replace(plan, vectorize={"axis": NEIGHBOUR_AXIS, "width": default})
    if given["axis"] != NEIGHBOUR_AXIS:
        message = f"has the axis {given['axis']}, and scheme '{scheme}' takes neighbours along {NEIGHBOUR_AXIS}"
        refusals.add("PlanMismatch", "vectorize", f"{message}; write {NEIGHBOUR_AXIS}")
    if given["width"] > most:
        message = (
            f"has the width {given['width']}, and a run of neighbours has {most} here at most; choose {most} or less"
        )
        refusals.add("PlanMismatch", "vectorize", message)
    return plan


def shared_by_ctas(count: Dim, per_cta: int, target: Target) -> tuple[Dim, Dim, Dim]:
    """The CTAs that share `count` parts of work, as many as there are places for, as far as a grid has room for them.

    Raises:
        ExtentError: their number is not a representable extent.
    """
    ctas = extents.ceildiv(count, per_cta)
    return (min(ctas, target.ctas_per_grid_x) if isinstance(ctas, int) else ctas, 1, 1)
