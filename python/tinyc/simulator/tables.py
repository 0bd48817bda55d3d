"""The counters of a launch as tables of aligned columns.

In: `report.Counters`, and the lines of the PTX if they are to be shown. Out: text. Units: see `report.LineCount`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tinyc.simulator.report import Counters, LineCount

_LONGEST_SOURCE = 60


@dataclass(frozen=True)
class Table:
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


def counter_tables(counters: "Counters", lines: Sequence[str] = ()) -> list[Table]:
    """Return the tables that have rows; `lines` are those of the PTX text, to be shown beside their numbers."""
    instructions = sorted(counters.instructions.items(), key=lambda item: (-item[1], item[0]))
    widths = sorted({*counters.read, *counters.written})
    traffic = ((space, width, counters.read[space, width], counters.written[space, width]) for space, width in widths)
    synchronization = [("barriers of CTAs completed", counters.barriers), *sorted(counters.fences.items())]
    tables = [
        Table("instructions (of warps) by opcode", ("opcode", "count"), tuple(instructions)),
        Table("bytes by space and width of an access", ("space", "width", "read", "written"), tuple(traffic)),
        _by_line("global memory: sectors of 32 bytes by instruction", "sectors", counters.sectors, lines),
        _by_line("shared memory: passes through the banks by instruction", "passes", counters.passes, lines),
        Table(
            "barriers and fences", ("what", "count"), tuple((what, count) for what, count in synchronization if count)
        ),
    ]
    return [table for table in tables if table.rows]


def _by_line(title: str, unit: str, counts: Mapping[int, "LineCount"], lines: Sequence[str]) -> Table:
    """Return the table of requests: how many units each needs, and how many all of them could have done without."""
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
    return Table(title, ("line", "requests", unit, "per request", "avoidable", "instruction"), rows)


def _source(lines: Sequence[str], number: int) -> str:
    """Return the text of a line, blanks made one and cut to a length that leaves the table readable."""
    text = " ".join(lines[number - 1].split()) if number <= len(lines) else ""
    return text if len(text) <= _LONGEST_SOURCE else f"{text[:_LONGEST_SOURCE]}…"


def _cell(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)
