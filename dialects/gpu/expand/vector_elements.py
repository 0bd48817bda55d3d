"""Elements of which a thread computes several neighbours at a time: they are loaded and stored in wide accesses.

A *run* is `width` elements in a row that one thread computes, for one value of a counter after the other: position
``width * counter + lane``. An access is wide where the addresses of a run's elements are neighbours and the first of
them is known to be a multiple of their number; where it is a multiple of less, it is split, down to single elements.
"""

import contextlib
import functools
from collections.abc import Generator, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tinyc.analysis.access import Access
from tinyc.analysis.movement import Guard
from tinyc.codegen import scalars
from tinyc.codegen.elements import IndexValues, call_after, indexed_extent
from tinyc.dialects.gpu.expand.planes import Planes
from tinyc.dialects.gpu.expand.thread_elements import ThreadElements
from tinyc.dialects.gpu.statements import LoadVectorOp, StoreVectorOp
from tinyc.dialects.gpu.statements.rules import VECTOR_BYTES
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.expr.axes import AxisExpr, constant, may_leave
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, ir, memref, scf
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.types import TensorType


@dataclass(frozen=True)
class Inside:
    """Which elements of a run are there, where it may reach beyond the ends of an axis that `counters` go along.

    `lanes` are the conditions of its elements, `whole` that of all. Where `some` is given, a run may begin before the
    axis or end behind it, as one does that is aligned while the axis is not: it holds where an access may take elements
    besides; `first` is the position that it begins at. Two with equal `bounds` have the same conditions.
    """

    lanes: tuple[ir.Value, ...]
    whole: ir.Value
    some: ir.Value | None
    counters: tuple[ir.Value, ...]
    bounds: Hashable
    first: AxisExpr | None = None

    def load(self, buffer: ir.Value, address: AxisExpr, lane: int) -> "_Load":
        """What a load for element `lane` is known by: elsewhere in the run it is there under another condition."""
        return buffer, address, self.bounds, None if self.some is None else lane


#: An element behind guards: its buffer and address, what they bound at its index, and by what.
_Guarded: TypeAlias = tuple[ir.Value, AxisExpr, tuple[tuple[AxisExpr, Dim], ...]]
_Load: TypeAlias = tuple[ir.Value, AxisExpr, Hashable, int | None]
_Element: TypeAlias = tuple[ir.Value, IndexValues]
#: A place of the tensor of indices of a gather, which is called by its result.
_Chosen: TypeAlias = tuple[ir.Value, IndexValues]


@dataclass
class _Run:
    """A run whose element `lane` is computed now, in a block as many blocks deep as `depth`.

    `padded` are elements that were loaded under guards, by buffer, address and guards; `chosen` are the indices that
    gathers have at places of their tensors of indices.
    """

    counter: ir.Value
    width: int
    inside: Inside | None
    covered: tuple[AxisExpr, Dim] | None
    depth: int
    lane: int = 0
    padded: dict[_Guarded, ir.Value] = field(default_factory=dict[_Guarded, ir.Value])
    chosen: dict[_Chosen, ir.Value] = field(default_factory=dict[_Chosen, ir.Value])


@dataclass
class _Bounded:
    """What is known in a block inside of bounds: loads by buffer, address and bounds, elements by bounds."""

    loads: dict[_Load, ir.Value] = field(default_factory=dict[_Load, ir.Value])
    elements: dict[Hashable, dict[_Element, ir.Value]] = field(default_factory=dict[Hashable, dict[_Element, ir.Value]])


