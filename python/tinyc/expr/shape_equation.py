"""One shape equation: two shapes with the same number of elements in row-major order.

What one equation tells alone: the value of a single unknown (`solve_single`), smaller equations (`split_equation`), or
an unknown in terms of others (`eliminate`). `equations` puts many of them together.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from tinyc.expr import extents
from tinyc.expr.extents import Dim, Extent, ExtentError

Assignment = tuple[str, Dim]
#: Most groups of axes, ways to have as many, end of the first group.
_Cut = tuple[int, int, tuple[int, int] | None]

#: Alignments of longer shapes than these (product of the ranks) are not searched.
_MAX_ALIGNMENT = 144


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


def linear_in(dim: Dim, name: str) -> tuple[Dim, Dim] | None:
    """(a, b) with ``dim == a * name + b``, or None where `dim` is not linear in that symbol."""
    factor: Dim = 0
    offset: Dim = 0
    for monomial, coefficient in dim.terms if isinstance(dim, Extent) else (((), dim),):
        term = Extent(((monomial, coefficient),)) if monomial else coefficient
        if name not in extents.symbols(term):
            offset = offset + term
            continue
        quotient = extents.divide(term, extents.symbol(name))
        if quotient is None or name in extents.symbols(quotient):
            return None
        factor = factor + quotient
    return (factor, offset) if factor != 0 else None


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
    return (name, extents.floordiv(-offset, factor)) if extents.is_nonnegative(factor) else None


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


def split_equation(equation: Equation, unknown: Set[str], inputs: Set[str] = frozenset()) -> list[Equation]:
    """The equations of the groups of axes that correspond to each other, or the equation where that is open.

    Both shapes are cut into the same number of runs of axes; each pair of runs must be equal, redefine an input's
    symbol (``Ct == 2*Cin``), or be solvable without dividing a sum or a floor division. The most pairs win; where two
    ways give as many, nothing is known.
    """
    left, right = equation.left, equation.right
    if min(len(left), len(right)) < 2 or len(left) * len(right) > _MAX_ALIGNMENT:
        return [equation]
    uses = Counter(name for dim in (*left, *right) for name in extents.symbols(dim) if name in unknown)
    if any(times > 1 for times in uses.values()):  # not linear
        return [equation]
    best: dict[tuple[int, int], _Cut] = {(len(left), len(right)): (0, 1, None)}
    for i in reversed(range(len(left))):
        for j in reversed(range(len(right))):
            best[i, j] = _best_cut(left, right, i, j, best, unknown, inputs)
    if best[0, 0][1] != 1 or best[0, 0][0] < 2:
        return [equation]
    groups: list[Equation] = []
    at = (0, 0)
    while (to := best[at][2]) is not None:
        groups.append(Equation.between(left[at[0] : to[0]], right[at[1] : to[1]]))
        at = to
    return groups


def _best_cut(
    left: Sequence[Dim],
    right: Sequence[Dim],
    i: int,
    j: int,
    best: Mapping[tuple[int, int], _Cut],
    unknown: Set[str],
    inputs: Set[str],
) -> _Cut:
    """(most groups, ways to have as many, end of the first group) for the axes from (i, j) on."""
    found: _Cut = (-1, 0, None)
    for k in range(i + 1, len(left) + 1):
        for m in range(j + 1, len(right) + 1):
            groups, ways, _ = best.get((k, m), (-1, 0, None))
            if groups < 0 or groups + 1 < found[0] or not _corresponds(left[i:k], right[j:m], unknown, inputs):
                continue
            more = found[1] if groups + 1 == found[0] else 0
            found = (groups + 1, ways + more, (k, m))
    return found


def _corresponds(left: Sequence[Dim], right: Sequence[Dim], unknown: Set[str], inputs: Set[str]) -> bool:
    """Whether a pair of runs may correspond: see `split_equation`."""
    a, b = _cancel_factors(left, right)
    if _solvable(a, b, unknown):
        return True
    if any(_has(dim, unknown) for dim in (*a, *b)) or not all(map(_is_plain, (*a, *b))):
        return not a and not b
    return extents.product(a) == extents.product(b) or redefine(Equation(tuple(left), tuple(right)), inputs) is not None


def _solvable(a: Sequence[Dim], b: Sequence[Dim], unknown: Set[str]) -> bool:
    """Whether one side has unknowns, which the plain product on the other divides into."""
    known, open_ = (a, b) if any(_has(dim, unknown) for dim in b) else (b, a)
    names = {name for dim in open_ for name in extents.symbols(dim) if name in unknown}
    if not names or any(_has(dim, unknown) for dim in known):
        return False
    if len(open_) == 1 and _bare(open_[0]):
        return True
    if not all(map(_is_plain, known)):
        return False
    value, cofactor = extents.product(known), extents.product(dim for dim in open_ if not _has(dim, unknown))
    return len(names) > 1 or not isinstance(value, int) or not isinstance(cofactor, int) or value % (cofactor or 1) == 0


def _has(dim: Dim, unknown: Set[str]) -> bool:
    return any(name in unknown for name in extents.symbols(dim))


def _is_plain(dim: Dim) -> bool:
    """Whether `dim` is a product of symbols and a number."""
    if isinstance(dim, int):
        return True
    return len(dim.terms) == 1 and all(isinstance(atom, str) for atom in dim.terms[0][0])
