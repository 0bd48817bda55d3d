"""What isl proves of a producer and a tile of its consumer: footprints, and pairs of instances that no tile can hold.

The relations are those of specification 000 §3 and recipe on polyhedral analysis, §3 and §6: ``tile → instance →
element`` for what a tile reads, ``instance → instance`` for what has to be in one tile. Importing this loads islpy.
"""

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import islpy as isl

from tinyc.analysis.isl.polyhedra import Polyhedra, dependence
from tinyc.analysis.isl.relation import Touch
from tinyc.analysis.isl.statement import Statement, constants
from tinyc.analysis.poly.block import PolyAccess, PolyBlock
from tinyc.analysis.poly_core.dependences import Witness
from tinyc.analysis.poly_core.tile import Tile, reduction_axes
from tinyc.expr import axes
from tinyc.expr.isl.functions import bounded


def _polyhedra(block: PolyBlock) -> Polyhedra:
    """The isl objects of a block; no axis has a name, so that two blocks do not prime each other's."""
    rows = [row for read in block.accesses for row in read.expressions]
    statement = Statement.over(block.name, block.statement.shape, block.statement.axes, constants(rows))
    return Polyhedra(statement, named=False)


def _tiles(polyhedra: Polyhedra, tile: Tile) -> Any:
    """The map from the instances of a domain to their tiles."""
    return polyhedra.access("tile", tile.number(polyhedra.statement.shape)).intersect_domain(polyhedra.domain)


def width(block: PolyBlock, tile: Tile) -> int | None:
    """The largest width of what the accesses of a block, which have one row, read in a tile.

    It is the largest over the tiles and the sizes, and None where no number bounds it.

    Raises:
        TooHard: isl does not get to an answer.
    """
    with bounded():
        polyhedra = _polyhedra(block)
        reached = functools.reduce(_union, (polyhedra.access("T", each.index, each.guards) for each in block.accesses))
        values = _tiles(polyhedra, tile).reverse().apply_range(reached)
        if values.is_empty():
            return 0
        apart = values.reverse().apply_range(values).deltas()
        sizes = apart.dim(isl.dim_type.param)
        found = apart.project_out(isl.dim_type.param, 0, sizes).dim_max_val(0)
        return found.to_python() + 1 if found.is_int() else None


def _in_tiles(pairs: Any, polyhedra: Polyhedra, tile: Tile) -> Any:
    """A map to the instances of a domain with all instances of the tiles that it goes to."""
    tiles = _tiles(polyhedra, tile)
    return pairs.apply_range(tiles).apply_range(tiles.reverse())


def _union(left: Any, right: Any) -> Any:
    return left.union(right)


def split_reduction(
    producer: PolyBlock,
    consumer: PolyBlock,
    reads: Sequence[PolyAccess],
    shared: tuple[PolyAccess, Sequence[PolyAccess], int],
    tile: Tile,
) -> Witness | None:
    """A part of a reduction that another tile holds than the one that reads its result, or None.

    `shared` are reads of one tensor, one by the producer and all by the consumer, also through element-wise blocks, and
    its row along which tiles hold parts.

    Raises:
        TooHard: isl does not get to an answer.
    """
    mine, others, row = shared
    with bounded():
        left = _polyhedra(replace(producer, accesses=(mine,)))
        right = _polyhedra(replace(consumer, accesses=tuple(others)))
        part = left.access("part", (mine.index[row],), mine.guards).intersect_domain(left.domain)
        held = functools.reduce(_union, (right.access("part", (each.index[row],), each.guards) for each in others))
        together = _in_tiles(part.apply_range(held.reverse()), right, tile)
        needs = _dependence(producer, consumer, reads).intersect_domain(part.domain())
        return _witness(producer, consumer, needs.subtract(together))


def cut_reduction(producer: PolyBlock, consumer: PolyBlock, reads: Sequence[PolyAccess], tile: Tile) -> Witness | None:
    """A part of a reduction that runs in a later tile of its own axes than the read of its result, or None.

    Raises:
        TooHard: isl does not get to an answer.
    """
    with bounded():
        left = _polyhedra(producer)
        rows = tile.number(producer.statement.shape)
        first = left.access("tile", rows).intersect_domain(left.domain)
        zero = left.nonnegative([row * -1 for row in rows])
        late = _dependence(producer, consumer, reads).intersect_domain(first.domain().subtract(zero))
        return _witness(producer, consumer, late)


def broken_scan(
    producer: PolyBlock, consumer: PolyBlock, reads: Sequence[PolyAccess], step: int, tile: Tile
) -> Witness | None:
    """An element that a scan continues from and that the tile which reads the continuation does not hold.

    `step` is the position of the scan's axis and `tile` is of the consumer.

    Raises:
        TooHard: isl does not get to an answer.
    """
    with bounded():
        left, right = _polyhedra(producer), _polyhedra(consumer)
        shape, by = producer.statement.shape, -1 if producer.attributes.get("reverse") else 1
        after = [axes.axis(k, shape) + (by if k == step else 0) for k in range(len(shape))]
        name = producer.statement.name
        continued = left.access(name, tuple(after)).intersect_domain(left.domain).intersect_range(left.domain)
        needs = _dependence(producer, consumer, reads)
        return _witness(producer, consumer, continued.apply_range(needs).subtract(_in_tiles(needs, right, tile)))


def split_scan(producer: PolyBlock, consumer: PolyBlock, reads: Sequence[PolyAccess], tile: Tile) -> Witness | None:
    """An element that a scan takes up in an earlier tile than the one that uses it, or None.

    Raises:
        TooHard: isl does not get to an answer.
    """
    with bounded():
        right = _polyhedra(consumer)
        (window,) = reduction_axes(consumer)
        last = 0 if consumer.attributes.get("reverse") else consumer.statement.shape[window] - 1
        distance = axes.axis(window, consumer.statement.shape) - last
        own = right.nonnegative([distance, distance * -1])
        needs = _dependence(producer, consumer, reads)
        return _witness(producer, consumer, needs.subtract(_in_tiles(needs.intersect_range(own), right, tile)))


def _dependence(producer: PolyBlock, consumer: PolyBlock, reads: Sequence[PolyAccess]) -> Any:
    """The true dependences: from the instances that write an element to those that read it."""
    write = Touch(producer.statement, producer.write)
    found = (dependence(write, Touch(consumer.statement, read.index, read.guards)) for read in reads)
    return functools.reduce(_union, found)


def _witness(producer: PolyBlock, consumer: PolyBlock, pairs: Any) -> Witness | None:
    """The pair of a map from the producer's instances to the consumer's, or None where it is empty."""
    if pairs.is_empty():
        return None
    point = pairs.sample().wrap().sample_point()
    kinds = (isl.dim_type.param, isl.dim_type.set)
    names, numbers = (point.get_space().dim(kind) for kind in kinds)
    values = [point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(numbers)]
    parameters = {
        point.get_space().get_dim_name(isl.dim_type.param, k): point.get_coordinate_val(
            isl.dim_type.param, k
        ).to_python()
        for k in range(names)
    }
    rank = len(producer.statement.axes)
    source, target = tuple(values[:rank]), tuple(values[rank:])
    sizes = "".join(f", {name} = {value}" for name, value in parameters.items())
    text = f"{producer.name}{list(source)} → {consumer.name}{list(target)}{sizes}"
    return Witness(source, target, parameters, text)
