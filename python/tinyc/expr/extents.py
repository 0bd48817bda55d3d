"""Symbolic sizes: the one algebra for the extents of tensors, their bytes, offsets and launch grids.

A `Dim` is an int, or an `Extent`: a polynomial with integer coefficients over symbols (`M`) and floor divisions
(`(H - 1) floordiv 2`), in a canonical form. An extent that is constant is always an int, so two dims are equal as
values exactly when ``==`` says so, and `text` is canonical too. Symbols stand for non-negative integers.
"""

import functools
import math
import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import SupportsIndex, cast

from tinyc.expr.grammar import Grammar
from tinyc.expr.interpretation import Interpretation
from tinyc.expr.terms import Expression, FloorDiv, collected

MAX_EXTENT = 2**63 - 1
#: What a size counts as that is not known, where something is predicted of it: a decision does not wait for a run's.
USUAL_EXTENT = 4096
_MAX_TERMS = 256
_MAX_DEGREE = 64
MAX_COEFFICIENT = 2**128
_MAX_DIVISIONS = 12
MAX_TEXT = 8000


class ExtentError(ValueError):
    """An extent that cannot be read, computed or solved; the message says which and why."""


@dataclass(frozen=True)
class Extent(Expression):
    """A non-constant polynomial: (monomial, non-zero coefficient) pairs in canonical order."""

    terms: "tuple[tuple[Monomial, int], ...]"

    @property
    def monomials(self) -> "tuple[tuple[Monomial, int], ...]":
        """The terms, the constant last."""
        return self.terms

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
            (tuple(sorted(left + right, key=_atom_order)), a * b)
            for left, a in self.terms
            for right, b in _terms(other)
        )

    __rmul__ = __mul__

    def __floordiv__(self, other: "Dim") -> "Dim":
        return floordiv(self, other)

    def __rfloordiv__(self, other: int) -> "Dim":
        return floordiv(other, self)

    def __repr__(self) -> str:
        return f"Extent({str(self)!r})"

    def __hash__(self) -> int:
        return self._hash

    @functools.cached_property
    def _hash(self) -> int:
        return hash(self.terms)


Dim = int | Extent
SymbolicAtom = str | FloorDiv[Extent, Dim]
Monomial = tuple[SymbolicAtom, ...]


def _terms(dim: Dim) -> Sequence[tuple[Monomial, int]]:
    return dim.terms if isinstance(dim, Extent) else (((), dim),) if dim else ()


def _from_terms(terms: Iterable[tuple[Monomial, int]]) -> Dim:
    kept = collected(terms, _monomial_order)
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
    return Extent(kept)


def _monomial_order(monomial: Monomial) -> tuple[int, list[tuple[int, int, str]]]:
    """Order terms by falling degree, then shortest name first; the constant comes last."""
    return (-len(monomial), [_atom_order(atom) for atom in monomial])


def _atom_order(atom: SymbolicAtom) -> tuple[int, int, str]:
    """Order symbols, then divisions."""
    name = atom if isinstance(atom, str) else atom.name
    return (0 if isinstance(atom, str) else 1, len(name), name)


def natural(value: object, limit: int = MAX_EXTENT) -> int | None:
    """`value` as an int where it is an integer in 0 … `limit`, of Python's or numpy's, and no bool; None otherwise."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        return None
    try:
        number = operator.index(value)
    except TypeError:  # an array has the method, and is no number
        return None
    return number if 0 <= number <= limit else None


def symbol(name: str) -> Extent:
    """The extent that is the symbol `name`."""
    return Extent((((name,), 1),))


def sum_of(dims: Iterable[Dim]) -> Dim:
    """The sum of extents, in time that grows with all their terms together."""
    return _from_terms(term for dim in dims for term in _terms(dim))


def product(dims: Iterable[Dim]) -> Dim:
    """The product of `dims` (1 for none)."""
    return functools.reduce(lambda a, b: a * b, dims, 1)


def row_major_strides(shape: Sequence[Dim]) -> tuple[Dim, ...]:
    """The strides in elements of a dense row-major array."""
    return tuple(product(shape[axis + 1 :]) for axis in range(len(shape)))


def floordiv(dim: Dim, divisor: Dim) -> Dim:
    """``floor(dim / divisor)``.

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
    outside: list[tuple[Monomial, int]] = []
    inside: list[tuple[Monomial, int]] = []
    constant = 0
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
    """``ceil(dim / divisor)``."""
    return floordiv(dim + divisor - 1, divisor)


