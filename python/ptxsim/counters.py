"""What a launch did, counted, and the counts as tables of aligned columns.

In: tallies of the engine; for tables also the lines of the PTX, if they are to be shown. Out: `Counters`, text.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_LONGEST_SOURCE = 60


@dataclass(frozen=True)
class LineCount:
    """Requests (warp-instructions with an access) of one PTX line, and the units that the hardware splits them into.

    Units are 32-byte sectors for global memory and passes through the 32 banks for shared memory. `fewest` is how many
    units the same accesses could do with: side by side in global memory, without conflicts in shared memory (one pass a
    request, two or four for 8- or 16-byte accesses).
    """

    opcode: str
    requests: int
    units: int
    fewest: int


@dataclass(frozen=True)
class ArrayCount:
    """Bytes of one array in global memory that were read and written, and the sectors of these accesses.

    `arguments` are the numbers of those that gave it: several where their arrays have bytes in common, none for the
    variables of the module. What an atomic updates is read and written.
    """

    name: str
    arguments: tuple[int, ...]
    read: int
    written: int
    sectors_read: int
    sectors_written: int


@dataclass(frozen=True)
class Counters:
    """What a launch did.

    `instructions` counts warp-instructions by opcode, `read` and `written` bytes by (space, bytes of one lane's
    access), `sectors` and `passes` are by PTX line, `arrays` are those that were accessed, in the order of memory;
    `bank_conflicts` counts, by line, the passes that a layout without conflicts would have saved. `barriers` counts
    completed barriers of CTAs, and `fences` executed fences by name.
    """

    instructions: Counter[str] = field(default_factory=Counter)
    read: Counter[tuple[str, int]] = field(default_factory=Counter)
    written: Counter[tuple[str, int]] = field(default_factory=Counter)
    sectors: dict[int, LineCount] = field(default_factory=dict)
    passes: dict[int, LineCount] = field(default_factory=dict)
    arrays: list[ArrayCount] = field(default_factory=list)
    bank_conflicts: Counter[int] = field(default_factory=Counter)
    barriers: int = 0
    fences: Counter[str] = field(default_factory=Counter)

    @property
    def bytes(self) -> Counter[str]:
        """Bytes read and written, by space."""
        total: Counter[str] = Counter()
        for (space, _), count in (*self.read.items(), *self.written.items()):
            total[space] += count
        return total

    @property
    def warp_instructions(self) -> int:
        """How many instructions the warps of the launch executed."""
        return self.instructions.total()

    def __str__(self) -> str:
        return "\n\n".join(str(table) for table in counter_tables(self))


@dataclass(frozen=True)
class CounterTable:
    """A table: numbers are aligned to the right, text to the left."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]

    def __str__(self) -> str:
        cells = [self.columns, *([_cell(value) for value in row] for row in self.rows)]
        widths = [max(len(row[column]) for row in cells) for column in range(len(self.columns))]
        right = [all(isinstance(row[column], int | float) for row in self.rows) for column in range(len(widths))]
        lines = [
            "  ".join(
                cell.rjust(width) if is_number else cell.ljust(width)
                for cell, width, is_number in zip(row, widths, right, strict=True)
            ).rstrip()
            for row in cells
        ]
        return "\n".join((self.title, *(f"  {line}" for line in lines)))


def counter_tables(counters: Counters, lines: Sequence[str] = ()) -> list[CounterTable]:
    """The tables that have rows; `lines` are those of the PTX text, to be shown beside their numbers."""
    instructions = sorted(counters.instructions.items(), key=lambda item: (-item[1], item[0]))
    widths = sorted({*counters.read, *counters.written})
    traffic = ((space, width, counters.read[space, width], counters.written[space, width]) for space, width in widths)
    arrays = ((a.name, a.read, a.written, a.sectors_read, a.sectors_written) for a in counters.arrays)
    synchronization = [("barriers of CTAs completed", counters.barriers), *sorted(counters.fences.items())]
    tables = [
        CounterTable("instructions (of warps) by opcode", ("opcode", "count"), tuple(instructions)),
        CounterTable("bytes by space and width of an access", ("space", "width", "read", "written"), tuple(traffic)),
        _by_line("global memory: sectors of 32 bytes by instruction", "sectors", counters.sectors, lines),
        CounterTable(
            "global memory: bytes and sectors by array",
            ("array", "read", "written", "sectors read", "sectors written"),
            tuple(arrays),
        ),
        _by_line("shared memory: passes through the banks by instruction", "passes", counters.passes, lines),
        CounterTable(
            "barriers and fences", ("what", "count"), tuple((what, count) for what, count in synchronization if count)
        ),
    ]
    return [table for table in tables if table.rows]


def _by_line(title: str, unit: str, counts: Mapping[int, LineCount], lines: Sequence[str]) -> CounterTable:
    """The table of requests: how many units each needs, and how many all of them could have done without."""
    rows = tuple(
        (
            number,
            count.requests,
            count.units,
            count.units / count.requests if count.requests else 0.0,
            count.units - count.fewest,
            _source(lines, number) or count.opcode,
        )
        for number, count in sorted(counts.items())
    )
    return CounterTable(title, ("line", "requests", unit, "per request", "avoidable", "instruction"), rows)


def _source(lines: Sequence[str], number: int) -> str:
    """The text of a line, blanks made one and cut to a length that leaves the table readable."""
    text = " ".join(lines[number - 1].split()) if number <= len(lines) else ""
    return text if len(text) <= _LONGEST_SOURCE else f"{text[:_LONGEST_SOURCE]}…"


def _cell(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)
