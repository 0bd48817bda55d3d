"""Steps that lie beside each other in memory, where threads below each other share one: a CTA takes a stripe of them.

Where runs of `width` steps make them up, a thread takes one run. Else it takes steps of which those of threads beside
each other are neighbours, and each row of threads begins where a sector of memory does: so a warp touches no sector
besides those that it needs. What of a thread's steps is outside of the stripe, others take.
"""

from collections.abc import Sequence

from tinyc.analysis.contiguous_loops import across_accesses, contiguous_loops
from tinyc.analysis.kernel_loops import KernelLoops
from tinyc.codegen.elements import IndexValues
from tinyc.dialects.gpu.expand.loop_steps import LoopSteps
from tinyc.dialects.gpu.expand.vector_elements import VectorElements
from tinyc.dialects.region import ops as region
from tinyc.expr import extents
from tinyc.expr.axes import AxisExpr
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, ir

#: What global memory is moved in.
SECTOR_BYTES = 32
#: Accesses of so many bytes by all lanes of a warp are few sectors: that they begin with one makes a difference.
SMALL_ACCESS_BYTES = 4


class Stripes:
    """The stripes of a statement's steps for one thread, which is number `beside` of `count` along x.

    Of the stripe that is computed now, `places` are the indices of the thread's steps; `there` says for each whether
    it is one, where that is not known, and `local` at which place of the stripe it is, where steps are no runs.
    """

    def __init__(self, elements: VectorElements, steps: LoopSteps, width: int, beside: ir.Value, count: int) -> None:
        self._elements, self._counters, self._steps = elements, elements.counters, steps
        self._width, self._thread, self._threads = width, beside, count
        self._at = self._counters.counter(beside, count)
        together = contiguous_loops(steps.found.loops)
        first = len(steps.extents) - together
        self._outer, self._inner = steps.extents[:first], steps.extents[first:]
        self._size = extents.product(self._inner)
        self.are_runs = extents.divide(self._size, width) is not None
        self._sector = 0 if self.are_runs else _sector_elements(steps.found)
        self.steps_each = count * width - self._sector
        self.counter = beside
        self.places: list[IndexValues] = []
        self.there: list[ir.Value] | None = None
        self.local: list[AxisExpr] = []

    @property
    def number(self) -> Dim:
        """The number of stripes."""
        return extents.product(self._outer) * extents.ceildiv(self._size, self.steps_each)

    def go_to(self, number: ir.Value, row: AxisExpr) -> None:
        """Emit which steps the thread takes of a stripe; `row` is its number among those that share them."""
        counters, each = self._counters, extents.ceildiv(self._size, self.steps_each)
        *outer, stripe = counters.delinearized(counters.expression(number), (*self._outer, each))
        index = [counters.value(at) for at in outer]
        columns = self._runs(stripe) if self.are_runs else self._neighbours(index, stripe, row)
        self.places = [(*index, *self._inside(column)) for column in columns]

    def _inside(self, column: AxisExpr) -> IndexValues:
        return self._elements.delinearized(self._counters.value(column), self._inner)

    def _runs(self, stripe: AxisExpr) -> list[AxisExpr]:
        """The steps of a thread that takes a run."""
        run, runs = stripe * self._threads + self._at, extents.floordiv(self._size, self._width)
        if extents.divide(runs, self._threads) is None:
            at = self._counters.value(run)
            self.there = [self._elements.within(at, runs)] * self._width
            self.counter = arith.minsi(at, self._elements.extent(runs - 1))
            run = self._counters.counter(self.counter, runs)
        return [run * self._width + lane for lane in range(self._width)]

    def _neighbours(self, outer: Sequence[ir.Value], stripe: AxisExpr, row: AxisExpr) -> list[AxisExpr]:
        """The steps of a thread of which those beside it have the neighbours."""
        elements, value = self._elements, self._counters.value
        base = stripe * self.steps_each
        begins = self._steps.begins_across((*outer, *self._inside(base)), row)
        shift = 0 if begins is None else self._counters.divided(begins, self._sector)[1]
        self.local = [self._at + self._threads * number - shift for number in range(self._width)]
        self.there = []
        for local in self.local:
            there = elements.within(value(local), self.steps_each)
            if extents.divide(self._size, self.steps_each) is None:
                there = arith.andi(there, elements.within(value(base + local), self._size))
            self.there.append(there)
        return [base + local for local in self.local]


def _sector_elements(found: KernelLoops) -> int:
    """How many of the widest elements that are read across rows a sector has."""
    reads = [found.tensor(each.tensor).owner for phase in found.loops.reductions for each in across_accesses(phase)]
    sizes = [region.held_tensor(op.buffer.type).element.size_bytes for op in reads if isinstance(op, region.ReadOp)]
    return SECTOR_BYTES // max(sizes, default=SECTOR_BYTES)