def divide(dim: Dim, divisor: Dim) -> Dim | None:
    """The exact quotient, or None where the division leaves a rest or the divisor is not a single term."""
    if dim == divisor:
        return 1
    if dim == 0:
        return 0
    factors = list(_terms(divisor))
    if len(factors) != 1:
        return None
    by, scale = factors[0]
    quotient: list[tuple[Monomial, int]] = []
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
    """The symbols of `dim`, each once, in order of appearance in its text."""
    atoms = () if isinstance(dim, int) else dim.atoms
    return tuple(dict.fromkeys(atom for atom in atoms if isinstance(atom, str)))


def bind_option(*dims: Dim) -> str:
    """The option that makes numbers of extents, as messages advise it: `--bind M=SIZE,N=SIZE`."""
    names = dict.fromkeys(name for dim in dims for name in symbols(dim))
    return f"--bind {','.join(f'{name}=SIZE' for name in names)}"


def divisors(dim: Dim) -> tuple[Dim, ...]:
    """The divisors in `dim`, each once, the inner ones first."""
    atoms = () if isinstance(dim, int) else dim.atoms
    found = dict.fromkeys(atom.divisor for atom in atoms if isinstance(atom, FloorDiv))
    return cast("tuple[Dim, ...]", tuple(found))  # atoms of an extent are over extents


def substitute(dim: Dim, values: Mapping[str, Dim]) -> Dim:
    """`dim` with symbols replaced."""
    if isinstance(dim, int) or not any(name in values for name in symbols(dim)):
        return dim
    return Interpretation[Dim](
        int, lambda _, dividend, divisor: floordiv(dividend, divisor), lambda name: values.get(name, symbol(name))
    ).of(dim)


def evaluate(dim: Dim, values: Mapping[str, int]) -> int:
    """The value of `dim`.

    Raises:
        ExtentError: a symbol has no value, or a division is by zero.
    """
    # A loop of its own and no `Interpretation`, which takes five times as long: every launch evaluates dozens.
    if isinstance(dim, int):
        return dim
    total = 0
    for monomial, coefficient in dim.terms:
        for atom in monomial:
            coefficient *= _evaluated(atom, values)
        total += coefficient
    return total


def _evaluated(atom: SymbolicAtom, values: Mapping[str, int]) -> int:
    if isinstance(atom, str):
        if atom not in values:
            raise ExtentError(f"symbol '{atom}' has no value")
        return values[atom]
    divisor = evaluate(atom.divisor, values)
    if divisor == 0:
        raise ExtentError(f"'{atom.name}' divides by zero")
    return evaluate(atom.numerator, values) // divisor


def is_nonnegative(dim: Dim) -> bool:
    """Whether `dim` is at least 0 for all sizes (False: not known)."""
    if isinstance(dim, int):
        return dim >= 0
    if all(c >= 0 and all(isinstance(a, str) or is_nonnegative(a.numerator) for a in m) for m, c in dim.terms):
        return True
    least = sum_of(_no_more_than(monomial, c) for monomial, c in dim.terms)
    return least != dim and is_nonnegative(least)


