"""Scheme `mma`: contractions on tensor cores."""

from typing import TYPE_CHECKING

from tinyc.analysis.candidate import Candidate
from tinyc.plan.fields import Plan
from tinyc.schemes.scheme import Acceptance, PlanRefusals, Refusal, Resources, Scheme
from tinyc.target.target import Target
if TYPE_CHECKING:
    from tinyc.dialects.region.to_gpu.function import Origin

class MmaContraction(Scheme):
    name = "mma"
    fields = ("tile","stages","pipeline","warp_tile","order","split","fuse","unroll","bind","cache","vectorize","predicate_tail","epilogue","layout_hints","split_k","schedule","cluster","raster","wait_depth","registers","async")
    def accepts(self, candidate, target):
        if candidate.product is None: return Refusal("PlanMismatch", candidate.no_product)
        return Refusal("ResourceExceeded", "")
    def complete(self, plan, candidate, target, refusals):
        import dataclasses
        return dataclasses.replace(plan, tile=plan.tile or (128,128,32), stages=plan.stages or 3, warp_tile=plan.warp_tile or "64x64", raster=plan.raster or {"along":"n","group":8}, bind=plan.bind or {"m.o":"block.y","n.o":"block.x"}, predicate_tail=plan.predicate_tail if plan.predicate_tail is not None else ("m","n","k"))
    def build(self, origin):
        from tinyc.schemes.mma.build import build_product
        build_product(origin)
