"""The loops that a kernel becomes on a CPU: which of them is the parallel one, and what a turn of it computes.

In: a `region.kernel`. Out: a `LoopNest`, which the loops and their launch are both made by: that of an op that walks an
axis in order (a search, updates), or of the form that `cpu_form` says.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tinyc.analysis.access import DimAxes
from tinyc.analysis.cpu_attention import CpuAttention, cpu_attention
from tinyc.analysis.cpu_form import CpuForm, attention_loops, cpu_form, product_loops
from tinyc.analysis.cpu_product import CpuProduct, cpu_product
from tinyc.analysis.cpu_steps import CpuSteps, cpu_steps, scan_of
from tinyc.analysis.kernel_loops import KernelLoops, kernel_loops
from tinyc.analysis.patterns.scan import Scan
from tinyc.analysis.transposition import transposition_of
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim
from tinyc.mlir.bodies import body_of
from tinyc.target import GENERIC_CPU
from tinyc.vocabulary.attributes import tensor_type


@dataclass(frozen=True)
class ElementNest:
    """Each element of a result by itself, the results' leading axes `parallel` in the parallel loop, row-major."""

    parallel: Shape

    @property
    def turns(self) -> Dim:
        """The trip count of the parallel outer loop."""
        return extents.product(self.parallel)


@dataclass(frozen=True)
class OrderedNest(ElementNest):
    """What `op` does along its axis, in order, for each element along the axes `parallel`."""

    op: region.OrderedOp


@dataclass(frozen=True)
class ScanNest(ElementNest):
    """A walk along the axis of a scan, for each element of the axes `parallel` before it; `dims` as in `KernelLoops`.

    All results are at its elements.
    """

    op: tiny.ReduceOp
    scan: Scan
    dims: DimAxes


@dataclass(frozen=True)
class StepNest:
    """Steps, the leading loops `parallel` in the parallel one, row-major; a turn of which computes `tile` of these."""

    parallel: Shape
    tile: int
    steps: CpuSteps

    @property
    def turns(self) -> Dim:
        """The trip count of the parallel outer loop."""
        return extents.ceildiv(extents.product(self.parallel), self.tile)


@dataclass(frozen=True)
class BlockNest:
    """Steps of a kernel that transposes, in blocks of both the loops along which tensors have their neighbours.

    A block has `size` turns of each of the two loops `sides`, the innermost one last.
    """

    steps: CpuSteps
    sides: tuple[int, int]
    size: int

    @property
    def blocks(self) -> Shape:
        """The blocks along each loop, of one turn along those that are no sides."""
        found = list(self.steps.loops.extents)
        for side in self.sides:
            found[side] = extents.ceildiv(found[side], self.size)
        return tuple(found)

    @property
    def turns(self) -> Dim:
        """The trip count of the parallel outer loop."""
        return extents.product(self.blocks)


LoopNest: TypeAlias = ElementNest | OrderedNest | ScanNest | StepNest | BlockNest | CpuProduct | CpuAttention


def loop_nest(op: region.KernelOp) -> LoopNest:
    """The loops of a kernel."""
    body = body_of(op)
    shapes = [region.held_tensor(each.buffer.type).shape for each in body if isinstance(each, region.YieldOp)]
    ordered = next((each for each in body if isinstance(each, region.OrderedOp)), None)
    if ordered is not None:
        return OrderedNest(_leading(shapes, lambda shape: shape[: ordered.axis.value]), ordered)
    kernel = kernel_loops(op)
    form = CpuForm.ELEMENTS if isinstance(kernel, str) else cpu_form(kernel.loops, GENERIC_CPU).form
    if isinstance(kernel, str) or form is CpuForm.ELEMENTS:
        return ElementNest(_leading(shapes, _outer))
    if form is CpuForm.PRODUCT:
        found = product_loops(kernel.loops, GENERIC_CPU)
        assert not isinstance(found, str), found  # it has the form of one
        return cpu_product(kernel, found)
    if form is CpuForm.ATTENTION:
        attention = attention_loops(kernel.loops)
        assert not isinstance(attention, str), attention  # it has the form of it
        return cpu_attention(kernel, attention)
    if form is CpuForm.SCAN:
        return _scan_nest(kernel)
    steps = cpu_steps(op, kernel)
    return _in_blocks(steps) or _over_steps(steps)


def _scan_nest(kernel: KernelLoops) -> ScanNest:
    (phase,) = kernel.loops.reductions
    op, scan = kernel.value(phase).owner, scan_of(kernel, phase)
    assert isinstance(op, tiny.ReduceOp)  # what scans
    return ScanNest(_enough(tensor_type(op.output.type).shape[: scan.axis]), op, scan, kernel.dims)


def _in_blocks(steps: CpuSteps) -> BlockNest | None:
    """The blocks of a kernel that transposes, if both sides may be longer than a block."""
    loops, found = steps.loops, transposition_of(steps.loops)
    if found is None:
        return None
    size, sides = GENERIC_CPU.block_side, (found.across, found.innermost)
    is_one = any(extents.is_nonnegative(size - loops.extents[side]) for side in sides)
    return None if is_one else BlockNest(steps, sides, size)


def _over_steps(steps: CpuSteps) -> StepNest:
    """The nest of steps: where the last loop is for neighbours, it is inside, unless it is the only one."""
    loops = steps.loops.extents
    if not steps.runs_along_last_loop:
        return StepNest(_enough(loops), 1, steps)
    if len(loops) > 1:
        return StepNest(_enough(loops[:-1]), 1, steps)
    return StepNest(loops, GENERIC_CPU.tile_elements if steps.in_tiles else 1, steps)


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
        if extents.is_nonnegative(extents.product(found) - GENERIC_CPU.enough_turns):
            break
        found.append(extent)
    return tuple(found)


def _outer(shape: Shape) -> Shape:
    """The axes before the innermost one; all of them where it is the only one that has elements beside each other."""
    return shape if all(extent == 1 for extent in shape[:-1]) else shape[:-1]
