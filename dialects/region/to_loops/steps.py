"""The loops over the steps of a kernel, and the phases of a step: one at a time, or of a tile of neighbouring steps.

A phase that reduces leaves its results where later phases find them: one number in a register, a row in memory of the
row's size. An element-wise phase writes an output, or keeps a row of what is dear to compute.
"""

import contextlib
import itertools
import math
from collections.abc import Generator, Sequence
from contextlib import ExitStack

from tinyc.analysis.cpu_steps import CpuSteps, merged_axes
from tinyc.analysis.loop_nest import BlockNest
from tinyc.analysis.patterns.scan import Scan
from tinyc.analysis.poly_core.fused_loops import Phase
from tinyc.codegen import scalars
from tinyc.codegen.elements import IndexValues
from tinyc.codegen.reduction_steps import accumulator_element, initial
from tinyc.dialects.region.kernel import Kernel
from tinyc.dialects.region.to_loops.axis_values import AxisValues, index_at, values_at
from tinyc.dialects.region.to_loops.held_images import hold_image
from tinyc.dialects.region.to_loops.lanes import reduce_alone, row_memory
from tinyc.dialects.region.to_loops.loop_elements import LoopElements
from tinyc.dialects.region.to_loops.loop_hints import LoopHints
from tinyc.dialects.region.to_loops.turns import TILE, Neighbours, count_from, loops_over, tile_along
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, ir, memref


def step_nest(
    elements: LoopElements, kernel: Kernel, parallel: Shape, steps: CpuSteps, low: ir.Value, high: ir.Value
) -> None:
    """Compute the steps of a kernel, one after the other or in tiles."""
    loops = steps.loops.extents
    with ExitStack() as stack:
        if not steps.in_tiles:
            at = _loops_with_images(elements, stack, steps, parallel, loops, low, high)
            _Step(elements, kernel, steps, None).emit(at)
            return
        *outer, last = loops
        if len(parallel) == len(loops):
            at, size = (), elements.index(steps.tile)
            start, end = arith.muli(low, size), arith.minsi(arith.muli(high, size), elements.extent(last))
        else:
            at = _loops_with_images(elements, stack, steps, parallel, tuple(outer), low, high)
            start, end = elements.index(0), elements.extent(last)
        tile = tile_along(elements, stack, start, end, last, steps.tile)
        _Step(elements, kernel, steps, tile).emit((*at, tile.first))


def _loops_with_images(
    elements: LoopElements,
    stack: ExitStack,
    steps: CpuSteps,
    parallel: Shape,
    shape: Shape,
    low: ir.Value,
    high: ir.Value,
) -> IndexValues:
    """Open the loops over `shape`, with the images that are held in front of those that are not around them."""
    around = steps.around_images
    at = loops_over(elements, stack, parallel, shape[:around], low, high)
    for image in steps.images:
        hold_image(elements, steps, image, at)
    return (*at, *stack.enter_context(elements.loops(shape[around:])))


def block_nest(elements: LoopElements, kernel: Kernel, nest: BlockNest, low: ir.Value, high: ir.Value) -> None:
    """Compute the steps of a kernel that transposes, block by block."""
    counters, size, loops, hints = elements.counters, nest.size, nest.steps.loops.extents, LoopHints.of(kernel)
    with ExitStack() as stack:
        at = list(loops_over(elements, stack, nest.blocks[: nest.parallel], nest.blocks, low, high))
        for side in nest.sides:
            first = counters.value(counters.expression(at[side]) * size)
            near = stack.enter_context(elements.loop(0, count_from(elements, first, size, loops[side]), below=size))
            hints.mark(near, [side])
            at[side] = elements.moved(first, near)
        _Step(elements, kernel, nest.steps, None).emit(tuple(at))


