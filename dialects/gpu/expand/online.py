"""A maximum of a row and a sum of exponentials below it, in one pass: each element is read once for both.

A thread has the sum against the greatest element that it has come by, and makes it that against a greater one; at the
end, against the greatest of the row (`analysis.patterns.online_sum`). Where that is an infinity or no number, the
results are those of two passes.
"""

import math
from dataclasses import dataclass

from tinyc.analysis.patterns.online_sum import online_scale
from tinyc.analysis.poly_core.fused_loops import Phase
from tinyc.codegen import scalars
from tinyc.codegen.elements import accumulator_element, initial
from tinyc.dialects.gpu.expand.cta_total import CtaTotal
from tinyc.dialects.gpu.expand.partial import keep, taken, terms_of
from tinyc.dialects.gpu.expand.step_threads import StepThreads, Turn
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.mlir import arith, ir


@dataclass(frozen=True)
class OnlineSum:
    """The sum `total` over a phase, of exponentials below the maximum `greatest`, with the factor `scale` in them."""

    threads: StepThreads
    phase: Phase
    greatest: tiny.ReduceOp
    total: tiny.ReduceOp
    scale: float

    @classmethod
    def of(cls, threads: StepThreads, first: Phase, second: Phase) -> "OnlineSum | None":
        """The sum of a second phase below the maximum of the first; None where it is none, or the row is kept."""
        greatest, total = (threads.steps.found.value(phase).owner for phase in (first, second))
        if not isinstance(greatest, tiny.ReduceOp) or not isinstance(total, tiny.ReduceOp):
            return None
        if threads.unrolled or threads.turns(second) == 1 or first.reduced_extents != second.reduced_extents:
            return None
        scale = online_scale(total, greatest)
        return None if scale is None else cls(threads, second, greatest, total, scale)

    def totals(self, totals: CtaTotal) -> tuple[list[ir.Value], list[ir.Value]]:
        """Emit the pass, and what the threads of a step have in common: the maxima and the sums of the steps."""
        count = self.threads.totals
        start = [*[initial(self.greatest)] * count, *[initial(self.total)] * count]
        partial = self.threads.folded(self.phase, start, self._take)
        maxima = totals.of(self.greatest, partial[:count])
        sums = totals.of(self.total, self._against(maxima, partial[:count], partial[count:]))
        return maxima, [self._as_in_two_passes(*each) for each in zip(maxima, sums, strict=True)]

    def _take(self, turn: Turn, so_far: list[ir.Value]) -> list[ir.Value]:
        threads, before, sums = self.threads, so_far[: self.threads.totals], so_far[self.threads.totals :]
        maxima = taken(threads, self.greatest, before, terms_of(threads, self.greatest, turn))
        zero = scalars.element_constant(accumulator_element(self.greatest), 0)
        # Below minus infinity nothing is; what is there makes 0 below any number.
        keep(threads, self.greatest, [arith.select(self._is_lowest(each), zero, each) for each in maxima])
        sums = self._against(maxima, before, sums)
        return [*maxima, *taken(threads, self.total, sums, terms_of(threads, self.total, turn))]

    def _against(self, maxima: list[ir.Value], before: list[ir.Value], sums: list[ir.Value]) -> list[ir.Value]:
        """Sums against maxima `before` as sums against `maxima`."""
        element = accumulator_element(self.total)
        one, scale = (scalars.element_constant(element, number) for number in (1, self.scale))
        found: list[ir.Value] = []
        for new, old, value in zip(maxima, before, sums, strict=True):
            exponent = scalars.elementwise("mul", element, [scalars.elementwise("sub", element, [old, new]), scale])
            same = arith.cmpf(arith.CmpFPredicate.OEQ, old, new)
            factor = arith.select(same, one, scalars.elementwise("exp2", element, [exponent]))
            found.append(scalars.elementwise("mul", element, [value, factor]))
        return found

    def _as_in_two_passes(self, greatest: ir.Value, value: ir.Value) -> ir.Value:
        """A sum; no number where a row has only minus infinities, whose difference from each other is none."""
        element, size = accumulator_element(self.total), extents.product(self.phase.reduced_extents)
        none = self._is_lowest(greatest)
        if not isinstance(size, int):
            elements = self.threads.elements
            has_some = arith.cmpi(arith.CmpIPredicate.ne, elements.extent(size), elements.index(0))
            none = arith.andi(none, has_some)
        return arith.select(none, scalars.element_constant(element, math.nan), value)

    def _is_lowest(self, value: ir.Value) -> ir.Value:
        return arith.cmpf(arith.CmpFPredicate.OEQ, value, initial(self.greatest))
