"""`tinyc explain --edge`: the dependences of one block on another, and what computing it inside the other takes."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from tinyc.analysis.poly.block import PolyBlock
from tinyc.analysis.poly.edge import DEPENDENCE_KINDS, PolyEdge
from tinyc.analysis.poly_core import ComputeAt, MinBuffer, can_compute_at, min_buffer_for_edge
from tinyc.analysis.poly_core.compute_at import element_bytes
from tinyc.analysis.poly_core.tile import MAX_SIZE, reduction_axes
from tinyc.diagnostics import TinycError
from tinyc.explain.subject import Line, Subject, axes_with_sizes, element_text, parameters
from tinyc.expr import axes
from tinyc.target import SM80

#: The size of the tile where none is given, along each axis that the target writes.
_TILE = 16


def edge_lines(subject: Subject, source: str, target: str, tile: Mapping[str, int] | None = None) -> Iterator[Line]:
    """The dependences of `target` on `source` by kind, with the accesses that make them, and the halo.

    `tile` has sizes by the names of the target's axes, and of those that the source reduces.

    Raises:
        TinycError: `UnknownName`: there is no such block, edge or axis; `InvalidExtent`: a size is 0 or too large.
    """
    edge = _edge(subject, source, target)
    if tile is not None:
        _require_tile(edge, tile)
    yield Line("edge", f"{edge.source.name} -> {edge.target.name}")
    yield Line("from", f"{edge.source.name} over {axes_with_sizes(edge.source.statement)}")
    yield Line("to", f"{edge.target.name} over {axes_with_sizes(edge.target.statement)}")
    for kind in DEPENDENCE_KINDS:
        yield from _dependences(edge, kind)
    yield from _compute_at(edge, tile)


def _dependences(edge: PolyEdge, kind: str) -> Iterator[Line]:
    """Each dependence of a kind once, with what its names stand for, and the reads that make it."""
    found: Counter[tuple[str, str]] = Counter()
    for text, dependence in zip(edge.texts(kind), edge.of(kind), strict=True):
        found[text, element_text(edge.target.statement, dependence.second)] += 1
    for number, ((text, read), times) in enumerate(found.items()):
        yield Line("" if number else kind, text)
        names = (*_renamed(edge, text), *parameters(edge.source.statement, edge.target.statement))
        yield from (Line("", f"  where {each}") for each in names)
        if kind == "true":
            often = {1: "", 2: ", twice"}.get(times, f", {times} times")
            yield Line("", f"  {edge.target.name} reads {read}{often}")
    if not found:
        yield Line(kind, "none: every value is written once, to memory of its own")


def _edge(subject: Subject, source: str, target: str) -> PolyEdge:
    first, second = subject.item(source), subject.item(target)
    for edge in subject.view.edges:
        if (edge.source.name, edge.target.name) == (first.name, second.name):
            return edge
    for item in (first, second):
        if not isinstance(item, PolyBlock):
            raise TinycError("UnknownName", f"{item.name!r} is not a block, and has no edges: {item.reason}")
    known = [f"{edge.source.name} {edge.target.name}" for edge in subject.view.edges if edge.target == second]
    hint = f"; there are {', '.join(known)}" if known else f"; {target!r} reads no block"
    raise TinycError("UnknownName", f"{target!r} does not read {source!r}{hint}")


def _require_tile(edge: PolyEdge, tile: Mapping[str, int]) -> None:
    """Check that a tile has sizes of axes that can have one."""
    own = edge.target.statement.axes
    names = edge.source.statement.axes
    reduced = [names[position] for position in sorted(reduction_axes(edge.source)) if names[position] not in own]
    known = [f"{', '.join(own)} of {edge.target.name!r}"] if own else []
    known += [f"{', '.join(reduced)}, which {edge.source.name!r} reduces"] if reduced else []
    hint = f"there are {' and '.join(known)}" if known else "there are none"
    for name, size in tile.items():
        if name not in (*own, *reduced):
            raise TinycError("UnknownName", f"--tile: there is no axis {name!r} to cut; {hint}")
        if not 1 <= size <= MAX_SIZE:
            raise TinycError("InvalidExtent", f"--tile: {name}={size} is not a whole number in 1 … {MAX_SIZE}; {hint}")


def _renamed(edge: PolyEdge, relation: str) -> Iterator[str]:
    """The meanings of names in a relation: those that an axis of the target has because the source has its own."""
    own = (*edge.source.statement.axes, *edge.target.statement.axes)
    for name in edge.target.statement.axes:
        for found in dict.fromkeys(re.findall(rf"\b{re.escape(name)}_+\b", relation)):
            if found not in own:
                yield f"{found} is {name} of {edge.target.name}"


def _compute_at(edge: PolyEdge, asked: Mapping[str, int] | None) -> Iterator[Line]:
    """Whether the source can be computed inside a tile of the target, and what that takes."""
    tile = _default_tile(edge) if asked is None else asked
    sizes = " × ".join(f"{name} {size}" for name, size in tile.items()) or "all of it, no axis is cut"
    origin = f" ({_TILE} along each axis that it writes; --tile sets others)" if asked is None and tile else ""
    yield Line("tile", f"of {edge.target.name}: {sizes}{origin}")
    found = can_compute_at(edge.source, edge.target, tile)
    yield Line("compute-at", f"{found.verdict}: {_reason(found)}")
    if found.witness is not None:
        yield Line("witness", str(found.witness))
    if found.ok:
        yield Line("halo", _halo(edge, found))
        yield Line("recompute", _recompute(found))
    yield from _buffer(edge, tile, found)


def _default_tile(edge: PolyEdge) -> dict[str, int]:
    rows = [axes.positions(row) for row in edge.target.write]
    return {edge.target.statement.axes[min(row)]: _TILE for row in rows if row}


def _reason(found: ComputeAt) -> str:
    """The reason without the witness, which has a line of its own."""
    return found.reason if found.witness is None else found.reason.removesuffix(f": {found.witness}")


def _halo(edge: PolyEdge, found: ComputeAt) -> str:
    along = ", ".join(f"{size} along {name}" for name, size in found.halo.per_axis.items() if size != 0)
    return f"{found.halo.bytes} bytes: {along} of {edge.source.name}" if along else "none"


def _recompute(found: ComputeAt) -> str:
    if found.recompute is None:
        return "factor without a bound: it grows with a symbolic size"
    return f"factor at most {found.recompute:.4g}, on average over the elements"


def _buffer(edge: PolyEdge, tile: Mapping[str, int], found: ComputeAt) -> Iterator[Line]:
    """The smallest buffer at this tile, why no smaller one does, and what it holds of the tile."""
    buffer = min_buffer_for_edge(edge.source, edge.target, tile, SM80)
    kind = buffer.buffer if buffer.depth is None else f"{buffer.buffer} of {buffer.depth} stages"
    reason = buffer.reason if found.ok else f"it is {found.verdict} in a tile"
    yield Line("buffer", f"{kind}, {buffer.bytes} bytes on {SM80.name}: {reason}")
    yield from (Line("", f"  {text}") for text in _streamed(edge, tile, found, buffer))


def _streamed(edge: PolyEdge, tile: Mapping[str, int], found: ComputeAt, buffer: MinBuffer) -> Iterator[str]:
    """Yield along which whole axes the buffer holds less than the tile reads, where it does."""
    read = sum((each.elements for each in found.footprints), start=0) * element_bytes(edge.source)
    if buffer.buffer == "gmem" or buffer.bytes == read * (buffer.depth or 1):
        return
    rows = (row for access in edge.target.accesses if access.tensor == edge.source.name for row in access.index)
    positions = sorted(frozenset[int]().union(*map(axes.positions, rows)))
    whole = [name for name in (edge.target.statement.axes[position] for position in positions) if name not in tile]
    yield f"along {', '.join(whole)}, which the tile leaves whole, it holds a part at a time"
