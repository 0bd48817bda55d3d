"""`tinyc explain --memory`: where buffers lie in the arena over time, what a run needs, and how good the layout is.

In: a host program. Out: tables; where sizes are not bound, with formulas. The layout is the program's; what the least
arena would be is computed here.
"""

import bisect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tinyc.analysis.arena import Request, least_bytes, packed
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.expr.maximum import maximum_at, maximum_dims
from tinyc.runtime.program import Buffer, Program
from tinyc.text.table import Table
from tinyc.vocabulary.alignment import aligned_size

#: Generations that one table has beside each other.
_ACROSS = 12
#: Rows that it has at the most.
_DOWN = 60
#: What stands where a buffer goes on from the generation before, from the place above it, and where nothing is alive.
_ON, _BELOW, _FREE = "─", "│", "·"


@dataclass(frozen=True)
class Placement:
    """A buffer with its place: the generations in which the place is its own, and what it overwrites there."""

    buffer: Buffer
    first: int
    last: int
    overwrites: str | None

    @property
    def label(self) -> str:
        """The user's node whose value it holds, or its own name."""
        return self.buffer.where.node or self.buffer.name

    @property
    def end(self) -> Dim:
        """The end of its place."""
        return self.buffer.offset + aligned_size(self.buffer.size)


def placements_of(program: Program) -> list[Placement]:
    """The buffers of the arena that take a place, in the order of their generations."""
    labels = {buffer.name: buffer.where.node or buffer.name for buffer in program.buffers}
    over = {written: labels[read] for kernel in program.kernels for read, written in kernel.in_place}
    buffers = {buffer.name: buffer for buffer in program.of_kind("arena")}
    lives = program.arena_lifetimes
    found = [Placement(buffers[name], *lives[name], over.get(name)) for name in buffers if name in lives]
    return sorted(found, key=lambda each: each.first)


def lower_bound_bytes(program: Program, values: Mapping[str, int]) -> int:
    """The bytes that no layout of a program's arena gets below, at some sizes of its symbols."""
    placed = placements_of(program)
    return least_bytes([Request(extents.evaluate(each.buffer.size, values), each.first, each.last) for each in placed])


def unbound_symbols(program: Program) -> tuple[str, ...]:
    """The symbols in the sizes of the buffers."""
    dims = [*maximum_dims(program.arena_bytes)]
    dims += [dim for buffer in program.buffers for dim in (buffer.size, buffer.offset)]
    return tuple(dict.fromkeys(name for dim in dims for name in extents.symbols(dim)))


def memory_tables(program: Program) -> tuple[Table, ...]:
    """What a program needs of memory, and where its buffers lie."""
    placed, unbound = placements_of(program), unbound_symbols(program)
    buffers = [_buffers(placed)] if placed else []
    if unbound:
        names = ",".join(f"{name}=…" for name in unbound)
        note = f"sizes are formulas; to see the arena drawn, with its bound, give --bind {names}"
        return _needed(program, note), *buffers
    spans = _Spans(placed)
    drawn = list(_drawn(spans)) if placed else []
    quality = [_quality(placed, program, spans)] if placed else []
    return _needed(program), *quality, *drawn, *buffers


def _needed(program: Program, note: str = "") -> Table:
    """The bytes of each kind of memory."""
    callers = [(f"{kind}s", _total(program.of_kind(kind)), "the caller's") for kind in ("input", "output")]
    own = (("arena", program.arena_bytes, "one for each run"), ("pool", program.pool_bytes, "one for all runs"))
    rows = (*own, *callers)
    return Table(f"required memory of @{program.name}", ("memory", "bytes", "whose"), tuple(rows), note)


def _total(buffers: Sequence[Buffer]) -> Dim:
    total: Dim = 0
    for buffer in buffers:
        total = total + buffer.size
    return total


