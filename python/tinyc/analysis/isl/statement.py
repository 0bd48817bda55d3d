"""Statements: iteration domains with named axes and parameters, and their text in isl's notation.

A `Statement` has a name, axes with names and extents, and parameters: one for each symbol, and one for each product of
symbols, which isl cannot multiply. Pure text: `polyhedra` makes isl objects of it, `notation` reads it back.
"""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tinyc.analysis.movement import Guard, Index
from tinyc.expr import axes
from tinyc.expr.axes import AxisExpr, Shape, divisions
from tinyc.expr.extents import Dim, Extent
from tinyc.expr.isl.parameters import parameter_of, parameters_of
from tinyc.expr.terms import FloorDiv, Notation

_RESERVED = frozenset(
    ("and", "ceild", "exists", "false", "floor", "floord", "implies", "infty", "lcm", "max", "min", "mod", "nan")
) | frozenset(("not", "or", "rat", "true"))


def isl_identifier(name: str, taken: Iterable[str] = ()) -> str:
    """`name` as an isl identifier that is not among `taken`."""
    text = re.sub(r"[^A-Za-z0-9_]", "_", name)
    text = text if re.match(r"[A-Za-z_]", text) and text not in _RESERVED else f"_{text}"
    while text in taken:
        text += "_"
    return text


def constants(expressions: Iterable[AxisExpr]) -> Iterable[Dim]:
    """The constants in expressions, those inside divisions too."""
    for expression in expressions:
        yield expression.constant
        yield from (division.numerator.constant for division in divisions(expression))


def remainders(expressions: Iterable[AxisExpr]) -> dict[AxisExpr, int]:
    """``e - d * floor(e / d)`` with its divisor for every floor division in expressions, inner ones first.

    Each of them stays in [0, d): this is what a floor division means (specification 000 §3.2).
    """
    rows = list(expressions)
    atoms = {atom for row in rows for atom in divisions(row)}
    found = {_remainder(atom): atom.divisor for atom in sorted(atoms, key=_depth)}
    return {**{axes.constant(rest): divisor for rest, divisor in _symbolic(constants(rows))}, **found}


def _depth(atom: axes.Floor) -> tuple[int, str, int]:
    return axes.nesting(atom.numerator), str(atom.numerator), atom.divisor


def _remainder(atom: axes.Floor) -> AxisExpr:
    return atom.numerator + axes.term(atom, -atom.divisor)


def _symbolic(dims: Iterable[Dim]) -> Iterator[tuple[Dim, int]]:
    """The remainders of the divisions of symbols that isl can write, inner ones first."""
    for dim in dims:
        for monomial, _ in dim.terms if isinstance(dim, Extent) else ():
            atom = monomial[0] if monomial else None
            if isinstance(atom, FloorDiv) and isinstance(atom.divisor, int) and parameter_of(monomial) is None:
                yield from _symbolic((atom.numerator,))
                yield atom.numerator - Extent(((monomial, 1),)) * atom.divisor, atom.divisor


@dataclass(frozen=True)
class Statement:
    """The instances of a computation: `parameters` are pairs of an extent and the isl name that stands for it."""

    name: str
    axes: tuple[str, ...]
    shape: Shape
    parameters: tuple[tuple[str, str], ...]

    @classmethod
    def over(cls, name: str, shape: Shape, labels: Sequence[str], dims: Iterable[Dim] = ()) -> "Statement":
        """The statement over `shape`; an axis is called by its label, or `i<position>` where that is not free.

        `dims` are further extents that its accesses speak of.
        """
        symbolic = tuple(dim for dim in dims if not isinstance(dim, int))
        return cls(name, *_called(shape, tuple(labels), symbolic))

    @property
    def tuple_text(self) -> str:
        """An instance: `S[m, n]`."""
        return f"{self.name}[{', '.join(self.axes)}]"

    @property
    def domain_text(self) -> str:
        """The box of the axes: `[M] -> { S[m] : 0 <= m < M }`."""
        return self.domain_where({})

    def domain_where(self, guarded: Mapping[AxisExpr, int]) -> str:
        """The box of the axes and, of each expression, ``0 <= expression < bound``."""
        bounds = [f"0 <= {axis} < {self.extent(size)}" for axis, size in zip(self.axes, self.shape, strict=True)]
        guards = [f"0 <= {self.affine(expression)} < {bound}" for expression, bound in guarded.items()]
        return self.set_text([self.tuple_text], [*bounds, *guards])

    def inside_text(self, guard: Guard) -> str:
        """The instances that pass a guard."""
        return self.set_text([self.tuple_text], [self._bound(guard)])

    def access_text(self, tensor: str, index: Index, guards: Sequence[Guard] = ()) -> str:
        """The access to `tensor[index]` from the instances that pass the guards."""
        element = f"{tensor}[{', '.join(self.affine(row) for row in index)}]"
        return self.set_text([self.tuple_text, element], [self._bound(guard) for guard in guards])

    def _bound(self, guard: Guard) -> str:
        return f"0 <= {self.affine(guard.expression)} < {self.extent(guard.size)}"

    def set_text(self, tuples: Sequence[str], conditions: Sequence[str]) -> str:
        """A set of one tuple, or a map from the first to the second, over the parameters."""
        names = f"[{', '.join(name for _, name in self.parameters)}] -> " if self.parameters else ""
        return f"{names}{{ {' -> '.join(tuples)}{' : ' if conditions else ''}{' and '.join(conditions)} }}"

    def extent(self, dim: Dim) -> str:
        """An extent over the parameters."""
        return self._notation.text(dim)

    def affine(self, expression: AxisExpr) -> str:
        """An axis expression over the axes and the parameters."""
        return self._notation.text(expression)

    @functools.cached_property
    def _notation(self) -> Notation:
        names = dict(self.parameters)
        return Notation(
            symbol=names.__getitem__, axis=self.axes.__getitem__, divide=_floor_text, parameter=parameter_of
        )


@functools.lru_cache(maxsize=1 << 10)
def _called(
    shape: Shape, labels: tuple[str, ...], dims: tuple[Dim, ...]
) -> tuple[tuple[str, ...], Shape, tuple[tuple[str, str], ...]]:
    """The names of axes, their extents, and the parameters: many statements have the same."""
    parameters: dict[str, str] = {}
    for dim in (*shape, *dims):
        for extent in parameters_of(dim):
            if extent not in parameters:
                parameters[extent] = isl_identifier(extent.replace("*", "_"), parameters.values())
    taken = list(parameters.values())
    for position, label in enumerate(labels):
        plain = label and isl_identifier(label) == label and label not in taken
        taken.append(label if plain else isl_identifier(f"i{position}", taken))
    return tuple(taken[len(parameters) :]), shape, tuple(parameters.items())


def _floor_text(numerator: str, divisor: str) -> str:
    return f"floor({numerator if numerator.isidentifier() else f'({numerator})'}/{divisor})"
