"""The micro-kernel of a product in the tile registers of AMX: sums of up to two by two tiles of 16 rows and 16 columns.

A step loads two tiles of the right operand, 16 words of each column, and one or two of the left one, 16 words of each
row, and adds the products of all of them to the sums. Rows of the left operand are packed one behind the other. Source:
Intel, "Intel 64 and IA-32 Architectures Optimization Reference Manual", chapter 20.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tinyc import mlir
from tinyc.codegen.elements import Elements
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.to_loops.operands import RowPlaces
from tinyc.mlir import arith, ir, memref
from tinyc.mlir.constants import number
from tinyc.target import TILE_SIDE, TILES_ACROSS, DotProduct

_WORD_BYTES = 4


@dataclass(frozen=True)
class TileKernel:
    """Sums of `down` tiles of `height` rows below each other, and two beside each other; tile by tile, row-major.

    Rows of the left operand are `pitch` words apart.
    """

    dot: DotProduct
    height: int
    down: int
    pitch: int
    lanes: int = TILE_SIDE
    vectors: int = TILES_ACROSS

    @classmethod
    def of(cls, dot: DotProduct, rows: int, pitch: int) -> "TileKernel":
        """The micro-kernel for tiles of a product of so many rows, into which they fit well."""
        most = dot.form.tile_kernel_rows
        assert most is not None  # it is a form in tiles
        each = -(-rows // -(-rows // most))
        down = -(-each // TILE_SIDE)
        return cls(dot, -(-each // down), down, pitch)

    @property
    def rows(self) -> int:
        """The rows of all tiles."""
        return self.height * self.down

    @property
    def row_unit(self) -> int:
        """A smaller micro-kernel would have a multiple of as many rows: there is none."""
        return self.rows

    @property
    def column_unit(self) -> int:
        """The same of columns."""
        return self.columns

    def fitted(self, rows: int, columns: int) -> "TileKernel":
        """The micro-kernel for its own rows and columns."""
        assert (rows, columns) == (self.rows, self.columns)
        return self

    @property
    def packed_rows(self) -> int:
        """The rows that are packed beside each other: a tile is loaded row by row."""
        return 1

    @property
    def columns(self) -> int:
        """The columns of all tiles."""
        return self.vectors * self.lanes

    def zeros(self) -> list[ir.Value]:
        """Emit sums of nothing: of each tile its own, for one of several would go through memory."""
        return [self._tile("llvm.x86.tilezero.internal", self.height, []) for _ in range(self.down * self.vectors)]

    def load(self, elements: Elements, memory: ir.Value, slot: ir.Value, pitch: int) -> list[ir.Value]:
        """Emit the loads of sums that begin at `slot`, their rows `pitch` apart."""
        return [self._loaded(memory, each, self.height, pitch) for each in self._places(elements, slot, pitch)]

    def store(self, elements: Elements, memory: ir.Value, slot: ir.Value, pitch: int, sums: Sequence[ir.Value]) -> None:
        """Emit the stores of sums."""
        for place, each in zip(self._places(elements, slot, pitch), sums, strict=True):
            operands = [*_shape(self.height), _pointer(memory, place), _stride(pitch), each]
            _call("llvm.x86.tilestored64.internal", None, operands)

    def packed_columns(self, elements: Elements, memory: ir.Value, slot: ir.Value) -> list[ir.Value]:
        """Emit the loads of tiles of packed columns from `slot` on."""
        places = [elements.moved(slot, at * self.lanes) for at in range(self.vectors)]
        return [self._loaded(memory, place, TILE_SIDE, self.columns) for place in places]

    def columns_in_panels(
        self, elements: Elements, memory: ir.Value, starts: Sequence[ir.Value], k: ir.Value
    ) -> list[ir.Value]:
        """Emit the loads of the tiles from word `k` on in memory in panels (`region.PANELS`).

        The first word has them at `starts`.
        """
        group = self.dot.form.group
        beyond = arith.muli(k, elements.index(region.PANEL_COLUMNS * group))
        size = _WORD_BYTES // group
        pointers = [_pointer(memory, arith.addi(start, beyond), size) for start in starts]
        loads = [[pointer, _stride(region.PANEL_COLUMNS)] for pointer in pointers]
        return [self._tile("llvm.x86.tileloadd64.internal", TILE_SIDE, each) for each in loads]

    def stepped(
        self,
        elements: Elements,
        step: ir.Value,
        rows: RowPlaces,
        columns: Callable[[ir.Value], Sequence[ir.Value]],
        sums: Sequence[ir.Value],
    ) -> list[ir.Value]:
        """Emit `sums` with what a step adds: the products of the words that tiles have of each row and column."""
        k = elements.counters.value(elements.counters.expression(step) * TILE_SIDE)
        memory, (first,) = rows(k)  # the others are behind it
        tiles, sizes = columns(k), [_i16(self.height), _i16(TILE_SIDE * _WORD_BYTES), _i16(TILE_SIDE * _WORD_BYTES)]
        found: list[ir.Value] = []
        for row in range(self.down):
            place = elements.moved(first, row * self.height * self.pitch)
            factor = self._loaded(memory, place, self.height, self.pitch)
            for at, column in enumerate(tiles):
                operands = [*sizes, sums[row * self.vectors + at], factor, column]
                found.append(_call(self.dot.intrinsic, _tile_type(), operands))
        return found

    def _places(self, elements: Elements, slot: ir.Value, pitch: int) -> list[ir.Value]:
        tiles = [(row, at) for row in range(self.down) for at in range(self.vectors)]
        return [elements.moved(slot, row * self.height * pitch + at * self.lanes) for row, at in tiles]

    def _loaded(self, memory: ir.Value, place: ir.Value, rows: int, pitch: int) -> ir.Value:
        return self._tile("llvm.x86.tileloadd64.internal", rows, [_pointer(memory, place), _stride(pitch)])

    def _tile(self, intrinsic: str, rows: int, operands: Sequence[ir.Value]) -> ir.Value:
        return _call(intrinsic, _tile_type(), [*_shape(rows), *operands])


def _call(intrinsic: str, result: ir.Type | None, operands: Sequence[ir.Value]) -> ir.Value:
    return mlir.llvm.call_intrinsic(result, ir.StringAttr.get(intrinsic), operands, [], [])


def _tile_type() -> ir.Type:
    return ir.Type.parse("!llvm.x86_amx")


def _shape(rows: int) -> list[ir.Value]:
    """The rows of a tile, and the bytes of each."""
    return [_i16(rows), _i16(TILE_SIDE * _WORD_BYTES)]


def _i16(value: int) -> ir.Value:
    return number(value, ir.IntegerType.get_signless(16))


def _stride(pitch: int) -> ir.Value:
    """The bytes from row to row of `pitch` words."""
    return number(pitch * _WORD_BYTES, ir.IntegerType.get_signless(64))


def _pointer(memory: ir.Value, place: ir.Value, size_bytes: int = _WORD_BYTES) -> ir.Value:
    """The address of an element in memory, a word or one of so many bytes."""
    i64 = ir.IntegerType.get_signless(64)
    start = memref.extract_aligned_pointer_as_index(memory)
    address = arith.addi(start, arith.muli(place, number(size_bytes, ir.IndexType.get())))
    return mlir.llvm.inttoptr(ir.Type.parse("!llvm.ptr"), arith.index_cast(i64, address))
