"""Where the elements of a tile stand in shared memory: row- or column-major, and swizzled as TMA and wgmma have it.

Plain numbers; `expand/` emits the same arithmetic for values, and a test holds both equal. With a swizzle of s bytes
the side whose elements are neighbours is cut into *slabs* of s bytes. A slab is a column of lines of s bytes, one line
for each index of the other side, and in a line the chunks of 16 bytes are exchanged as the line's number says: so eight
lines at one place, which ldmatrix reads and stmatrix writes, are in different banks.

**Source:** PTX ISA, "Swizzling modes" of tensor copies, and "Shared Memory Matrix Layout" of wgmma.
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

#: "row": elements beside each other in a row are neighbours in memory; "col": those below each other are.
Order: TypeAlias = Literal["row", "col"]

ORDERS = ("row", "col")
#: Bytes of a line in each swizzle; 0 is none.
SWIZZLES = (0, 32, 64, 128)
#: What the swizzle moves together, and what ldmatrix reads of a line.
CHUNK_BYTES = 16
#: Where a swizzled tile begins in shared memory, so that an address says which line of the pattern it is in.
TILE_ALIGNMENT = 1024


@dataclass(frozen=True)
class SharedLayout:
    """The places of the elements of a tile of `rows` × `columns`, in bytes."""

    rows: int
    columns: int
    element_bytes: int
    order: Order = "row"
    swizzle: int = 0

    @property
    def line_elements(self) -> int:
        """How many elements are neighbours: those of a slab's line, or of the whole side."""
        return self.swizzle // self.element_bytes if self.swizzle else self.along

    @property
    def along(self) -> int:
        """The extent of the side whose elements are neighbours."""
        return self.columns if self.order == "row" else self.rows

    @property
    def lines(self) -> int:
        """The extent of the other side: how many lines a slab has."""
        return self.rows if self.order == "row" else self.columns

    @property
    def slabs(self) -> int:
        """How many slabs there are."""
        return self.along // self.line_elements

    @property
    def line_bytes(self) -> int:
        """Bytes from a line to the next."""
        return self.line_elements * self.element_bytes

    @property
    def slab_bytes(self) -> int:
        """Bytes from a slab to the next."""
        return self.lines * self.line_bytes

    @property
    def size_bytes(self) -> int:
        """Bytes of the tile."""
        return self.slabs * self.slab_bytes

    @property
    def lines_of_one_chunk_order(self) -> int:
        """How many lines after each other have their chunks in one order: 1, 2 or 4."""
        return 128 // self.swizzle

    def offset(self, row: Any, column: Any) -> Any:
        """Where an element stands: bytes from the start of the tile; rows and columns may be `Word`s."""
        line, place = (row, column) if self.order == "row" else (column, row)
        slab, inside = divmod(place, self.line_elements)
        return slab * self.slab_bytes + line * self.line_bytes + self._swizzled(line, inside * self.element_bytes)

    def _swizzled(self, line: Any, place_bytes: Any) -> Any:
        if not self.swizzle:
            return place_bytes
        chunk, inside = divmod(place_bytes, CHUNK_BYTES)
        order = line // self.lines_of_one_chunk_order % (self.swizzle // CHUNK_BYTES)
        return (chunk ^ order) * CHUNK_BYTES + inside

    @property
    def misfit(self) -> str | None:
        """Why a tile cannot stand in shared memory like this, or None."""
        if not self.swizzle:
            return None
        if self.along % self.line_elements:
            return (
                f"has {self.along} neighbours, which lines of {self.swizzle} bytes ({self.line_elements}) do not divide"
            )
        if self.lines % 8:
            return f"has {self.lines} lines; the swizzle repeats after 8"
        return None
