"""What schemes share whose threads share rows: how rows lie in memory, and in which runs of neighbours they are taken.

A row is a step of fused loops. Its elements lie beside each other, or rows do: they go *across* memory.
"""

import math
from collections import Counter
from typing import TYPE_CHECKING, Protocol

from tinyc.analysis.candidate import Candidate
from tinyc.expr import axes, extents
from tinyc.expr.extents import Dim
from tinyc.plan.fields import Plan
from tinyc.plan.refusals import PlanRefusals
from tinyc.schemes.neighbours import ACCESS_BYTES, loops_of, widest_bytes, with_width
from tinyc.schemes.scheme import Scheme
from tinyc.schemes.shared_operands import SharedOperand, build_shared, shared_operands
from tinyc.target.target import Target

if TYPE_CHECKING:  # plans are judged where MLIR is not installed
    from tinyc.analysis.poly.block import PolyAccess
    from tinyc.analysis.poly_core.fused_loops import FusedLoops, Phase
    from tinyc.dialects.region.to_gpu.function import Frame, Origin

#: The runs of a row that is long: the few elements at its ends, which may be in no whole run, do not matter there.
_LONG_RUNS = 32


class CtaRows(Protocol):
    """How threads of a CTA share its rows."""

    @property
    def lanes(self) -> str:
        """Along which of x and y threads share a row."""
        ...

    @property
    def width(self) -> int:
        """How many neighbours a thread takes at a time."""
        ...

    @property
    def rows_per_cta(self) -> int:
        """How many rows a CTA computes at a time."""
        ...


class RowScheme(Scheme):
    """Kernels whose threads share rows."""

    fields = ("vectorize",)

    def complete(self, plan: Plan, candidate: Candidate, target: Target, refusals: PlanRefusals) -> Plan:
        """The width of its accesses."""
        width = row_width(candidate)
        return with_width(plan, self.name, width, width, refusals)

    def summary(self, plan: Plan) -> str:
        """The scheme with its width."""
        assert plan.vectorize is not None  # it is complete
        return f"{self.name}, runs of {plan.vectorize['width']}"


def row_length(phase: "Phase") -> Dim:
    """How many elements a phase takes of a row; a scan takes those of its result."""
    reduced = () if phase.scan_axis is not None else phase.reduced_extents
    return extents.product((*phase.inner_extents, *reduced))


def _row_lengths(loops: "FusedLoops") -> list[Dim]:
    """How many elements each phase takes of a row, but for those of which a row has one."""
    return [row_length(phase) for phase in loops.phases if phase.inner or phase.reduced]


def row_width(candidate: Candidate) -> int:
    """As many neighbours as make one access of the widest elements.

    Rows that are no multiples of that are taken in runs that are aligned, if they are long enough; short ones, and rows
    that go across, in runs that divide them. What a row has one element of has no say.
    """
    loops, width = loops_of(candidate), ACCESS_BYTES // row_element_bytes(candidate)
    if go_across(loops):
        along: list[Dim] = [rows_beside(loops)]
    else:
        along = [each for each in _row_lengths(loops) if isinstance(each, int) and each < _LONG_RUNS * width]
    while width > 1 and any(extents.divide(each, width) is None for each in along):
        width //= 2
    return width


def row_element_bytes(candidate: Candidate) -> int:
    """The size of the widest elements of the buffers that have all elements of the rows."""
    return widest_bytes(candidate, row_elements(candidate))


def row_elements(candidate: Candidate) -> Dim:
    """The number of elements that all rows have together."""
    loops = loops_of(candidate)
    lengths = [row_length(phase) for phase in loops.phases]
    return loops.steps * max(lengths, key=lambda length: length if isinstance(length, int) else math.inf)


def rows_beside(loops: "FusedLoops") -> Dim:
    """How many rows that go across lie beside each other: elements of others are between them and the next ones."""
    from tinyc.analysis.contiguous_loops import contiguous_loops  # MLIR: candidates with loops are of kernels

    return extents.product(loops.extents[len(loops.extents) - contiguous_loops(loops) :])


def runs_of(length: int, width: int) -> int:
    """In how many runs of `width` a row is taken, if those need not begin where it does."""
    return -(-(length + (width - 1 if length % width else 0)) // width)


def go_across(loops: "FusedLoops") -> bool:
    """Whether rows lie beside each other in most of what is read and written of them, not by what they share."""
    votes: Counter[bool] = Counter()
    anchors = {phase.block.name for phase in loops.phases}
    for phase in loops.phases:
        own, inner = set(phase.loops), {*phase.inner, *phase.reduced}
        rows = [access.index for access in phase.block.accesses if access.tensor not in anchors]
        for index in [*rows, *([phase.block.write] if phase.inner else [])]:
            if all(any(axes.positions(row) & part for row in index) for part in (own, inner)):
                last = axes.positions(index[-1])
                votes[bool(last & own) and not last & inner] += 1
    return votes[True] > votes[False]


def shared_by_rows(candidate: Candidate, shape: CtaRows) -> tuple[SharedOperand, ...]:
    """What all rows read in common, where a CTA has several of them, or one that is not aligned.

    Of such a row a thread would take single elements, and its neighbours others of the same sectors.
    """
    is_one = shape.rows_per_cta == 1 or loops_of(candidate).steps == 1
    is_aligned = shape.lanes == "y" or _aligned_to(candidate, shape.width) == shape.width
    return () if is_one and is_aligned else shared_operands(candidate, _of_all_rows)


def build_shared_by_rows(origin: "Origin", frame: "Frame", shape: CtaRows) -> None:
    """Emit the statement that copies what all rows of a CTA read."""
    # Where rows go across, each element of theirs is one to all threads beside each other.
    width = shape.width if shape.lanes == "x" else 1
    operands = shared_by_rows(origin.candidate, shape)
    build_shared(origin, frame, operands, width, _aligned_to(origin.candidate, width))


def _aligned_to(candidate: Candidate, width: int) -> int:
    """The most elements, `width` at most, of which runs begin at multiples in each row."""
    lengths = _row_lengths(loops_of(candidate))
    while any(extents.divide(length, width) is None for length in lengths):
        width //= 2
    return width


def _of_all_rows(phase: "Phase", access: "PolyAccess") -> Dim | None:
    """How many elements a row reads by an access, if each row reads the same; None where they do not."""
    if access.positions & set(phase.loops):
        return None
    return extents.product(phase.block.statement.shape[position] for position in access.positions)
