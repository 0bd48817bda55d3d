"""The loops that a kernel becomes on a CPU: which of them is the parallel one, and what a turn of it computes.

In: a `region.kernel`. Out: a `LoopNest`, which the loops and their launch are both made by. Of several forms the first
that fits is taken: an axis that is walked in order (a search, updates, a scan alone), the steps of the fused loops, or
each element of the results by itself, with the reductions that it reads computed for it.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from tinyc.analysis.cpu_product import CpuProduct, cpu_product
from tinyc.analysis.cpu_steps import CpuSteps, cpu_steps
from tinyc.analysis.graphs import needed_ops
from tinyc.analysis.patterns.scan import Scan, detect_scan
from tinyc.analysis.tiled_reduction import read_element_wise
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim
from tinyc.mlir import ir
from tinyc.mlir.bodies import body_of
from tinyc.target import GENERIC_CPU
from tinyc.vocabulary.attributes import tensor_type

#: The turns of the parallel outer loop that are enough: where leading loops have as many, the rest are loops inside.
ENOUGH_TURNS = 256


@dataclass(frozen=True)
class SoleScan:
    """The one reduction of a kernel, a scan, and that all outputs read it element by element."""

    op: tiny.ReduceOp
    scan: Scan


@dataclass(frozen=True)
class LoopNest:
    """How a kernel's loops nest: the parallel one runs over `parallel` extents together, row-major.

    `tile` is how many of these elements a turn computes. `steps`, `scan` or `product` say what is inside; without, it
    is as said above.
    """

    parallel: Shape
    tile: int = 1
    steps: CpuSteps | None = None
    scan: SoleScan | None = None
    product: CpuProduct | None = None

    @property
    def turns(self) -> Dim:
        """The trip count of the parallel outer loop."""
        return extents.ceildiv(extents.product(self.parallel), self.tile)


def loop_nest(op: region.KernelOp) -> LoopNest:
    """The loops of a kernel."""
    body = body_of(op)
    shapes = [region.held_tensor(each.buffer.type).shape for each in body if isinstance(each, region.YieldOp)]
    ordered = next((each for each in body if isinstance(each, region.OrderedOp)), None)
    if ordered is not None:
        return LoopNest(_leading(shapes, lambda shape: shape[: ordered.axis.value]))
    needed = set(needed_ops(op.body.blocks[0]))
    if len(set(shapes)) == 1 and not any(isinstance(each, tiny.ReduceOp | tiny.ReshapeOp) for each in needed):
        return LoopNest(_leading(shapes, _outer))  # the steps would be the elements
    sole = _sole_scan(needed, shapes)
    if sole is not None:
        return LoopNest(_leading(shapes, lambda shape: shape[: sole.scan.axis]), scan=sole)
    steps = cpu_steps(op)
    if isinstance(steps, str):
        return LoopNest(_leading(shapes, _outer))
    product = cpu_product(steps.kernel)
    return _over_steps(steps) if product is None else LoopNest(product.tiles, product=product)


def _over_steps(steps: CpuSteps) -> LoopNest:
    """The nest of steps: where the last loop is for neighbours, it is inside, unless it is the only one."""
    loops = steps.loops.extents
    if not steps.runs_along_last_loop:
        return LoopNest(_enough(loops), steps=steps)
    if len(loops) > 1:
        return LoopNest(_enough(loops[:-1]), steps=steps)
    return LoopNest(loops, GENERIC_CPU.tile_elements if steps.in_tiles else 1, steps)


def _leading(shapes: Sequence[Shape], part: Callable[[Shape], Shape]) -> Shape:
    """The leading axes that all results share, among the `part` of each that loops may run over in any order."""
    same: list[Dim] = []
    for sizes in zip(*map(part, shapes), strict=False):
        if len(set(sizes)) > 1:
            break
        same.append(sizes[0])
    return _enough(tuple(same))


def _enough(loops: Shape) -> Shape:
    """The leading loops that have enough turns together."""
    found: list[Dim] = []
    for extent in loops:
        if extents.is_nonnegative(extents.product(found) - ENOUGH_TURNS):
            break
        found.append(extent)
    return tuple(found)


def _outer(shape: Shape) -> Shape:
    """The axes before the innermost one; all of them where it is the only one that has elements beside each other."""
    return shape if all(extent == 1 for extent in shape[:-1]) else shape[:-1]


def _sole_scan(needed: Collection[ir.OpView], shapes: Sequence[Shape]) -> SoleScan | None:
    """The scan whose axis all outputs are written along, step by step, if the kernel has no other reduction."""
    reductions = [each for each in needed if isinstance(each, tiny.ReduceOp)]
    if len(reductions) != 1:
        return None
    (reduction,) = reductions
    is_read = any(shape != tensor_type(reduction.output.type).shape for shape in shapes)
    if is_read or not read_element_wise(reduction, needed):
        return None
    found = detect_scan(reduction)
    return SoleScan(reduction, found) if isinstance(found, Scan) else None
