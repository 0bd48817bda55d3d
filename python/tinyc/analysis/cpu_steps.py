"""How the steps of a kernel's fused loops are computed on a CPU, so that its vectors are used and its caches suffice.

In: a `region.kernel` whose form are steps (`cpu_form`). Out: `CpuSteps`. One step at a time, a reduction runs along its
innermost reduced axis in lanes, or along an inner axis that is contiguous in memory. Where the last loop is
the one along which memory is contiguous, a tile of neighbouring steps is computed together, phase by phase; so are rows
that are too short for lanes. What later phases read of a row lies in a buffer of its size.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from tinyc.analysis.cpu_form import held_rows
from tinyc.analysis.held_image import HeldImage, held_images
from tinyc.analysis.kernel_loops import KernelLoops, kernel_loops
from tinyc.analysis.patterns.scan import Scan, detect_scan
from tinyc.analysis.poly.block import PolyAccess
from tinyc.analysis.poly_core.fused_loops import FusedLoops, Phase
from tinyc.analysis.tiny_ops import effort_of, producer_of
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import axes, extents
from tinyc.expr.axes import Axis, Shape
from tinyc.expr.extents import Dim
from tinyc.mlir import ir
from tinyc.target import GENERIC_CPU
from tinyc.vocabulary.elementwise.row import Effort


@dataclass(frozen=True)
class CpuSteps:
    """The steps of a kernel; `in_tiles`: `tile` neighbours along the last loop at a time.

    `held` are the phases of which later ones read more than a number of this step; `kept` are the element-wise values
    that have phases of their own. Reductions `along_inner` compute neighbours along their last inner axis together;
    those of `windows` have so few terms for neighbours, of these extents, that all are written out. What these read of
    `images` is held, within the leading loops, so many of them, that are around all images.
    """

    kernel: KernelLoops
    in_tiles: bool
    tile: int
    held: frozenset[str]
    kept: frozenset[ir.Value]
    along_inner: frozenset[str]
    windows: Mapping[str, tuple[int, ...]]
    scans: Mapping[str, Scan]
    images: tuple[HeldImage, ...]

    @property
    def loops(self) -> FusedLoops:
        """The loops and the phases."""
        return self.kernel.loops

    @property
    def around_images(self) -> int:
        """How many of the leading loops are around the images that are held; all of them where there are none."""
        return min((image.loops for image in self.images), default=len(self.loops.extents))

    def without_images(self) -> "CpuSteps":
        """The same steps, in which windows read memory themselves."""
        return replace(self, images=())

    @property
    def runs_along_last_loop(self) -> bool:
        """Whether the last loop is the innermost one in code: in tiles, or since a step has no loops of its own."""
        has_inside = any(phase.inner or phase.reduced for phase in self.loops.phases)
        return bool(self.loops.extents) and (self.in_tiles or not has_inside)


def cpu_steps(op: region.KernelOp, plain: KernelLoops, tile: int = GENERIC_CPU.tile_elements) -> CpuSteps:
    """The steps of a kernel, whose form they are; `plain` are its fused loops, `tile` the neighbours in a tile."""
    found = _steps(plain, (), tile)
    assert isinstance(found, CpuSteps), found  # what a step holds has room
    dear = _shared_dear_values(plain)
    kept = kernel_loops(op, dear) if dear else ""
    if isinstance(kept, str) or kept.loops.extents != plain.loops.extents:
        return found
    with_dear = _steps(kept, dear, tile)
    return found if isinstance(with_dear, str) or with_dear.in_tiles != found.in_tiles else with_dear


def _steps(kernel: KernelLoops, kept: Collection[ir.Value], tile: int) -> CpuSteps | str:
    """The steps in tiles, where that is better and what tiles hold fits, or one by one."""
    in_tiles = _steps_in(kernel, kept, tile, in_tiles=True) if _in_tiles(kernel) else ""
    return _steps_in(kernel, kept, 1, in_tiles=False) if isinstance(in_tiles, str) else in_tiles


def _steps_in(kernel: KernelLoops, kept: Collection[ir.Value], tile: int, in_tiles: bool) -> CpuSteps | str:
    loops = kernel.loops
    names = {phase.block.name for phase in loops.phases if kernel.value(phase) in kept}
    held = held_rows(loops, tile, names, GENERIC_CPU)
    if isinstance(held, str):
        return held
    along = frozenset(phase.block.name for phase in loops.reductions if not in_tiles and _is_along_inner(kernel, phase))
    scans = {phase.block.name: scan_of(kernel, phase) for phase in loops.phases if phase.scan_axis is not None}
    beside = [phase for phase in loops.reductions if in_tiles or phase.inner]
    windows = {phase.block.name: found for phase in beside if (found := _window(phase))}
    images = _images(kernel, [phase for phase in beside if phase.block.name in windows], sum(held.values()))
    return CpuSteps(kernel, in_tiles, tile, frozenset(held), frozenset(kept), along, windows, scans, images)


def _images(kernel: KernelLoops, windows: Sequence[Phase], held_bytes: int) -> tuple[HeldImage, ...]:
    """The images that windows read, within the fewest loops, if there is room for them beside what else is held."""
    found = [image for phase in windows for image in held_images(kernel, phase)]
    loops = min((image.loops for image in found), default=0)
    images = tuple(image for image in found if image.loops == loops)
    return images if held_bytes + sum(image.size_bytes for image in images) <= GENERIC_CPU.step_bytes else ()


def _window(phase: Phase) -> tuple[int, ...]:
    """The extents of a reduction of few terms, which are numbers; none of another one."""
    found = tuple(each for each in phase.reduced_extents if isinstance(each, int))
    is_known = phase.scan_axis is None and len(found) == len(phase.reduced_extents)
    return found if is_known and 1 < math.prod(found) <= GENERIC_CPU.window_terms else ()


def scan_of(kernel: KernelLoops, phase: Phase) -> Scan:
    """The scan that a phase with a `scan_axis` is, in the dimensions of its value."""
    op = kernel.value(phase).owner
    assert isinstance(op, tiny.ReduceOp)  # what scans
    found = detect_scan(op)
    assert isinstance(found, Scan), found  # it is one along parts of its dimensions
    return found


def merged_axes(kernel: KernelLoops, phase: Phase, axes: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Axes of a phase in groups, each of which one loop runs over: memory is read along them as along one axis."""
    shape = phase.block.statement.shape
    groups: list[tuple[int, ...]] = []
    for axis in axes:
        if groups and all(
            _is_one_axis(kernel, access, groups[-1][-1], axis, shape[axis]) for access in phase.block.accesses
        ):
            groups[-1] = (*groups[-1], axis)
        else:
            groups.append((axis,))
    return tuple(groups)


