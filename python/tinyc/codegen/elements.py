"""Code for one element of a value in a kernel: the access maps and the ops above it, evaluated where it is needed.

`Elements.at(value, index)` emits, at the insertion point, whatever computes element `index` of `value`: movements
become index arithmetic with pad guards as `scf.if`, `region.read`s become loads, element-wise ops become scalar code.
Nothing is copied. A reduction that no loop nest has prepared is a loop of its own.
"""

import contextlib
import functools
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tinyc.analysis.access import Access, Guard, NonScop, trace
from tinyc.analysis.patterns.contraction import summed_factors
from tinyc.analysis.patterns.scan import Scan
from tinyc.codegen import philox, scalars
from tinyc.codegen.counters import UNBOUNDED, Counters
from tinyc.codegen.places import element_place, flat_view
from tinyc.codegen.reduction_steps import accumulator_element, initial, joined, reduced_shape
from tinyc.diagnostics import TinycError
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.expr.axes import AxisExpr, Shape, constant, plain_axis
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, ir, memref, scf
from tinyc.mlir.constants import number
from tinyc.mlir.locations import name_of, named, where
from tinyc.vocabulary.attributes import arguments, tensor_type
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.run_key import RUN_KEY
from tinyc.vocabulary.types import TensorType

#: The position of an element: an index value for each axis.
IndexValues: TypeAlias = tuple[ir.Value, ...]


@dataclass
class _Known:
    """What is known in a block: elements of values, and of inputs by their addresses."""

    elements: dict[tuple[ir.Value, IndexValues], ir.Value] = field(
        default_factory=dict[tuple[ir.Value, IndexValues], ir.Value]
    )
    loads: dict[tuple[ir.Value, AxisExpr], ir.Value] = field(default_factory=dict[tuple[ir.Value, AxisExpr], ir.Value])


