"""`tinyc explain --memory`: where buffers lie in the arena over time, what a run needs, and how good the layout is.

In: a host program. Out: tables; where sizes are not bound, with formulas. The layout is the program's; what the least
arena would be is computed here.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tinyc.analysis.arena import Request, aligned_size, least_bytes, packed
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.runtime.program import Buffer, Program
from tinyc.text.table import Table

#: Generations that one table has beside each other.
_ACROSS = 12
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
    dims = [program.arena_bytes, *(dim for buffer in program.buffers for dim in (buffer.size, buffer.offset))]
    return tuple(dict.fromkeys(name for dim in dims for name in extents.symbols(dim)))


def memory_tables(program: Program) -> tuple[Table, ...]:
    """What a program needs of memory, and where its buffers lie."""
    placed, unbound = placements_of(program), unbound_symbols(program)
    buffers = [_buffers(placed)] if placed else []
    if unbound:
        names = ",".join(f"{name}=…" for name in unbound)
        note = f"sizes are formulas; to see the arena drawn, with its bound, give --bind {names}"
        return _needed(program, note), *buffers
    drawn = list(_drawn(placed)) if placed else []
    quality = [_quality(placed, program)] if placed else []
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
    """Peak, bound and waste of an arena whose sizes are numbers, and whether a smaller one is known to be none."""
    least = packed([Request(each.buffer.size, each.first, each.last) for each in placed])
    peak = extents.evaluate(program.arena_bytes, {})
    waste = 100 * (1 - least.lower_bound / peak) if peak else 0.0
    is_proved = peak == least.lower_bound or (least.is_optimal and peak == least.peak)
    proved = "proved to be the least" if is_proved else "not proved to be the least"
    return f"peak {peak}, lower bound {least.lower_bound}, waste {waste:.1f} %, {proved}"


def _quality(placed: Sequence[Placement], program: Program) -> Table:
    """How many bytes are alive in each generation, rounded to the alignment."""
    kernels: dict[int, list[str]] = {}
    for kernel in program.kernels:
        kernels.setdefault(kernel.generation, []).append(kernel.where.node or kernel.symbol)
    rows = (
        (number, sum(_bytes(each) for each in placed if each.first <= number <= each.last), ", ".join(names))
        for number, names in kernels.items()
    )
    return Table(f"arena: {quality_text(placed, program)}", ("generation", "bytes alive", "computes"), tuple(rows))


def _bytes(placed: Placement) -> int:
    return extents.evaluate(aligned_size(placed.buffer.size), {})


def _drawn(placed: Sequence[Placement]) -> Iterator[Table]:
    """The arena: generations across, offsets down; a row is what lies between two ends of buffers."""
    edges = sorted({extents.evaluate(dim, {}) for each in placed for dim in (each.buffer.offset, each.end)})
    last = max(each.last for each in placed)
    for begin in range(0, last + 1, _ACROSS):
        shown = range(begin, min(begin + _ACROSS, last + 1))
        rows = (
            (low, high - low, *(_cell(placed, low, generation, begin) for generation in shown))
            for low, high in itertools.pairwise(edges)
        )
        title = f"generations {shown[0]} to {shown[-1]} across, offsets down"
        yield Table(title, ("offset", "bytes", *map(str, shown)), tuple(rows))


def _cell(placed: Sequence[Placement], offset: int, generation: int, begin: int) -> str:
    for each in placed:
        start = extents.evaluate(each.buffer.offset, {})
        if each.first <= generation <= each.last and start <= offset < extents.evaluate(each.end, {}):
            is_begin = generation == max(each.first, begin)
            return (each.label if start == offset else _BELOW) if is_begin else _ON
    return _FREE


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
