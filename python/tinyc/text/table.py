"""Rows for people to read: the one printer of tables, for the commands and the benches.

In: a `Table`. Out: to a terminal, rows as wide as it is, with a bold head; to a file or a pipe, rows as wide as they
are, the same bytes in every environment. Numbers stand to the right.
"""

import sys
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, TextIO

from tinyc.diagnostics import LINES, printable

if TYPE_CHECKING:  # imported when the first table is printed
    import rich.table

#: More than any row needs: what is no terminal has no width, and nothing is wrapped.
_UNBOUNDED = 1_000_000


@dataclass(frozen=True)
class Table:
    """Rows of cells under a title and the names of the columns; a note stands below."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    note: str = ""

    def __str__(self) -> str:
        """The table as a file has it."""
        stream = StringIO()
        print_table(self, stream)
        return stream.getvalue().removesuffix("\n")


def print_table(table: Table, stream: TextIO | None = None) -> None:
    """Print a table to a stream, by default to the standard output."""
    from rich.console import Console
    from rich.text import Text

    out = stream or sys.stdout
    shown = [Text(printable(table.title), style="bold"), _grid(table), Text(printable(table.note, LINES))]
    parts = [part for part in shown if not isinstance(part, Text) or part.plain]
    if out.isatty():
        Console(file=out).print(*parts, sep="\n")
        return
    text = StringIO()
    plain = Console(file=text, width=_UNBOUNDED, color_system=None, force_terminal=False, _environ={})
    plain.print(*parts, sep="\n")
    out.writelines(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def _grid(table: Table) -> "rich.table.Table":
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=None, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, name in enumerate(table.columns):
        numeric = bool(table.rows) and all(isinstance(row[number], int | float) for row in table.rows)
        grid.add_column(Text(name), justify="right" if numeric else "left", overflow="fold")
    for row in table.rows:
        grid.add_row(*(Text(_cell(value)) for value in row))
    return grid


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else printable(str(value), LINES)
