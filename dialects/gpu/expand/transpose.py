"""`tgpu.transpose` for one thread: its share of a square, in which it reads along one side and writes along the other.

First what is read across goes to shared memory, in accesses along it; then the elements are computed in runs along the
outputs; last, results that lie across go out from shared memory.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tinyc.analysis.poly.block import PolyAccess
from tinyc.analysis.poly_core.fused_loops import Phase
from tinyc.analysis.transposition import Transposition, transposition_of
from tinyc.codegen.elements import IndexValues
from tinyc.diagnostics import TinycError
from tinyc.dialects.gpu.expand.alloc_smem import shared_array
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.loop_steps import LoopSteps
from tinyc.dialects.gpu.expand.square import Square
from tinyc.dialects.gpu.expand.stripes import SECTOR_BYTES, SMALL_ACCESS_BYTES
from tinyc.dialects.gpu.expand.threads import comment
from tinyc.dialects.gpu.expand.vector_elements import Inside
from tinyc.dialects.gpu.statements import TransposeOp
from tinyc.dialects.region import ops as region
from tinyc.expr import extents
from tinyc.expr.axes import AxisExpr, constant
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


#: So many turns of a thread at most are no loop.
_WRITTEN_OUT = 16


@dataclass(frozen=True)
class _Run:
    """What a thread takes beside each other: the places in the loops and in the square, and what is there."""

    counter: ir.Value
    places: list[IndexValues]
    local: list[tuple[ir.Value, ir.Value]]
    inside: Inside | None


#: Where the element at a place of the loops is in memory.
_Address: TypeAlias = Callable[[IndexValues], AxisExpr]


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
        self._counter = expansion.threads.linear  # what changes from thread to thread, and from turn to turn in a loop
        sizes = [square.element.size_bytes for square in (*(each for *_, each in self._reads), *self._writes.values())]
        turns, rest = divmod(self.side * self.side // self.width, expansion.threads.count)
        self._turns = turns if rest == 0 and turns <= _WRITTEN_OUT else None
        # Where accesses of a warp are few sectors, they begin with one, wherever the side does.
        is_small = self._turns is not None and self.width * max(sizes) < SMALL_ACCESS_BYTES
        self._sector = SECTOR_BYTES // max(sizes) if is_small else 0

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
            first, read_by, _ = self._reads[0]
            address = functools.partial(self._read_at, first, read_by)
            for unit in self._units("what lies across, to shared memory"):
                run = self._along(unit, self.turned.across, address)
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
        direct = [phase for phase in steps.found.loops.phases if phase.block.name not in self._writes]
        address = functools.partial(self._written_at, direct)
        for unit in self._units("the elements, along the outputs"):
            run = self._turned(unit, self.turned.innermost, address)
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
        for unit in self._units("what lies across, from shared memory"):
            run = self._turned(unit, self.turned.across, functools.partial(self._written_at, self.turned.writes))
            for phase in self.turned.writes:
                square = self._writes[phase.block.name]
                values = [square.load(column, row) for row, column in run.local]
                indices = [steps.index(phase, place, ()) for place in run.places]
                for each in steps.yields[steps.found.value(phase)]:
                    elements.store_inside(each.buffer, indices, values, run.inside)

    # --- which elements of a square a thread takes --------------------------------------------------------------------

    def _units(self, what: str) -> Iterator[ir.Value]:
        """Yield the number of each run of a square that the thread takes, where its code is to be: all, or in a loop.

        Few are written out: their loads are under way together.
        """
        threads = self.expansion.threads
        if self._turns is None:
            with threads.shared_in_cta(self.side * self.side // self.width) as unit:
                comment(what)
                self._counter = unit
                yield unit
        else:
            self._counter = threads.linear
            at = self.counters.counter(threads.linear, threads.count)
            for turn in range(self._turns):
                yield self.counters.value(at + turn * threads.count)

    def _along(self, unit: ir.Value, loop: int, address: _Address) -> _Run:
        """The run number `unit` along a side, row after row; `address` is where a row begins in memory."""
        if self._sector:
            return self._from_sector(unit, loop, address)
        units = self.side // self.width
        other, first = self.counters.divided(self.counters.expression(unit), units)
        return self._run(loop, first * self.width, other)

    def _turned(self, unit: ir.Value, loop: int, address: _Address) -> _Run:
        """The run number `unit` along a side, where neighbouring threads are in `width` rows beside each other.

        So from a square whose rows lie the other way they read neighbours, and what they write are whole sectors.
        """
        if self._sector:
            return self._from_sector(unit, loop, address)
        rest, beside = self.counters.divided(self.counters.expression(unit), self.width)
        group, first = self.counters.divided(rest, self.side // self.width)
        return self._run(loop, first * self.width, group * self.width + beside)

    def _from_sector(self, unit: ir.Value, loop: int, address: _Address) -> _Run:
        """The element number `unit` of rows that are turned round, so that all but their last accesses are sectors."""
        counters = self.counters
        other, lane = counters.divided(counters.expression(unit), self.side)
        opposite = self.turned.across if loop == self.turned.innermost else self.turned.innermost
        row = [at + other if number == opposite else at for number, at in enumerate(self._corner)]
        _, shift = counters.divided(address(tuple(map(counters.value, row))), self._sector)
        return self._run(loop, counters.divided(lane + self.side - shift, self.side)[1], other)

    def _read_at(self, phase: Phase, access: PolyAccess, place: IndexValues) -> AxisExpr:
        op = self.steps.found.tensor(access.tensor).owner
        assert isinstance(op, region.ReadOp)  # what lies across is in memory
        return self.elements.address(op.buffer, self.steps.read_index(phase, access, place))

    def _written_at(self, phases: Sequence[Phase], place: IndexValues) -> AxisExpr:
        for phase in phases:
            for each in self.steps.yields[self.steps.found.value(phase)]:
                return self.elements.address(each.buffer, self.steps.index(phase, place, ()))
        return constant(0)

    def _run(self, loop: int, along: AxisExpr, other: AxisExpr) -> _Run:
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
            return _Run(self._counter, places, local, None)
        condition = functools.reduce(arith.andi, conditions)
        inside = Inside((condition,) * self.width, condition, None, (self._counter,), (along, other))
        return _Run(self._counter, places, local, inside)
