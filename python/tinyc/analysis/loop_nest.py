"""The loops that a kernel becomes on a CPU: which of them is the parallel one, and what a turn of it computes.

In: a `region.kernel`, with its plan, if it has one. Out: a `LoopNest`, which the loops and their launch are both made
by: that of an op that walks an axis in order (a search, updates), or of the form that `cpu_form` or the plan says; and
the decisions of a nest as a plan has them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tinyc.analysis.access import DimAxes
from tinyc.analysis.cpu_attention import CpuAttention
from tinyc.analysis.cpu_form import CpuForm, attention_loops, cpu_form, why_no_form
from tinyc.analysis.cpu_product import CpuProduct
from tinyc.analysis.cpu_steps import CpuSteps, cpu_steps, scan_of
from tinyc.analysis.kernel_loops import KernelLoops, kernel_loops
from tinyc.analysis.loop_choices import NO_CHOICES, Decisions, LoopChoices, enough_loops, leading_axes
from tinyc.analysis.patterns.scan import Scan
from tinyc.analysis.planned_tiles import (
    attention_decisions,
    planned_attention,
    planned_product,
    product_decisions,
)
from tinyc.analysis.transposition import transposition_of
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim
from tinyc.mlir.bodies import body_of
from tinyc.mlir.locations import where
from tinyc.plan.attribute import plan_of_attribute
from tinyc.plan.fields import FORMED_FIELDS, WINOGRAD, Plan
from tinyc.plan.refusals import PlanRefusals
from tinyc.schemes.names import CPU_FORMS
from tinyc.target import GENERIC_CPU
from tinyc.vocabulary.attributes import tensor_type


@dataclass(frozen=True)
class ElementNest:
    """Each element of a result by itself, the results' leading axes `parallel` in the parallel loop, row-major.

    `loops` are the axes of the results, as a plan counts them.
    """

    parallel: Shape
    loops: Shape

    @property
    def turns(self) -> Dim:
        """The trip count of the parallel outer loop."""
        return extents.product(self.parallel)

    @property
    def loop_decisions(self) -> Decisions:
        """What a plan's field `loop` says of them: the axes in the parallel loop."""
        return {"parallelize": leading_axes(len(self.parallel))}


@dataclass(frozen=True)
class OrderedNest(ElementNest):
    """What `op` does along its axis, in order, for each element along the axes `parallel`; a plan counts no axes."""

    op: region.OrderedOp


@dataclass(frozen=True)
class ScanNest(ElementNest):
    """A walk along the axis of a scan, for each row of the other axes, `rows`; `dims` as in `KernelLoops`.

    Rows that are neighbours along the innermost axis are walked together: of that, `rows` has the tiles. All results
    are at the scan's elements.
    """

    op: tiny.ReduceOp
    scan: Scan
    dims: DimAxes
    rows: Shape

    @property
    def loop_decisions(self) -> Decisions:
        """As above; the axis that is walked is none of those in the parallel loop."""
        return {"parallelize": self.scan.axes_of_rows(len(self.loops))[: len(self.parallel)]}


@dataclass(frozen=True)
class StepNest:
    """Steps, the leading loops `parallel` in the parallel one, row-major; a turn of which computes `tile` of these."""

    parallel: Shape
    tile: int
    steps: CpuSteps

    @property
    def loops(self) -> Shape:
        """The axes as a plan counts them: the loops, and behind them those of the longest phase of a step."""
        inside = [(*phase.inner_extents, *phase.reduced_extents) for phase in self.steps.loops.phases]
        return (*self.steps.loops.extents, *max(inside, key=len))

    @property
    def turns(self) -> Dim:
        """The trip count of the parallel outer loop."""
        return extents.ceildiv(extents.product(self.parallel), self.tile)

    @property
    def loop_decisions(self) -> Decisions:
        """What a plan's field `loop` says of them: the axes in the parallel loop, the tile of the last one."""
        tiles = ({"axis": len(self.steps.loops.extents) - 1, "size": self.steps.tile},)
        parallel = leading_axes(len(self.parallel))
        return {"parallelize": parallel, "tile": tiles} if self.steps.in_tiles else {"parallelize": parallel}


@dataclass(frozen=True)
class BlockNest:
    """Steps of a kernel that transposes, in blocks of both the loops along which tensors have their neighbours.

    A block has `size` turns of each of the two loops `sides`, the innermost one last.
    """

    steps: CpuSteps
    sides: tuple[int, int]
    size: int
    parallel: int

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
        return extents.product(self.blocks[: self.parallel])

    @property
    def loops(self) -> Shape:
        """The axes as a plan counts them."""
        return self.steps.loops.extents

    @property
    def loop_decisions(self) -> Decisions:
        """What a plan's field `loop` says of them: the axes in the parallel loop, a block's sides."""
        tiles = tuple({"axis": side, "size": self.size} for side in sorted(self.sides))
        return {"parallelize": leading_axes(self.parallel), "tile": tiles}


