"""The order of a producer inside of tiles of its consumer: whether each result is made in one tile.

The two blocks are in the tile, and the element-wise ones that they read: these are computed where they are read. A tile
holds its own share of each tensor, so that a reduction in it must find all that it sums there. Closed forms decide
where axes are read as they are; isl does where floor divisions or sums of axes are between, and finds the witness of
what is illegal.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tinyc.analysis import axis as axes
from tinyc.analysis.axis import Axis
from tinyc.analysis.poly_block import PolyAccess, PolyBlock
from tinyc.analysis.poly_core.inlining import reads_through
from tinyc.analysis.poly_core.tile import Tile, reduce_axes, scan_axis, tile_of
from tinyc.analysis.poly_core.witness import Witness


@dataclass(frozen=True)
class Order:
    """Whether a fused order is "ok", "illegal" or "unproved", and why."""

    verdict: str
    reason: str = ""
    witness: Witness | None = None


_OK = Order("ok")
#: Accesses that a block may have through element-wise blocks.
_MAX_ACCESSES = 64


@dataclass(frozen=True)
class _Question:
    """One way in which tiles can be wrong: what it is, whether that is known without isl, and what isl is asked.

    `ask` takes the module `proof` and a read; it is None where nobody can be asked.
    """

    reason: str
    is_illegal: bool
    ask: Callable[[Any, PolyAccess], Witness | None] | None


def order_at(
    producer: PolyBlock, consumer: PolyBlock, reads: Sequence[PolyAccess], sizes: Mapping[str, int], quick: bool = False
) -> Order:
    """Say whether the tiles of `consumer` that have these sizes hold all that each result of `producer` is made of.

    With `quick`, what is illegal has no witness, and what the closed forms do not know is "unproved".
    """
    tile = tile_of(consumer, sizes)
    for question in _questions(producer, consumer, reads, sizes, tile):
        if quick:
            return Order("illegal" if question.is_illegal else "unproved", question.reason)
        found = _answer(question, reads)
        if found.verdict != "ok":
            return found
    return _OK


def _answer(question: _Question, reads: Sequence[PolyAccess]) -> Order:
    """Return isl's answer, or the closed form's where isl gives up."""
    from tinyc.analysis.poly_core import proof  # islpy takes its time to load
    from tinyc.analysis.polyhedra import TooHard

    if question.ask is None:
        return Order("unproved", question.reason)
    try:
        for read in reads:
            witness = question.ask(proof, read)
            if witness is not None:
                return Order("illegal", f"{question.reason}: {witness}", witness)
    except TooHard as error:
        return Order("illegal" if question.is_illegal else "unproved", f"{question.reason}: {error}")
    return _OK


def _questions(
    producer: PolyBlock, consumer: PolyBlock, reads: Sequence[PolyAccess], sizes: Mapping[str, int], tile: Tile
) -> Iterator[_Question]:
    yield from _cut_reductions(producer, consumer, sizes)
    yield from _scans(producer, consumer, reads, tile)
    if reduce_axes(producer) and tile.cut - _driven(reads):
        yield from _split_reductions(producer, consumer, tile, tile.cut - _driven(reads))


def _cut_reductions(producer: PolyBlock, consumer: PolyBlock, sizes: Mapping[str, int]) -> Iterator[_Question]:
    """Yield where the tile cuts a reduce axis of the producer that it names."""
    names, reduced = producer.statement.axes, reduce_axes(producer)
    own = {names[k]: sizes[names[k]] for k in reduced if names[k] in sizes and names[k] not in consumer.statement.axes}
    tile = tile_of(producer, own)
    for position in sorted(tile.cut):
        reason = (
            f"the tile of {tile.sizes[position]} cuts axis {names[position]}, over which '{producer.name}' is reduced; "
            f"'{consumer.name}' would read a part of the result"
        )
        yield _Question(reason, True, lambda proof, read: proof.cut_reduction(producer, consumer, read, tile))


def _scans(producer: PolyBlock, consumer: PolyBlock, reads: Sequence[PolyAccess], tile: Tile) -> Iterator[_Question]:
    """Yield where the tile cuts the axis along which the producer or the consumer is a scan."""
    from_row = scan_axis(producer)
    if from_row is not None:
        row = producer.attributes["axis"]
        moving = frozenset().union(*(axes.positions(read.index[row]) for read in reads)) & tile.cut
        if moving:
            name = producer.statement.axes[from_row]
            plain = all(axes.plain_axis(read.index[row]) is not None for read in reads)
            yield _Question(
                f"'{producer.name}' is a scan along {name}: what it continues from is in the tile before",
                plain,
                lambda proof, read: proof.broken_scan(producer, consumer, read, from_row, tile),
            )
    along = scan_axis(consumer)
    if along is not None and along in tile.cut:
        yield _Question(
            f"'{consumer.name}' is a scan along {consumer.statement.axes[along]}, which the tile cuts: it takes up "
            f"elements of '{producer.name}' in the tiles before",
            True,
            lambda proof, read: proof.split_scan(producer, consumer, read, tile),
        )


def _split_reductions(producer: PolyBlock, consumer: PolyBlock, tile: Tile, cut: frozenset[int]) -> Iterator[_Question]:
    """Yield where both blocks read one tensor, the producer reducing along what is a cut axis for the consumer."""
    parts, held = reads_through(producer, _MAX_ACCESSES), reads_through(consumer, _MAX_ACCESSES)
    if parts is None or held is None:
        name = (producer if parts is None else consumer).name
        reason = f"'{name}' reads more than {_MAX_ACCESSES} elements through element-wise blocks"
        yield _Question(reason, False, None)
        return
    reduced = reduce_axes(producer)
    for mine in parts:
        others = tuple(read for read in held if read.tensor == mine.tensor)
        for row, left in enumerate(mine.index):
            summed = axes.positions(left) & reduced
            moving = [axes.positions(other.index[row]) & cut for other in others]
            if not summed or not any(moving):
                continue
            inner, outer = producer.statement.axes[min(summed)], min(frozenset().union(*moving))
            yield _Question(
                f"'{producer.name}' is reduced over {inner} of '{mine.tensor}', which a tile of '{consumer.name}' "
                f"holds {tile.sizes[outer]} of, along {consumer.statement.axes[outer]}",
                _is_plain(mine, row, summed) and all(_is_plain(other, row, cut) for other in others),
                _asks_split(producer, consumer, (mine, others, row), tile),
            )


def _is_plain(read: PolyAccess, row: int, positions: frozenset[int]) -> bool:
    """Say whether a row is one of these axes, and every instance reads."""
    return axes.plain_axis(read.index[row]) in positions and not read.guards


def _asks_split(
    producer: PolyBlock, consumer: PolyBlock, shared: tuple[PolyAccess, Sequence[PolyAccess], int], tile: Tile
) -> Callable[[Any, PolyAccess], Witness | None]:
    return lambda proof, read: proof.split_reduction(producer, consumer, read, shared, tile)


def _driven(reads: Sequence[PolyAccess]) -> frozenset[int]:
    """Return the axes of the consumer that move the element that it reads step by step, not through a division."""
    found = (atom.position for read in reads for row in read.index for atom, _ in row.terms if isinstance(atom, Axis))
    return frozenset(found)
