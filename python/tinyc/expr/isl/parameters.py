"""What isl can say of an expression: axes, and floor divisions by numbers. All else is a parameter of its own."""

from collections.abc import Iterator

from tinyc.expr.terms import AnyMonomial, Axis, Expression, FloorDiv, monomial_text


def parameter_of(monomial: AnyMonomial) -> str | None:
    """The text of a monomial that is a parameter to isl; None for 1, an axis, and a division by a number."""
    match monomial:
        case () | (Axis(),) | (FloorDiv(divisor=int()),):
            return None
        case _:
            return monomial_text(monomial)


def parameters_of(expression: int | Expression) -> Iterator[str]:
    """The texts of the parameters in an expression, in order of appearance, the constant of a row last."""
    if isinstance(expression, int):
        return
    for monomial, _ in expression.monomials:
        parameter = parameter_of(monomial)
        if parameter is not None:
            yield parameter
        elif monomial and isinstance(monomial[0], FloorDiv):
            yield from parameters_of(monomial[0].numerator)
    if isinstance(expression.rest, Expression):
        yield from parameters_of(expression.rest)