#: The fields of a plan that are no decision of loops; and those that a nest has where they are given.
_OF_ALL = ("scheme", "arch", "precision")
_BESIDE: Mapping[type, tuple[str, ...]] = {CpuProduct: ("vectorize", "unroll")}

LoopNest: TypeAlias = ElementNest | OrderedNest | ScanNest | StepNest | BlockNest | CpuProduct | CpuAttention


def loop_nest(op: region.KernelOp, kept: frozenset[int] = frozenset()) -> LoopNest:
    """The loops of a kernel, as its plan says where it has one for a CPU.

    Where it has none, they may depend on the buffers at the positions `kept`, which hold the same in all runs.

    Raises:
        TinycError: `InvalidPlan`; what the plan asks for and the loops cannot have.
    """
    plan = plan_of_attribute(op.attributes["plan"], where(op.location)) if "plan" in op.attributes else Plan()
    refusals = PlanRefusals(op.sym_name.value, where(op.location))
    if WINOGRAD in (plan.algo_choice or {}).values():
        message = f"is '{WINOGRAD}', which is several kernels; run --region-winograd, which makes them, or leave it out"
        refusals.add("UnsupportedPlan", "algo_choice", message)
        refusals.raise_all()
    is_of_gpu = plan.scheme not in (None, *CPU_FORMS) or plan.arch not in (None, *GENERIC_CPU.names)
    if is_of_gpu or FORMED_FIELDS.issuperset(plan.values()):
        return planned_nest(op, replace(NO_CHOICES, kept=kept))
    nest = planned_nest(op, LoopChoices(plan, refusals.add))
    for field in plan.values():
        if field not in (*_OF_ALL, *FORMED_FIELDS, *_nest_fields(nest)):
            refusals.add("UnsupportedPlan", field, "is not used by the loops of this kernel; leave it out")
    if plan.precision not in (None, "ieee"):
        message = f"is '{plan.precision}', which a CPU does not have; write \"ieee\""
        refusals.add("UnsupportedPlan", "precision", message)
    refusals.raise_all()
    return nest


def planned_nest(op: region.KernelOp, choices: LoopChoices) -> LoopNest:
    """The loops of a kernel with the choices of a plan; what it cannot have is refused."""
    nest = _planned_nest(op, choices)
    choices.check_axes(nest_loops(nest), _nest_fields(nest))
    return nest


def _planned_nest(op: region.KernelOp, choices: LoopChoices) -> LoopNest:
    body = body_of(op)
    shapes = [region.held_tensor(each.buffer.type).shape for each in body if isinstance(each, region.YieldOp)]
    ordered = next((each for each in body if isinstance(each, region.OrderedOp)), None)
    if ordered is not None:
        choices.refuse_tiles()
        leading = _shared(shapes, lambda shape: shape[: ordered.axis.value])
        return OrderedNest(_parallel(leading, choices), (), ordered)
    kernel = kernel_loops(op)
    form = CpuForm.ELEMENTS if isinstance(kernel, str) else _form(kernel, choices)
    if isinstance(kernel, str) or form is CpuForm.ELEMENTS:
        choices.refuse_tiles()
        return ElementNest(_parallel(_shared(shapes, _outer), choices), max(shapes, key=len))
    if form is CpuForm.PRODUCT:
        return planned_product(kernel, choices, region.dot_form(op))
    if form is CpuForm.ATTENTION:
        attention = attention_loops(kernel.loops)
        assert not isinstance(attention, str), attention  # it has the form of it
        return planned_attention(kernel, attention, choices)
    if form is CpuForm.SCAN:
        return _scan_nest(kernel, choices)
    steps = cpu_steps(op, kernel)
    return _in_blocks(steps, choices) or _over_steps(op, steps, choices)


def nest_decisions(nest: LoopNest) -> Decisions:
    """The decisions of a nest, by the fields of a plan."""
    if isinstance(nest, CpuProduct):
        return product_decisions(nest)
    if isinstance(nest, CpuAttention):
        return attention_decisions(nest)
    return {"loop": nest.loop_decisions}


def _nest_fields(nest: LoopNest) -> tuple[str, ...]:
    """The fields of a plan that are for a nest: those that it decides, and those that it has where they are given."""
    return (*nest_decisions(nest), *_BESIDE.get(type(nest), ()))


def nest_loops(nest: LoopNest) -> Shape | None:
    """The axes that a plan counts for a nest, by their extents; None of one in tiles."""
    return None if isinstance(nest, CpuProduct | CpuAttention) else nest.loops