def _no_more_than(monomial: Monomial, coefficient: int) -> Dim:
    """What is no more than a term, without its division.

    Of ``-d*(x floordiv d)``, which takes the multiples of d from x, ``-x``; of ``(x - c) floordiv d``, where x is not
    negative, ``-c floordiv d``.
    """
    atom = monomial[0] if len(monomial) == 1 else ""
    if not isinstance(atom, str) and isinstance(atom.divisor, int) and atom.divisor > 0:
        if coefficient < 0 and coefficient % atom.divisor == 0:
            return atom.numerator * (coefficient // atom.divisor)
        offset = dict(_terms(atom.numerator)).get((), 0)
        if coefficient > 0 and offset < 0 and is_nonnegative(atom.numerator - offset):
            return coefficient * (offset // atom.divisor)
    return _from_terms([(monomial, coefficient)])


def at_most(dim: Dim, limits: Mapping[str, int]) -> Dim:
    """What `dim` is at most where symbols are at most `limits`: `dim` itself where it may fall as they grow."""
    return substitute(dim, limits) if _grows(dim) else dim


def _grows(dim: Dim) -> bool:
    """Whether an extent is known not to fall where its symbols grow."""
    if isinstance(dim, int):
        return True
    divisions = [atom for monomial, _ in dim.terms for atom in monomial if not isinstance(atom, str)]
    falls = any(coefficient < 0 for monomial, coefficient in dim.terms if monomial)
    return not falls and all(isinstance(each.divisor, int) and _grows(each.numerator) for each in divisions)


def differ(left: Dim, right: Dim) -> bool:
    """Whether two extents differ for all positive sizes (False: not known)."""
    difference = left - right
    if isinstance(difference, int):
        return difference != 0
    signs = {coefficient > 0 for _, coefficient in difference.terms}
    return len(signs) == 1 and all(isinstance(atom, str) for monomial, _ in difference.terms for atom in monomial)


# --- text -------------------------------------------------------------------------------------------------------------


def parse_extent(text: str) -> Dim:
    """Read an extent: integers, symbols, ``+ - *``, ``floordiv`` (or ``//``) and brackets.

    Raises:
        ExtentError: `text` is not an extent; the message shows the offending place.
    """
    if len(text) > MAX_TEXT:
        raise ExtentError(f"an extent of {len(text)} characters is too long (limit {MAX_TEXT})")
    return _Reader(text).extent()


class _Reader(Grammar[Dim]):
    TOKEN = re.compile(r"\s*(?:(\d+)|([^\W\d][\w.]*)|(//|[-+*()]))")
    OPERATORS = ("*", "floordiv", "//")
    MAX_NESTING = 32
    SHOWN = 1

    def error(self, why: str) -> ExtentError:
        return ExtentError(f"cannot read the extent {self.source!r}: {why}")

    def missing(self, token: str) -> ExtentError:
        return self.error(f"unexpected {self.token!r}" if self.token else "unexpected the end")

    def too_deep(self) -> ExtentError:
        return ExtentError(f"the extent {self.source[:40]!r}… nests more than {self.MAX_NESTING} brackets")

    def extent(self) -> Dim:
        value = self.sum()
        if self.token:
            raise self.missing("the end")
        return value

    def combined(self, operator: str, left: Dim, right: Dim) -> Dim:
        if operator in ("+", "-"):
            return left + right if operator == "+" else left - right
        return self._bounded(left * right if operator == "*" else floordiv(left, right))

    def leaf(self) -> Dim:
        if self.token in ("", "+", "*", "//", ")", "floordiv"):
            raise self.missing("an extent")
        return symbol(self.take())

    def number(self, digits: str) -> Dim:
        # Python refuses to read thousands of digits.
        return self._bounded(int(digits) if len(digits) < 100 else MAX_COEFFICIENT + 1)

    def _bounded(self, value: Dim) -> Dim:
        """Check a number, as extents themselves are, before it outgrows what can be printed."""
        if isinstance(value, int) and abs(value) > MAX_COEFFICIENT:
            raise ExtentError(f"the extent {self.source[:40]!r}… has a number beyond 2^128")
        return value
