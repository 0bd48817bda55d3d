"""What the threads of a row have before each of them: a scan over their values, in registers and shared memory."""

from tinyc.codegen import scalars
from tinyc.codegen.elements import accumulator_element, initial
from tinyc.dialects.gpu.expand.alloc_smem import shared_array
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.step_threads import StepThreads
from tinyc.dialects.gpu.expand.warp import shuffled
from tinyc.dialects.gpu.kernel import WARP_LANES
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import arith, gpu, ir, memref, scf


class CtaPrefix:
    """Scans the values of threads along x; what is along y are other rows, of which a warp has whole ones."""

    def __init__(self, expansion: Expansion, threads: StepThreads, op: tiny.ReduceOp) -> None:
        self._expansion, self._threads, self._op = expansion, threads, op
        self._lanes = min(threads.lane_count, WARP_LANES)
        self._warps = threads.lane_count // self._lanes

    def of(self, value: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Emit the scan; return what is before the thread, and what all threads of the row have together."""
        elements, counters = self._threads.elements, self._threads.counters
        thread = counters.expression(self._threads.lane)
        warp, lane = counters.divided(thread, self._lanes)
        place = counters.value(lane)
        distance = 1
        while distance < self._lanes:
            other = shuffled(gpu.ShuffleMode.UP, value, distance)
            has_other = arith.cmpi(arith.CmpIPredicate.uge, place, elements.index(distance))
            value = arith.select(has_other, elements.combined(self._op, other, value), value)
            distance *= 2
        others = shuffled(gpu.ShuffleMode.UP, value, 1)
        is_first = arith.cmpi(arith.CmpIPredicate.eq, place, elements.index(0))
        before = arith.select(is_first, initial(self._op), others)
        if self._warps == 1:
            linear = counters.counter(self._expansion.threads.linear, self._expansion.threads.count)
            _, in_warp = counters.divided(linear, WARP_LANES)
            last = counters.value(in_warp - lane + (self._lanes - 1))
            return before, shuffled(gpu.ShuffleMode.IDX, value, last)
        return self._across_warps(value, before, counters.value(warp), place)

    def _across_warps(
        self, value: ir.Value, before: ir.Value, warp: ir.Value, lane: ir.Value
    ) -> tuple[ir.Value, ir.Value]:
        """The same where a row has several warps, and `value` is what a warp has up to the thread."""
        elements, element = self._threads.elements, accumulator_element(self._op)
        memory = shared_array(self._expansion, element, self._warps)
        last = scf.IfOp(arith.cmpi(arith.CmpIPredicate.eq, lane, elements.index(self._lanes - 1)))
        with elements.block(last.then_block):
            memref.store(scalars.to_storage(element, value), memory, [warp])
            scf.yield_([])
        gpu.barrier()
        total, earlier = initial(self._op), initial(self._op)
        for number in range(self._warps):
            of_warp = scalars.from_storage(element, memref.load(memory, [elements.index(number)]))
            total = elements.combined(self._op, total, of_warp)
            is_earlier = arith.cmpi(arith.CmpIPredicate.ult, elements.index(number), warp)
            earlier = arith.select(is_earlier, total, earlier)
        gpu.barrier()  # the next turn writes where others may still read
        return elements.combined(self._op, earlier, before), total
