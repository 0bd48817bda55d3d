"""Which tensors of a kernel without reductions lie along another axis than its results: what has to be transposed.

In: fused loops, all of whose phases are results. Out: a `Transposition`. Elements that are neighbours in memory are
those along the innermost dimension; along the innermost loop that is so for the last result.
"""

from collections import Counter
from dataclasses import dataclass

from tinyc.analysis.movement import Index
from tinyc.analysis.poly.block import PolyAccess
from tinyc.analysis.poly_core.fused_loops import FusedLoops, Phase
from tinyc.expr import axes


@dataclass(frozen=True)
class Transposition:
    """The loops by number: along `innermost` most tensors have neighbours, along `across` those that are listed have.

    `reads` are accesses with their phases, `writes` the phases whose results lie along `across`.
    """

    innermost: int
    across: int
    reads: tuple[tuple[Phase, PolyAccess], ...]
    writes: tuple[Phase, ...]


def transposition_of(loops: FusedLoops) -> Transposition | None:
    """What has to be transposed, if all of it lies along one other axis."""
    if not loops.phases or any(phase.is_reduction or phase.inner for phase in loops.phases):
        return None
    innermost = _loop_along(loops.phases[-1], loops.phases[-1].block.write)
    reads = [(phase, access, _loop_along(phase, access.index)) for phase in loops.phases for access in _full(phase)]
    writes = [(phase, _loop_along(phase, phase.block.write)) for phase in loops.phases]
    others = Counter(loop for *_, loop in (*reads, *writes) if loop not in (None, innermost))
    if innermost is None or len(others) != 1:
        return None
    (across,) = others
    assert across is not None  # it is counted
    return Transposition(
        innermost,
        across,
        tuple((phase, access) for phase, access, loop in reads if loop == across),
        tuple(phase for phase, loop in writes if loop == across),
    )


def _full(phase: Phase) -> list[PolyAccess]:
    """The accesses of a phase that read an element of their own in each step, wherever it is."""
    moving = {position for position, extent in enumerate(phase.block.statement.shape) if extent != 1}
    return [
        access
        for access in phase.block.accesses
        if not access.guards and set().union(*(axes.positions(row) for row in access.index)) == moving
    ]


def _loop_along(phase: Phase, index: Index) -> int | None:
    """The loop along which what is at `index` has its neighbours; None where it is no loop alone."""
    row = next((row for row in reversed(index) if row.terms), None)
    position = None if row is None else axes.plain_axis(row)
    return None if position is None else phase.loops.index(position)
