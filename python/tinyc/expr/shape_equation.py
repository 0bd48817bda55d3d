"""One shape equation: two shapes with the same number of elements in row-major order.

It says that the two products are equal, and nothing of which axes correspond. What one equation tells alone: the value
of a single unknown (`solve_single`), or an unknown in terms of others (`eliminate`). `equations` puts many together.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from tinyc.expr import extents
from tinyc.expr.extents import Dim, ExtentError
from tinyc.expr.size_equations import linear_in

Assignment = tuple[str, Dim]

#: Values that nest more divisions than that are left open: each may be as long as two of the one inside.
_MAX_DEPTH = 4


@dataclass(frozen=True)
class Equation:
    """``product(left) == product(right)``; axes of extent 1, and those that both shapes begin or end with, are gone."""

    left: tuple[Dim, ...]
    right: tuple[Dim, ...]

    @staticmethod
    def between(left: Iterable[Dim], right: Iterable[Dim]) -> "Equation":
        """The equation between two shapes."""
        return Equation(*cancel_ends(left, right))

    def symbols(self) -> set[str]:
        """The symbols of both sides."""
        return {name for dim in (*self.left, *self.right) for name in extents.symbols(dim)}

    def unknowns(self, unknown: Set[str]) -> set[str]:
        """The `unknown` symbols that do not cancel."""
        left, right = _cancel_factors(self.left, self.right)
        return {name for dim in (*left, *right) for name in extents.symbols(dim) if name in unknown}

    def substituted(self, values: Mapping[str, Dim]) -> "Equation":
        """The equation with symbols replaced."""
        return Equation.between(
            [extents.substitute(dim, values) for dim in self.left],
            [extents.substitute(dim, values) for dim in self.right],
        )


def cancel_ends(left: Iterable[Dim], right: Iterable[Dim]) -> tuple[tuple[Dim, ...], tuple[Dim, ...]]:
    """Both shapes without their axes of extent 1, their common beginning and their common end."""
    a, b = [dim for dim in left if dim != 1], [dim for dim in right if dim != 1]
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    return tuple(a[start : len(a) - end]), tuple(b[start : len(b) - end])


def _cancel_factors(left: Iterable[Dim], right: Iterable[Dim]) -> tuple[list[Dim], list[Dim]]:
    """The factors that are not on both sides, wherever they stand."""
    a, b = Counter(left), Counter(right)
    return list((a - b).elements()), list((b - a).elements())


def solve_exactly(equation: Equation, name: str) -> Assignment | None:
    """Solve an equation whose one unknown is `name`, where its value is a polynomial: there is no other value then."""
    try:
        left, right = _products(equation)
        parts = linear_in(left - right, name)
        exact = extents.divide(-parts[1], parts[0]) if parts else None
    except ExtentError:  # too many terms, or a division that has no value
        return None
    return (name, exact) if exact is not None else None


def solve_single(equation: Equation, name: str, inputs: Set[str]) -> Assignment | None:
    """Solve an equation whose one unknown is `name`: exactly, else by redefining an input's symbol, else rounding down.

    What is rounded down is right only if the division is exact: whoever uses it must check the equation.
    """
    try:
        return solve_exactly(equation, name) or _solve_single(*_products(equation), name, inputs)
    except ExtentError:
        return None


def _solve_single(left: Dim, right: Dim, name: str, inputs: Set[str]) -> Assignment | None:
    parts = linear_in(left - right, name)
    if parts is None:
        return None
    factor, offset = parts
    redefined = _redefined(left, right, inputs) or _redefined(right, left, inputs)
    if redefined:
        return redefined
    if not extents.is_nonnegative(factor):
        factor, offset = -factor, -offset
    if not extents.is_nonnegative(factor):
        return None
    value = extents.floordiv(-offset, factor)
    return (name, value) if isinstance(value, int) or value.depth <= _MAX_DEPTH else None


def _products(equation: Equation) -> tuple[Dim, Dim]:
    """Both sides multiplied out, without what divides both."""
    left, right = map(extents.product, _cancel_factors(equation.left, equation.right))
    for name in extents.symbols(left):
        by = extents.symbol(name)
        while (a := extents.divide(left, by)) is not None and (b := extents.divide(right, by)) is not None:
            left, right = a, b
            if left == 0 or right == 0:
                break
    return left, right


def _redefined(side: Dim, other: Dim, inputs: Set[str]) -> Assignment | None:
    """``S := other`` where `side` is just the input symbol S."""
    name = _bare(side)
    return (name, other) if name in inputs and name not in extents.symbols(other) else None


def _bare(dim: Dim) -> str:
    names = extents.symbols(dim)
    return names[0] if len(names) == 1 and dim == extents.symbol(names[0]) else ""


def eliminate(equation: Equation, unknown: Set[str], inputs: Set[str]) -> Assignment | None:
    """Solve an equation with several unknowns for a symbol that is one of the two shapes alone.

    A symbol that merely remains where common factors are gone tells nothing: its axis may be another's counterpart.
    """
    if 1 not in (len(equation.left), len(equation.right)):
        return None
    try:
        left, right = extents.product(equation.left), extents.product(equation.right)
    except ExtentError:  # too many terms
        return None
    for names in (unknown, inputs):
        assignment = _redefined(left, right, names) or _redefined(right, left, names)
        if assignment:
            return assignment
    return None


def redefine(equation: Equation, inputs: Set[str]) -> Assignment | None:
    """``S := product`` where one shape is an input's symbol S alone and the other a product with symbols."""
    for side, other in ((equation.left, equation.right), (equation.right, equation.left)):
        if len(side) == 1 and _is_product(other):
            assignment = _redefined(side[0], extents.product(other), inputs)
            if assignment:
                return assignment
    return None


def _is_product(dims: Sequence[Dim]) -> bool:
    """Whether axes are a product of more than one factor, at least one of them a symbol."""
    if not all(map(_is_plain, dims)):
        return False
    product = extents.product(dims)
    return not isinstance(product, int) and not _bare(product)


def _is_plain(dim: Dim) -> bool:
    """Whether `dim` is a product of symbols and a number."""
    if isinstance(dim, int):
        return True
    return len(dim.terms) == 1 and all(isinstance(atom, str) for atom in dim.terms[0][0])
