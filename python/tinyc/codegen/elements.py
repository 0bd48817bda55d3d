"""Code for one element of a value in a kernel: the access maps and the ops above it, evaluated where it is needed.

`Elements.at(value, index)` emits, at the insertion point, whatever computes element `index` of `value`: movements
become index arithmetic with pad guards as `scf.if`, `region.read`s become loads, element-wise ops become scalar code.
Nothing is copied. A reduction that no loop nest has prepared is a loop of its own.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tinyc.analysis.access import Access, Guard, NonScop, trace
from tinyc.analysis.axes import Axis, AxisExpr, Shape, bounds
from tinyc.analysis.extents import Dim, FloorDiv, is_nonnegative
from tinyc.analysis.patterns.contraction import is_summed_product
from tinyc.codegen import philox, scalars
from tinyc.diagnostics import TinycError
from tinyc.dialects.tiny.attributes import arguments, tensor_type
from tinyc.dialects.tiny.infer import ELEMENTWISE
from tinyc.dialects.tiny.types import TensorType
from tinyc.mlir import arith, ir, memref, scf
from tinyc.text import where

Index = tuple[Any, ...]


class Elements:
    """Emits elements of one kernel's values at the insertion point.

    `buffers` maps the kernel's arguments to memrefs, `symbols` the names of extents to indices; `status` is the buffer
    that takes the note of an index out of range, if the kernel can have one. How an element is loaded and stored, and
    how the note is made, is for a subclass to say where memory is not a memref of the tensor's shape.
    """

    def __init__(self, buffers: Mapping[Any, Any], symbols: Mapping[str, Any], status: Any | None) -> None:
        self.buffers, self.symbols, self.status = buffers, symbols, status
        self.reduced: dict[Any, Callable[[Index], Any]] = {}  # sums and the like that a loop nest keeps
        self._known: list[dict[tuple[Any, Index], Any]] = [{}]  # what is computed already, by enclosing block

    # --- control flow and index arithmetic ----------------------------------------------------------------------------

    def index(self, value: int) -> Any:
        """Return an index constant."""
        return scalars.number(value, ir.IndexType.get())

    @contextlib.contextmanager
    def block(self, block: Any) -> Iterator[None]:
        """Emit into `block`; what is computed there is forgotten at its end."""
        self._known.append({})
        with ir.InsertionPoint(block):
            yield
        self._known.pop()

    @contextlib.contextmanager
    def loop(self, low: Any, high: Any, step: Any = 1) -> Iterator[Any]:
        """Emit `scf.for` from `low` below `high` and yield its index; `step` is a number or a value."""
        nest = scf.ForOp(low, high, self.index(step) if isinstance(step, int) else step)
        with self.block(nest.body):
            yield nest.induction_variable
            scf.yield_([])

    @contextlib.contextmanager
    def loops(self, shape: Sequence[Dim]) -> Iterator[Index]:
        """Emit one loop for each extent of `shape` and yield the indices."""
        with contextlib.ExitStack() as stack:
            yield tuple(stack.enter_context(self.loop(self.index(0), self.extent(extent))) for extent in shape)

    def carried(
        self, shape: Sequence[Dim], start: Sequence[Any], step: Callable[[Index, list[Any]], list[Any]]
    ) -> list[Any]:
        """Emit loops over `shape` that carry values, from `start` by `step(index, values)`; return the last ones."""

        def nested(index: Index, values: list[Any]) -> list[Any]:
            if len(index) == len(shape):
                return step(index, values)
            nest = scf.ForOp(self.index(0), self.extent(shape[len(index)]), self.index(1), values)
            with self.block(nest.body):
                scf.yield_(nested((*index, nest.induction_variable), list(nest.inner_iter_args)))
            return list(nest.results)

        return nested((), list(start))

    def extent(self, dim: Dim) -> Any:
        """Return an extent as an index."""
        if isinstance(dim, int):
            return self.index(dim)
        total: Any = None
        for monomial, coefficient in dim.terms:
            factors = [self.symbols[a] if isinstance(a, str) else self._quotient(a) for a in monomial]
            if coefficient != 1 or not factors:
                factors.append(self.index(coefficient))
            term = factors[0]
            for factor in factors[1:]:
                term = arith.muli(term, factor)
            total = term if total is None else arith.addi(total, term)
        return total

    def _quotient(self, atom: FloorDiv) -> Any:
        return arith.floordivsi(self.extent(atom.numerator), self.extent(atom.divisor))

    def position(self, expression: AxisExpr, index: Index, domain: Shape) -> Any:
        """Return an axis expression over `domain` at `index`."""
        total: Any = None
        for atom, coefficient in expression.terms:
            if isinstance(atom, Axis):
                term = index[atom.position]
            else:
                # Of what is never negative, the unsigned division is the same, and the cheapest one.
                divide = arith.divui if is_nonnegative(bounds(atom.numerator, domain)[0]) else arith.floordivsi
                term = divide(self.position(atom.numerator, index, domain), self.index(atom.divisor))
            if coefficient != 1:
                term = arith.muli(term, self.index(coefficient))
            total = term if total is None else arith.addi(total, term)
        if total is None:
            return self.extent(expression.constant)
        return total if expression.constant == 0 else arith.addi(total, self.extent(expression.constant))

    def within(self, position: Any, size: Dim) -> Any:
        """Return whether ``0 <= position < size``; one unsigned comparison does both."""
        return arith.cmpi(arith.CmpIPredicate.ult, position, self.extent(size))

    def choose(self, condition: Any, mlir_type: Any, if_true: Callable[[], Any], if_false: Callable[[], Any]) -> Any:
        """Emit `scf.if` that evaluates one of two register values."""
        branch = scf.IfOp(condition, [mlir_type], has_else=True)
        for block, emit in ((branch.then_block, if_true), (branch.else_block, if_false)):
            with self.block(block):
                scf.yield_([emit()])
        return branch.results[0]

    # --- elements -----------------------------------------------------------------------------------------------------

    def at(self, value: Any, index: Index) -> Any:
        """Return element `index` of `value` in its register type."""
        # Operands first, and not by recursion: a chain of element-wise ops may be longer than Python's stack.
        pending = [value]
        while pending:
            missing = [v for v in self._pointwise_operands(pending[-1]) if self._find(v, index) is None]
            if missing:
                pending += missing
            else:
                self._compute(pending.pop(), index)
        return self._find(value, index)

    def _find(self, value: Any, index: Index) -> Any | None:
        return next((known[value, index] for known in self._known if (value, index) in known), None)

    def _pointwise_operands(self, value: Any) -> list[Any]:
        """Return the operands that an element-wise op reads at the index of its own element."""
        if value in self.reduced:
            return []  # it may be an argument of a block
        op = value.owner.operation
        return list(op.operands) if op.name.removeprefix("tiny.") in ELEMENTWISE else []

    def _compute(self, value: Any, index: Index) -> None:
        if self._find(value, index) is None:
            access = traced(value)
            self._known[-1][value, index] = self._guarded(access, access.guards, tensor_type(value.type), index)

    def _guarded(self, access: Access, guards: tuple[Guard, ...], read: TensorType, index: Index) -> Any:
        """Return element `index` of the value of type `read` that `access` reads, `guards` being left to check."""
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
            lambda: scalars.constant(read.element, guards[0].value),
        )

    def _source(self, value: Any, index: Index) -> Any:
        """Return an element of a value that no movement defines."""
        if value in self.reduced:
            return self.reduced[value](index)
        op = value.owner
        name = op.operation.name
        if name == "region.read":
            return self.load(op.operation.operands[0], index)
        return self._computed(op, name.removeprefix("tiny."), index)

    def _computed(self, op: Any, name: str, index: Index) -> Any:
        result = tensor_type(op.operation.results[0].type)
        operands = list(op.operation.operands)
        if name == "cast":
            return scalars.cast(self.at(operands[0], index), tensor_type(operands[0].type).element, result.element)
        if name in ELEMENTWISE:
            element = tensor_type(operands[-1].type).element
            return scalars.elementwise(name, element, [self.at(operand, index) for operand in operands])
        if name == "const":
            return scalars.constant(result.element, arguments(op)["value"])
        if name == "iota":
            return self._iota(index[arguments(op)["axis"]], result.element)
        if name == "rand":
            return self._rand(arguments(op), result, index)
        if name == "gather":
            return self._gather(op, index)
        return self._reduced_inline(op, index)

    def load(self, buffer: Any, index: Index) -> Any:
        """Return an element of a kernel argument."""
        return scalars.from_storage(self.element_of(buffer), memref.load(self.buffers[buffer], list(index)))

    def store(self, buffer: Any, index: Index, value: Any) -> None:
        """Write a register value to an element of a kernel argument."""
        memref.store(scalars.to_storage(self.element_of(buffer), value), self.buffers[buffer], list(index))

    def element_of(self, buffer: Any) -> str:
        """Return the element type of a kernel argument."""
        return tensor_type(buffer.type.params[0].maybe_downcast().value).element

    def _iota(self, position: Any, element: str) -> Any:
        return scalars.cast(arith.index_cast(ir.IntegerType.get_signless(64), position), "i64", element)

    def _rand(self, values: dict[str, Any], result: TensorType, index: Index) -> Any:
        linear = self.index(0)
        for position, extent in zip(index, result.shape, strict=True):
            linear = arith.addi(arith.muli(linear, self.extent(extent)), position)
        counter = arith.index_cast(ir.IntegerType.get_signless(64), linear)
        return philox.random_number(counter, values["distribution"], values["seed"], values["stream"], result.element)

    # --- data-dependent reads -----------------------------------------------------------------------------------------

    def selected(self, index_value: Any, at: Index, size: Dim) -> tuple[Any, Any]:
        """Return an element of an index tensor as a position, and whether it lies in an axis of `size` elements."""
        chosen = arith.index_cast(ir.IndexType.get(), self.at(index_value, at))
        return chosen, self.within(chosen, size)

    def report_out_of_range(self, position: Any) -> None:
        """Emit the note in the status buffer that `position` was not an index of its axis."""
        i64 = ir.IntegerType.get_signless(64)
        memref.store(scalars.number(1, i64), self.status, [self.index(0)])
        memref.store(arith.index_cast(i64, position), self.status, [self.index(1)])

    def _gather(self, op: Any, index: Index) -> Any:
        data, positions = op.operation.operands
        axis, rank = arguments(op)["axis"], tensor_type(positions.type).rank
        source = tensor_type(data.type)
        chosen, inside = self.selected(positions, index[axis : axis + rank], source.shape[axis])

        def outside() -> Any:
            self.report_out_of_range(chosen)
            return scalars.constant(source.element, 0)

        return self.choose(
            inside,
            scalars.register_type(source.element),
            lambda: self.at(data, (*index[:axis], chosen, *index[axis + rank :])),
            outside,
        )

    # --- reductions ---------------------------------------------------------------------------------------------------

    def _reduced_inline(self, op: Any, index: Index) -> Any:
        """Return one element of a reduction, as loops that carry the accumulator."""

        def step(reduction: Index, so_far: list[Any]) -> list[Any]:
            return [self.combined(op, so_far[0], joined(op, index, reduction))]

        (total,) = self.carried(reduced_shape(op), [initial(op)], step)
        return self.finished(op, total)

    def combined(self, op: Any, accumulator: Any, index: Index) -> Any:
        """Return the accumulator with the operand's element `index` taken in."""
        element = accumulator_element(op)
        return scalars.combine(arguments(op)["op"], element, accumulator, self._term(op, index, element))

    def finished(self, op: Any, accumulator: Any) -> Any:
        """Return the result that an accumulator holds."""
        return scalars.cast(accumulator, accumulator_element(op), tensor_type(op.operation.results[0].type).element)

    def _term(self, op: Any, index: Index, accumulator: str) -> Any:
        """Return one term of a reduction in the accumulator's type, where a product for a sum is formed too."""
        (operand,) = op.operation.operands
        terms = list(operand.owner.operation.operands) if is_summed_product(op) else [operand]
        values = [scalars.cast(self.at(term, index), tensor_type(term.type).element, accumulator) for term in terms]
        return values[0] if len(values) == 1 else scalars.elementwise("mul", accumulator, values)


