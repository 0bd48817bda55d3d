"""Blocks of a Poly-View: statements with piecewise accesses, and the tensors that no statement computes.

Frozen data without IR, as `view` makes it of a function and `dialects/poly/decode` reads it from text.
Specification 000 §1.4.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tinyc.analysis import limits
from tinyc.analysis.isl.statement import Statement, remainders
from tinyc.analysis.movement import Guard, Index
from tinyc.expr import axes
from tinyc.expr.axes import AxisExpr, Shape
from tinyc.vocabulary.element_type import ElementType

#: An element-wise op, a reduction of no pattern, a movement that is an output or is materialised, and the patterns.
BLOCK_KINDS = ("ewise", "reduce", "movement_affine", "contraction_pattern", "scan")


@dataclass(frozen=True)
class PolyAccess:
    """A read of `tensor[index]` by each instance of a block that passes the guards.

    The guards are one conjunction, and ordered: an instance that fails some has the value of the first that it fails.
    `producer` is the block of the same view that makes the tensor, None where it comes from memory.
    """

    tensor: str
    index: Index
    guards: tuple[Guard, ...] = ()
    producer: "PolyBlock | None" = field(default=None, compare=False, repr=False)

    @property
    def positions(self) -> frozenset[int]:
        """The axes of the block along which it moves."""
        return frozenset[int]().union(*map(axes.positions, self.index))

    @property
    def expressions(self) -> tuple[AxisExpr, ...]:
        """The rows, and what the guards bound with its bounds."""
        bounds = [each for guard in self.guards for each in (guard.expression, axes.constant(guard.size))]
        return (*self.index, *bounds)


@dataclass(frozen=True)
class PolyBlock:
    """A statement that writes `write` of the tensor that has its name.

    `kind` is one of `BLOCK_KINDS`; `element` is the type of the tensor's elements; `attributes` say more as plain
    data, axes by their names. `buffer` is the memory that the tensor shares with others, or None where it has its own.
    """

    kind: str
    statement: Statement
    write: Index
    accesses: tuple[PolyAccess, ...]
    element: ElementType
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

    @property
    def pads(self) -> list[dict[str, Any]]:
        """Each guard as plain data: the number of its access, the set `inside` in isl's notation, the value outside."""
        return [
            {"access": number, "inside": self.statement.inside_text(guard), "value": guard.value}
            for number, access in enumerate(self.accesses)
            for guard in access.guards
        ]

    def access_text(self, access: PolyAccess) -> str:
        """An access of the block in isl's notation."""
        return self.statement.access_text(access.tensor, access.index, access.guards)


@dataclass(frozen=True)
class NonScopTensor:
    """A value that no quasi-affine statement computes, and why; `reads` are the tensors that it needs as wholes."""

    name: str
    reason: str
    reads: tuple[str, ...]


PolyItem = PolyBlock | NonScopTensor


def with_producers(items: Iterable[PolyItem]) -> tuple[PolyItem, ...]:
    """Items, which are in program order, with the blocks that make what their accesses read."""
    found: list[PolyItem] = []
    blocks: dict[str, PolyBlock] = {}
    for item in items:
        if isinstance(item, PolyBlock):
            accesses = (PolyAccess(a.tensor, a.index, a.guards, blocks.get(a.tensor)) for a in item.accesses)
            item = blocks[item.name] = replace(item, accesses=tuple(accesses))
        found.append(item)
    return tuple(found)


def access_excess(access: PolyAccess, domain: Shape) -> str | None:
    """Why an access over the axes of `domain` is too complicated, with all counts and their limits, or None."""
    found = limits.excess(access.index, access.guards, domain)
    return found.of(f"the access to '{access.tensor}'") if found else None
