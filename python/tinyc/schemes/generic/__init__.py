"""Scheme `generic`: one thread for each element of a result, 256 threads a CTA; any region can have it.

Its plan has no fields of its own: threads take turns where there are more elements than threads, so no launch is too
large. `grid` has its launch, `build` writes its kernels.
"""

from typing import TYPE_CHECKING

from tinyc.analysis.candidate import Candidate
from tinyc.schemes.generic.grid import THREADS_PER_CTA, generic_grid, shared_shapes
from tinyc.schemes.scheme import Acceptance, Refusal, Resources, Scheme
from tinyc.target.target import Target

if TYPE_CHECKING:
    from tinyc.dialects.region.to_gpu.function import Origin


class Generic(Scheme):
    """Whatever can be launched."""

    name = "generic"

    def accepts(self, candidate: Candidate, target: Target) -> Acceptance | Refusal:
        """Every candidate, for want of another scheme."""
        grid = generic_grid(shared_shapes(candidate), target)
        return Acceptance("", Resources(grid, THREADS_PER_CTA, inlines_reductions=True))

    def build(self, origin: "Origin") -> None:
        """Write one function, or two where updates are added to a copy of the data."""
        from tinyc.schemes.generic.build import build_generic  # MLIR: when a kernel is built

        build_generic(origin)
