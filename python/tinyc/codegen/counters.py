"""Index values as expressions over the counters in scope: what each one is, and one value for each expression.

In: counters of loops with their extents, and any other index value, of which no more may be known than that it is one.
Out: the `AxisExpr` of a value, over axes that are these counters and values, and the value of an expression, which is
emitted when it is first asked for. So a position that is taken apart and put together again is the position itself, and
how far an address moves with a counter can be read off it (`step`).

What an axis expression has no form for, products and divisions by a symbolic extent, is an axis of its own.
"""

import contextlib
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field

from tinyc.codegen.index_code import IndexCode
from tinyc.expr import axes, extents
from tinyc.expr.axes import Axis, AxisExpr, Index, Shape, constant, floordiv_within, mod, substitute_axes, term
from tinyc.expr.extents import Dim
from tinyc.expr.terms import Expression
from tinyc.mlir import arith, ir

#: Below it is every index: the extent of an axis of which no extent is known.
UNBOUNDED = 1 << 62


@dataclass(frozen=True)
class _Scaled:
    """An axis that is `of` times a symbolic extent."""

    of: AxisExpr
    factor: Dim


@dataclass(frozen=True)
class _Quotient:
    """An axis that is `of`, which is not negative, divided by a symbolic extent and rounded down."""

    of: AxisExpr
    divisor: Dim


@dataclass(frozen=True)
class _Remainder:
    """An axis that is what such a division leaves."""

    of: AxisExpr
    divisor: Dim


_Definition = _Scaled | _Quotient | _Remainder


@dataclass(frozen=True)
class _Axis:
    """What an axis stands for, with its extent; a counter depends on no other one, as a loaded value may."""

    stands_for: ir.Value | _Definition
    extent: Dim
    is_counter: bool = False


@dataclass
class _Scope:
    """What is known in a block, besides what is known around it; its axes are numbered from `first` on."""

    block: ir.Block
    first: int
    values: dict[AxisExpr, ir.Value] = field(default_factory=dict[AxisExpr, ir.Value])
    expressions: dict[ir.Value, AxisExpr] = field(default_factory=dict[ir.Value, AxisExpr])
    defined: dict[_Definition, AxisExpr] = field(default_factory=dict[_Definition, AxisExpr])


