"""What the threads of a step have in common: their partial results combined, in registers of all of them.

Lanes of a warp exchange theirs by shuffles over growing distances; of several warps each writes its result to shared
memory, and every thread combines these, in their order.
"""

from collections.abc import Sequence

from tinyc.codegen import scalars
from tinyc.codegen.elements import accumulator_element
from tinyc.dialects.gpu.expand.alloc_smem import shared_array
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.step_threads import StepThreads
from tinyc.dialects.gpu.expand.warp import shuffled
from tinyc.dialects.gpu.kernel import WARP_LANES
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr.axes import AxisExpr
from tinyc.mlir import gpu, ir, memref


class CtaTotal:
    """Combines partial results of a step's threads."""

    def __init__(self, expansion: Expansion, threads: StepThreads) -> None:
        self._expansion, self._threads = expansion, threads
        self._distance = 1 if threads.in_rows else threads.group_count  # between threads of a step, in lanes
        together = threads.lane_count * self._distance
        self._warps = max(together // WARP_LANES, 1)
        self._beside = min(self._distance, WARP_LANES)  # steps that a warp has beside each other
        self.in_shared_memory = self._warps > 1

    def of(self, op: tiny.ReduceOp, partial: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit the combination of what each thread of a step has; of several steps, one for each."""
        values, elements = list(partial), self._threads.elements
        distance = self._distance
        while distance < min(self._threads.lane_count * self._distance, WARP_LANES):
            others = [shuffled(gpu.ShuffleMode.XOR, value, distance) for value in values]
            values = [elements.combined(op, *pair) for pair in zip(values, others, strict=True)]
            distance *= 2
        return self._across_warps(op, values) if self.in_shared_memory else values

    def _across_warps(self, op: tiny.ReduceOp, values: list[ir.Value]) -> list[ir.Value]:
        elements, element = self._threads.elements, accumulator_element(op)
        counters, size = elements.counters, len(values) * self._beside
        memory = shared_array(self._expansion, element, size * self._warps)
        thread = counters.counter(self._expansion.threads.linear, self._expansion.threads.count)
        warp, lane = counters.divided(thread, WARP_LANES)
        with elements.where(elements.within(counters.value(lane), self._beside)):
            for value, place in zip(values, self._places(lane, len(values)), strict=True):
                memref.store(scalars.to_storage(element, value), memory, [counters.value(warp * size + place)])
        gpu.barrier()
        _, beside = counters.divided(thread, self._beside)
        return [self._loaded_total(op, memory, place, size) for place in self._places(beside, len(values))]

    def _places(self, beside: AxisExpr, count: int) -> list[AxisExpr]:
        """Where in a warp's part of the memory the values of its steps are: equal steps are in equal places."""
        stripes, size = self._threads.stripes, count * self._beside
        if stripes is None or stripes.are_runs:
            return [beside + number * self._beside for number in range(count)]
        # What is before the stripe goes where it leaves room at its end.
        return [self._threads.counters.divided(local + size, size)[1] for local in stripes.local]

    def _loaded_total(self, op: tiny.ReduceOp, memory: ir.Value, place: AxisExpr, size: int) -> ir.Value:
        elements, element = self._threads.elements, accumulator_element(op)
        total: ir.Value | None = None
        for warp in range(self._warps):
            stored = memref.load(memory, [elements.counters.value(place + warp * size)])
            value = scalars.from_storage(element, stored)
            total = value if total is None else elements.combined(op, total, value)
        assert total is not None  # there are several warps
        return total
