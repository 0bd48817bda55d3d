"""Scheme `row_reduce`: reductions over the same rows, and what is made of them, each row by several threads.

The rows are the steps of the kernel's fused loops. Their elements lie beside each other, and a part of a warp, a warp
or a CTA computes a row, by its length; or rows lie beside each other, and a CTA takes a stripe of them, which its
threads go down together. What fits registers is read once; of longer rows each phase reads them again.

`plan` has what it accepts, the shape of its CTAs, and the rules of its plans; `build` writes its kernels.
"""

from typing import TYPE_CHECKING

from tinyc.analysis.candidate import Candidate
from tinyc.plan.fields import Plan
from tinyc.schemes.row_reduce import plan as rules
from tinyc.schemes.scheme import Acceptance, PlanRefusals, Refusal, Resources, Scheme
from tinyc.target.target import Target

if TYPE_CHECKING:
    from tinyc.dialects.region.to_gpu.function import Origin


class RowReduce(Scheme):
    """Reductions and results that share their rows."""

    name = rules.NAME
    fields = ("vectorize",)

    def accepts(self, candidate: Candidate, target: Target) -> Acceptance | Refusal:
        """Kernels whose reductions are over the inner axes of a step."""
        reason = rules.refusal_of(candidate)
        if reason is not None:
            return Refusal("PlanMismatch", reason)
        shape = rules.row_shape(candidate, rules.row_width(candidate))
        threads = shape.cta[0] * shape.cta[1]
        resources = Resources(rules.row_grid(candidate, shape, target), threads, shape.shared_bytes(candidate))
        return Acceptance("its reductions share their rows", resources)

    def complete(self, plan: Plan, candidate: Candidate, target: Target, refusals: PlanRefusals) -> Plan:
        """The width of its accesses."""
        return rules.complete_width(plan, self.name, rules.row_width(candidate), refusals)

    def summary(self, plan: Plan) -> str:
        """The scheme with its width."""
        assert plan.vectorize is not None  # it is complete
        return f"{self.name}, {plan.vectorize['width']} neighbours for each thread at a time"

    def build(self, origin: "Origin") -> None:
        """Write one function."""
        from tinyc.schemes.row_reduce.build import build_row_reduce  # MLIR: when a kernel is built

        build_row_reduce(origin)
