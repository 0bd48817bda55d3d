"""Dependences between instances of a candidate's blocks, the axes that carry none, and one that a schedule violates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tinyc.analysis.isl.relation import Touch, relation_text
from tinyc.analysis.poly.block import PolyBlock
from tinyc.analysis.poly.edge import DEPENDENCE_KINDS, PolyEdge
from tinyc.analysis.poly_core.tile import kept_axes, reduction_axes, scan_axis


@dataclass(frozen=True)
class InstanceDependence:
    """Instances of `target` come after those of `source`; `relation` is the isl text of the pairs.

    `kind` is "true", "anti" or "output". A reduction has an output dependence on itself: its instances add to one
    element, in any order, but one at a time.
    """

    kind: str
    source: str
    target: str
    relation: str


def dependences_of(blocks: Sequence[PolyBlock], edges: Sequence[PolyEdge]) -> tuple[InstanceDependence, ...]:
    """The dependences between blocks, then those of reductions on themselves."""
    between = [
        InstanceDependence(kind, edge.source.name, edge.target.name, text)
        for edge in edges
        for kind in DEPENDENCE_KINDS
        for text in edge.texts(kind)
    ]
    return (*between, *_accumulations(blocks))


def _accumulations(blocks: Sequence[PolyBlock]) -> Iterator[InstanceDependence]:
    for block in blocks:
        if reduction_axes(block):
            touch = Touch(block.statement, block.write)
            yield InstanceDependence("output", block.name, block.name, relation_text(touch, touch, distinct=True))


def parallel_axes(block: PolyBlock, edges: Sequence[PolyEdge]) -> tuple[int, ...]:
    """The axes along which the instances of a block do not depend on each other.

    These are the kept axes: what is written along them differs, so that a reduction's dependence on itself has distance
    0. A scan continues along its axis; an update in place of other elements than an instance reads has none for sure.
    """
    if any(edge.in_place and edge.source.name == block.name for edge in edges):
        return ()
    return tuple(sorted(kept_axes(block) - {scan_axis(block)}))


@dataclass(frozen=True)
class Witness:
    """A dependence that a schedule violates: the consumer's instance needs the producer's, in another tile or later.

    The two are iteration vectors; `parameters` are values of the symbolic sizes at which both exist. `text` says all of
    it: ``max[0, 1] → exp[0, 0], N = 2``.
    """

    producer: tuple[int, ...]
    consumer: tuple[int, ...]
    parameters: Mapping[str, int]
    text: str

    def __str__(self) -> str:
        return self.text
