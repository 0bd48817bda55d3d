"""Symbolic sizes: the one algebra for the extents of tensors, their bytes, offsets and launch grids.

A `Dim` is an int, or an `Extent`: a polynomial with integer coefficients over symbols (`M`) and floor divisions
(`(H - 1) floordiv 2`), in a canonical form. An extent that is constant is always an int, so two dims are equal as
values exactly when ``==`` says so, and `text` is canonical too. Symbols stand for non-negative integers.
"""

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

MAX_EXTENT = 2**63 - 1
_MAX_TERMS = 256
_MAX_DEGREE = 64
MAX_COEFFICIENT = 2**128
_MAX_DIVISIONS = 12
MAX_TEXT = 8000


class ExtentError(ValueError):
    """An extent that cannot be read, computed or solved; the message says which and why."""


@dataclass(frozen=True)
class FloorDiv:
    """The atom ``numerator floordiv divisor``; the divisor is an int greater than 1, or an extent."""

    numerator: "Extent"
    divisor: "Dim"

    @functools.cached_property
    def name(self) -> str:
        """The canonical text."""
        return f"{_grouped(self.numerator)} floordiv {_grouped(self.divisor)}"

    @functools.cached_property
    def depth(self) -> int:
        """How deep floor divisions nest in this one; 1 for none but itself."""
        atoms = (atom for dim in (self.numerator, self.divisor) for monomial, _ in _terms(dim) for atom in monomial)
        return 1 + max((atom.depth for atom in atoms if isinstance(atom, FloorDiv)), default=0)


Atom = str | FloorDiv
Monomial = tuple[Atom, ...]


def _atom_key(atom: Atom) -> tuple[int, int, str]:
    name = atom if isinstance(atom, str) else atom.name
    return (0 if isinstance(atom, str) else 1, len(name), name)


def _monomial_key(monomial: Monomial) -> tuple:
    """Order terms by falling degree, then shortest name first; the constant comes last."""
    return (-len(monomial), [_atom_key(atom) for atom in monomial])


@dataclass(frozen=True)
class Extent:
    """A non-constant polynomial: (monomial, non-zero coefficient) pairs in canonical order."""

    terms: tuple[tuple[Monomial, int], ...]

    def __add__(self, other: "Dim") -> "Dim":
        return _from_terms([*self.terms, *_terms(other)])

    __radd__ = __add__

    def __neg__(self) -> "Dim":
        return self * -1

    def __sub__(self, other: "Dim") -> "Dim":
        return self + -other

    def __rsub__(self, other: int) -> "Dim":
        return other + -self

    def __mul__(self, other: "Dim") -> "Dim":
        if len(self.terms) * len(_terms(other)) > 4 * _MAX_TERMS:
            raise ExtentError(f"the product of extents has too many terms (more than {_MAX_TERMS})")
        return _from_terms(
            [
                (tuple(sorted(left + right, key=_atom_key)), a * b)
                for left, a in self.terms
                for right, b in _terms(other)
            ]
        )

    __rmul__ = __mul__

    def __floordiv__(self, other: "Dim") -> "Dim":
        return floordiv(self, other)

    def __rfloordiv__(self, other: int) -> "Dim":
        return floordiv(other, self)

    @functools.cached_property
    def _text(self) -> str:
        parts: list[str] = []
        for monomial, coefficient in self.terms:
            sign = "-" if coefficient < 0 else "+"
            # A minus in front of everything binds tighter than a division, where the text is read.
            together = len(monomial) > 1 or abs(coefficient) != 1 or (sign == "-" and not parts)
            factors = [_factor(atom, together) for atom in monomial]
            if abs(coefficient) != 1 or not monomial:
                factors.insert(0, str(abs(coefficient)))
            product = "*".join(factors)
            parts.append(f" {sign} {product}" if parts else ("-" if sign == "-" else "") + product)
        return "".join(parts)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Extent({self._text!r})"

    def __hash__(self) -> int:
        return self._hash

    @functools.cached_property
    def _hash(self) -> int:
        return hash(self.terms)


Dim = int | Extent


def _factor(atom: Atom, among_others: bool) -> str:
    if isinstance(atom, str):
        return atom
    return f"({atom.name})" if among_others else atom.name


