"""`tinyc explain --edge`: the dependences of one block on another, and what computing it inside the other takes."""

from collections.abc import Iterator
from typing import Any

from tinyc.analysis import axis as axes
from tinyc.analysis.poly_core import can_compute_at
from tinyc.analysis.poly_edge import KINDS, PolyEdge
from tinyc.analysis.poly_view import PolyBlock
from tinyc.diagnostics import TinycError
from tinyc.explain.subject import Line, Subject, element

#: The size of the tile that legality and halo are shown for, along each axis that the target writes.
_TILE = 16


def edge_lines(subject: Subject, source: str, target: str) -> Iterator[Line]:
    """Yield the dependences of `target` on `source` by kind, with the accesses that make them, and the halo.

    Raises:
        TinycError: `UnknownName`: there is no such block, or no such edge.
    """
    edge = _edge(subject, source, target)
    yield Line("edge", f"{edge.source.name} -> {edge.target.name}")
    for kind in KINDS:
        texts = edge.texts(kind)
        for number, (text, dependence) in enumerate(zip(texts, edge.of(kind), strict=True)):
            yield Line("" if number else kind, text)
            if kind == "true":
                yield Line("", f"  {edge.target.name} reads {element(edge.target.statement, dependence.second)}")
        if not texts:
            yield Line(kind, "none: every value is written once, to memory of its own")
    yield from _compute_at(edge)


def _edge(subject: Subject, source: str, target: str) -> PolyEdge:
    first, second = subject.item(source), subject.item(target)
    for edge in subject.view.edges:
        if (edge.source.name, edge.target.name) == (first.name, second.name):
            return edge
    for item in (first, second):
        if not isinstance(item, PolyBlock):
            raise TinycError("UnknownName", f"{item.name!r} is no block, and has no edges: {item.reason}")
    known = [f"{edge.source.name} {edge.target.name}" for edge in subject.view.edges if edge.target == second]
    hint = f"; there are {', '.join(known)}" if known else f"; {target!r} reads no block"
    raise TinycError("UnknownName", f"{target!r} does not read {source!r}{hint}")


def _compute_at(edge: PolyEdge) -> Iterator[Line]:
    """Yield whether the source can be computed inside a tile of the target, and what a tile reads beyond its own."""
    rows = [axes.positions(row) for row in edge.target.write]
    tile = {edge.target.statement.axes[min(row)]: _TILE for row in rows if row}
    found = can_compute_at(edge.source, edge.target, tile)
    sizes = " × ".join(f"{name} {size}" for name, size in tile.items())
    yield Line("compute-at", f"{found.verdict}, in tiles of {sizes or 'one element'}: {found.reason}")
    if found.ok:
        yield Line("halo", _halo(found.halo))


def _halo(halo: Any) -> str:
    along = ", ".join(f"{name} {size}" for name, size in halo.per_axis.items() if size != 0)
    return f"{halo.bytes} bytes ({along})" if along else "none"
