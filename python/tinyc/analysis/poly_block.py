"""Blocks of a Poly-View: statements with piecewise accesses, and the tensors that no statement computes.

Frozen data without IR, as `poly_view` makes it of a function and `dialects/poly/decode` reads it from text.
Specification 000 §1.4.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tinyc.analysis import axis as axes
from tinyc.analysis.axis import AxisExpr, Shape
from tinyc.analysis.limits import MAX_DIVISIONS, MAX_GUARDS, MAX_NESTING, MAX_PIECES
from tinyc.analysis.movement import Guard, Index
from tinyc.analysis.statement import Statement, remainders


@dataclass(frozen=True)
class PolyAccess:
    """A read of `tensor[index]` by each instance of a block that passes the guards.

    The guards are one conjunction, and ordered: an instance that fails some has the value of the first that it fails.
    """

    tensor: str
    index: Index
    guards: tuple[Guard, ...] = ()

    @property
    def pieces(self) -> int:
        """How many pieces it has: the inside, and for each guard the part where it is the first to fail."""
        return 1 + len(self.guards)

    @property
    def expressions(self) -> tuple[AxisExpr, ...]:
        """The rows, and what the guards bound with its bounds."""
        bounds = [each for guard in self.guards for each in (guard.expression, axes.constant(guard.size))]
        return (*self.index, *bounds)


@dataclass(frozen=True)
class PolyBlock:
    """A statement that writes `write` of the tensor that has its name.

    `kind` is `ewise`, `reduce`, `movement_affine` (a movement that is an output, or is materialised),
    `contraction_pattern` or `scan`; `element` is the type of the tensor's elements; `attributes` say more as plain
    data, axes by their names. `buffer` is the memory that the tensor shares with others, or None where it has its own.
    """

    kind: str
    statement: Statement
    write: Index
    accesses: tuple[PolyAccess, ...]
    element: str
    attributes: Mapping[str, Any]
    buffer: str | None = None

    @property
    def name(self) -> str:
        """The statement's and the tensor's name."""
        return self.statement.name

    @property
    def written_shape(self) -> Shape:
        """The shape of the tensor: each row of the write is an axis, or 0 along an extent of 1."""
        rows = [axes.positions(row) for row in self.write]
        return tuple(self.statement.shape[min(row)] if row else 1 for row in rows)

    @property
    def remainders(self) -> Mapping[AxisExpr, int]:
        """The remainder of each floor division in the block's texts, and what it stays under."""
        sizes = [axes.constant(size) for size in self.statement.shape]
        return remainders([*sizes, *self.write, *(row for each in self.accesses for row in each.expressions)])

    @property
    def domain_text(self) -> str:
        """The domain in isl's notation: the box of the axes, and a guard for each floor division."""
        return self.statement.domain_where(self.remainders)

    def access_text(self, access: PolyAccess) -> str:
        """Return an access of the block in isl's notation."""
        return self.statement.access_text(access.tensor, access.index, access.guards)


@dataclass(frozen=True)
class NonScopTensor:
    """A value that no quasi-affine statement computes, and why; `reads` are the tensors that it needs as wholes."""

    name: str
    reason: str
    reads: tuple[str, ...]


def pads(statement: Statement, accesses: tuple[PolyAccess, ...]) -> Iterator[dict[str, Any]]:
    """Yield each guard as plain data: of which access, the set `inside`, and the value outside."""
    for number, access in enumerate(accesses):
        for guard in access.guards:
            yield {"access": number, "inside": statement.inside_text(guard), "value": guard.value}


def excess(access: PolyAccess) -> str | None:
    """Return which limits an access exceeds, with the counts, or None."""
    divisions = frozenset().union(*map(axes.divisions, access.expressions))
    depth = max(map(axes.nesting, access.expressions), default=0)
    counts = (
        (len(access.guards), MAX_GUARDS, "pad guards"),
        (access.pieces, MAX_PIECES, "pieces"),
        (len(divisions), MAX_DIVISIONS, "floor divisions"),
        (depth, MAX_NESTING, "floor divisions inside each other"),
    )
    found = ", ".join(f"{count} {what} (limit {limit})" for count, limit, what in counts if count > limit)
    return f"ExcessivePiecewise: the access to '{access.tensor}' has {found}" if found else None
