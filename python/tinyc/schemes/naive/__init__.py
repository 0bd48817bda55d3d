"""Scheme `naive_2x2_per_thread`: a contraction over tiles in shared memory, its accumulators in registers.

A CTA of 16 × 16 threads computes a tile [BM, BN] of accumulators, 2 × 2 for a thread at a time. It goes along k in
steps of BK, through a circular buffer of `stages` tiles of each operand in static shared memory. The grid has a CTA for
each tile along m and n, and the batch along z. Convolutions and batched products differ in nothing but what the bodies
of the statements read.

`plan` has the fields of its plans, their defaults and their limits; `build` writes its kernels. **Source:** 002 §5-7.
"""

from typing import TYPE_CHECKING

from tinyc.analysis.candidate import Candidate
from tinyc.plan.fields import Plan
from tinyc.plan.refusals import PlanRefusals
from tinyc.schemes.contraction import ContractionCase
from tinyc.schemes.naive import plan as rules
from tinyc.schemes.scheme import Acceptance, Refusal, Scheme
from tinyc.target.target import Target

if TYPE_CHECKING:
    from tinyc.dialects.region.to_gpu.function import Origin


class NaiveContraction(Scheme):
    """A contraction with an m, an n and a k, and element-wise ops behind it."""

    name = rules.NAME
    fields = rules.NAIVE_FIELDS

    def accepts(self, candidate: Candidate, target: Target) -> Acceptance | Refusal:
        """Contractions of as many tiles as a grid has room for."""
        if candidate.product is None:
            return Refusal("PlanMismatch", candidate.no_product)
        refusals = PlanRefusals(candidate.name, candidate.where)
        default = self.complete(Plan(), candidate, target, refusals)
        if refusals:
            return Refusal("ResourceExceeded", f"its tiles are more CTAs than {target.name} launches at once")
        return Acceptance("it is a contraction", rules.resources_of(default, candidate.product))

    def complete(self, plan: Plan, candidate: Candidate, target: Target, refusals: PlanRefusals) -> Plan:
        """The tile and stages that registers and shared memory have room for, and the fields that follow."""
        assert candidate.product is not None  # it is not refused as of another kind
        return rules.complete_naive(plan, ContractionCase(rules.NAME, candidate.product, target, refusals))

    def summary(self, plan: Plan) -> str:
        """The scheme with its tile and its stages."""
        assert plan.tile is not None  # it is complete
        return f"{self.name}, tile {' × '.join(map(str, plan.tile))}, stages {plan.stages}"

    def build(self, origin: "Origin") -> None:
        """Write one function."""
        from tinyc.schemes.naive.build import build_contraction  # MLIR: when a kernel is built

        build_contraction(origin)
