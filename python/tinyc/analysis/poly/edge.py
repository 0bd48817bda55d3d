"""Edges of a Poly-View: the dependences between blocks, true, anti and output.

A true dependence is a read of what the source writes. Values are written once, so before tensors share memory there are
no others: with `PolyBlock.buffer` said, a block also comes after those that read what it overwrites (anti), and after
those that wrote there before (output). Specification 000 §1.4, §1.6.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tinyc.analysis.isl.relation import Touch, relation_text
from tinyc.analysis.poly.block import PolyAccess, PolyBlock
from tinyc.expr import axes

DEPENDENCE_KINDS = ("true", "anti", "output")


@dataclass(frozen=True)
class Dependence:
    """`first`, an access of the source, comes before `second`, one of the target, where both touch one element.

    `aligned` says that equal indices mean one element; otherwise all instances of both may touch the same.
    """

    kind: str
    first: PolyAccess
    second: PolyAccess
    aligned: bool = True


@dataclass(frozen=True)
class PolyEdge:
    """The dependences of `target` on `source`; an edge from a block to itself is an update in place."""

    source: PolyBlock
    target: PolyBlock
    dependences: tuple[Dependence, ...]

    @property
    def in_place(self) -> bool:
        """Whether a block updates what it reads; an instance reads before it writes, and does not depend on itself."""
        return self.source.name == self.target.name

    def of(self, kind: str) -> tuple[Dependence, ...]:
        """The dependences of a kind."""
        return tuple(each for each in self.dependences if each.kind == kind)

    def maps(self, kind: str) -> tuple[Any, ...]:
        """The dependences of a kind as `isl.Map`s, instance to instance, within the domains of the two blocks."""
        from tinyc.analysis.isl.polyhedra import related  # islpy takes its time to load

        return tuple(related(*self._touches(each), each.aligned, self.in_place) for each in self.of(kind))

    def texts(self, kind: str) -> list[str]:
        """The dependences of a kind in isl's notation, within the domains of the two blocks."""
        return [relation_text(*self._touches(each), each.aligned, self.in_place) for each in self.of(kind)]

    def _touches(self, dependence: Dependence) -> tuple[Touch, Touch]:
        first, second = dependence.first, dependence.second
        return (
            Touch(self.source.statement, first.index, first.guards),
            Touch(self.target.statement, second.index, second.guards),
        )


def edges_of(blocks: Sequence[PolyBlock]) -> tuple[PolyEdge, ...]:
    """The edges between blocks that run in the order in which they are given, ordered by their targets."""
    by_name = {block.name: block for block in blocks}
    shared = _SharedBuffers(by_name)
    edges: list[PolyEdge] = []
    for target in blocks:
        found: dict[str, list[Dependence]] = {}
        for access in target.accesses:
            if access.tensor in by_name:
                write = _write(by_name[access.tensor])
                found.setdefault(access.tensor, []).append(Dependence("true", write, access))
        for source, dependence in shared.before(target):
            found.setdefault(source, []).append(dependence)
        edges += [PolyEdge(by_name[source], target, tuple(each)) for source, each in found.items()]
        shared.run(target)
    return tuple(edges)


def _write(block: PolyBlock) -> PolyAccess:
    return PolyAccess(block.name, block.write)


class _SharedBuffers:
    """The accesses of the blocks so far to each buffer that tensors share, those aside that are overwritten since."""

    def __init__(self, blocks: Mapping[str, PolyBlock]) -> None:
        self._blocks = blocks
        self._reads: dict[str, list[tuple[str, PolyAccess]]] = {}
        self._writes: dict[str, list[str]] = {}

    def before(self, target: PolyBlock) -> Iterator[tuple[str, Dependence]]:
        """The anti and output dependences of `target` with the names of their sources."""
        if target.buffer is None:
            return
        write = _write(target)
        own = [(target.name, access) for access in target.accesses if self._buffer(access) == target.buffer]
        for source, access in (*self._reads.get(target.buffer, ()), *own):
            if source != target.name or not self._is_elementwise(access, target):
                yield source, Dependence("anti", access, write, self._aligned(access.tensor, target))
        for source in self._writes.get(target.buffer, ()):
            yield source, Dependence("output", _write(self._blocks[source]), write, self._aligned(source, target))

    def run(self, block: PolyBlock) -> None:
        """Count the accesses of a block among those so far; what it overwrites as a whole is ordered through it."""
        if (own := block.buffer) is not None:
            reads, writes = self._reads.get(own, ()), self._writes.get(own, ())
            self._reads[own] = [each for each in reads if not self._aligned(each[1].tensor, block)]
            self._writes[own] = [*(each for each in writes if not self._aligned(each, block)), block.name]
        for access in block.accesses:
            buffer = self._buffer(access)
            if buffer is not None and not (buffer == own and self._aligned(access.tensor, block)):
                self._reads.setdefault(buffer, []).append((block.name, access))

    def _buffer(self, access: PolyAccess) -> str | None:
        block = self._blocks.get(access.tensor)
        return None if block is None else block.buffer

    def _aligned(self, tensor: str, target: PolyBlock) -> bool:
        """Whether equal indices of two tensors in one buffer are one element: where their shapes are equal."""
        return self._blocks[tensor].written_shape == target.written_shape

    def _is_elementwise(self, access: PolyAccess, target: PolyBlock) -> bool:
        """Whether each instance reads no other element than the one that it writes."""
        once = frozenset[int]().union(*map(axes.positions, target.write))
        axes_moved = {position for position, size in enumerate(target.statement.shape) if size != 1}
        return access.index == target.write and axes_moved <= once and self._aligned(access.tensor, target)