class Elements:
    """Emits elements of one kernel's values at the insertion point.

    `buffers` maps the kernel's arguments to memrefs, `symbols` the names of extents to indices; `status` is the buffer
    that takes the note of an index out of range, if the kernel can have one. How an element is loaded and stored, and
    how the note is made, is for a subclass to say where memory is not a memref of the tensor's shape.
    """

    def __init__(
        self, buffers: Mapping[ir.Value, ir.Value], symbols: Mapping[str, ir.Value], status: ir.Value | None
    ) -> None:
        self.buffers, self.symbols, self.status = buffers, symbols, status
        self.reduced: dict[ir.Value, Callable[[IndexValues], ir.Value]] = {}  # reductions that a loop nest keeps
        self.counters, self._traced = Counters(symbols), functools.cache(traced)
        self._panel_groups = {each: region.panel_group(each) for each in buffers}
        self._known: list[_Known] = [_Known()]  # by enclosing block

    # --- control flow and index arithmetic ----------------------------------------------------------------------------

    def index(self, value: int) -> ir.Value:
        """An index constant."""
        return self.counters.value(value)

    @contextlib.contextmanager
    def block(self, block: ir.Block) -> Generator[None]:
        """Emit into `block`; what is computed there is forgotten at its end."""
        self._known.append(_Known())
        with ir.InsertionPoint(block), self.counters.scope(block):
            yield
        self._known.pop()

    @contextlib.contextmanager
    def loop(
        self, low: ir.Value | Dim, high: ir.Value | Dim, step: int | ir.Value = 1, below: Dim = UNBOUNDED
    ) -> Generator[ir.Value]:
        """Emit `scf.for` from `low` below `high` and yield its index; `step` is a number or a value.

        An index is never negative. Where `high` is a value, all indices are `below` an extent, if that is given.
        """
        if not isinstance(high, ir.Value):
            below = high
        nest = scf.ForOp(self.extent(low), self.extent(high), self.extent(step))
        with self.block(nest.body):
            self.counters.counter(nest.induction_variable, below)
            yield nest.induction_variable
            scf.yield_([])

    @contextlib.contextmanager
    def loops(self, shape: Sequence[Dim]) -> Generator[IndexValues]:
        """Emit one loop for each extent of `shape` and yield the indices."""
        with contextlib.ExitStack() as stack:
            yield tuple(stack.enter_context(self.loop(0, extent)) for extent in shape)

    def carried(
        self,
        shape: Sequence[ir.Value | Dim],
        start: Sequence[ir.Value],
        step: Callable[[IndexValues, list[ir.Value]], Sequence[ir.Value]],
    ) -> list[ir.Value]:
        """Emit loops over `shape` that carry values, from `start` by `step(index, values)`; return the last ones."""

        def nested(index: IndexValues, values: list[ir.Value]) -> Sequence[ir.Value]:
            if len(index) == len(shape):
                return step(index, values)
            end = shape[len(index)]
            nest = scf.ForOp(self.index(0), self.extent(end), self.index(1), values)
            with self.block(nest.body):
                self.counters.counter(nest.induction_variable, UNBOUNDED if isinstance(end, ir.Value) else end)
                scf.yield_(nested((*index, nest.induction_variable), list(nest.inner_iter_args)))
            return list(nest.results)

        return list(nested((), list(start)))

    def extent(self, dim: ir.Value | Dim) -> ir.Value:
        """An extent as an index; what is a value is one."""
        return dim if isinstance(dim, ir.Value) else self.counters.value(dim)

    def position(self, expression: AxisExpr, index: IndexValues, domain: Shape) -> ir.Value:
        """An axis expression over `domain` at `index`."""
        alone = plain_axis(expression)
        if alone is not None:
            return index[alone]
        return self.counters.value(self.counters.substituted(expression, index, domain))

    def moved(self, position: ir.Value, by: ir.Value | int) -> ir.Value:
        """The position that many further along its axis."""
        offset = self.counters.expression(by) if isinstance(by, ir.Value) else by
        return self.counters.value(self.counters.expression(position) + offset)

    def mirrored(self, position: ir.Value, extent: Dim) -> ir.Value:
        """The position as far from the last one of an axis as `position` is from the first."""
        return self.counters.value(constant(extent - 1) - self.counters.expression(position, extent))

    def within(self, position: ir.Value, size: Dim) -> ir.Value:
        """Whether ``0 <= position < size``; one unsigned comparison does both."""
        return arith.cmpi(arith.CmpIPredicate.ult, position, self.extent(size))

    def choose(
        self,
        condition: ir.Value,
        mlir_type: ir.Type,
        if_true: Callable[[], ir.Value],
        if_false: Callable[[], ir.Value],
    ) -> ir.Value:
        """Emit `scf.if` that evaluates one of two register values."""
        branch = scf.IfOp(condition, [mlir_type], has_else=True)
        with self.block(branch.then_block):
            scf.yield_([if_true()])
        assert branch.else_block is not None  # asked for above
        with self.block(branch.else_block):
            scf.yield_([if_false()])
        return branch.results[0]

    def delinearized(self, linear: ir.Value, shape: Sequence[Dim]) -> IndexValues:
        """The index whose row-major number in `shape` is `linear`, which must not be negative."""
        counters = self.counters
        index = counters.delinearized(counters.expression(linear, extents.product(shape)), shape)
        return tuple(reversed([counters.value(position) for position in reversed(index)]))

    # --- elements -----------------------------------------------------------------------------------------------------

    def at(self, value: ir.Value, index: IndexValues) -> ir.Value:
        """Element `index` of `value` in its register type."""
        # Operands first, and not by recursion: a chain of element-wise ops may be longer than Python's stack.
        pending = [value]
        while (found := self._find(value, index)) is None:
            missing = [v for v in self._pointwise_operands(pending[-1]) if self._find(v, index) is None]
            pending += missing
            if not missing:
                self._compute(pending.pop(), index)
        return found

    def _find(self, value: ir.Value, index: IndexValues) -> ir.Value | None:
        for known in self._known:
            if (value, index) in known.elements:
                return known.elements[value, index]
        return None

    def _pointwise_operands(self, value: ir.Value) -> Sequence[ir.Value]:
        """The operands that an element-wise op reads at the index of its own element."""
        if value in self.reduced:
            return ()  # it may be an argument of a block
        return value.owner.operands if isinstance(value.owner, tiny.ElementwiseOp) else ()

    def _compute(self, value: ir.Value, index: IndexValues) -> None:
        if self._find(value, index) is None:
            access = self._traced(value)
            element = self._guarded(access, access.guards, tensor_type(value.type), index)
            self._known[-1].elements[value, index] = call_after(value, element)

    def _guarded(self, access: Access, guards: tuple[Guard, ...], read: TensorType, index: IndexValues) -> ir.Value:
        """Element `index` of the value of type `read` that `access` reads, `guards` being left to check."""
        if not guards:
            return self._source(access.source, tuple(self.position(e, index, read.shape) for e in access.map))
        same = next((k for k, guard in enumerate(guards) if repr(guard.value) != repr(guards[0].value)), len(guards))
        conditions = [self.within(self.position(g.expression, index, read.shape), g.size) for g in guards[:same]]
        inside = conditions[0]
        for condition in conditions[1:]:
            inside = arith.andi(inside, condition)
        return self.choose(
            inside,
            scalars.register_type(read.element),
            lambda: self._guarded(access, guards[same:], read, index),
            lambda: scalars.element_constant(read.element, guards[0].value),
        )

    def _source(self, value: ir.Value, index: IndexValues) -> ir.Value:
        """An element of a value that no movement defines."""
        if value in self.reduced:
            return self.reduced[value](index)
        op = value.owner
        assert isinstance(op, ir.OpView)  # of blocks' arguments only buffers and what is `reduced` are read
        if isinstance(op, region.ReadOp):
            return call_after(value, self._read(op.buffer, index))
        return call_after(value, self._computed(op, index))

    def _read(self, buffer: ir.Value, index: IndexValues) -> ir.Value:
        """An element of an input, which is loaded once: nobody writes to it."""
        address = buffer, self.address(buffer, index)
        for known in self._known:
            if address in known.loads:
                return known.loads[address]
        self._known[-1].loads[address] = loaded = self.load(buffer, index)
        return loaded

    def address(self, buffer: ir.Value, index: IndexValues) -> AxisExpr:
        """Where an element of a kernel argument stands in its row."""
        shape = region.held_tensor(buffer.type).shape
        return element_place(self.counters, self.counters.expressions(index, shape), shape, self._panel_groups[buffer])

    def _computed(self, op: ir.OpView, index: IndexValues) -> ir.Value:
        """An element of the result of a Tiny op."""
        result = tensor_type(op.results[0].type)
        match op:
            case tiny.CastOp():
                source = tensor_type(op.operand.type).element
                return scalars.cast(self.at(op.operand, index), source, result.element)
            case tiny.ElementwiseOp():
                element = tensor_type(op.operands[len(op.operands) - 1].type).element
                return scalars.elementwise(op.row.name, element, [self.at(operand, index) for operand in op.operands])
            case tiny.ConstOp():
                return scalars.element_constant(result.element, arguments(op)["value"])
            case tiny.IotaOp():
                position = arith.index_cast(ir.IntegerType.get_signless(64), index[op.axis.value])
                return scalars.cast(position, ElementType.I64, result.element)
            case tiny.RandOp():
                return self._rand(op, result, index)
            case tiny.GatherOp():
                return self._gather(op, index)
            case tiny.ReduceOp():
                return self._reduced_inline(op, index)
            case _:
                raise TinycError("InvalidIr", f"'{op.name}' has no elements to compute one by one", where(op.location))

    def load(self, buffer: ir.Value, index: IndexValues) -> ir.Value:
        """An element of a kernel argument."""
        return scalars.from_storage(self.element_of(buffer), memref.load(*self._place(buffer, index)))

    def store(self, buffer: ir.Value, index: IndexValues, value: ir.Value) -> None:
        """Write a register value to an element of a kernel argument."""
        memref.store(scalars.to_storage(self.element_of(buffer), value), *self._place(buffer, index))

    def _place(self, buffer: ir.Value, index: IndexValues) -> tuple[ir.Value, list[ir.Value]]:
        """A memref and the index in it: of a row of all elements where the address has fewer divisions."""
        memory, shape = self.buffers[buffer], region.held_tensor(buffer.type).shape
        at, address = self.counters.expressions(index, shape), self.address(buffer, index)
        is_simpler = self.counters.divisions(address) < sum(map(self.counters.divisions, at))
        if not is_simpler and self._panel_groups[buffer] is None:
            return memory, list(index)
        return flat_view(memory, self.extent(extents.product(shape))), [self.counters.value(address)]

    def element_of(self, buffer: ir.Value) -> ElementType:
        """The element type of a kernel argument."""
        return region.held_tensor(buffer.type).element

    def _rand(self, op: tiny.RandOp, result: TensorType, index: IndexValues) -> ir.Value:
        counters = self.counters
        linear = counters.value(counters.linear(counters.expressions(index, result.shape), result.shape))
        i64 = ir.IntegerType.get_signless(64)
        # A kernel that was written by hand may lack the key: its seeds are as they stand.
        run_key = arith.index_cast(i64, self.symbols[RUN_KEY]) if RUN_KEY in self.symbols else None
        stream = philox.Stream(op.distribution.value, op.seed.value, op.stream.value)
        return philox.random_number(arith.index_cast(i64, linear), stream, result.element, run_key)

    # --- data-dependent reads -----------------------------------------------------------------------------------------

    def selected(self, op: tiny.GatherOp | tiny.ScatterOp, at: IndexValues) -> tuple[ir.Value, ir.Value]:
        """The index that an op has at a place of its tensor of indices, and whether it is one of the data's axis."""
        chosen = arith.index_cast(ir.IndexType.get(), self.at(op.index, at))
        return chosen, self.within(chosen, indexed_extent(op))

    def report_out_of_range(self, op: tiny.GatherOp | tiny.ScatterOp, chosen: ir.Value, at: IndexValues) -> None:
        """Emit the note in the status buffer that `chosen`, an op's index `at` a place, is none of the data's axis."""
        extent = self.extent(indexed_extent(op))
        self.note_index(chosen, op.axis.value, extent, at)

    def note_index(self, chosen: ir.Value, axis: int, extent: ir.Value, at: IndexValues) -> None:
        """Emit the note of an index that is out of range, unless there is one already."""
        status, i64 = self.status, ir.IntegerType.get_signless(64)
        assert status is not None  # a kernel with an index has one
        free = arith.cmpi(arith.CmpIPredicate.eq, memref.load(status, [self.index(0)]), number(0, i64))
        first = scf.IfOp(free)
        with self.block(first.then_block):
            words = [self.index(1 + len(at)), chosen, self.index(axis), extent, *at]
            for place, word in enumerate(words):
                memref.store(arith.index_cast(i64, word), status, [self.index(place)])
            scf.yield_([])

    def _gather(self, op: tiny.GatherOp, index: IndexValues) -> ir.Value:
        axis, rank = op.axis.value, tensor_type(op.index.type).rank
        source, at = tensor_type(op.data.type), index[axis : axis + rank]
        chosen, inside = self.selected(op, at)

        def outside() -> ir.Value:
            self.report_out_of_range(op, chosen, at)
            return scalars.element_constant(source.element, 0)

        return self.choose(
            inside,
            scalars.register_type(source.element),
            lambda: self.at(op.data, (*index[:axis], chosen, *index[axis + rank :])),
            outside,
        )

    # --- reductions ---------------------------------------------------------------------------------------------------

    def _reduced_inline(self, op: tiny.ReduceOp, index: IndexValues) -> ir.Value:
        """One element of a reduction, as loops that carry the accumulator."""

        def step(reduction: IndexValues, so_far: list[ir.Value]) -> list[ir.Value]:
            return [self.combined(op, so_far[0], self.term(op, joined(op, index, reduction)))]

        (total,) = self.carried(reduced_shape(op), [initial(op)], step)
        return self.finished(op, total)

    def combined(self, op: tiny.ReduceOp, accumulator: ir.Value, term: ir.Value) -> ir.Value:
        """The accumulator with a term taken in."""
        return scalars.combine(op.op.value, accumulator_element(op), accumulator, term)

    def finished(self, op: tiny.ReduceOp, accumulator: ir.Value) -> ir.Value:
        """The result that an accumulator holds."""
        return scalars.cast(accumulator, accumulator_element(op), tensor_type(op.output.type).element)

    def term(self, op: tiny.ReduceOp, index: IndexValues) -> ir.Value:
        """The operand's element `index` in the accumulator's type, where a product for a sum is formed too."""
        accumulator, factors = accumulator_element(op), summed_factors(op)
        values = [
            scalars.cast(self.factor(each, index), tensor_type(each.type).element, accumulator) for each in factors
        ]
        return values[0] if len(values) == 1 else scalars.elementwise("mul", accumulator, values)

    def factor(self, value: ir.Value, index: IndexValues) -> ir.Value:
        """Element `index` of what a reduction takes in, or of a factor of it."""
        return self.at(value, index)

    def scanned(self, op: tiny.ReduceOp, scan: Scan, index: IndexValues) -> ir.Value:
        """What a scan takes in at `index` of its result, in the accumulator's type."""
        result, element = tensor_type(op.output.type), tensor_type(op.operand.type).element
        read = TensorType(element, result.shape)
        value = self._guarded(scan.element, scan.element.guards, read, index)
        return scalars.cast(value, element, accumulator_element(op))


def call_after(value: ir.Value, element: ir.Value) -> ir.Value:
    """`element`, called after the `value` that it is an element of, unless it has a name."""
    name, op = name_of(value.location), element.owner
    if name is not None and isinstance(op, ir.OpView) and name_of(op.location) is None:
        op.operation.location = named(name, op.location)
    return element


def indexed_extent(op: tiny.GatherOp | tiny.ScatterOp) -> Dim:
    """The extent of the data's axis that the indices of an op are for."""
    return tensor_type(op.data.type).shape[op.axis.value]


def traced(value: ir.Value) -> Access:
    """How `value` reads its source.

    Raises:
        TinycError: `NonScop`: a movement inside the kernel is not affine; region formation never leaves one.
    """
    access = trace(value)
    if isinstance(access, NonScop):
        name = access.op.name
        raise TinycError(
            "NonScop",
            f"'{name}' inside a kernel has no access map: {access.reason}; read it from a buffer instead",
            where(access.op.location),
        )
    return access
