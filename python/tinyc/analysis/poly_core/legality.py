"""Legality of computing a producer inside of each tile of its consumer: whether the schedule keeps every dependence.

The two blocks are in the tile, and the element-wise ones that they read: these are computed where they are read. A tile
holds its own share of each tensor, so that a reduction in it must find all that it sums there. Closed forms decide
where axes are read as they are; isl does where floor divisions or sums of axes are between, and gives the dependence
that an illegal schedule violates, as a witness.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tinyc.analysis.poly.block import PolyAccess, PolyBlock
from tinyc.analysis.poly_core.dependences import Witness
from tinyc.analysis.poly_core.inlining import MAX_ACCESSES, reads_through
from tinyc.analysis.poly_core.tile import Tile, reduction_axes, scan_axis, tile_of
from tinyc.expr import axes
from tinyc.expr.axes import Axis
from tinyc.expr.isl import TooHard


@dataclass(frozen=True)
class Legality:
    """Whether a fused schedule is "ok", "illegal" or "unproved", and why."""

    verdict: str
    reason: str = ""
    witness: Witness | None = None


_OK = Legality("ok")


@dataclass(frozen=True)
class _Question:
    """One way in which a schedule can be illegal: why, whether that is known without isl, and what isl is asked.

    `ask` takes the module `proof`; it is None where nobody can be asked.
    """

    reason: str
    is_illegal: bool
    ask: Callable[[Any], Witness | None] | None


def legality_at(
    producer: PolyBlock, consumer: PolyBlock, reads: Sequence[PolyAccess], sizes: Mapping[str, int], quick: bool = False
) -> Legality:
    """Whether the tiles of `consumer` that have these sizes hold all that each result of `producer` is made of.

    `reads` are those of `consumer` of what `producer` writes. With `quick`, what is illegal has no witness, and what
    the closed forms do not know is "unproved".
    """
    edge = _Edge(producer, consumer, tuple(reads), tile_of(consumer, sizes))
    for question in edge.questions(sizes):
        if quick:
            return Legality("illegal" if question.is_illegal else "unproved", question.reason)
        found = _answer(question)
        if found.verdict != "ok":
            return found
    return _OK


def _answer(question: _Question) -> Legality:
    """The answer of isl, or the closed form's where isl gives up."""
    from tinyc.analysis.poly_core import proof  # islpy takes its time to load

    if question.ask is None:
        return Legality("unproved", question.reason)
    try:
        witness = question.ask(proof)
    except TooHard as error:
        return Legality("illegal" if question.is_illegal else "unproved", f"{question.reason}: {error}")
    return _OK if witness is None else Legality("illegal", f"{question.reason}: {witness}", witness)


@dataclass(frozen=True)
class _Edge:
    """The reads of a producer in a tile of its consumer, and what can be wrong with them."""

    producer: PolyBlock
    consumer: PolyBlock
    reads: tuple[PolyAccess, ...]
    tile: Tile

    def questions(self, sizes: Mapping[str, int]) -> Iterator[_Question]:
        """The questions that decide; `sizes` may name axes that only the producer has."""
        yield from self._cut_reductions(sizes)
        yield from self._broken_scan()
        yield from self._split_scan()
        if reduction_axes(self.producer):
            for read in dict.fromkeys(self.reads):
                cut = self.tile.cut - _driven(read)
                yield from self._split_reductions(read, cut) if cut else ()

    def _cut_reductions(self, sizes: Mapping[str, int]) -> Iterator[_Question]:
        """Where the tile cuts a reduce axis of the producer that it names."""
        names, reduced = self.producer.statement.axes, reduction_axes(self.producer)
        only = {names[k] for k in reduced} - {*self.consumer.statement.axes}
        tile = tile_of(self.producer, {name: size for name, size in sizes.items() if name in only})
        for position in sorted(tile.cut):
            yield _Question(
                f"the tile of {tile.sizes[position]} cuts axis {names[position]}, over which '{self.producer.name}' is "
                f"reduced; '{self.consumer.name}' would read a part of the result",
                True,
                lambda proof: proof.cut_reduction(self.producer, self.consumer, self.reads, tile),
            )

    def _broken_scan(self) -> Iterator[_Question]:
        """Where the tile cuts the axis along which the producer is a scan."""
        step = scan_axis(self.producer)
        if step is None:
            return
        row: int = self.producer.attributes["axis"]
        rows = [read.index[row] for read in self.reads]
        if any(axes.positions(row) & self.tile.cut for row in rows):
            yield _Question(
                f"'{self.producer.name}' is a scan along {self.producer.statement.axes[step]}: what it continues from "
                "is in the tile before",
                all(axes.plain_axis(row) in self.tile.cut for row in rows),
                lambda proof: proof.broken_scan(self.producer, self.consumer, self.reads, step, self.tile),
            )

    def _split_scan(self) -> Iterator[_Question]:
        """Where the tile cuts the axis along which the consumer is a scan."""
        along = scan_axis(self.consumer)
        if along is not None and along in self.tile.cut:
            yield _Question(
                f"'{self.consumer.name}' is a scan along {self.consumer.statement.axes[along]}, which the tile cuts: "
                f"it takes up elements of '{self.producer.name}' in the tiles before",
                True,
                lambda proof: proof.split_scan(self.producer, self.consumer, self.reads, self.tile),
            )

    def _split_reductions(self, read: PolyAccess, cut: frozenset[int]) -> Iterator[_Question]:
        """Where both blocks read one tensor, the producer reducing along what is a cut axis for the consumer.

        The axes `cut` do not tell which result `read` takes.
        """
        parts, held = (reads_through(block) for block in (self.producer, self.consumer))
        if parts is None or held is None:
            name = (self.producer if parts is None else self.consumer).name
            reason = f"'{name}' reads more than {MAX_ACCESSES} elements through element-wise blocks"
            yield _Question(reason, False, None)
            return
        for part in parts:
            others = tuple(each for each in held if each.tensor == part.tensor)
            for row in range(len(part.index)):
                yield from self._split_row(read, part, others, row, cut)

    def _split_row(
        self, read: PolyAccess, part: PolyAccess, others: tuple[PolyAccess, ...], row: int, cut: frozenset[int]
    ) -> Iterator[_Question]:
        summed = axes.positions(part.index[row]) & reduction_axes(self.producer)
        moving = frozenset[int]().union(*(axes.positions(other.index[row]) & cut for other in others))
        if summed and moving:
            inner, outer = self.producer.statement.axes[min(summed)], self.consumer.statement.axes[min(moving)]
            yield _Question(
                f"'{self.producer.name}' is reduced over {inner} of '{part.tensor}', which a tile of "
                f"'{self.consumer.name}' holds {self.tile.sizes[min(moving)]} of, along {outer}",
                _is_plain(part, row, summed) and all(_is_plain(other, row, cut) for other in others),
                lambda proof: proof.split_reduction(
                    self.producer, self.consumer, (read,), (part, others, row), self.tile
                ),
            )


def _is_plain(read: PolyAccess, row: int, positions: frozenset[int]) -> bool:
    """Whether a row is one of these axes, and every instance reads."""
    return axes.plain_axis(read.index[row]) in positions and not read.guards


def _driven(read: PolyAccess) -> frozenset[int]:
    """The axes of the consumer that move the element that it reads step by step, not through a division."""
    return frozenset(atom.position for row in read.index for atom, _ in row.terms if isinstance(atom, Axis))