def _grouped(dim: Dim) -> str:
    if isinstance(dim, int):
        return str(dim)
    (monomial, coefficient), *more = dim.terms
    bare = not more and (not monomial or (coefficient == 1 and len(monomial) == 1 and isinstance(monomial[0], str)))
    return str(dim) if bare else f"({dim})"


def _terms(dim: Dim) -> Sequence[tuple[Monomial, int]]:
    if isinstance(dim, Extent):
        return dim.terms
    return (((), dim),) if dim else ()


def _from_terms(terms: Iterable[tuple[Monomial, int]]) -> Dim:
    collected: dict[Monomial, int] = {}
    for monomial, coefficient in terms:
        collected[monomial] = collected.get(monomial, 0) + coefficient
    kept = sorted(((m, c) for m, c in collected.items() if c), key=lambda term: _monomial_key(term[0]))
    if len(kept) > _MAX_TERMS:
        raise ExtentError(f"an extent has {len(kept)} terms; the limit is {_MAX_TERMS}")
    if not kept:
        return 0
    if len(kept) == 1 and not kept[0][0]:
        return kept[0][1]
    for monomial, coefficient in kept:
        if len(monomial) > _MAX_DEGREE or abs(coefficient) > MAX_COEFFICIENT:
            raise ExtentError(
                f"an extent has a term of {len(monomial)} factors, or a coefficient beyond 2^128; "
                f"the limit is {_MAX_DEGREE} factors"
            )
    return Extent(tuple(kept))


def symbol(name: str) -> Extent:
    """Return the extent that is the symbol `name`."""
    return Extent((((name,), 1),))


def product(dims: Iterable[Dim]) -> Dim:
    """Return the product of `dims` (1 for none)."""
    return functools.reduce(lambda a, b: a * b, dims, 1)


def row_major_strides(shape: Sequence[Dim]) -> tuple[Dim, ...]:
    """Return the strides in elements of a dense row-major array."""
    return tuple(product(shape[axis + 1 :]) for axis in range(len(shape)))


def floordiv(dim: Dim, divisor: Dim) -> Dim:
    """Return ``floor(dim / divisor)``.

    Canonical form for an int divisor d: multiples of d leave the division, the other coefficients lie in [0, d), the
    constant in (-d, 0] (so that a pooling window keeps its usual form ``(H - 1) floordiv 2 + 1``), and common
    factors are cancelled.

    Raises:
        ExtentError: the divisor is an int that is not positive.
    """
    if isinstance(divisor, int):
        if divisor <= 0:
            raise ExtentError(f"cannot divide {dim} by {divisor}; a divisor must be positive")
        return _floordiv_int(dim, divisor)
    exact = divide(dim, divisor)
    if exact is not None:
        return exact
    numerator = dim if isinstance(dim, Extent) else Extent((((), dim),))
    return _division(numerator, divisor)


