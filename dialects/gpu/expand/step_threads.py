"""Which steps the threads of a CTA compute, and which part of one each: along x or along y they share a step.

Where they are along x, a step's elements lie beside each other: a thread takes `width` neighbours of each turn. Where
they are along y, steps lie beside each other: a thread takes part in `width` steps, and one element of each a turn.
"""

import contextlib
import functools
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from tinyc.analysis.poly_core.fused_loops import Phase
from tinyc.codegen.elements import IndexValues
from tinyc.diagnostics import TinycError
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.loop_steps import LoopSteps
from tinyc.dialects.gpu.expand.stripes import SECTOR_BYTES, SMALL_ACCESS_BYTES, Stripes
from tinyc.dialects.gpu.expand.threads import comment
from tinyc.dialects.gpu.expand.vector_elements import Inside
from tinyc.dialects.gpu.kernel import WARP_LANES
from tinyc.dialects.gpu.statements import ReduceRowsOp, ScanRowsOp
from tinyc.expr import extents
from tinyc.expr.axes import AxisExpr, constant
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, gpu, ir
from tinyc.mlir.locations import around, where

#: The runs of a row that is long: at its ends an access may take elements besides.
_LONG_RUNS = 32


@dataclass
class Turn:
    """One turn of a thread along the inner axes of a phase: the indices of its run, and which of it is inside."""

    turn: ir.Value
    counter: ir.Value
    indices: list[IndexValues]
    inside: Inside | None


@dataclass(frozen=True)
class _Beginning:
    """By how many elements runs begin before a step, so that the first is at a multiple of `aligned_to` in memory."""

    shift: AxisExpr
    aligned_to: int