def _form(kernel: KernelLoops, choices: LoopChoices) -> CpuForm:
    """The form that a plan says, where the loops can have it; else the first that they can have."""
    asked = CPU_FORMS.get(str(choices.plan.scheme))
    if asked is None:
        return cpu_form(kernel.loops, GENERIC_CPU).form
    why_not = why_no_form(kernel.loops, CpuForm[asked], GENERIC_CPU)
    if not why_not:
        return CpuForm[asked]
    choices.refuse("PlanMismatch", "scheme", f"is '{choices.plan.scheme}', which does not build it, since {why_not}")
    return cpu_form(kernel.loops, GENERIC_CPU).form


def _scan_nest(kernel: KernelLoops, choices: LoopChoices) -> ScanNest:
    (phase,) = kernel.loops.reductions
    op, scan = kernel.value(phase).owner, scan_of(kernel, phase)
    assert isinstance(op, tiny.ReduceOp)  # what scans
    choices.refuse_tiles()
    shape = tensor_type(op.output.type).shape
    axes = scan.axes_of_rows(len(shape))
    rows = [shape[axis] for axis in axes]
    if axes and axes[-1] > scan.axis:
        rows[-1] = extents.ceildiv(rows[-1], GENERIC_CPU.tile_elements)
    parallel = choices.parallel(rows, enough_loops(rows, GENERIC_CPU.enough_turns), axes)
    return ScanNest(tuple(rows[:parallel]), shape, op, scan, kernel.dims, tuple(rows))


def _in_blocks(steps: CpuSteps, choices: LoopChoices) -> BlockNest | None:
    """The blocks of a kernel that transposes, if both sides may be longer than a block."""
    loops, found = steps.loops, transposition_of(steps.loops)
    if found is None:
        return None
    sides = (found.across, found.innermost)
    size = GENERIC_CPU.block_side
    if any(extents.is_nonnegative(size - loops.extents[side]) for side in sides):
        return None
    size = choices.tile_size(sides, size)
    if any(extents.is_nonnegative(size - loops.extents[side]) for side in sides):
        shown = " × ".join(str(loops.extents[side]) for side in sides)
        message = f"has blocks of {size}, and the loops that are transposed are {shown}; choose a smaller one"
        choices.refuse("PlanMismatch", "loop", message)
    blocks = BlockNest(steps.without_images(), sides, size, len(loops.extents))
    return replace(blocks, parallel=choices.parallel(blocks.blocks, blocks.parallel))


def _over_steps(op: region.KernelOp, steps: CpuSteps, choices: LoopChoices) -> StepNest:
    """The nest of steps: where the last loop is for neighbours, it is inside, unless it is the only one."""
    loops = steps.loops.extents
    size = choices.tile_size((len(loops) - 1,) if steps.in_tiles else (), steps.tile)
    if size != steps.tile:
        sums = sum(phase.block.element.accumulator.size_bytes for phase in steps.loops.reductions) * size
        sized = cpu_steps(op, steps.kernel, size) if sums <= GENERIC_CPU.step_bytes else steps
        if sized.in_tiles and sized.tile == size:
            steps = sized
        else:
            message = f"has a tile of {size} steps, whose sums and rows take more than {GENERIC_CPU.step_bytes} bytes"
            choices.refuse("ResourceExceeded", "loop", f"{message} of the stack; choose a smaller one")
    if not steps.runs_along_last_loop:
        return _in_turns(steps, loops, choices)
    if len(loops) > 1:
        return _in_turns(steps, loops[:-1], choices)
    if choices.parallel(loops, 1) == 0:
        return StepNest((), 1, steps.without_images())
    return StepNest(loops, steps.tile, steps.without_images())


def _in_turns(steps: CpuSteps, loops: Shape, choices: LoopChoices) -> StepNest:
    """The nest of steps of which leading `loops` may be in the parallel one: a turn holds images of its own.

    By default all turns together hold few enough of these for each core to have some.
    """
    around = steps.around_images
    has_turns = extents.is_nonnegative(extents.product(loops[:around]) - GENERIC_CPU.enough_images)
    default = enough_loops(loops[:around] if has_turns else loops, GENERIC_CPU.enough_turns)
    parallel = choices.parallel(loops, default)
    return StepNest(loops[:parallel], 1, steps if parallel <= around else steps.without_images())


def _shared(shapes: Sequence[Shape], part: Callable[[Shape], Shape]) -> Shape:
    """The leading axes that all results share, among the `part` of each that loops may run over in any order."""
    same: list[Dim] = []
    for sizes in zip(*map(part, shapes), strict=False):
        if len(set(sizes)) > 1:
            break
        same.append(sizes[0])
    return tuple(same)


def _parallel(loops: Shape, choices: LoopChoices) -> Shape:
    """The leading loops that are in the parallel one: by default, those that have enough turns together."""
    return loops[: choices.parallel(loops, enough_loops(loops, GENERIC_CPU.enough_turns))]


def _outer(shape: Shape) -> Shape:
    """The axes before the innermost one; all of them where it is the only one that has elements beside each other."""
    return shape if all(extent == 1 for extent in shape[:-1]) else shape[:-1]
