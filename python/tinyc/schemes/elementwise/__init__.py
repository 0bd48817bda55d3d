"""Scheme `elementwise`: outputs without reductions, in accesses of up to 16 bytes, 256 threads a CTA.

A thread computes `vectorize.width` neighbours at a time: as many of the widest elements as one access takes, so that
the accesses of a warp lie side by side in every buffer. What an access cannot take at once, for its alignment or since
its elements are no neighbours, it takes in parts. Where some operands or outputs lie along another axis than others, a
CTA turns squares of both axes in shared memory, so that every buffer is accessed along its own.

`plan` has what it accepts and the rules of its plans, `build` writes its kernels.
"""

from typing import TYPE_CHECKING

from tinyc.analysis.candidate import Candidate
from tinyc.plan.fields import Plan
from tinyc.plan.refusals import PlanRefusals
from tinyc.schemes.elementwise.plan import (
    CTA_THREADS,
    elementwise_grid,
    elementwise_refusal,
    neighbours_of,
    shared_by_elements,
    squares_of,
)
from tinyc.schemes.neighbours import ACCESS_BYTES, access_bytes, loops_of, with_width
from tinyc.schemes.scheme import Acceptance, Refusal, Resources, Scheme
from tinyc.target.target import Target

if TYPE_CHECKING:
    from tinyc.dialects.region.to_gpu.function import Origin


class ElementByElement(Scheme):
    """Kernels of one step for each element."""

    name = "elementwise"
    fields = ("vectorize",)

    def accepts(self, candidate: Candidate, target: Target) -> Acceptance | Refusal:
        """Kernels without reductions whose outputs have the same elements."""
        reason = elementwise_refusal(candidate)
        if reason is not None:
            return Refusal("PlanMismatch", reason)
        squares = squares_of(candidate, target)
        width = neighbours_of(candidate, squares)
        grid = elementwise_grid(candidate, width, squares, target)
        shared_bytes = sum(each.bytes for each in shared_by_elements(candidate, width, squares))
        shared_bytes += 0 if squares is None else squares.shared_bytes
        wide = access_bytes(candidate, loops_of(candidate).steps, width)
        turned = "" if squares is None else ", some across another axis"
        resources = Resources(grid, CTA_THREADS, shared_bytes, vector_bytes=wide)
        return Acceptance(f"it computes element by element{turned}", resources)

    def complete(self, plan: Plan, candidate: Candidate, target: Target, refusals: PlanRefusals) -> Plan:
        """The width of its accesses."""
        squares = squares_of(candidate, target)
        default = neighbours_of(candidate, squares)
        return with_width(plan, self.name, default, ACCESS_BYTES if squares is None else default, refusals)

    def summary(self, plan: Plan) -> str:
        """The scheme with its width."""
        assert plan.vectorize is not None  # it is complete
        return f"{self.name}, runs of {plan.vectorize['width']}"

    def build(self, origin: "Origin") -> None:
        """Write one function."""
        from tinyc.schemes.elementwise.build import build_elementwise  # MLIR: when a kernel is built

        build_elementwise(origin)
