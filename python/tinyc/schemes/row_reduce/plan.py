"""Plans of scheme `row_reduce`: what it accepts, and how the threads of a CTA share rows, by their length."""

import dataclasses
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinyc.analysis.candidate import Candidate
from tinyc.expr import axes, extents
from tinyc.expr.extents import Dim
from tinyc.plan.fields import Plan
from tinyc.schemes.elementwise.plan import ACCESS_BYTES, AXIS, loops_of
from tinyc.schemes.scheme import PlanRefusals
from tinyc.target.target import Target

if TYPE_CHECKING:  # plans are judged where MLIR is not installed
    from tinyc.analysis.poly.block import PolyAccess
    from tinyc.analysis.poly_core.fused_loops import FusedLoops, Phase

NAME = "row_reduce"
_WARP = 32
_THREADS = 256
#: A warp takes a row of so many runs for each lane at most; a CTA takes longer ones, with so many for each thread.
_RUNS_OF_WARP, _RUNS_OF_CTA = 8, 4
_LONGEST_CTA = 512
#: The elements of a row that a thread keeps in registers at most, so that it has some left: of a CTA of 512 threads, of
#: which each has 128 registers, and of 1024.
_KEPT, _KEPT_OF_LARGEST, _LARGEST_CTA = 104, 40, 1024
#: The runs of a row that is long.
_LONG_RUNS = 32
#: Where rows lie beside each other: the threads beside each other, whose runs are whole sectors, and those of a row.
_BESIDE, _DOWN = 8, 32


@dataclass(frozen=True)
class RowShape:
    """How rows are shared: the threads of a CTA along x and y, along which of the two they share a row (`lanes`).

    `width` is how many neighbours a thread takes at a time; where it is `unrolled`, it keeps what it has read.
    """

    cta: tuple[int, int]
    lanes: str
    width: int
    unrolled: bool

    @property
    def rows_per_cta(self) -> int:
        """How many rows a CTA computes at a time."""
        return self.cta[1] if self.lanes == "x" else self.cta[0] * self.width

    def shared_bytes(self, candidate: Candidate) -> int:
        """The shared memory in which warps exchange what they have: a value for each row that a warp has a part in."""
        warps = self.cta[0] * self.cta[1] // _WARP
        if self.lanes == "x" and self.cta[0] <= _WARP:
            return 0
        values = 1 if self.lanes == "x" else self.cta[0] * self.width
        sizes = [phase.block.element.accumulator.size_bytes for phase in loops_of(candidate).reductions]
        return warps * values * sum(sizes)


def refusal_of(candidate: Candidate) -> str | None:
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


def row_width(candidate: Candidate) -> int:
    """As many neighbours as make one access of the widest elements.

    Rows that are no multiples of that are taken in runs that are aligned, if they are long enough for the few elements
    at their ends not to matter; short ones, and rows beside each other, in runs that divide them.
    """
    loops = loops_of(candidate)
    sizes = [phase.block.element.size_bytes for phase in loops.phases]
    size = max((each.element.size_bytes for each in candidate.tensors), default=max(sizes))
    width = ACCESS_BYTES // size
    if is_across(loops):
        along = [loops.extents[-1]]
    else:
        lengths = [row_length(phase) for phase in loops.phases]
        along = [each for each in lengths if isinstance(each, int) and each < _LONG_RUNS * width]
    while width > 1 and any(extents.divide(each, width) is None for each in along):
        width //= 2
    return width


def is_across(loops: "FusedLoops") -> bool:
    """Whether rows lie beside each other in most of what is read and written of them."""
    votes: Counter[bool] = Counter()
    anchors = {phase.block.name for phase in loops.phases}
    for phase in loops.phases:
        own, inner = set(phase.loops), {*phase.inner, *phase.reduced}
        rows = [access.index for access in phase.block.accesses if access.tensor not in anchors]
        for index in [*rows, *([phase.block.write] if phase.inner else [])]:
            if index and any(axes.positions(row) & inner for row in index):
                last = axes.positions(index[-1])
                votes[bool(last & own) and not last & inner] += 1
    return votes[True] > votes[False]


def row_shape(candidate: Candidate, width: int) -> RowShape:
    """The threads of a CTA, and how they share rows."""
    loops = loops_of(candidate)
    lengths = [row_length(phase) for phase in loops.phases]
    longest = max((each for each in lengths if isinstance(each, int)), default=1)
    is_known = all(isinstance(each, int) for each in lengths)
    kept = width * _held(loops)
    if is_across(loops):
        turns = -(-longest // _DOWN)
        return RowShape((_BESIDE, _DOWN), "y", width, is_known and turns * kept <= _KEPT)
    shifted = any(extents.divide(each, width) is None for each in lengths)
    runs = -(-(longest + (width - 1 if shifted else 0)) // width)
    if is_known and runs <= _WARP * _RUNS_OF_WARP:
        lanes = min(1 << max(runs - 1, 0).bit_length(), _WARP)
        return RowShape((lanes, _THREADS // lanes), "x", width, -(-runs // lanes) * kept <= _KEPT)
    threads = _THREADS
    if is_known:
        threads = max(_THREADS, min(1 << (-(-runs // _RUNS_OF_CTA) - 1).bit_length(), _LONGEST_CTA))
        if -(-runs // threads) * kept <= _KEPT:
            return RowShape((threads, 1), "x", width, True)
        threads = _LARGEST_CTA
    return RowShape((threads, 1), "x", width, is_known and -(-runs // threads) * kept <= _KEPT_OF_LARGEST)


def row_length(phase: "Phase") -> Dim:
    """How many elements a phase takes of a row; a scan takes those of its result."""
    return extents.product(phase.inner_extents if phase.scan_axis is not None else _inside(phase))


def _inside(phase: "Phase") -> tuple[Dim, ...]:
    return (*phase.inner_extents, *phase.reduced_extents)


def _held(loops: "FusedLoops") -> int:
    """How many numbers a thread keeps for each element of a row: what several phases read, one at least."""
    anchors = {phase.block.name for phase in loops.phases}
    read = Counter(name for phase in loops.phases for name in {each.tensor for each in phase.block.accesses} - anchors)
    return max(1, sum(count > 1 for count in read.values()))


def row_grid(candidate: Candidate, shape: RowShape, target: Target) -> tuple[Dim, Dim, Dim]:
    """The CTAs that have a place for each row, as far as a grid has room for them.

    Raises:
        ExtentError: their number is not a representable extent.
    """
    ctas = extents.ceildiv(loops_of(candidate).steps, shape.rows_per_cta)
    return (min(ctas, target.ctas_per_grid_x) if isinstance(ctas, int) else ctas, 1, 1)


def complete_width(plan: Plan, scheme: str, most: int, refusals: PlanRefusals) -> Plan:
    """`plan` with the width of its accesses: the given one, or the most that `scheme` takes."""
    given = plan.vectorize
    if given is None:
        return dataclasses.replace(plan, vectorize={"axis": AXIS, "width": most})
    if given["axis"] != AXIS:
        message = f"has the axis {given['axis']}, and scheme '{scheme}' takes neighbours along {AXIS}; write {AXIS}"
        refusals.add("PlanMismatch", "vectorize", message)
    if given["width"] > most:
        message = f"has the width {given['width']}, and rows are taken in runs of {most} at most; choose {most} or less"
        refusals.add("PlanMismatch", "vectorize", message)
    return plan
