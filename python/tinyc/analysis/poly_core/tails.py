"""Tails: for which sizes the last tile of an axis is not full.

In: extents, tile sizes, and what a set of shapes says of its symbols. Out: `Tail`s with a condition such as
``M mod 128 != 0``. A closed form answers for sums of symbols; isl where floor divisions are among them.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tinyc.analysis.extents import Dim, Extent
from tinyc.analysis.extents import FloorDiv as Division
from tinyc.analysis.limits import TooHard
from tinyc.analysis.poly.block import PolyBlock
from tinyc.analysis.poly_core.tile import tile_of


@dataclass(frozen=True)
class ShapeSet:
    """What all shapes of a set have in common: each symbol of `multiples` is a multiple of its number."""

    multiples: Mapping[str, int] = field(default_factory=dict)

    def divisor(self, monomial: Iterable[str | Division]) -> int:
        """Return what a product of symbols is a multiple of."""
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
    """Return the tail of each axis of `block` that a tile of these sizes cuts."""
    tile, found = tile_of(block, sizes), []
    for position in sorted(tile.cut):
        name, extent, size = block.statement.axes[position], block.statement.shape[position], tile.sizes[position]
        assert isinstance(size, int), "only numbers cut"
        found.append(Tail(block.name, name, extent, size, tail_exists(extent, size, shapes)))
    return tuple(found)


def tail_exists(extent: Dim, size: int, shapes: ShapeSet) -> str:
    """Say whether an extent leaves a rest when it is divided by `size`: never, sometimes, always (or unproved).

    Products of symbols are taken for numbers of their own, so that a rest which only their factors rule out, as of
    ``M*M + M`` divided by 2, is "sometimes".
    """
    terms = extent.terms if isinstance(extent, Extent) else (((), extent),)
    if any(isinstance(atom, Division) for monomial, _ in terms for atom in monomial):
        return _by_isl(extent, size, shapes)
    number = sum(coefficient for monomial, coefficient in terms if not monomial)
    common = math.gcd(size, *(shapes.divisor(monomial) * c for monomial, c in terms if monomial))
    if number % common:
        return "always"
    return "never" if common == size else "sometimes"


def _by_isl(extent: Dim, size: int, shapes: ShapeSet) -> str:
    from tinyc.analysis.poly_core import proof

    try:
        return proof.tail_exists(extent, size, shapes)
    except TooHard:
        return "unproved"
