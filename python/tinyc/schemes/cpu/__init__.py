"""What is built on a CPU: loops over the steps of a kernel, of four kinds.

`--region-to-loops` builds them (`dialects/region/to_loops`); here is which regions they are for, and what they hold.
"""

from tinyc.analysis.candidate import Candidate
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.schemes.scheme import Acceptance, KernelKind, Refusal, Resources
from tinyc.target import CpuTarget


class CpuContraction(KernelKind[CpuTarget]):
    """A contraction with an m, an n and a k, and element-wise ops behind it: a tile of accumulators at a time."""

    name = "cpu_contraction"

    def accepts(self, candidate: Candidate, target: CpuTarget) -> Acceptance | Refusal:
        """Every matrix product."""
        if candidate.product is None:
            return Refusal("PlanMismatch", candidate.no_product)
        return Acceptance("it is a contraction", _turns(candidate, (target.tile_rows, target.tile_elements)))


class CpuScan(KernelKind[CpuTarget]):
    """A cumulative reduction, with element-wise ops around it."""

    name = "scan"

    def accepts(self, candidate: Candidate, target: CpuTarget) -> Acceptance | Refusal:
        """One scan, which the results read at their own index."""
        if isinstance(candidate.loops, str):
            return Refusal("PlanMismatch", candidate.loops)
        reason = candidate.loops.why_no_scan
        return Refusal("PlanMismatch", reason) if reason else Acceptance("it is a scan", _turns(candidate))


class CpuRows(KernelKind[CpuTarget]):
    """Element-wise ops and reductions over the rows of one loop nest, phase by phase."""

    name = "cpu_rows"

    def accepts(self, candidate: Candidate, target: CpuTarget) -> Acceptance | Refusal:
        """What has fused loops, where what a tile of steps holds for its later phases has room."""
        loops = candidate.loops
        if isinstance(loops, str):
            return Refusal("PlanMismatch", loops)
        if len(loops.phases) > 1 and (products := loops.products):
            return Refusal("PlanMismatch", f"'{products[0].block.name}' is a contraction, and there are other phases")
        if any(phase.scan_axis is not None for phase in loops.phases):
            return Refusal("PlanMismatch", "there is a scan among its phases")
        rows = [phase for phase in loops.phases if phase.inner]
        held = sum((loops.held_elements(phase) * phase.block.element.accumulator.size_bytes for phase in rows), start=0)
        steps = target.tile_elements
        if not extents.is_nonnegative(target.step_bytes - held * steps):
            reason = f"{steps} steps hold {held * steps} bytes for each other's phases, and may {target.step_bytes}"
            return Refusal("ResourceExceeded", reason)
        return Acceptance("its phases share the loops", Resources((loops.steps, 1, 1), 1))


class CpuGeneric(KernelKind[CpuTarget]):
    """Whatever can be launched: each element by itself."""

    name = "cpu_generic"

    def accepts(self, candidate: Candidate, target: CpuTarget) -> Acceptance | Refusal:
        """Every candidate, for want of another kind."""
        resources = _turns(candidate)
        return Acceptance("", Resources(resources.grid, 1, inlines_reductions=True))


def _turns(candidate: Candidate, product_tile: tuple[int, int] | None = None) -> Resources:
    """A turn of the parallel loop for each row of the largest output."""
    rows: list[Dim] = [extents.product(shape[:-1]) for shape in candidate.outputs]
    return Resources((rows[0] if rows else 1, 1, 1), 1, product_tile=product_tile)
