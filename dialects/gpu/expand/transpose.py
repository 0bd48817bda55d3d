"""`tgpu.transpose` for one thread: its share of a square, in which it reads along one side and writes along the other.

First what is read across goes to shared memory, in accesses along it; then the elements are computed in runs along the
outputs; last, results that lie across go out from shared memory.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.analysis.transposition import Transposition, transposition_of
from tinyc.codegen.elements import IndexValues
from tinyc.diagnostics import TinycError
from tinyc.dialects.gpu.expand.alloc_smem import shared_array
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.loop_steps import LoopSteps
from tinyc.dialects.gpu.expand.square import Square
from tinyc.dialects.gpu.expand.threads import comment
from tinyc.dialects.gpu.expand.vector_elements import Inside
from tinyc.dialects.gpu.statements import TransposeOp
from tinyc.expr import extents
from tinyc.expr.axes import AxisExpr
from tinyc.mlir import arith, gpu, ir
from tinyc.mlir.locations import around, where
from tinyc.vocabulary.attributes import tensor_type


def expand(expansion: Expansion, op: TransposeOp) -> None:
    """Emit the loop over the squares, which the CTAs of the grid share.

    Raises:
        TinycError: `NoGpuKernel`: nothing in it lies across.
    """
    steps = LoopSteps.of(op, expansion.elements)
    turned = transposition_of(steps.found.loops)
    if turned is None:
        message = f"'{op.operation.name}' has nothing that lies across one axis; use 'tgpu.map_runs'"
        raise TinycError("NoGpuKernel", message, where(around(op)))
    elements, square = expansion.elements, _Squares(expansion, op, steps, turned)
    block, grid = gpu.block_id(gpu.Dimension.x), gpu.grid_dim(gpu.Dimension.x)
    with elements.loop(block, extents.product(square.counts), grid) as number:
        comment(f"transpose: {square.side} x {square.side} elements, in accesses of {square.width}")
        square.at(number)
        square.read_across()
        gpu.barrier()
        square.compute()
        if turned.writes:
            gpu.barrier()
            square.write_across()
        gpu.barrier()  # the next square goes where this one lies


@dataclass(frozen=True)
class _Run:
    """What a thread takes beside each other: the places in the loops and in the square, and what is there."""

    counter: ir.Value
    places: list[IndexValues]
    local: list[tuple[ir.Value, ir.Value]]
    inside: Inside | None


class _Squares:
    """The squares of a statement; `at` says which one is computed now."""

    def __init__(self, expansion: Expansion, op: TransposeOp, steps: LoopSteps, turned: Transposition) -> None:
        self.expansion, self.steps, self.turned = expansion, steps, turned
        self.elements, self.counters = expansion.elements, expansion.elements.counters
        self.side, self.width = op.tile.value, op.width.value
        self.counts = tuple(
            extents.ceildiv(extent, self.side) if loop in (turned.innermost, turned.across) else extent
            for loop, extent in enumerate(steps.extents)
        )
        self._reads = [
            (phase, access, self._square(steps.found.tensor(access.tensor))) for phase, access in turned.reads
        ]
        self._writes = {phase.block.name: self._square(steps.found.value(phase)) for phase in turned.writes}
        self._corner: Sequence[AxisExpr] = ()

    def _square(self, value: ir.Value) -> Square:
        element = tensor_type(value.type).element
        memory = shared_array(self.expansion, element, self.side * self.side)
        return Square(self.elements, memory, element, self.side, self.width)

    def at(self, number: ir.Value) -> None:
        """Go to a square."""
        counters = self.counters
        index = counters.delinearized(counters.expression(number), self.counts)
        sides = (self.turned.innermost, self.turned.across)
        self._corner = [at * (self.side if loop in sides else 1) for loop, at in enumerate(index)]

    def read_across(self) -> None:
        """Emit the loads of what lies across, in runs along it."""
        if self._reads:
            with self.expansion.threads.shared_in_cta(self.side * self.side // self.width) as unit:
                comment("what lies across, to shared memory")
                run = self._along(unit, self.turned.across)
                with self.elements.run(run.counter, self.width, run.inside):
                    for phase, access, square in self._reads:
                        read = self.steps.found.tensor(access.tensor)
                        indices = [self.steps.read_index(phase, access, place) for place in run.places]
                        values = [self.elements.at(read, indices[lane]) for lane in self.elements.lanes()]
                        row, column = run.local[0]
                        square.store(row, column, values)

    def compute(self) -> None:
        """Emit the elements in runs along the outputs, and the stores of those that do not lie across."""
        elements, steps = self.elements, self.steps
        with self.expansion.threads.shared_in_cta(self.side * self.side // self.width) as unit:
            comment("the elements, along the outputs")
            run = self._turned(unit, self.turned.innermost)
            with elements.run(run.counter, self.width, run.inside):
                self._keep(run)
                for phase in steps.found.loops.phases:
                    value, indices = steps.found.value(phase), [steps.index(phase, place, ()) for place in run.places]
                    values = [elements.at(value, indices[lane]) for lane in elements.lanes()]
                    if phase.block.name in self._writes:
                        column, row = run.local[0]
                        self._writes[phase.block.name].store(row, column, values)
                    else:
                        for each in steps.yields[value]:
                            elements.store_inside(each.buffer, indices, values, run.inside)

    def _keep(self, run: _Run) -> None:
        """Let what lies across be read from shared memory, where it is read as it was put there."""
        for read in dict.fromkeys(self.steps.found.tensor(access.tensor) for _, access, _ in self._reads):
            kept = [
                (self.steps.read_index(phase, access, place), square, local)
                for phase, access, square in self._reads
                if self.steps.found.tensor(access.tensor) == read
                for place, local in zip(run.places, run.local, strict=True)
            ]
            self.elements.reduced[read] = functools.partial(self._kept, read, kept)

    def _kept(
        self, read: ir.Value, kept: list[tuple[IndexValues, Square, tuple[ir.Value, ir.Value]]], index: IndexValues
    ) -> ir.Value:
        shape = tensor_type(read.type).shape
        wanted = self.counters.expressions(index, shape)
        for known, square, (row, column) in kept:
            if self.counters.expressions(known, shape) == wanted:
                return square.load(row, column)
        return self.elements.unkept(read, index)

    def write_across(self) -> None:
        """Emit the stores of the results that lie across."""
        elements, steps = self.elements, self.steps
        with self.expansion.threads.shared_in_cta(self.side * self.side // self.width) as unit:
            comment("what lies across, from shared memory")
            run = self._turned(unit, self.turned.across)
            for phase in self.turned.writes:
                square = self._writes[phase.block.name]
                values = [square.load(column, row) for row, column in run.local]
                indices = [steps.index(phase, place, ()) for place in run.places]
                for each in steps.yields[steps.found.value(phase)]:
                    elements.store_inside(each.buffer, indices, values, run.inside)

    # --- which elements of a square a thread takes --------------------------------------------------------------------

    def _along(self, unit: ir.Value, loop: int) -> _Run:
        """The run number `unit` along a side, row after row."""
        units = self.side // self.width
        other, first = self.counters.divided(self.counters.expression(unit), units)
        return self._run(unit, loop, first * self.width, other)

    def _turned(self, unit: ir.Value, loop: int) -> _Run:
        """The run number `unit` along a side, where neighbouring threads are in `width` rows beside each other.

        So from a square whose rows lie the other way they read neighbours, and what they write are whole sectors.
        """
        rest, beside = self.counters.divided(self.counters.expression(unit), self.width)
        group, first = self.counters.divided(rest, self.side // self.width)
        return self._run(unit, loop, first * self.width, group * self.width + beside)

    def _run(self, unit: ir.Value, loop: int, along: AxisExpr, other: AxisExpr) -> _Run:
        """A run from `along` on, in the loop of that number, at `other` in the other one of the two."""
        turned, counters, elements = self.turned, self.counters, self.elements
        opposite = turned.across if loop == turned.innermost else turned.innermost
        offsets = {loop: along, opposite: other}
        first = [at + offsets.get(number, 0) for number, at in enumerate(self._corner)]
        places: list[IndexValues] = []
        local: list[tuple[ir.Value, ir.Value]] = []
        for lane in range(self.width):
            place = [at + lane if number == loop else at for number, at in enumerate(first)]
            places.append(tuple(counters.value(at) for at in place))
            across, inner = (along + lane, other) if loop == turned.across else (other, along + lane)
            local.append((counters.value(inner), counters.value(across)))
        conditions = [
            elements.within(counters.value(first[number]), self.steps.extents[number])
            for number in (loop, opposite)
            if extents.divide(self.steps.extents[number], self.side) is None
        ]
        if not conditions:
            return _Run(unit, places, local, None)
        condition = functools.reduce(arith.andi, conditions)
        return _Run(unit, places, local, Inside((condition,) * self.width, condition, None, (unit,), (along, other)))
