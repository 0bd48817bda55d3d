"""Scheme `elementwise`: outputs without reductions, in accesses of up to 16 bytes, 256 threads a CTA.

A thread computes `vectorize.width` neighbours at a time: as many of the widest elements as one access takes, so that
the accesses of a warp lie side by side in every buffer. What an access cannot take at once, for its alignment or since
its elements are no neighbours, it takes in parts. `plan` has the rules of its plans, `build` writes its kernels.
"""

from typing import TYPE_CHECKING

from tinyc.analysis.candidate import Candidate
from tinyc.plan.fields import Plan
from tinyc.schemes.elementwise import plan as rules
from tinyc.schemes.scheme import Acceptance, PlanRefusals, Refusal, Resources, Scheme
from tinyc.target.target import Target

if TYPE_CHECKING:
    from tinyc.dialects.region.to_gpu.function import Origin


class Elementwise(Scheme):
    """Kernels of one step for each element."""

    name = rules.NAME
    fields = ("vectorize",)

    def accepts(self, candidate: Candidate, target: Target) -> Acceptance | Refusal:
        """Kernels without reductions whose outputs have the same elements."""
        reason = rules.refusal_of(candidate)
        if reason is not None:
            return Refusal("PlanMismatch", reason)
        grid = rules.elementwise_grid(candidate, rules.default_width(candidate), target)
        return Acceptance("it computes element by element", Resources(grid, rules.THREADS_PER_CTA))

    def complete(self, plan: Plan, candidate: Candidate, target: Target, refusals: PlanRefusals) -> Plan:
        """The width of its accesses."""
        return rules.complete_elementwise(plan, candidate, refusals)

    def summary(self, plan: Plan) -> str:
        """The scheme with its width."""
        assert plan.vectorize is not None  # it is complete
        return f"{self.name}, {plan.vectorize['width']} neighbours for each thread at a time"

    def build(self, origin: "Origin") -> None:
        """Write one function."""
        from tinyc.schemes.elementwise.build import build_elementwise  # MLIR: when a kernel is built

        build_elementwise(origin)