class VectorElements(ThreadElements):
    """Emits elements of values for one thread, in runs where a statement says so."""

    def __init__(
        self, buffers: Mapping[ir.Value, ir.Value], symbols: Mapping[str, ir.Value], status: ir.Value | None
    ) -> None:
        super().__init__(buffers, symbols, status)
        self._run: _Run | None = None
        # What was loaded and computed inside of some bounds, by enclosing block: inside of others, others are there.
        self._bounded: list[_Bounded] = [_Bounded()]
        self._planes: dict[ir.Value, Planes] = {}

    def keep_in(self, buffer: ir.Value, memory: ir.Value, planes: Planes) -> None:
        """Note that the elements of a kernel argument are also in `memory`, where they are read from then on."""
        self.buffers = {**self.buffers, buffer: memory}
        self._planes[buffer] = planes

    def linear(self, buffer: ir.Value, index: IndexValues) -> ir.Value:
        """Where an element of a kernel argument stands in its row, or in shared memory."""
        return self._stands(buffer, self.address(buffer, index))

    def _stands(self, buffer: ir.Value, address: AxisExpr) -> ir.Value:
        planes = self._planes.get(buffer)
        return self.counters.value(address if planes is None else planes.place(self.counters, address))

    @contextlib.contextmanager
    def block(self, block: ir.Block) -> Generator[None]:
        """Emit into `block`; what is loaded there is forgotten at its end."""
        self._bounded.append(_Bounded())
        with super().block(block):
            yield
        self._bounded.pop()

    @contextlib.contextmanager
    def run(
        self,
        counter: ir.Value,
        width: int,
        inside: Inside | None = None,
        covered: tuple[AxisExpr, Dim] | None = None,
    ) -> Generator[None]:
        """Emit runs of `width` elements, one for each value of `counter`; what is not `inside` is not read.

        `covered` are a run's first position, and a number of positions that no run reaches beyond.
        """
        outer, self._run = self._run, _Run(counter, width, inside, covered, len(self._known))
        if inside is None or inside.some is not None:
            yield
        else:
            with self._known_inside(inside.bounds):
                yield
        self._run = outer

    def lanes(self) -> Generator[int]:
        """Yield the number of each element of the run, which is computed then."""
        assert self._run is not None, "only a run has lanes"
        inside = self._run.inside
        for lane in range(self._run.width):
            self._run.lane = lane
            if inside is None or inside.some is None:
                yield lane
            else:  # what is not there for one of them may be for another
                with self._known_inside((inside.bounds, lane)):
                    yield lane

    @contextlib.contextmanager
    def _known_inside(self, bounds: Hashable) -> Generator[None]:
        """Emit what is inside of bounds: what is known there is added to what is known everywhere."""
        known, bounded = self._known[-1], self._bounded[-1].elements
        everywhere = known.elements
        known.elements = {**everywhere, **bounded.get(bounds, {})}
        yield
        bounded[bounds], known.elements = known.elements, everywhere

    def unkept(self, read: ir.Value, index: IndexValues) -> ir.Value:
        """An element of what a `region.read` reads, from its buffer."""
        op = read.owner
        assert isinstance(op, region.ReadOp)  # only such values are kept
        return call_after(read, self._read(op.buffer, index))

    @property
    def lane(self) -> int:
        """The number of the element that is computed now."""
        return 0 if self._run is None else self._run.lane

    def _read(self, buffer: ir.Value, index: IndexValues) -> ir.Value:
        address, run = self.address(buffer, index), self._run
        if run is None or any((buffer, address) in known.loads for known in self._known):
            return super()._read(buffer, index)
        width, inside = self._readable(buffer, address, run), run.inside
        if inside is not None and any(self.counters.step(address, each) != 0 for each in inside.counters):
            return self._read_inside(buffer, address, run.lane, width, inside)
        if width > 1:
            values = self._wide_loads(buffer, address - run.lane % width, width)
        else:
            return super()._read(buffer, index)
        first = address - run.lane % width
        self._known[-1].loads.update({(buffer, first + place): value for place, value in enumerate(values)})
        return values[run.lane % width]

    # --- what stands in branches elsewhere, where all elements of a run may take the same one -------------------------

    def _guarded(self, access: Access, guards: tuple[Guard, ...], read: TensorType, index: IndexValues) -> ir.Value:
        """The same with one access for several elements of a run that pass the same guards."""
        op, run = access.source.owner if guards else None, self._run
        is_shared = isinstance(op, region.ReadOp) and access.source not in self.reduced and self._shares_branches()
        if run is None or not is_shared or len({repr(guard.value) for guard in guards}) > 1:
            return super()._guarded(access, guards, read, index)
        assert isinstance(op, region.ReadOp)  # as was asked
        at = tuple(self.position(expression, index, read.shape) for expression in access.map)
        address = self.address(op.buffer, at)
        width = self._readable(op.buffer, address, run)
        if width == 1:
            return super()._guarded(access, guards, read, index)
        bounded = [(self.counters.substituted(each.expression, index, read.shape), each.size) for each in guards]
        key = tuple(bounded)
        if (op.buffer, address, key) not in run.padded:
            conditions = [self.within(self.counters.value(expression), size) for expression, size in bounded]
            conditions += [] if run.inside is None else [run.inside.whole]
            first = address - run.lane % width
            fill = scalars.element_constant(read.element, guards[0].value)
            values = self._loads_where(functools.reduce(arith.andi, conditions), op.buffer, first, width, fill)
            run.padded.update({(op.buffer, first + place, key): value for place, value in enumerate(values)})
        return call_after(access.source, run.padded[op.buffer, address, key])

    def _shares_branches(self) -> bool:
        """Whether branches may be taken for a run as a whole: it is there as a whole, or not at all."""
        run = self._run
        return run is not None and run.depth == len(self._known) and (run.inside is None or run.inside.some is None)

    def _gather(self, op: tiny.GatherOp, index: IndexValues) -> ir.Value:
        """The same without a branch: an index that is out of range is noted, and the first element read instead."""
        extent, run = indexed_extent(op), self._run
        if run is None or not self._shares_branches() or not isinstance(extent, int) or extent == 0:
            return super()._gather(op, index)
        axis, rank = op.axis.value, tensor_type(op.index.type).rank
        at = index[axis : axis + rank]
        if (op.output, at) not in run.chosen:
            chosen, inside = self.selected(op, at)
            with self.where(arith.xori(inside, scalars.number(True, inside.type))):
                self.report_out_of_range(op, chosen, at)
            run.chosen[op.output, at] = arith.select(inside, chosen, self.index(0))
            self.counters.expression(run.chosen[op.output, at], extent)
        return self.at(op.data, (*index[:axis], run.chosen[op.output, at], *index[axis + rank :]))

    def report_out_of_range(self, op: tiny.GatherOp | tiny.ScatterOp, chosen: ir.Value, at: IndexValues) -> None:
        """The same for an element that is there; of others, which nothing uses, the index may be any number."""
        if self._run is None or self._run.inside is None:
            super().report_out_of_range(op, chosen, at)
            return
        with self.where(self._run.inside.lanes[self.lane]):
            super().report_out_of_range(op, chosen, at)

    # --- accesses -----------------------------------------------------------------------------------------------------

    def _readable(self, buffer: ir.Value, address: AxisExpr, run: _Run) -> int:
        """How many elements the access takes that reads the one at `address` in a run: all of them are there.

        They are those of the run where its addresses are neighbours. Where they are not, what an access takes besides
        is not used, or by another element of the run.
        """
        # In a branch, as a pad has them, nothing is known of the neighbours.
        if run.depth != len(self._known) or self.counters.step(address, run.counter) == 0:
            return 1
        width = self._wide(buffer, address - run.lane, run.width)
        while width > 1 and not self._has(buffer, address - run.lane % width, width, run):
            width //= 2
        return width

    def _has(self, buffer: ir.Value, first: AxisExpr, width: int, run: _Run) -> bool:
        """Whether a buffer is known to have `width` elements from `first` on, which is a multiple of it."""
        size = extents.product(region.held_tensor(buffer.type).shape)
        if run.inside is not None and run.inside.some is not None:
            return True  # it is asked at run time
        if extents.divide(size, width) is not None:
            return True
        if run.covered is not None and run.covered == (first - (run.lane - run.lane % width), size):
            return True
        return not any(may_leave(first, size - (width - 1), self.counters.shape))

    def _read_inside(self, buffer: ir.Value, address: AxisExpr, lane: int, width: int, inside: Inside) -> ir.Value:
        """An element that is loaded where it is inside; at the same bounds it is loaded once."""
        load = inside.load(buffer, address, lane)
        for known in self._bounded:
            if load in known.loads:
                return known.loads[load]
        if not self._are_neighbours(address - lane, inside):
            width = 1
        lanes = range(lane - lane % width, lane - lane % width + width)
        values = self._guarded_loads(buffer, address, lane, width, inside)
        for each, value in zip(lanes, values, strict=True):
            self._bounded[-1].loads[inside.load(buffer, address + (each - lane), each)] = value
        return values[lane % width]

    def _are_neighbours(self, first: AxisExpr, inside: Inside) -> bool:
        """Whether the elements of a run are neighbours from `first` on, where each of them may be there or not."""
        begins = constant(0) if inside.first is None else first - inside.first
        return all(self.counters.step(begins, counter) == 0 for counter in inside.counters)

    def _guarded_loads(
        self, buffer: ir.Value, address: AxisExpr, lane: int, width: int, inside: Inside
    ) -> list[ir.Value]:
        """Load the elements of one access that are inside; others are 0, or what the buffer has there."""
        kind, first = scalars.register_type(self.element_of(buffer)), address - lane % width
        if width == 1 or inside.some is None:
            return self._loads_where(inside.lanes[lane], buffer, first, width, self._zero(buffer))
        condition = arith.andi(inside.some, self._is_held(buffer, first, width))
        branch = scf.IfOp(condition, [kind] * width, has_else=True)
        with self.block(branch.then_block):
            scf.yield_(self._wide_loads(buffer, first, width))
        assert branch.else_block is not None  # asked for above
        with self.block(branch.else_block):
            lanes = inside.lanes[lane - lane % width :]
            scf.yield_([self._load_or_zero(buffer, first + k, lanes[k]) for k in range(width)])
        return list(branch.results)

    def _loads_where(
        self, condition: ir.Value, buffer: ir.Value, first: AxisExpr, width: int, other: ir.Value
    ) -> list[ir.Value]:
        """Load `width` elements under a condition; else they are `other`."""
        branch = scf.IfOp(condition, [other.type] * width, has_else=True)
        with self.block(branch.then_block):
            scf.yield_(self._wide_loads(buffer, first, width))
        assert branch.else_block is not None  # asked for above
        with self.block(branch.else_block):
            scf.yield_([other] * width)
        return list(branch.results)

    def _is_held(self, buffer: ir.Value, first: AxisExpr, width: int) -> ir.Value:
        """Emit whether a buffer has `width` elements from `first` on."""
        size, place = extents.product(region.held_tensor(buffer.type).shape), self.counters.value(first)
        if width == 1:
            return self.within(place, size)
        begins = arith.cmpi(arith.CmpIPredicate.sge, place, self.index(0))
        return arith.andi(begins, arith.cmpi(arith.CmpIPredicate.sle, place, self.extent(size - width)))

    def _load_or_zero(self, buffer: ir.Value, address: AxisExpr, condition: ir.Value) -> ir.Value:
        """Load an element that is there where a condition holds, if it is one of a run, else anywhere."""
        kind = scalars.register_type(self.element_of(buffer))
        condition = arith.andi(condition, self._is_held(buffer, address, 1))
        return self.choose(condition, kind, lambda: self._wide_loads(buffer, address, 1)[0], lambda: self._zero(buffer))

    def _zero(self, buffer: ir.Value) -> ir.Value:
        return scalars.element_constant(self.element_of(buffer), 0)

    def _wide_loads(self, buffer: ir.Value, first: AxisExpr, width: int) -> list[ir.Value]:
        """Load `width` elements from an address on."""
        memory, place = self.buffers[buffer], self._stands(buffer, first)
        if width == 1:
            return [scalars.from_storage(self.element_of(buffer), memref.load(memory, [place]))]
        loaded = LoadVectorOp([ir.MemRefType(memory.type).element_type] * width, memory, place).results
        return [scalars.from_storage(self.element_of(buffer), each) for each in loaded]

    @contextlib.contextmanager
    def where(self, condition: ir.Value) -> Generator[None]:
        """Emit what follows under a condition."""
        branch = scf.IfOp(condition)
        with self.block(branch.then_block):
            yield
            scf.yield_([])

    def store_inside(
        self, buffer: ir.Value, indices: Sequence[IndexValues], values: Sequence[ir.Value], inside: Inside | None
    ) -> None:
        """Write the register values of a run that are inside to elements of a kernel argument."""
        if inside is None:
            return self.store_run(buffer, indices, values)
        branch = scf.IfOp(inside.whole, has_else=inside.some is not None)
        with self.block(branch.then_block):
            self.store_run(buffer, indices, values)
            scf.yield_([])
        if branch.else_block is not None:
            with self.block(branch.else_block):
                for index, value, condition in zip(indices, values, inside.lanes, strict=True):
                    with self.where(condition):
                        self.store(buffer, index, value)
                scf.yield_([])
        return None

    def store_run(self, buffer: ir.Value, indices: Sequence[IndexValues], values: Sequence[ir.Value]) -> None:
        """Write register values to elements of a kernel argument, in accesses as wide as their addresses allow."""
        addresses = [self.address(buffer, index) for index in indices]
        neighbours = all(address - addresses[0] == constant(lane) for lane, address in enumerate(addresses))
        width = self._wide(buffer, addresses[0], len(values)) if neighbours else 1
        if width == 1:
            for index, value in zip(indices, values, strict=True):
                self.store(buffer, index, value)
            return
        stored = [scalars.to_storage(self.element_of(buffer), value) for value in values]
        for lane in range(0, len(values), width):
            StoreVectorOp(self.buffers[buffer], self.counters.value(addresses[lane]), stored[lane : lane + width])

    def _wide(self, buffer: ir.Value, first: AxisExpr, most: int) -> int:
        """How many elements from `first` on one access takes, of `most` that are wanted."""
        width = min(most, VECTOR_BYTES // self.element_of(buffer).size_bytes)
        if buffer in self._planes:
            width = min(width, self._planes[buffer].taken)
        while width > 1 and not self.counters.is_multiple(first, width):
            width //= 2
        return width
