"""Scheme `row_reduce`: reductions over the same rows, and what is made of them, each row by several threads.

The rows are the steps of the kernel's fused loops. Their elements lie beside each other, and a part of a warp, a warp
or a CTA computes a row, by its length; or rows lie beside each other, and a CTA takes a stripe of them, which its
threads go down together. What fits registers is read once. Longer rows are read again by each phase, but a maximum and
a sum of exponentials below it are one pass (online softmax). Where rows are too few to keep the target's
multiprocessors busy, CTAs take parts of them, and a second kernel what the parts give.

`plan` has what it accepts and the shape of its CTAs, `parts` how rows are split, `build` writes its kernels.
"""

from typing import TYPE_CHECKING

from tinyc.analysis.candidate import Candidate
from tinyc.expr.axes import Shape
from tinyc.plan.fields import Plan
from tinyc.plan.refusals import PlanRefusals
from tinyc.schemes.neighbours import access_bytes, loops_of, shared_by_ctas
from tinyc.schemes.row_reduce.parts import ROW_AXIS, default_part, part_count, part_lengths, with_parts
from tinyc.schemes.row_reduce.plan import reduction_refusal, reduction_shape
from tinyc.schemes.rows import RowScheme, row_elements, row_width, shared_by_rows
from tinyc.schemes.scheme import Acceptance, Refusal, Resources
from tinyc.target.target import Target

if TYPE_CHECKING:
    from tinyc.dialects.region.to_gpu.function import Origin


class RowReduce(RowScheme):
    """Reductions and results that share their rows."""

    name = "row_reduce"
    fields = ("vectorize", "split")

    def accepts(self, candidate: Candidate, target: Target) -> Acceptance | Refusal:
        """Kernels whose reductions are over the inner axes of a step."""
        reason = reduction_refusal(candidate)
        if reason is not None:
            return Refusal("PlanMismatch", reason)
        loops, width = loops_of(candidate), row_width(candidate)
        shape = reduction_shape(candidate, width)
        most, parts = default_part(candidate, shape, target), 1
        if most is not None:
            reduced = loops.reductions[0].reduced_extents
            parts = part_count(reduced, part_lengths(reduced, most))
        grid = shared_by_ctas(loops.steps * parts, shape.rows_per_cta, target)
        wide = access_bytes(candidate, row_elements(candidate), width)
        threads, shared_bytes = shape.cta[0] * shape.cta[1], shape.shared_bytes(loops)
        shared_bytes += sum(each.bytes for each in shared_by_rows(candidate, shape))
        in_flight = 1 if most is not None else shape.in_flight(loops)
        resources = Resources(grid, threads, shared_bytes, vector_bytes=wide, accesses_in_flight=in_flight)
        return Acceptance("its reductions share their rows", resources)

    def complete(self, plan: Plan, candidate: Candidate, target: Target, refusals: PlanRefusals) -> Plan:
        """The width of its accesses, and the length of the parts of rows."""
        plan = super().complete(plan, candidate, target, refusals)
        return with_parts(plan, candidate, reduction_shape(candidate, row_width(candidate)), target, refusals)

    def summary(self, plan: Plan) -> str:
        """The scheme with its width, and how long parts are."""
        return super().summary(plan) + ("" if plan.split is None else f", parts of {plan.split[ROW_AXIS]}")

    def part_lengths(self, plan: Plan, reduced: Shape) -> Shape:
        """Those of parts that have as many elements as `split` says at most."""
        return reduced if plan.split is None else part_lengths(reduced, plan.split[ROW_AXIS])

    def build(self, origin: "Origin") -> None:
        """Write one function."""
        from tinyc.schemes.row_reduce.build import build_row_reduce  # MLIR: when a kernel is built

        build_row_reduce(origin)
