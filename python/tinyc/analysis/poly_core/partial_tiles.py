"""Partial tiles (tails): for which values of the symbolic sizes the last tile along an axis is not full.

In: extents, tile sizes, and what a set of shapes says of its symbols. Out: `Tail`s with a condition on the parameters,
such as ``M mod 128 != 0``. A gcd test answers for sums of symbols; isl where floor divisions are among them.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tinyc.analysis.isl.statement import Statement
from tinyc.analysis.poly.block import PolyBlock
from tinyc.analysis.poly_core.tile import tile_of
from tinyc.expr import extents
from tinyc.expr.extents import Dim, Extent, SymbolicAtom
from tinyc.expr.isl import TooHard
from tinyc.expr.terms import FloorDiv


@dataclass(frozen=True)
class ShapeSet:
    """The divisors that a set of shapes shares: each symbol of `multiples` is a multiple of its number."""

    multiples: Mapping[str, int] = field(default_factory=dict[str, int])

    def divisor(self, monomial: Iterable[SymbolicAtom]) -> int:
        """A number that a product of symbols is a multiple of."""
        return math.prod(self.multiples.get(atom, 1) for atom in monomial if isinstance(atom, str))


@dataclass(frozen=True)
class Tail:
    """The last tile of `size` along `axis` of `block` is not full where `condition` holds.

    `exists` is "never", "sometimes", "always", or "unproved" where isl does not get to an answer.
    """

    block: str
    axis: str
    extent: Dim
    size: int
    exists: str

    @property
    def condition(self) -> str:
        """The sizes with a tail, as text; "false" and "true" where it does not depend on them."""
        return {"never": "false", "always": "true"}.get(self.exists, f"{_grouped(self.extent)} mod {self.size} != 0")


def _grouped(extent: Dim) -> str:
    text = str(extent)
    return text if text.isidentifier() else f"({text})"


def tails_of(block: PolyBlock, sizes: Mapping[str, int], shapes: ShapeSet) -> tuple[Tail, ...]:
    """The tail of each axis of `block` that a tile of these sizes cuts."""
    tile = tile_of(block, sizes)
    found: list[Tail] = []
    for position in sorted(tile.cut):
        name, extent, size = block.statement.axes[position], block.statement.shape[position], tile.sizes[position]
        assert isinstance(size, int), "only numbers cut"
        found.append(Tail(block.name, name, extent, size, tail_exists(extent, size, shapes)))
    return tuple(found)


def tail_exists(extent: Dim, size: int, shapes: ShapeSet) -> str:
    """When an extent leaves a remainder divided by `size`: "never", "sometimes", "always" (or "unproved").

    Products of symbols are taken for numbers of their own, so that a rest which only their factors rule out, as of
    ``M*M + M`` divided by 2, is "sometimes".
    """
    terms = extent.terms if isinstance(extent, Extent) else (((), extent),)
    if any(isinstance(atom, FloorDiv) for monomial, _ in terms for atom in monomial):
        try:
            return tail_exists_by_isl(extent, size, shapes)
        except TooHard:
            return "unproved"
    number = sum(coefficient for monomial, coefficient in terms if not monomial)
    common = math.gcd(size, *(shapes.divisor(monomial) * c for monomial, c in terms if monomial))
    if number % common:
        return "always"
    return "never" if common == size else "sometimes"


def tail_exists_by_isl(extent: Dim, size: int, shapes: ShapeSet) -> str:
    """`tail_exists` for any extent, by parametric sets of sizes.

    Raises:
        TooHard: isl does not get to an answer.
    """
    from tinyc.expr.isl.functions import bounded  # islpy takes its time to load

    with bounded():
        known, rest = _sizes(extent, size, shapes)
        with_tail = known.intersect(rest)
        if with_tail.is_empty():
            return "never"
        return "always" if known.subtract(rest).is_empty() else "sometimes"


def _sizes(extent: Dim, size: int, shapes: ShapeSet) -> tuple[Any, Any]:
    """The sizes of a set of shapes, and those for which ``extent mod size != 0``, as parametric sets."""
    import islpy as isl  # islpy takes its time to load

    from tinyc.analysis.isl.polyhedra import Polyhedra

    polyhedra = Polyhedra(Statement.over("sizes", (), (), [extent]))
    functions = polyhedra.functions
    value = functions.of(extent)
    rest = value.mod_val(isl.Val(size)).ge_set(functions.of(1))
    known = polyhedra.domain
    for text, _ in polyhedra.statement.parameters:
        dim = extents.parse_extent(text)
        assert isinstance(dim, Extent), "a parameter is a product of symbols"
        ((monomial, _),) = dim.terms
        multiple = functions.of(dim).mod_val(isl.Val(shapes.divisor(monomial)))
        known = known.intersect(functions.of(dim).ge_set(functions.of(0)))
        known = known.intersect(multiple.eq_set(functions.of(0)))
    return known, rest
