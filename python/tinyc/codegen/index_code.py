"""Expressions as code: integer arithmetic that computes sizes, offsets and positions at run time."""

from collections.abc import Callable, Mapping

from tinyc.expr.axes import AxisExpr, Shape, bounds
from tinyc.expr.extents import is_nonnegative
from tinyc.expr.interpretation import Interpretation, absent
from tinyc.expr.terms import AnyDivision, Expression, FloorDiv
from tinyc.mlir import arith, ir


class IndexCode(Interpretation[ir.Value]):
    """Emits expressions as `arith` ops of one type at the insertion point.

    `symbols` are the values of extents by their names; `axis` gives those of the axes, which run over `domain`.
    """

    def __init__(
        self,
        kind: ir.Type,
        symbols: Mapping[str, ir.Value],
        axis: Callable[[int], ir.Value] = absent,
        domain: Shape = (),
    ) -> None:
        def divide(division: AnyDivision, numerator: ir.Value, divisor: ir.Value) -> ir.Value:
            # Of what is never negative, the unsigned division is the same, and the cheapest one.
            below = division.numerator
            unsigned = isinstance(below, AxisExpr) and is_nonnegative(bounds(below, domain)[0])
            if isinstance(division, FloorDiv):
                return (arith.divui if unsigned else arith.floordivsi)(numerator, divisor)
            if unsigned:
                return arith.remui(numerator, divisor)
            return arith.subi(numerator, arith.muli(arith.floordivsi(numerator, divisor), divisor))

        super().__init__(
            lambda value: arith.constant(kind, value),
            divide,
            symbols.__getitem__,
            axis,
            arith.addi,
            arith.muli,
            once=False,  # equal divisions are left for upstream CSE
        )


class CachedIndexCode(IndexCode):
    """Emits each distinct expression once, constants too: for code without branches."""

    def __init__(self, kind: ir.Type, symbols: Mapping[str, ir.Value]) -> None:
        super().__init__(kind, symbols)
        self._emitted: dict[int | Expression, ir.Value] = {}

    def of(self, expression: int | Expression) -> ir.Value:
        """The value of an expression, which is emitted when it is first asked for."""
        if expression not in self._emitted:
            self._emitted[expression] = super().of(expression)
        return self._emitted[expression]