class Counters:
    """The counters in scope, and the index values that are made of them, emitted at the insertion point."""

    def __init__(self, symbols: Mapping[str, ir.Value]) -> None:
        self._symbols = symbols
        self._axes: list[_Axis] = []
        self._scopes: list[_Scope] = []

    @property
    def shape(self) -> Shape:
        """The extents of the axes that expressions are over."""
        return tuple([axis.extent for axis in self._axes])

    # --- scopes -------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def scope(self, block: ir.Block) -> Generator[None]:
        """Emit into `block`; what becomes known there is forgotten at its end."""
        self._enclosing()  # the first time: the block around this one
        self._scopes.append(_Scope(block, len(self._axes)))
        yield
        closed = self._scopes.pop()
        del self._axes[closed.first :]

    def _enclosing(self) -> _Scope:
        """The innermost scope; the outermost one is the block where something is asked for the first time."""
        if not self._scopes:
            self._scopes.append(_Scope(ir.InsertionPoint.current.block, 0))
        return self._scopes[-1]

    def counter(self, value: ir.Value, below: Dim = UNBOUNDED) -> AxisExpr:
        """Note a counter, which runs from 0 below `below`: an axis of what is made of it."""
        return self._noted(value, below, is_counter=True)

    def _noted(self, value: ir.Value, below: Dim, is_counter: bool) -> AxisExpr:
        expression = self._new_axis(_Axis(value, below, is_counter))
        self._enclosing().expressions[value] = expression
        if expression.terms:
            self._enclosing().values[expression] = value
        return expression

    def _new_axis(self, axis: _Axis) -> AxisExpr:
        self._axes.append(axis)
        return axes.axis(len(self._axes) - 1, self.shape)

    # --- values and their expressions ---------------------------------------------------------------------------------

    def expression(self, value: ir.Value, below: Dim = UNBOUNDED) -> AxisExpr:
        """What an index value is; of one that is met the first time, all that is known is that it is below `below`."""
        if below == 1:
            return constant(0)
        for scope in reversed(self._scopes):
            if value in scope.expressions:
                return scope.expressions[value]
        return self._noted(value, below, is_counter=False)

    def value(self, expression: AxisExpr | Dim) -> ir.Value:
        """The value of an expression over the axes in scope: one that is there, or emitted."""
        if not isinstance(expression, AxisExpr):
            expression = constant(expression)
        scope = self._enclosing()
        for known in reversed(self._scopes):
            if expression in known.values:
                return known.values[expression]
        emitted = self._emitted(expression)
        scope.values[expression] = emitted
        if not any(emitted in known.expressions for known in self._scopes):
            scope.expressions[emitted] = expression
        return emitted

    def _emitted(self, expression: AxisExpr) -> ir.Value:
        """The code of an expression: what changes least often is added up first, so that it can leave the loops."""
        alone = axes.plain_axis(expression)
        if alone is not None:
            return self._defined_value(self._axes[alone].stands_for)
        written = axes.with_remainders(expression, self.shape)
        parts = sorted(written.terms, key=lambda part: self._order(term(part[0])))
        return _Code(self, self._symbols).sum_of(parts, written.constant)

    def _defined_value(self, definition: ir.Value | _Definition) -> ir.Value:
        match definition:
            case _Scaled(of, factor):
                return arith.muli(self.value(of), self.value(factor))
            case _Quotient(of, divisor):
                return arith.divui(self.value(of), self.value(divisor))
            case _Remainder(of, divisor):
                return arith.remui(self.value(of), self.value(divisor))
            case _:
                return definition

    def _order(self, part: AxisExpr) -> tuple[int, int]:
        """The number of the innermost scope that a part of a sum depends on, then the place of its last axis."""
        roots = self._roots(part)
        return max(map(self._scope_of, roots.values()), default=0), max(roots, default=0)

    def _scope_of(self, value: ir.Value) -> int:
        owner = value.owner
        block = owner if isinstance(owner, ir.Block) else owner.operation.block
        return next((k for k in range(len(self._scopes) - 1, 0, -1) if self._scopes[k].block == block), 0)

    def _roots(self, expression: AxisExpr) -> dict[int, ir.Value]:
        """The counters and other values that an expression is made of, by the positions of their axes."""
        found: dict[int, ir.Value] = {}
        for position in expression.positions:
            stands_for = self._axes[position].stands_for
            found |= self._roots(stands_for.of) if isinstance(stands_for, _Definition) else {position: stands_for}
        return found

    # --- arithmetic ---------------------------------------------------------------------------------------------------

    def substituted(self, expression: AxisExpr, index: Sequence[ir.Value], domain: Shape) -> AxisExpr:
        """An expression over the axes of `domain` at an index."""
        return substitute_axes(expression, self.expressions(index, domain), self.shape)

    def expressions(self, index: Sequence[ir.Value], domain: Shape) -> Index:
        """What the values of an index in `domain` are."""
        return tuple(self.expression(value, extent) for value, extent in zip(index, domain, strict=True))

    def delinearized(self, linear: AxisExpr, shape: Sequence[Dim]) -> Index:
        """The index whose row-major number in `shape` is `linear`, which must not be negative."""
        index, rest = [constant(0) for _ in shape], linear
        inner = [axis for axis, extent in enumerate(shape) if extent != 1]
        for axis in reversed(inner[1:]):
            rest, index[axis] = self.divided(rest, shape[axis])
        if inner:
            index[inner[0]] = rest
        return tuple(index)

    def linear(self, index: Index, shape: Sequence[Dim]) -> AxisExpr:
        """The row-major number of an index in `shape`."""
        strides = extents.row_major_strides(shape)
        return sum((self.scaled(at, stride) for at, stride in zip(index, strides, strict=True)), constant(0))

    def divided(self, expression: AxisExpr, divisor: Dim) -> tuple[AxisExpr, AxisExpr]:
        """What is not negative, divided by an extent: the quotient and the remainder."""
        if isinstance(divisor, int):
            divisor = max(divisor, 1)  # of a shape without elements no index is ever asked for
            return floordiv_within(expression, divisor, self.shape), mod(expression, divisor, self.shape)
        if not any(axes.may_leave(expression, divisor, self.shape)):
            return constant(0), expression
        return (
            self._defined(_Quotient(expression, divisor), UNBOUNDED),
            self._defined(_Remainder(expression, divisor), divisor),
        )

    def scaled(self, expression: AxisExpr, factor: Dim) -> AxisExpr:
        """An expression times an extent."""
        if isinstance(factor, int):
            return expression * factor
        times = math.gcd(*(coefficient for _, coefficient in factor.terms))
        total = constant(expression.constant * factor)
        for atom, coefficient in expression.terms:
            total += self._scaled_atom(atom, extents.floordiv(factor, times)) * (coefficient * times)
        return total

    def _scaled_atom(self, atom: axes.Atom, factor: Dim) -> AxisExpr:
        """A quotient times a multiple of its divisor is what was divided without the remainder, times the rest."""
        divided = self._axes[atom.position].stands_for if isinstance(atom, Axis) else None
        if isinstance(divided, _Quotient):
            multiple = extents.divide(factor, divided.divisor)
            if multiple is not None:
                remainder = self._defined(_Remainder(divided.of, divided.divisor), divided.divisor)
                return self.scaled(divided.of - remainder, multiple)
        return self._defined(_Scaled(term(atom), factor), UNBOUNDED)

    def _defined(self, definition: _Definition, extent: Dim) -> AxisExpr:
        for scope in reversed(self._scopes):
            if definition in scope.defined:
                return scope.defined[definition]
        scope = self._enclosing()
        scope.defined[definition] = self._new_axis(_Axis(definition, extent))
        return scope.defined[definition]

    def divisions(self, expression: AxisExpr) -> int:
        """How many divisions an expression is made of."""
        made = [self._axes[position].stands_for for position in expression.positions]
        symbolic = [each for each in made if isinstance(each, _Quotient | _Remainder)]
        return len(expression.divisions) + len(symbolic)

    # --- how an expression changes ------------------------------------------------------------------------------------

    def step(self, expression: AxisExpr, counter: ir.Value) -> int | None:
        """By how much an expression grows when `counter` does by one; 0: it stays the same, None: not known."""
        axis, inside, total = axes.plain_axis(self.expression(counter)), self._scope_of(counter), 0
        for atom, coefficient in expression.terms:
            if isinstance(atom, Axis) and atom.position == axis:
                total += coefficient
                continue
            for position, value in self._roots(term(atom)).items():
                if value == counter or (not self._axes[position].is_counter and self._scope_of(value) >= inside):
                    return None
        return total

    def is_multiple(self, expression: AxisExpr, number: int) -> bool:
        """Whether an expression is known to be a multiple of a number, whatever the counters are."""
        if extents.divide(expression.constant, number) is None:
            return False
        return all(coefficient * self._factor(atom, number) % number == 0 for atom, coefficient in expression.terms)

    def _factor(self, atom: axes.Atom, number: int) -> int:
        """`number` where an atom is known to be a multiple of it, else 1."""
        meaning = self._axes[atom.position].stands_for if isinstance(atom, Axis) else None
        is_one = isinstance(meaning, _Scaled) and extents.divide(meaning.factor, number) is not None
        return number if is_one else 1