def quality_text(placed: Sequence[Placement], program: Program) -> str:
    """Peak, bound and waste of an arena whose sizes are numbers, and whether the peak is proved optimal."""
    least = packed([Request(each.buffer.size, each.first, each.last) for each in placed])
    peak = maximum_at(program.arena_bytes, {})
    waste = 100 * (1 - least.lower_bound / peak) if peak else 0.0
    is_proved = peak == least.lower_bound or (least.is_optimal and peak == least.peak)
    proved = "proved to be the least" if is_proved else "not proved to be the least"
    return f"peak {peak}, lower bound {least.lower_bound}, waste {waste:.1f} %, {proved}"


def _quality(placed: Sequence[Placement], program: Program, spans: "_Spans") -> Table:
    """The bytes of the live set of each generation, rounded to the alignment."""
    kernels: dict[int, list[str]] = {}
    for kernel in program.kernels:
        kernels.setdefault(kernel.generation, []).append(kernel.where.node or kernel.symbol)
    rows = (
        (number, sum(each.end - each.start for each in spans.live(number)), ", ".join(names))
        for number, names in kernels.items()
    )
    return Table(f"arena: {quality_text(placed, program)}", ("generation", "bytes alive", "computes"), tuple(rows))


class _Span(NamedTuple):
    """A buffer from one offset to another, in numbers."""

    start: int
    end: int
    placement: Placement


class _Spans:
    """The buffers of an arena whose sizes are numbers, by the generations in which they are alive."""

    def __init__(self, placed: Sequence[Placement]) -> None:
        self._live: dict[int, list[_Span]] = {}
        for each in placed:
            span = _Span(extents.evaluate(each.buffer.offset, {}), extents.evaluate(each.end, {}), each)
            for generation in range(each.first, each.last + 1):
                self._live.setdefault(generation, []).append(span)
        self.generations = range(max(self._live, default=-1) + 1)
        self.top = max((span.end for live in self._live.values() for span in live), default=0)

    def live(self, generation: int) -> Sequence[_Span]:
        """The live set of a generation."""
        return self._live.get(generation, ())


def _drawn(spans: _Spans) -> Iterator[Table]:
    """The arena: generations across, offsets down; a row is what lies between two ends of buffers in a table."""
    for begin in spans.generations[::_ACROSS]:
        shown = spans.generations[begin : begin + _ACROSS]
        ends = {end for generation in shown for span in spans.live(generation) for end in (span.start, span.end)}
        every = sorted({0, spans.top, *ends})
        edges = every[: _DOWN + 1]
        columns = (_cells(spans.live(generation), edges, generation, begin) for generation in shown)
        rows = [(low, high - low) for low, high in itertools.pairwise(edges)]
        cells = zip(rows, zip(*columns, strict=True), strict=True)
        left_out = len(every) - len(edges)
        note = f"{left_out} more rows, from offset {edges[-1]} on, are left out; --memory-svg FILE draws all"
        title = f"generations {shown[0]} to {shown[-1]} across, offsets down"
        names = ("offset", "bytes", *map(str, shown))
        yield Table(title, names, tuple((*row, *across) for row, across in cells), note if left_out else "")


def _cells(live: Sequence[_Span], edges: Sequence[int], generation: int, begin: int) -> list[str]:
    """What stands between each two edges in one generation, in a table of those from `begin` on."""
    cells = [_FREE] * (len(edges) - 1)
    for start, end, each in live:
        above, below = bisect.bisect_left(edges, start), min(bisect.bisect_left(edges, end), len(cells))
        is_begin = generation == max(each.first, begin)
        for row in range(above, below):
            cells[row] = _ON if not is_begin else each.label if row == above else _BELOW
    return cells


def _buffers(placed: Sequence[Placement]) -> Table:
    rows = (
        (
            each.label,
            each.buffer.name,
            each.buffer.offset,
            each.buffer.size,
            f"{each.first} … {each.last}",
            each.overwrites or "",
        )
        for each in placed
    )
    columns = ("node", "buffer", "offset", "bytes", "generations", "in place of")
    return Table("buffers of the arena", columns, tuple(rows))