def _is_one_axis(kernel: KernelLoops, access: PolyAccess, outer: int, inner: int, extent: Dim) -> bool:
    """Whether a step along an axis is as far as all steps along the one inside it, and no guard tells them apart."""
    if any(axes.positions(guard.expression) & {outer, inner} for guard in access.guards):
        return False
    far, near = memory_step(kernel, access, outer), memory_step(kernel, access, inner)
    return far is not None and near is not None and far == near * extent


def _is_along_inner(kernel: KernelLoops, phase: Phase) -> bool:
    """Whether a reduction reads memory along its last inner axis as well as along its last reduced one."""
    if not phase.inner:
        return False
    across = strided_reads(kernel, phase, phase.reduced[-1]) if phase.reduced else 0
    return strided_reads(kernel, phase, phase.inner[-1]) <= across


def _in_tiles(kernel: KernelLoops) -> bool:
    """Whether neighbours along the last loop are computed together: what is written lies along it, and what is read.

    Where reductions jump in memory along the loop, and less along their reduced axes, each step is a row by itself, if
    rows are long enough.
    """
    loops = kernel.loops
    last = loops.phases[-1]
    moving = [position for position, extent in enumerate(last.block.statement.shape) if extent != 1]
    written = [position for position in moving if position not in last.reduced]
    if not loops.reductions or not last.loops or last.loops[-1] != max(written):
        return False
    if all(_is_short(phase.reduced_extents) for phase in loops.reductions):
        return True
    along = sum(strided_reads(kernel, phase, phase.loops[-1]) for phase in loops.reductions)
    across = sum(strided_reads(kernel, phase, phase.reduced[-1]) for phase in loops.reductions if phase.reduced)
    return along <= across


def _is_short(reduced: Shape) -> bool:
    """Whether rows of an extent are too short for lanes, and too long for shuffles."""
    extent = extents.product(reduced)
    return isinstance(extent, int) and GENERIC_CPU.shuffled_elements < extent < GENERIC_CPU.fewest_lanes


def strided_reads(kernel: KernelLoops, phase: Phase, axis: int) -> int:
    """How many accesses of a phase read neither neighbours in memory along an axis nor one element all along."""
    return sum(memory_step(kernel, access, axis) not in (0, 1) for access in phase.block.accesses)


def memory_step(kernel: KernelLoops, access: PolyAccess, axis: int) -> Dim | None:
    """How many elements apart in memory the reads of an access are along an axis; None where it is not the same."""
    step: Dim = 0
    strides = extents.row_major_strides(kernel.shape(access.tensor))
    for row, stride in zip(access.index, strides, strict=True):
        for atom, coefficient in row.terms:
            if atom == Axis(axis):
                step = step + stride * coefficient
            elif axis in axes.positions(axes.term(atom)):
                return None
    return step


def _shared_dear_values(kernel: KernelLoops) -> list[ir.Value]:
    """The results of dear element-wise ops that several phases of a step would compute for themselves."""
    values = [kernel.value(phase) for phase in kernel.loops.phases]
    shared = _reached_by_several(values, ())
    return _reached_by_several([*values, *shared], shared)  # what is computed for a shared value only is not shared


def _reached_by_several(values: Sequence[ir.Value], ends: Collection[ir.Value]) -> list[ir.Value]:
    """The dear results below more than one of `values`, what is below one of `ends` left out."""
    users: dict[ir.Value, int] = {}
    for value in values:
        for each in _dear_below(value, ends):
            users[each] = users.get(each, 0) + 1
    return [each for each, count in users.items() if count > 1]


def _dear_below(value: ir.Value, ends: Collection[ir.Value]) -> set[ir.Value]:
    """The results of dear ops that are computed where `value` is: what other reductions are made of is not."""
    found, seen = set[ir.Value](), {value}
    pending = [value]
    while pending:
        each = pending.pop()
        op = producer_of(each)
        if op is None or (isinstance(op, tiny.ReduceOp) and each != value):
            continue
        if effort_of(op) is Effort.FUNCTION:
            found.add(each)
            if each in ends and each != value:
                continue
        following = [operand for operand in op.operands if operand not in seen]
        seen.update(following)
        pending += following
    return found
