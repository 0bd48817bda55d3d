"""What is built on a CPU: loops over the steps of a kernel, of five kinds, and what is several such kernels.

    tiles    what the plan of a contraction is chosen from

`analysis.cpu_form` says of which kind a kernel is, `analysis.loop_nest` what its plan decides, and `--region-to-loops`
builds it (`dialects/region/to_loops`). Of Winograd's algorithm `--region-winograd` makes kernels of these kinds.
"""

import dataclasses
from typing import Any

from tinyc.analysis.candidate import Candidate
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.plan.fields import WINOGRAD, Plan
from tinyc.plan.kinds import is_object
from tinyc.plan.refusals import PlanRefusals
from tinyc.schemes.names import CPU_FORMS
from tinyc.schemes.scheme import Acceptance, KernelKind, Refusal, Resources
from tinyc.schemes.search import PlanSearch
from tinyc.target import CpuTarget


class CpuKind(KernelKind[CpuTarget]):
    """The kind of kernels whose loops have one form."""

    fields = ("loop",)

    @property
    def form(self) -> str:
        """The name of the form in `CpuForm`."""
        return CPU_FORMS[self.name]

    def accepts(self, candidate: Candidate, target: CpuTarget) -> Acceptance | Refusal:
        """Every candidate whose loops have the form."""
        from tinyc.analysis.cpu_form import cpu_form  # MLIR: candidates with loops are of kernels

        found = cpu_form(candidate.loops, target)
        if found.form.name != self.form:
            return Refusal("PlanMismatch", f"its loops are {found.form.value}, since {found.reason}")
        return Acceptance(found.reason, self.resources(candidate, target))

    def refuses(self, precision: str, candidate: Candidate, target: CpuTarget) -> Refusal | None:
        """Why the loops cannot have the form, though another one is the default."""
        from tinyc.analysis.cpu_form import CpuForm, why_no_form  # MLIR: candidates with loops are of kernels

        why_not = why_no_form(candidate.loops, CpuForm[self.form], target)
        return Refusal("PlanMismatch", why_not) if why_not else None

    def complete(self, plan: Plan, candidate: Candidate, target: CpuTarget, refusals: PlanRefusals) -> Plan:
        """The plan with what the nest of loops decides."""
        from tinyc.analysis.loop_choices import LoopChoices
        from tinyc.analysis.loop_nest import nest_decisions, planned_nest  # MLIR: of kernels that exist

        assert candidate.op is not None  # plans are for kernels
        decided = nest_decisions(planned_nest(candidate.op, LoopChoices(plan, refusals.add, candidate.kept)))
        completed = {name: _with_given(getattr(plan, name), value) for name, value in decided.items()}
        return dataclasses.replace(plan, **completed)

    def summary(self, plan: Plan) -> str:
        """The scheme, its tile, and which loops are in the parallel one."""
        tile = [] if plan.tile is None else [f"tile {' × '.join(map(str, plan.tile))}"]
        axes = (plan.loop or {}).get("parallelize", ())
        parallel = f"axes {', '.join(map(str, axes))} in parallel" if axes else "no axis in parallel"
        return ", ".join([self.name, *tile, parallel])

    def resources(self, candidate: Candidate, target: CpuTarget) -> Resources:
        """A turn of the parallel loop for each row of the largest output."""
        rows: list[Dim] = [extents.product(shape[:-1]) for shape in candidate.outputs]
        return Resources((rows[0] if rows else 1, 1, 1), 1)


class CpuContraction(CpuKind):
    """A contraction with an m, an n and a k, and element-wise ops behind it: a tile of accumulators at a time."""

    name = "cpu_contraction"
    fields = ("tile", "order", "unroll", "vectorize", "layout_hints", "pack", "loop")

    def resources(self, candidate: Candidate, target: CpuTarget) -> Resources:
        """An element of an operand is computed once for a tile."""
        tile = (target.tile_rows, target.tile_columns)
        return dataclasses.replace(super().resources(candidate, target), product_tile=tile)

    def search(self, plan: Plan, candidate: Candidate, target: CpuTarget) -> PlanSearch:
        """The tiles that `plan` leaves."""
        from tinyc.schemes.cpu.tiles import search_tiles  # MLIR: of kernels that exist

        return search_tiles(plan, candidate, target)


class CpuAttentionTiles(CpuKind):
    """Two products with a softmax between them: scores of a tile of queries and keys at a time."""

    name = "cpu_attention"
    algorithm = "online_softmax"
    pattern = "attention"
    fields = ("tile", "loop")

    def resources(self, candidate: Candidate, target: CpuTarget) -> Resources:
        """A score is computed once, and so is its exponential, which both total and weighted sum are made of."""
        tile, found = (target.tile_queries, target.tile_columns), super().resources(candidate, target)
        return dataclasses.replace(found, product_tile=tile, shares_dear_values=True)


class CpuScan(CpuKind):
    """A cumulative reduction, with element-wise ops around it."""

    name = "scan"


class CpuRows(CpuKind):
    """Element-wise ops and reductions over the rows of one loop nest, phase by phase."""

    name = "cpu_rows"

    def resources(self, candidate: Candidate, target: CpuTarget) -> Resources:
        """A turn for each step; a product among other phases has no tiles."""
        loops = candidate.loops
        assert not isinstance(loops, str)  # it has steps
        lost = f"'{loops.products[0].block.name}' a step at a time" if loops.products else ""
        return Resources((loops.steps, 1, 1), 1, leaves_tiles=lost)


class CpuGeneric(CpuKind):
    """Whatever can be launched: each element by itself."""

    name = "cpu_generic"

    def resources(self, candidate: Candidate, target: CpuTarget) -> Resources:
        """A reduction is computed for each element that reads it."""
        return dataclasses.replace(super().resources(candidate, target), inlines_reductions=True)


class CpuWinograd(KernelKind[CpuTarget]):
    """A convolution by Winograd's F(2 × 2, 3 × 3): transforms before and behind 16 products, each a kernel.

    Only a plan that asks for the algorithm gets it.
    """

    name = "cpu_winograd"
    algorithm = WINOGRAD

    def accepts(self, candidate: Candidate, target: CpuTarget) -> Refusal:
        """Nothing, since its sums are others, with another bound: it is the default of no kernel."""
        return self.refuses("ieee", candidate, target) or Refusal("PlanMismatch", "only a plan that asks for it has it")

    def refuses(self, precision: str, candidate: Candidate, target: CpuTarget) -> Refusal | None:
        """What is no convolution of 3 × 3 with strides and dilations of 1, in f32, whose sizes are numbers."""
        from tinyc.analysis.winograd import winograd_convolution  # MLIR: of kernels that exist
        from tinyc.dialects.region.kernel import Kernel

        if candidate.op is None:
            return Refusal("PlanMismatch", "it is for kernels that there are")
        found = winograd_convolution(Kernel(candidate.op))
        return Refusal("PlanMismatch", found) if isinstance(found, str) else None


def _with_given(given: Any, decided: Any) -> Any:
    """What a plan has for a field: what is given, and what is decided where nothing is."""
    if is_object(given):
        return dict(decided, **given)
    return decided if given is None else given
