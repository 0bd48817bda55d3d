"""isl sets and maps from axis expressions: iteration domains, accesses, guards.

A `Space` names a statement, its axes and the parameters: one for each symbol, and one for each product of symbols, which
isl cannot multiply. Objects are built from isl's affine functions, not from text. Importing this module loads islpy.
"""

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import islpy as isl

from tinyc.analysis.axis import Axis, AxisExpr, FloorDiv, Shape
from tinyc.analysis.extents import Atom, Dim, Extent
from tinyc.analysis.extents import FloorDiv as ExtentFloorDiv
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


def parameters(dims: Iterable[Dim]) -> dict[str, str]:
    """Return the isl parameters that `dims` need: from a symbol or a product of symbols to its name in isl."""
    names: dict[str, str] = {}
    for dim in dims:
        for monomial in _opaque(dim):
            if monomial not in names:
                names[monomial] = identifier(monomial.replace("*", "_"), names.values())
    return names


def _opaque(dim: Dim) -> Iterable[str]:
    """Yield what isl takes as a parameter in `dim`."""
    if isinstance(dim, int):
        return
    for monomial, _ in dim.terms:
        division = _division(monomial)
        if division is not None:
            yield from _opaque(division.numerator)
        elif monomial:
            yield str(Extent(((monomial, 1),)))


def _division(monomial: tuple[Atom, ...]) -> ExtentFloorDiv | None:
    """Return the one atom of a monomial that isl can write as a floor."""
    (atom,) = monomial if len(monomial) == 1 else (None,)
    return atom if isinstance(atom, ExtentFloorDiv) and isinstance(atom.divisor, int) else None


@dataclass(frozen=True)
class Space:
    """The instances of a statement: its name, its axes with names and extents, and the parameters (extent, name)."""

    name: str
    axes: tuple[str, ...]
    shape: Shape
    parameters: tuple[tuple[str, str], ...]

    @functools.cached_property
    def _space(self) -> Any:
        space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, len(self.parameters), len(self.axes))
        for position, (_, name) in enumerate(self.parameters):
            space = space.set_dim_name(isl.dim_type.param, position, name)
        for position, name in enumerate(self.axes):
            space = space.set_dim_name(isl.dim_type.set, position, name)
        return space.set_tuple_name(isl.dim_type.set, self.name)

    @functools.cached_property
    def _local(self) -> Any:
        return isl.LocalSpace.from_space(self._space)

    @functools.cached_property
    def domain(self) -> Any:
        """The box of the axes as an `isl.Set`."""
        box = isl.Set.universe(self._space)
        for position, size in enumerate(self.shape):
            axis = isl.Aff.var_on_domain(self._local, isl.dim_type.set, position)
            box = box.intersect(axis.ge_set(self._constant(0))).intersect(axis.lt_set(self.extent(size)))
        return box

    def _constant(self, value: int) -> Any:
        return isl.Aff.val_on_domain(self._local, isl.Val.int_from_si(isl.DEFAULT_CONTEXT, value))

    def extent(self, dim: Dim) -> Any:
        """Return an extent as an `isl.Aff`."""
        if isinstance(dim, int):
            return self._constant(dim)
        names = [extent for extent, _ in self.parameters]
        total = self._constant(0)
        for monomial, coefficient in dim.terms:
            division = _division(monomial)
            if not monomial:
                term = self._constant(1)
            elif division is not None:
                term = self.extent(division.numerator).scale_down_val(division.divisor).floor()
            else:
                position = names.index(str(Extent(((monomial, 1),))))
                term = isl.Aff.var_on_domain(self._local, isl.dim_type.param, position)
            total = total.add(term.scale_val(coefficient))
        return total

    def affine(self, expression: AxisExpr) -> Any:
        """Return an axis expression as an `isl.Aff`."""
        total = self.extent(expression.constant)
        for atom, coefficient in expression.terms:
            total = total.add(self._atom(atom).scale_val(coefficient))
        return total

    def _atom(self, atom: Axis | FloorDiv) -> Any:
        if isinstance(atom, Axis):
            return isl.Aff.var_on_domain(self._local, isl.dim_type.set, atom.position)
        return self.affine(atom.numerator).scale_down_val(atom.divisor).floor()

    def inside(self, guard: Guard) -> Any:
        """Return the instances that pass a guard, as an `isl.Set` that is not bounded by the domain."""
        value = self.affine(guard.expression)
        return value.ge_set(self._constant(0)).intersect(value.lt_set(self.extent(guard.size)))

    def access(self, tensor: str, index: Index, guards: Sequence[Guard] = ()) -> Any:
        """Return the access to `tensor[index]` as an `isl.Map`, from the instances that pass the guards."""
        rows = isl.AffList.alloc(isl.DEFAULT_CONTEXT, len(index))
        for row in index:
            rows = rows.add(self.affine(row))
        elements = self._space.params().set_from_params().add_dims(isl.dim_type.set, len(index))
        elements = elements.set_tuple_name(isl.dim_type.set, tensor)
        space = self._space.map_from_domain_and_range(elements)
        access = isl.Map.from_multi_aff(isl.MultiAff.from_aff_list(space, rows))
        for guard in guards:
            access = access.intersect_domain(self.inside(guard))
        return access

