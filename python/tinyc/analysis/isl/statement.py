"""Statements: iteration domains with named axes and parameters, and their text in isl's notation.

A `Statement` has a name, axes with names and extents, and parameters: one for each symbol, and one for each product of
symbols, which isl cannot multiply. Pure text: `polyhedra` makes isl objects of it, `notation` reads it back.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tinyc.analysis import axes
from tinyc.analysis.axes import Axis, AxisExpr, Shape, divisions
from tinyc.analysis.extents import Dim, Extent
from tinyc.analysis.isl.extents import division_of, monomial_text, opaque_extents
from tinyc.analysis.movement import Guard, Index

_RESERVED = frozenset(
    ("and", "ceild", "exists", "false", "floor", "floord", "implies", "infty", "lcm", "max", "min", "mod", "nan")
) | frozenset(("not", "or", "rat", "true"))


def identifier(name: str, taken: Iterable[str] = ()) -> str:
    """Return `name` as an isl identifier that is not among `taken`."""
    text = re.sub(r"[^A-Za-z0-9_]", "_", name)
    text = text if re.match(r"[A-Za-z_]", text) and text not in _RESERVED else f"_{text}"
    while text in taken:
        text += "_"
    return text


def constants(expressions: Iterable[AxisExpr]) -> Iterable[Dim]:
    """Yield the constants in expressions, those inside divisions too."""
    for expression in expressions:
        yield expression.constant
        yield from (division.numerator.constant for division in divisions(expression))


def remainders(expressions: Iterable[AxisExpr]) -> dict[AxisExpr, int]:
    """Return ``e - d * floor(e / d)`` with its divisor for every floor division in expressions, inner ones first.

    Each of them stays in [0, d): this is what a floor division means (specification 000 §3.2).
    """
    rows = list(expressions)
    found = {_remainder(atom): atom.divisor for atom in sorted(frozenset().union(*map(divisions, rows)), key=_depth)}
    return {**{axes.constant(rest): divisor for rest, divisor in _symbolic(constants(rows))}, **found}


def _depth(atom: axes.FloorDiv) -> tuple[int, str, int]:
    return axes.nesting(atom.numerator), str(atom.numerator), atom.divisor


def _remainder(atom: axes.FloorDiv) -> AxisExpr:
    return atom.numerator + axes.term(atom, -atom.divisor)


def _symbolic(dims: Iterable[Dim]) -> Iterable[tuple[Dim, int]]:
    """Yield the remainders of the divisions of symbols that isl can write, inner ones first."""
    for dim in dims:
        for monomial, _ in dim.terms if isinstance(dim, Extent) else ():
            division = division_of(monomial)
            if division is not None:
                numerator, divisor = division
                yield from _symbolic((numerator,))
                yield numerator - Extent(((monomial, 1),)) * divisor, divisor


@dataclass(frozen=True)
class Statement:
    """The instances of a computation: `parameters` are pairs of an extent and the isl name that stands for it."""

    name: str
    axes: tuple[str, ...]
    shape: Shape
    parameters: tuple[tuple[str, str], ...]

    @classmethod
    def over(cls, name: str, shape: Shape, labels: Sequence[str], dims: Iterable[Dim] = ()) -> "Statement":
        """Return the statement over `shape`; an axis is called by its label, or `i<position>` where that is not free.

        `dims` are further extents that its accesses speak of.
        """
        parameters: dict[str, str] = {}
        for dim in (*shape, *dims):
            for extent in opaque_extents(dim):
                if extent not in parameters:
                    parameters[extent] = identifier(extent.replace("*", "_"), parameters.values())
        taken = list(parameters.values())
        for position, label in enumerate(labels):
            plain = label and identifier(label) == label and label not in taken
            taken.append(label if plain else identifier(f"i{position}", taken))
        return cls(name, tuple(taken[len(parameters) :]), shape, tuple(parameters.items()))

    @property
    def tuple_text(self) -> str:
        """An instance: `S[m, n]`."""
        return f"{self.name}[{', '.join(self.axes)}]"

    @property
    def domain_text(self) -> str:
        """The box of the axes: `[M] -> { S[m] : 0 <= m < M }`."""
        return self.domain_where({})

    def domain_where(self, guarded: Mapping[AxisExpr, int]) -> str:
        """Return the box of the axes and, of each expression, ``0 <= expression < bound``."""
        bounds = [f"0 <= {axis} < {self.extent(size)}" for axis, size in zip(self.axes, self.shape, strict=True)]
        guards = [f"0 <= {self.affine(expression)} < {bound}" for expression, bound in guarded.items()]
        return self.set_text([self.tuple_text], [*bounds, *guards])

    def inside_text(self, guard: Guard) -> str:
        """Return the instances that pass a guard."""
        return self.set_text([self.tuple_text], [self._bound(guard)])

    def access_text(self, tensor: str, index: Index, guards: Sequence[Guard] = ()) -> str:
        """Return the access to `tensor[index]` from the instances that pass the guards."""
        element = f"{tensor}[{', '.join(self.affine(row) for row in index)}]"
        return self.set_text([self.tuple_text, element], [self._bound(guard) for guard in guards])

    def _bound(self, guard: Guard) -> str:
        return f"0 <= {self.affine(guard.expression)} < {self.extent(guard.size)}"

    def set_text(self, tuples: Sequence[str], conditions: Sequence[str]) -> str:
        """Return a set of one tuple, or a map from the first to the second, over the parameters."""
        names = f"[{', '.join(name for _, name in self.parameters)}] -> " if self.parameters else ""
        return f"{names}{{ {' -> '.join(tuples)}{' : ' if conditions else ''}{' and '.join(conditions)} }}"

    def extent(self, dim: Dim) -> str:
        """Return an extent over the parameters."""
        if isinstance(dim, int):
            return str(dim)
        names, parts = dict(self.parameters), []
        for monomial, coefficient in dim.terms:
            division = division_of(monomial)
            if division is not None:
                numerator, divisor = division
                factor: str | None = _floor(self.extent(numerator), divisor)
            else:
                factor = names[monomial_text(monomial)] if monomial else None
            parts.append((coefficient, factor))
        return _sum(parts)

    def affine(self, expression: AxisExpr) -> str:
        """Return an axis expression over the axes and the parameters."""
        parts: list[tuple[int, str | None]] = []
        for atom, coefficient in expression.terms:
            if isinstance(atom, Axis):
                parts.append((coefficient, self.axes[atom.position]))
            else:
                parts.append((coefficient, _floor(self.affine(atom.numerator), atom.divisor)))
        constant = expression.constant
        if isinstance(constant, int):
            return _sum([*parts, (constant, None)])
        rest = self.extent(constant)
        sign, rest = ("-", rest[1:]) if rest.startswith("-") else ("+", rest)
        return f"{_sum(parts)} {sign} {rest}" if parts else self.extent(constant)


def _floor(numerator: str, divisor: int) -> str:
    return f"floor({numerator if numerator.isidentifier() else f'({numerator})'}/{divisor})"


def _sum(parts: Iterable[tuple[int, str | None]]) -> str:
    """Return the sum of ``coefficient * factor``; a factor of None is 1."""
    text = ""
    for coefficient, factor in parts:
        if not coefficient:
            continue
        size = (
            str(abs(coefficient))
            if factor is None
            else factor
            if abs(coefficient) == 1
            else f"{abs(coefficient)}*{factor}"
        )
        sign = "-" if coefficient < 0 else "+"
        text += f" {sign} {size}" if text else ("-" if sign == "-" else "") + size
    return text or "0"