class _Code(IndexCode):
    """Expressions as code, what they are made of by their values that are there already."""

    def __init__(self, counters: Counters, symbols: Mapping[str, ir.Value]) -> None:
        self._counters = counters
        super().__init__(ir.IndexType.get(), symbols, self._axis, counters.shape)

    def _axis(self, position: int) -> ir.Value:
        return self._counters.value(term(Axis(position)))

    def of(self, expression: int | Expression) -> ir.Value:
        """The value of a part of an expression."""
        return self._counters.value(expression) if isinstance(expression, AxisExpr) else super().of(expression)

    def sum_of(self, terms: Sequence[tuple[axes.Atom, int]], rest: Dim) -> ir.Value:
        """The value of a sum, its terms as they come; of one that begins with a difference, the rest comes first."""
        total: ir.Value | None = None
        for atom, coefficient in terms:
            product = self._atom(atom)
            if abs(coefficient) != 1:
                product = arith.muli(product, self._counters.value(abs(coefficient)))
            if coefficient > 0:
                total = product if total is None else arith.addi(total, product)
            else:
                first, rest = (self._counters.value(rest), 0) if total is None else (total, rest)
                total = arith.subi(first, product)
        if total is None:
            return super().of(rest)
        return total if rest == 0 else arith.addi(total, self._counters.value(rest))