def _floordiv_int(dim: Dim, divisor: int) -> Dim:
    if isinstance(dim, int):
        return dim // divisor
    outside, inside, constant = [], [], 0
    for monomial, coefficient in dim.terms:
        if not monomial:
            quotient = -((-coefficient) // divisor)
            constant = coefficient - quotient * divisor
        else:
            quotient, rest = divmod(coefficient, divisor)
            if rest:
                inside.append((monomial, rest))
        if quotient:
            outside.append((monomial, quotient))
    if not inside:
        return _from_terms([*outside, ((), constant // divisor)])
    common = math.gcd(divisor, *(coefficient for _, coefficient in inside))
    divisor, constant = divisor // common, constant // common
    if constant == -divisor:  # the quotient was rounded down: a whole divisor can leave once more
        outside.append(((), -1))
        constant = 0
    numerator = _from_terms([*((m, c // common) for m, c in inside), ((), constant)])
    if divisor == 1:
        return _from_terms(outside) + numerator
    assert isinstance(numerator, Extent)
    return _from_terms([*outside, *_division(numerator, divisor).terms])


def _division(numerator: Extent, divisor: Dim) -> Extent:
    atom = FloorDiv(numerator, divisor)
    if atom.depth > _MAX_DIVISIONS:
        raise ExtentError(f"an extent nests more than {_MAX_DIVISIONS} floor divisions; bind its symbols")
    return Extent((((atom,), 1),))


def ceildiv(dim: Dim, divisor: Dim) -> Dim:
    """Return ``ceil(dim / divisor)``."""
    return floordiv(dim + divisor - 1, divisor)


def divide(dim: Dim, divisor: Dim) -> Dim | None:
    """Return the exact quotient, or None where the division leaves a rest or the divisor is not a single term."""
    if dim == divisor:
        return 1
    if dim == 0:
        return 0
    factors = list(_terms(divisor))
    if len(factors) != 1:
        return None
    by, scale = factors[0]
    quotient = []
    for monomial, coefficient in _terms(dim):
        rest = list(monomial)
        for atom in by:
            if atom not in rest:
                return None
            rest.remove(atom)
        if coefficient % scale:
            return None
        quotient.append((tuple(rest), coefficient // scale))
    return _from_terms(quotient)


def symbols(dim: Dim) -> tuple[str, ...]:
    """Return the symbols of `dim`, each once, in order of appearance in its text."""
    found: dict[str, None] = {}
    for monomial, _ in _terms(dim):
        for atom in monomial:
            names = (atom,) if isinstance(atom, str) else (*symbols(atom.numerator), *symbols(atom.divisor))
            found.update(dict.fromkeys(names))
    return tuple(found)


def divisors(dim: Dim) -> tuple[Dim, ...]:
    """Return what `dim` divides by, each once, the inner divisions first."""
    found: dict[Dim, None] = {}
    for monomial, _ in _terms(dim):
        for atom in monomial:
            if isinstance(atom, FloorDiv):
                found.update(dict.fromkeys((*divisors(atom.numerator), *divisors(atom.divisor), atom.divisor)))
    return tuple(found)


def substitute(dim: Dim, values: Mapping[str, Dim]) -> Dim:
    """Return `dim` with symbols replaced."""
    if isinstance(dim, int) or not any(name in values for name in symbols(dim)):
        return dim
    total: Dim = 0
    for monomial, coefficient in dim.terms:
        total = total + product(_substitute_atom(atom, values) for atom in monomial) * coefficient
    return total


def _substitute_atom(atom: Atom, values: Mapping[str, Dim]) -> Dim:
    if isinstance(atom, str):
        return values.get(atom, symbol(atom))
    return floordiv(substitute(atom.numerator, values), substitute(atom.divisor, values))


def evaluate(dim: Dim, values: Mapping[str, int]) -> int:
    """Return the value of `dim`.

    Raises:
        ExtentError: a symbol has no value, or a division is by zero.
    """
    if isinstance(dim, int):
        return dim
    total = 0
    for monomial, coefficient in dim.terms:
        for atom in monomial:
            coefficient *= _evaluate_atom(atom, values)
        total += coefficient
    return total


def _evaluate_atom(atom: Atom, values: Mapping[str, int]) -> int:
    if isinstance(atom, str):
        if atom not in values:
            raise ExtentError(f"symbol '{atom}' has no value")
        return values[atom]
    divisor = evaluate(atom.divisor, values)
    if divisor == 0:
        raise ExtentError(f"'{atom.name}' divides by zero")
    return evaluate(atom.numerator, values) // divisor


def is_nonnegative(dim: Dim) -> bool:
    """Say whether `dim` is at least 0 for all sizes (False: not known)."""
    if isinstance(dim, int):
        return dim >= 0
    return all(c >= 0 and all(isinstance(a, str) or is_nonnegative(a.numerator) for a in m) for m, c in dim.terms)


def differ(left: Dim, right: Dim) -> bool:
    """Say whether two extents differ for all positive sizes (False: not known)."""
    difference = left - right
    if isinstance(difference, int):
        return difference != 0
    signs = {coefficient > 0 for _, coefficient in difference.terms}
    return len(signs) == 1 and all(isinstance(atom, str) for monomial, _ in difference.terms for atom in monomial)


def parse(text: str) -> Dim:
    """Read an extent: integers, symbols, ``+ - *``, ``floordiv`` (or ``//``) and brackets.

    Raises:
        ExtentError: `text` is not an extent; the message shows the offending place.
    """
    if len(text) > MAX_TEXT:
        raise ExtentError(f"an extent of {len(text)} characters is too long (limit {MAX_TEXT})")
    from tinyc.analysis.extent_parser import Parser  # it builds extents, and so imports this module

    return Parser(text).extent()
