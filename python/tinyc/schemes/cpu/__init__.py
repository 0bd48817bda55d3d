"""What is built on a CPU: loops over the steps of a kernel, of five kinds.

`analysis.cpu_form` says of which kind a kernel is, and `--region-to-loops` builds it (`dialects/region/to_loops`).
"""

import dataclasses
from typing import ClassVar

from tinyc.analysis.candidate import Candidate
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.schemes.scheme import Acceptance, KernelKind, Refusal, Resources
from tinyc.target import CpuTarget


class CpuKind(KernelKind[CpuTarget]):
    """The kind of kernels whose loops have one form, by its name there."""

    #: Its name in `CpuForm`.
    form: ClassVar[str]

    def accepts(self, candidate: Candidate, target: CpuTarget) -> Acceptance | Refusal:
        """Every candidate whose loops have the form."""
        from tinyc.analysis.cpu_form import cpu_form  # MLIR: candidates with loops are of kernels

        found = cpu_form(candidate.loops, target)
        if found.form.name != self.form:
            return Refusal("PlanMismatch", f"its loops are {found.form.value}, since {found.reason}")
        return Acceptance(found.reason, self.resources(candidate, target))

    def resources(self, candidate: Candidate, target: CpuTarget) -> Resources:
        """A turn of the parallel loop for each row of the largest output."""
        rows: list[Dim] = [extents.product(shape[:-1]) for shape in candidate.outputs]
        return Resources((rows[0] if rows else 1, 1, 1), 1)


class CpuContraction(CpuKind):
    """A contraction with an m, an n and a k, and element-wise ops behind it: a tile of accumulators at a time."""

    name = "cpu_contraction"
    form = "PRODUCT"

    def resources(self, candidate: Candidate, target: CpuTarget) -> Resources:
        """An element of an operand is computed once for a tile."""
        tile = (target.tile_rows, target.tile_columns)
        return dataclasses.replace(super().resources(candidate, target), product_tile=tile)


class CpuAttentionTiles(CpuKind):
    """Two products with a softmax between them: scores of a tile of queries and keys at a time."""

    name = "cpu_attention"
    algorithm = "online_softmax"
    pattern = "attention"
    form = "ATTENTION"

    def resources(self, candidate: Candidate, target: CpuTarget) -> Resources:
        """A score is computed once, and so is its exponential, which both total and weighted sum are made of."""
        tile, found = (target.tile_queries, target.tile_columns), super().resources(candidate, target)
        return dataclasses.replace(found, product_tile=tile, shares_dear_values=True)


class CpuScan(CpuKind):
    """A cumulative reduction, with element-wise ops around it."""

    name = "scan"
    form = "SCAN"


class CpuRows(CpuKind):
    """Element-wise ops and reductions over the rows of one loop nest, phase by phase."""

    name = "cpu_rows"
    form = "STEPS"

    def resources(self, candidate: Candidate, target: CpuTarget) -> Resources:
        """A turn for each step; a product among other phases has no tiles."""
        loops = candidate.loops
        assert not isinstance(loops, str)  # it has steps
        lost = f"'{loops.products[0].block.name}' a step at a time" if loops.products else ""
        return Resources((loops.steps, 1, 1), 1, leaves_tiles=lost)


class CpuGeneric(CpuKind):
    """Whatever can be launched: each element by itself."""

    name = "cpu_generic"
    form = "ELEMENTS"

    def resources(self, candidate: Candidate, target: CpuTarget) -> Resources:
        """A reduction is computed for each element that reads it."""
        return dataclasses.replace(super().resources(candidate, target), inlines_reductions=True)