class StepThreads:
    """The steps that a thread takes part in; `totals` is how many of them at a time."""

    def __init__(self, expansion: Expansion, op: ReduceRowsOp | ScanRowsOp, steps: LoopSteps, unrolled: bool) -> None:
        self.elements, self.steps, self.threads = expansion.elements, steps, expansion.threads
        self.counters = self.elements.counters
        self.width, self.unrolled, self._name = op.width.value, unrolled, op.operation.name.rpartition(".")[2]
        self.in_rows = op.lanes.value == "x"
        x, y, _ = self.threads.cta_shape
        self.lane_count, self.group_count = (x, y) if self.in_rows else (y, x)
        lane, group = (self.threads.x, self.threads.y) if self.in_rows else (self.threads.y, self.threads.x)
        self.lane, self.group = lane, group
        # One thread alone is counted all the same: by its number is known what goes along a row, and may be outside.
        self._at_lane = self.counters.counter(lane, max(self.lane_count, 2 if self.in_rows else 1))
        self.totals = 1 if self.in_rows else self.width
        self.stripes = None if self.in_rows else Stripes(self.elements, steps, self.width, group, self.group_count)
        if self.stripes is not None and not self.stripes.are_runs:
            _require_whole_warps(op, self.group_count)
        self._at_group = self.counters.counter(group, self.group_count) if self.in_rows else constant(0)
        self.there: list[ir.Value] | None = None  # whether the steps that are computed now are not beyond the last one
        self._at_step = constant(0)
        self.places: list[IndexValues] = []

    @contextlib.contextmanager
    def all_steps(self) -> Generator[None]:
        """Emit the loop in which the CTAs of the grid share the steps.

        Threads beyond the last step go along, for shuffles and barriers are all threads', and access nothing.
        """
        count = self.steps.found.loops.steps
        groups = extents.ceildiv(count, self.group_count) if self.stripes is None else self.stripes.number
        block, grid = gpu.block_id(gpu.Dimension.x), gpu.grid_dim(gpu.Dimension.x)
        with self.elements.loop(block, groups, grid) as number:
            comment(f"{self._name}: {self.lane_count} threads for each step")
            if self.stripes is None:
                self._go_to(number, count)
            else:
                self.stripes.go_to(number, self._at_lane)
                self.places, self.there = self.stripes.places, self.stripes.there
            yield

    def _go_to(self, number: ir.Value, count: Dim) -> None:
        """Emit which step a thread has a part in, of steps whose elements lie beside each other."""
        step = self.counters.expression(number) * self.group_count + self._at_group
        if extents.divide(count, self.group_count) is None:
            at = self.counters.value(step)
            self.there = [self.elements.within(at, count)]
            step = self.counters.counter(arith.minsi(at, self.elements.extent(count - 1)), count)
        self._at_step = step
        self.places = [self.elements.delinearized(self.counters.value(step), self.steps.extents)]

    def turns(self, phase: Phase) -> Dim:
        """How often a thread takes elements of a phase."""
        begins = self._beginning(phase)
        return extents.ceildiv(self._size(phase) + (0 if begins is None else begins.aligned_to - 1), self._share)

    def _beginning(self, phase: Phase) -> "_Beginning | None":
        """Where runs of a phase begin, where they are aligned in memory and steps are not.

        Of several buffers that begin differently, the most have a say.
        """
        if not self.in_rows:
            return None
        reads = list(self.steps.beginnings(phase, self.places[0]))
        aligned_to, element_bytes = self.width, max((size for _, size in reads), default=self.steps.element_bytes)
        if self.lane_count >= WARP_LANES and self.width * element_bytes <= SMALL_ACCESS_BYTES:
            aligned_to = max(self.width, SECTOR_BYTES // element_bytes)
        votes = Counter(self.counters.divided(address, aligned_to)[1] for address, _ in reads)
        at_step = self.counters.scaled(self._at_step, self._size(phase))
        shift = votes.most_common(1)[0][0] if votes else self.counters.divided(at_step, aligned_to)[1]
        if extents.divide(self._size(phase), aligned_to) is not None and shift == constant(0):
            return None
        return _Beginning(shift, aligned_to)

    def folded(
        self,
        phase: Phase,
        start: Sequence[ir.Value],
        step: Callable[[Turn, list[ir.Value]], list[ir.Value]],
        reverse: bool = False,
    ) -> list[ir.Value]:
        """Emit the turns of a phase, which carry values from `start` by `step(turn, values)`; return the last ones."""
        turns, values = self.turns(phase), list(start)
        if self.unrolled and isinstance(turns, int):
            for number in range(turns):
                values = step(self.turn(phase, self.elements.index(number), number, reverse), values)
            return values
        return self.elements.carried(
            [turns], values, lambda at, so_far: step(self.turn(phase, at[0], None, reverse), so_far)
        )

    @property
    def _share(self) -> int:
        """How many elements of a step its threads take in a turn."""
        return self.lane_count * (self.width if self.in_rows else 1)

    def _size(self, phase: Phase) -> Dim:
        return extents.product(self._shape(phase))

    def _shape(self, phase: Phase) -> tuple[Dim, ...]:
        """The extents of the axes inside of a step; what a scan runs over is not among them."""
        return phase.inner_extents if phase.scan_axis is not None else (*phase.inner_extents, *phase.reduced_extents)

    def turn(self, phase: Phase, turn: ir.Value, number: int | None = None, reverse: bool = False) -> Turn:
        """A turn of a phase, the one of that `number` if it is known; in `reverse`, the last elements come first."""
        at = self.counters.expression(turn) * self.lane_count + self._at_lane
        if reverse:
            at = constant(self.turns(phase) * self.lane_count - 1) - at
        shape = self._shape(phase)
        if self.stripes is not None:
            places = [self._delinearized(at, shape)] * self.width
            indices = [self.steps.index(phase, each, place) for each, place in zip(self.places, places, strict=True)]
            return Turn(turn, self.stripes.counter, indices, self._inside(phase, turn, at, number))
        first, begins = at * self.width, self._beginning(phase)
        if begins is not None:
            first -= begins.shift
            inside = self._shifted_inside(phase, turn, first)
        else:
            inside = self._inside(phase, turn, at, number)
        places = [self._delinearized(first + lane, shape) for lane in range(self.width)]
        return Turn(turn, self.lane, [self.steps.index(phase, self.places[0], place) for place in places], inside)

    def _inside(self, phase: Phase, turn: ir.Value, at: AxisExpr, number: int | None) -> Inside | None:
        """Whether a thread has something to take in a turn, where that is not known."""
        size = self._size(phase)
        whole = extents.divide(size, self._share) is not None
        if isinstance(size, int) and number is not None:
            whole = (number + 1) * self._share <= size
        runs = extents.floordiv(size, self._share // self.lane_count)
        if whole and self.there is None:
            return None
        lanes = self.there or []
        if not whole:
            within = self.elements.within(self.counters.value(at), runs)
            lanes = [arith.andi(within, each) for each in lanes] or [within]
        lanes = [lanes[min(lane, len(lanes) - 1)] for lane in range(self.width)]
        every, bounds = functools.reduce(arith.andi, dict.fromkeys(lanes)), (at, None if whole else runs)
        if self.stripes is None or self.stripes.are_runs:
            return Inside(tuple(lanes), every, None, (turn, self.lane), bounds)
        return Inside(tuple(lanes), every, lanes[0], (turn, self.lane, self.group), bounds)

    def _shifted_inside(self, phase: Phase, turn: ir.Value, first: AxisExpr) -> Inside:
        """Which elements from `first` on are those of a step."""
        size, elements, counters = self._size(phase), self.elements, self.counters
        lanes = [elements.within(counters.value(first + lane), size) for lane in range(self.width)]
        some = arith.cmpi(arith.CmpIPredicate.slt, counters.value(first), elements.extent(size))
        if self.there is not None:
            (there,) = self.there
            lanes, some = [arith.andi(lane, there) for lane in lanes], arith.andi(some, there)
        whole = arith.andi(lanes[0], lanes[-1])
        if isinstance(size, int) and size < _LONG_RUNS * self.width:
            some = whole  # what accesses at the ends take besides would be a part of all that is read
        return Inside(tuple(lanes), whole, some, (turn, self.lane), (first, size), first)

    def _delinearized(self, linear: AxisExpr, shape: Sequence[Dim]) -> IndexValues:
        return self.elements.delinearized(self.counters.value(linear), shape)


def _require_whole_warps(op: ReduceRowsOp | ScanRowsOp, beside: int) -> None:
    """Check that threads may take steps apart from each other: lanes of a warp then have all the same row.

    Raises:
        TinycError: `NoGpuKernel`.
    """
    if beside != WARP_LANES or isinstance(op, ScanRowsOp):
        message = (
            f"'{op.operation.name}' takes {op.width.value} rows beside each other, which do not divide all of them"
        )
        hint = "" if isinstance(op, ScanRowsOp) else f", or {WARP_LANES} threads along x"
        raise TinycError("NoGpuKernel", f"{message}; give it a width that does{hint}", where(around(op)))
