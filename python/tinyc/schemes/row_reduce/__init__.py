"""Scheme `row_reduce`: reductions over the same rows, and what is made of them, each row by several threads.

The rows are the steps of the kernel's fused loops. Their elements lie beside each other, and a part of a warp, a warp
or a CTA computes a row, by its length; or rows lie beside each other, and a CTA takes a stripe of them, which its
threads go down together. What fits registers is read once; of longer rows each phase reads them again.

`plan` has what it accepts and the shape of its CTAs, `build` writes its kernels.
"""

from typing import TYPE_CHECKING

from tinyc.analysis.candidate import Candidate
from tinyc.plan.fields import Plan
from tinyc.schemes.neighbours import loops_of, narrowest_access, shared_by_ctas, with_width
from tinyc.schemes.row_reduce.plan import reduction_refusal, reduction_shape
from tinyc.schemes.rows import row_elements, row_width
from tinyc.schemes.scheme import Acceptance, PlanRefusals, Refusal, Resources, Scheme
from tinyc.target.target import Target

if TYPE_CHECKING:
    from tinyc.dialects.region.to_gpu.function import Origin


class RowReduce(Scheme):
    """Reductions and results that share their rows."""

    name = "row_reduce"
    fields = ("vectorize",)

    def accepts(self, candidate: Candidate, target: Target) -> Acceptance | Refusal:
        """Kernels whose reductions are over the inner axes of a step."""
        reason = reduction_refusal(candidate)
        if reason is not None:
            return Refusal("PlanMismatch", reason)
        loops, width = loops_of(candidate), row_width(candidate)
        shape = reduction_shape(candidate, width)
        grid = shared_by_ctas(loops.steps, shape.rows_per_cta, target)
        narrowest = narrowest_access(candidate, row_elements(candidate), width)
        threads, shared_bytes = shape.cta[0] * shape.cta[1], shape.shared_bytes(loops)
        resources = Resources(grid, threads, shared_bytes, vector_bytes=narrowest)
        return Acceptance("its reductions share their rows", resources)

    def complete(self, plan: Plan, candidate: Candidate, target: Target, refusals: PlanRefusals) -> Plan:
        """The width of its accesses."""
        width = row_width(candidate)
        return with_width(plan, self.name, width, width, refusals)

    def summary(self, plan: Plan) -> str:
        """The scheme with its width."""
        assert plan.vectorize is not None  # it is complete
        return f"{self.name}, runs of {plan.vectorize['width']}"

    def build(self, origin: "Origin") -> None:
        """Write one function."""
        from tinyc.schemes.row_reduce.build import build_row_reduce  # MLIR: when a kernel is built

        build_row_reduce(origin)
