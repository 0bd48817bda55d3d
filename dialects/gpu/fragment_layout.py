"""Which elements of a tile each thread has in its registers: (thread, register) → (row, column), as tensor cores say.

Accumulators of `mma.sync` and `wgmma` are made of the same piece, 16 × 8 elements of a warp: lane l has in registers 0
and 1 the columns 2 * (l mod 4) and the next of row l / 4, in registers 2 and 3 those of row l / 4 + 8. A warp has
pieces below and beside each other; the two instructions differ in which rows of a tile are a warp's. A thread's
registers go piece by piece, along the columns first.

Factors are in words of 32 bits, each of some neighbours along k. Of A a lane has four words for 16 rows and 8 words
along k: the word l mod 4 of the rows l / 4 and l / 4 + 8, then the same 4 words further on.

**Source:** PTX ISA, "Matrix Fragments for mma.m16n8k16" and "Register Fragments for wgmma.mma_async.m64nNk16".
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from tinyc.target.role_registers import WARPGROUP_THREADS

#: What multiplies: each warp by itself, or the four of a warpgroup together.
Unit: TypeAlias = Literal["mma", "wgmma"]

UNITS = ("mma", "wgmma")
WARP_LANES, WARPGROUP_WARPS = 32, WARPGROUP_THREADS // 32
#: The piece, and its elements for each lane.
PIECE_ROWS, PIECE_COLUMNS, PIECE_REGISTERS = 16, 8, 4
#: Rows of a `wgmma`, of which each warp of the warpgroup has a piece's.
WGMMA_ROWS = PIECE_ROWS * WARPGROUP_WARPS


@dataclass(frozen=True)
class FragmentLayout:
    """The accumulators of a tile of `rows` × `columns`: by `unit`, with `unit_rows` × `unit_columns` for each.

    The unit is a warp ("mma") or a warpgroup ("wgmma"); units have their parts of the tile row-major.
    """

    unit: Unit
    rows: int
    columns: int
    unit_rows: int
    unit_columns: int

    @property
    def threads(self) -> int:
        """How many threads have the tile."""
        units = (self.rows // self.unit_rows) * (self.columns // self.unit_columns)
        return units * (WARP_LANES if self.unit == "mma" else WARPGROUP_THREADS)

    @property
    def registers(self) -> int:
        """Accumulators of a thread."""
        return self.rows * self.columns // self.threads

    @property
    def piece_rows(self) -> list[int]:
        """Where a warp's pieces begin below each other, from the first row of the warp on."""
        step = PIECE_ROWS if self.unit == "mma" else WGMMA_ROWS
        return list(range(0, self.unit_rows, step))

    @property
    def piece_columns(self) -> list[int]:
        """Where a warp's pieces begin beside each other."""
        return list(range(0, self.unit_columns, PIECE_COLUMNS))

    def pieces(self) -> Iterator[tuple[int, int]]:
        """Yield (row, column) of each piece of a warp, from the warp's first row and column on, in register order."""
        yield from itertools.product(self.piece_rows, self.piece_columns)

    def start(self, warp: Any) -> tuple[Any, Any]:
        """The row and column at which a warp begins; its number may be a `Word`, and they are then."""
        units_beside = self.columns // self.unit_columns
        if self.unit == "mma":
            unit, row = warp, 0
        else:
            unit, quarter = divmod(warp, WARPGROUP_WARPS)
            row = quarter * PIECE_ROWS
        if units_beside == 1:
            return unit * self.unit_rows + row, 0
        return unit // units_beside * self.unit_rows + row, unit % units_beside * self.unit_columns

    def place(self, thread: int, register: int) -> tuple[int, int]:
        """The row and column of a thread's accumulator."""
        warp, lane = divmod(thread, WARP_LANES)
        piece, inside = divmod(register, PIECE_REGISTERS)
        row, column = list(self.pieces())[piece]
        first_row, first_column = self.start(warp)
        return (
            first_row + row + lane // 4 + inside // 2 * (PIECE_ROWS // 2),
            first_column + column + lane % 4 * 2 + inside % 2,
        )

    @property
    def misfit(self) -> str | None:
        """Why no such unit has these accumulators, or None."""
        rows = PIECE_ROWS if self.unit == "mma" else WGMMA_ROWS
        if self.unit_rows % rows or self.unit_columns % PIECE_COLUMNS:
            shape = f"{self.unit_rows}x{self.unit_columns}"
            return f"has {shape} for each {self.unit}, which pieces of {rows}x{PIECE_COLUMNS} do not divide"
        if self.rows % self.unit_rows or self.columns % self.unit_columns:
            shape = f"{self.unit_rows}x{self.unit_columns}"
            return f"is {self.rows}x{self.columns}, which {shape} for each {self.unit} do not divide"
        return None


#: Of A: words of a row that one instruction multiplies, and those of a lane for 16 rows.
_ROW_WORDS, FACTOR_WORDS = 8, 4


@dataclass(frozen=True)
class FactorLayout:
    """The factors of A that a warpgroup multiplies in one step along k, of `rows` rows, in words of `word_elements`."""

    rows: int
    word_elements: int

    @property
    def columns(self) -> int:
        """Elements along k of a step."""
        return _ROW_WORDS * self.word_elements

    @property
    def words(self) -> int:
        """Words of a thread."""
        return self.rows // WGMMA_ROWS * FACTOR_WORDS

    def word(self, number: int, quarter: Any, lane: Any) -> tuple[Any, Any]:
        """The row and the first column of a word of a lane, of one of the warpgroup's four warps."""
        block, inside = divmod(number, FACTOR_WORDS)
        row = block * WGMMA_ROWS + inside % 2 * (PIECE_ROWS // 2)
        return quarter * PIECE_ROWS + lane // 4 + row, (lane % 4 + inside // 2 * 4) * self.word_elements

    def place(self, thread: int, register: int) -> tuple[int, int]:
        """The row and column of a thread's element, the elements of its words counted as registers."""
        warp, lane = divmod(thread, WARP_LANES)
        number, inside = divmod(register, self.word_elements)
        row, column = self.word(number, warp, lane)
        return row, column + inside