def accumulator_element(reduce_op: Any) -> str:
    """Return the element type in which a reduction runs: the result's, but f32 for 16-bit floats."""
    element = tensor_type(reduce_op.operation.results[0].type).element
    return "f32" if element in scalars.SMALL_FLOATS else element


def initial(reduce_op: Any) -> Any:
    """Return what a reduction starts from."""
    element = accumulator_element(reduce_op)
    return scalars.constant(element, scalars.neutral(arguments(reduce_op)["op"], element))


def reduced_shape(reduce_op: Any) -> tuple[Dim, ...]:
    """Return the extents of the axes that a reduction removes."""
    source = tensor_type(reduce_op.operation.operands[0].type)
    return tuple(source.shape[axis] for axis in sorted(arguments(reduce_op)["axes"]))


def joined(reduce_op: Any, index: Index, reduction: Index) -> Index:
    """Return the operand's index from the result's index and the indices along the removed axes."""
    axes = arguments(reduce_op)["axes"]
    rank = tensor_type(reduce_op.operation.operands[0].type).rank
    kept, removed = iter(index), iter(reduction)
    return tuple(next(removed) if axis in axes else next(kept) for axis in range(rank))


def traced(value: Any) -> Access:
    """Return how `value` reads its source.

    Raises:
        TinycError: `NonScop`: a movement inside the kernel is not affine; region formation never leaves one.
    """
    access = trace(value)
    if isinstance(access, NonScop):
        name = access.op.operation.name
        raise TinycError(
            "NonScop",
            f"'{name}' inside a kernel has no access map: {access.reason}; read it from a buffer instead",
            where(access.op.location),
        )
    return access
