"""Which of the common loops of a kernel go along memory together, where its rows lie beside each other.

In: fused loops. Out: how many of the last loops are one row of neighbours in what is read: between other steps lie
elements of the rows.
"""

from tinyc.analysis.poly.block import PolyAccess
from tinyc.analysis.poly_core.fused_loops import FusedLoops, Phase
from tinyc.expr import axes


def contiguous_loops(loops: FusedLoops) -> int:
    """How many of the last loops go together, one at least where there is one."""
    found = [_count(phase, access) for phase in loops.reductions for access in across_accesses(phase)]
    return min(found, default=min(1, len(loops.extents)))


def across_accesses(phase: Phase) -> list[PolyAccess]:
    """The reads of a phase that have their neighbours along its last loop, and no border."""
    if not phase.loops:
        return []
    last = phase.loops[-1]
    return [each for each in phase.block.accesses if each.index and not each.guards and _row(each) == last]


def _row(access: PolyAccess) -> int | None:
    """The axis of a phase along which an access has its neighbours."""
    moving = [row for row in access.index if row.terms]
    return axes.plain_axis(moving[-1]) if moving else None


def _count(phase: Phase, access: PolyAccess) -> int:
    rows = [axes.plain_axis(row) for row in access.index if row.terms]
    count = 0
    for loop, row in zip(reversed(phase.loops), reversed(rows), strict=False):
        if loop != row:
            break
        count += 1
    return count