class _Step:
    """The code of a step, or of the `tile` of neighbouring ones along the last loop."""

    def __init__(self, elements: LoopElements, kernel: Kernel, steps: CpuSteps, tile: Neighbours | None) -> None:
        self.elements, self.steps, self.tile = elements, steps, tile
        self.dims = steps.kernel.dims
        self.outputs = kernel.written
        self.hints = LoopHints.of(kernel)

    def emit(self, at: IndexValues) -> None:
        """Emit the phases, `at` being the indices of the loops: of a tile's first step."""
        for axis, counter in enumerate(at):
            self.hints.mark(counter, [axis])
        for phase in self.steps.loops.phases:
            value, places = self.steps.kernel.value(phase), dict(zip(phase.loops, at, strict=True))
            row = self._row(phase) if phase.block.name in self.steps.held else None
            scan = self.steps.scans.get(phase.block.name)
            if not phase.is_reduction:
                self._element_wise(phase, value, places, row)
                continue
            op = value.owner
            assert isinstance(op, tiny.ReduceOp)  # what reduces
            if scan is not None:
                self._scan(phase, op, scan, places, row)
            elif phase.block.name in self.steps.windows:
                self._reduce_window(phase, op, places, row)
            elif self.tile is not None or phase.block.name in self.steps.along_inner:
                self._reduce_neighbours(phase, op, places, row)
            else:
                self._reduce_alone(phase, op, places, row)
            if row is not None:
                self.elements.reduced[value] = lambda index, phase=phase, op=op, row=row: self.elements.finished(
                    op,
                    memref.load(
                        row, self._slot(phase, values_at(self.elements, op.operand, self.dims, index, set(op.axes)))
                    ),
                )

    # --- phases -------------------------------------------------------------------------------------------------------

    def _element_wise(self, phase: Phase, value: ir.Value, places: AxisValues, row: ir.Value | None) -> None:
        elements = self.elements
        run = None if self.tile is None else (phase.loops[-1], self.tile)
        with self._inside(phase, phase.inner, places) as around, self._along(phase, run, around) as here:
            index = index_at(elements, value, self.dims, here)
            element = elements.at(value, index)
            self._store(value, index, element)
            if row is not None:
                memref.store(element, row, self._slot(phase, here))
            elif value in self.steps.kept and not phase.inner:
                elements.reduced[value] = lambda _: element
        if row is not None:
            elements.reduced[value] = lambda index: memref.load(
                row, self._slot(phase, values_at(elements, value, self.dims, index))
            )

    def _reduce_alone(self, phase: Phase, op: tiny.ReduceOp, places: AxisValues, row: ir.Value | None) -> None:
        """One result after the other."""
        elements = self.elements
        groups = merged_axes(self.steps.kernel, phase, phase.reduced)
        with self._inside(phase, phase.inner, places) as here:

            def term(reduced: IndexValues) -> ir.Value:
                self._mark(phase, groups, reduced, is_in_order=True)
                return self._term(op, {**here, **self._apart(phase, groups, reduced)})

            def mark(lane: ir.Value) -> None:
                self._mark(phase, groups[-1:], (lane,))

            total = reduce_alone(elements, op, tuple(self._extent(phase, group) for group in groups), term, mark)
            finished = elements.finished(op, total)
            self._store(op.output, self._result_index(op, here), finished)
            if row is not None:
                memref.store(total, row, self._slot(phase, here))
            elif not phase.inner:
                elements.reduced[op.output] = lambda _: finished

    def _reduce_window(self, phase: Phase, op: tiny.ReduceOp, places: AxisValues, row: ir.Value | None) -> None:
        """Neighbours along the last loop or the innermost axis, each by all of its terms: sums are in registers."""
        elements = self.elements
        run = None if self.tile is None else (phase.loops[-1], self.tile)
        with self._inside(phase, phase.inner, places) as near, self._along(phase, run, near) as here:
            total = initial(op)
            for taps in itertools.product(*(range(extent) for extent in self.steps.windows[phase.block.name])):
                at = zip(phase.reduced, map(elements.index, taps), strict=True)
                total = elements.multiplied_and_added(op, total, self._term(op, {**here, **dict(at)}))
            if row is not None:
                memref.store(total, row, self._slot(phase, here))
            if op.output in self.outputs:
                self._store(op.output, self._result_index(op, here), elements.finished(op, total))

    def _reduce_neighbours(self, phase: Phase, op: tiny.ReduceOp, places: AxisValues, row: ir.Value | None) -> None:
        """Neighbours along the last loop together, or along the innermost axis that is kept."""
        elements = self.elements
        with ExitStack() as stack:
            if self.tile is not None:
                run, axis = self.tile, phase.loops[-1]
                near = stack.enter_context(self._inside(phase, phase.inner, places))
            else:
                axis, extent = phase.inner[-1], phase.inner_extents[-1]
                near = stack.enter_context(self._inside(phase, phase.inner[:-1], places))
                run = tile_along(elements, stack, elements.index(0), elements.extent(extent), extent)
            memory = self._accumulators(op) if row is None else row

            def slot(here: AxisValues) -> list[ir.Value]:
                return [self._offset(here[axis], run)] if row is None else self._slot(phase, here)

            with self._along(phase, (axis, run), near) as here:
                memref.store(initial(op), memory, slot(here))
            with self._inside(phase, phase.reduced, near) as inside, self._along(phase, (axis, run), inside) as here:
                term = self._term(op, here)
                so_far = memref.load(memory, slot(here))
                memref.store(elements.combined(op, so_far, term), memory, slot(here))
            if op.output in self.outputs:
                with self._along(phase, (axis, run), near) as here:
                    finished = elements.finished(op, memref.load(memory, slot(here)))
                    self._store(op.output, self._result_index(op, here), finished)

    def _scan(self, phase: Phase, op: tiny.ReduceOp, scan: Scan, places: AxisValues, row: ir.Value | None) -> None:
        """What each has so far, at each position of the axis that is walked."""
        elements, along = self.elements, phase.scan_axis
        assert along is not None  # of a scan
        others = [axis for axis in phase.inner if axis != along]
        extent = phase.block.statement.shape[along]
        memory = self._accumulators(op)
        run = None if self.tile is None else (phase.loops[-1], self.tile)

        def slot(here: AxisValues) -> list[ir.Value]:
            return [elements.index(0) if run is None else self._offset(here[run[0]], run[1])]

        with self._inside(phase, others, places) as near:
            with self._along(phase, run, near) as here:
                memref.store(initial(op), memory, slot(here))
            with elements.loop(0, extent) as step, self._along(phase, run, near) as there:
                self._mark(phase, [(along,)], (step,), is_in_order=True)
                here = {**there, along: elements.mirrored(step, extent) if scan.reverse else step}
                index = self._result_index(op, here)
                so_far = memref.load(memory, slot(here))
                with_this = elements.combined(op, so_far, elements.scanned(op, scan, index))
                memref.store(with_this, memory, slot(here))
                total = so_far if scan.exclusive else with_this
                self._store(op.output, index, elements.finished(op, total))
                if row is not None:
                    memref.store(total, row, self._slot(phase, here))

    # --- where things are ---------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _inside(self, phase: Phase, axes: Sequence[int], places: AxisValues) -> Generator[AxisValues]:
        """Emit loops over axes of a phase; give the values of all axes in them."""
        groups = merged_axes(self.steps.kernel, phase, axes)
        with self.elements.loops([self._extent(phase, group) for group in groups]) as at:
            self._mark(phase, groups, at, is_in_order=not {*axes}.isdisjoint(phase.reduced))
            yield {**places, **self._apart(phase, groups, at)}

    def _mark(
        self, phase: Phase, groups: Sequence[Sequence[int]], counters: IndexValues, *, is_in_order: bool = False
    ) -> None:
        """Annotate the loops over groups of axes of a phase as the plan asks, which counts common loops first."""
        numbers = (*phase.loops, *phase.inner, *phase.reduced)
        for group, counter in zip(groups, counters, strict=True):
            self.hints.mark(counter, [numbers.index(axis) for axis in group], is_in_order=is_in_order)

    def _extent(self, phase: Phase, axes: Sequence[int]) -> Dim:
        return extents.product(phase.block.statement.shape[axis] for axis in axes)

    def _apart(self, phase: Phase, groups: Sequence[tuple[int, ...]], at: IndexValues) -> AxisValues:
        """The values of the axes that are merged in groups."""
        found: dict[int, ir.Value] = {}
        for axes, position in zip(groups, at, strict=True):
            shape = [phase.block.statement.shape[axis] for axis in axes]
            found.update(zip(axes, self.elements.delinearized(position, shape), strict=True))
        return found

    @contextlib.contextmanager
    def _along(self, phase: Phase, run: tuple[int, Neighbours] | None, places: AxisValues) -> Generator[AxisValues]:
        """Emit the innermost loop over a run along an axis, if there is one; give the values of all axes in it."""
        if run is None:
            yield places
            return
        axis, neighbours = run
        with self.elements.loop(0, neighbours.count, below=neighbours.most) as offset:
            self._mark(phase, [(axis,)], (offset,))
            yield {**places, axis: self.elements.moved(neighbours.first, offset)}

    def _offset(self, position: ir.Value, run: Neighbours) -> ir.Value:
        counters = self.elements.counters
        return counters.value(counters.expression(position) - counters.expression(run.first))

    def _accumulators(self, op: tiny.ReduceOp) -> ir.Value:
        size = self.steps.tile if self.tile else TILE
        return row_memory(size, scalars.register_type(accumulator_element(op)), "acc")

    def _row(self, phase: Phase) -> ir.Value:
        """The memory of what a phase leaves: its elements in a step, or in a tile of steps."""
        element = phase.block.element.accumulator if phase.is_reduction else phase.block.element
        sizes = [extent for extent in phase.inner_extents if isinstance(extent, int)]
        assert len(sizes) == len(phase.inner)  # only numbers are held
        return row_memory(math.prod(sizes) * self.steps.tile, scalars.register_type(element), "row")

    def _slot(self, phase: Phase, here: AxisValues) -> list[ir.Value]:
        """Where a phase's element is in its row."""
        counters, shape = self.elements.counters, phase.inner_extents
        at = counters.linear(counters.expressions([here[axis] for axis in phase.inner], shape), shape)
        if self.tile is not None:
            step = counters.expression(here[phase.loops[-1]]) - counters.expression(self.tile.first)
            at = at * self.steps.tile + step
        return [counters.value(at)]

    def _term(self, op: tiny.ReduceOp, here: AxisValues) -> ir.Value:
        return self.elements.term(op, index_at(self.elements, op.operand, self.dims, here))

    def _result_index(self, op: tiny.ReduceOp, here: AxisValues) -> IndexValues:
        index = index_at(self.elements, op.operand, self.dims, here)
        return tuple(at for axis, at in enumerate(index) if axis not in tuple(op.axes))

    def _store(self, value: ir.Value, index: IndexValues, element: ir.Value) -> None:
        for buffer in self.outputs.get(value, ()):
            self.elements.store(buffer, index, element)
