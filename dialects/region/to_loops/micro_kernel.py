"""The micro-kernel of a product: the sums of some rows and a few vectors of columns, in registers.

A step loads the vectors of the right operand and, row by row, one element of the left one, and adds their products to
the sums: of 14 rows and two vectors on a CPU of 32 vector registers, of 6 on one of 16. What a product is made of is an
element of each, or a word of neighbours (`packed_words`). Source: Van Zee, van de Geijn,
"BLIS: A Framework for Rapidly Instantiating BLAS Functionality".
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from tinyc import mlir
from tinyc.analysis.cpu_product import TRANSPOSED_LANES
from tinyc.codegen import scalars
from tinyc.codegen.elements import Elements
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.to_loops.operands import RowPlaces
from tinyc.dialects.region.to_loops.packed_words import signs_word
from tinyc.mlir import arith, ir, memref, vector
from tinyc.mlir.constants import number
from tinyc.target import GENERIC_CPU, DotProduct, VectorUnit
from tinyc.vocabulary.element_type import ElementType

#: How many products a prefetch is ahead, and into which cache, as `memref.prefetch` counts them.
_AHEAD, _NEAREST = 8, 3


@dataclass(frozen=True)
class MicroKernel:
    """The sums of `rows` and of `vectors` of `lanes` columns, which are row by row, vector by vector."""

    element: ElementType
    rows: int
    vectors: int
    lanes: int
    is_fused: bool
    dot: DotProduct | None = None

    @classmethod
    def of(
        cls,
        element: ElementType,
        unit: VectorUnit,
        rows: int,
        *,
        is_wide: bool,
        lanes: int | None = None,
        dot: DotProduct | None = None,
    ) -> "MicroKernel":
        """The micro-kernel of a CPU for tiles of so many rows, into which they fit well.

        A wide one has as many vectors as there are registers for: it reads more at a time of rows that are not packed.
        A vector of more `lanes` than a register has takes several.
        """
        if dot is not None:
            unit = replace(unit, register_bytes=dot.form.register_bytes)
        parts = -(-rows // unit.micro_rows)
        each, own = -(-rows // parts), unit.register_bytes // element.size_bytes
        vectors = unit.most_vectors(each) if is_wide else unit.micro_vectors
        if lanes is not None:
            vectors = max(1, vectors // -(-lanes // own))
        return cls(element, each, vectors, lanes or min(TRANSPOSED_LANES, own), unit.has_fma and element.is_float, dot)

    @property
    def row_unit(self) -> int:
        """A smaller micro-kernel has a multiple of as many rows."""
        return 1

    @property
    def column_unit(self) -> int:
        """A smaller micro-kernel has a multiple of as many columns."""
        return self.lanes

    def fitted(self, rows: int, columns: int) -> "MicroKernel":
        """The micro-kernel for so many rows and columns of those of this one."""
        return replace(self, rows=rows, vectors=columns // self.lanes)

    @property
    def packed_rows(self) -> int:
        """The rows that are packed beside each other: a step reads an element of each."""
        return self.rows

    @property
    def columns(self) -> int:
        """The columns of all vectors."""
        return self.vectors * self.lanes

    def zeros(self) -> list[ir.Value]:
        """Emit sums of nothing."""
        zero = number(0, scalars.register_type(self.element))
        return [vector.broadcast(self.vector_type, zero)] * (self.rows * self.vectors)

    def load(self, elements: Elements, memory: ir.Value, slot: ir.Value, pitch: int) -> list[ir.Value]:
        """Emit the loads of sums that begin at `slot`, their rows `pitch` apart."""
        return self.vectors_at(memory, list(self._places(elements, slot, pitch)))

    def store(self, elements: Elements, memory: ir.Value, slot: ir.Value, pitch: int, sums: Sequence[ir.Value]) -> None:
        """Emit the stores of sums."""
        for place, each in zip(self._places(elements, slot, pitch), sums, strict=True):
            vector.store(each, memory, [place])

    def masks(self, elements: Elements, left: ir.Value) -> list[ir.Value]:
        """Emit which lanes of each vector are columns, where `left` of them are."""
        kind = ir.VectorType.get([self.lanes], ir.IntegerType.get_signless(1))
        places = [elements.index(at * self.lanes) for at in range(self.vectors)]
        return [vector.create_mask(kind, [arith.maxsi(arith.subi(left, each), elements.index(0))]) for each in places]

    def packed_columns(self, elements: Elements, memory: ir.Value, slot: ir.Value) -> list[ir.Value]:
        """Emit the loads of packed columns at `slot`, and the prefetch of what a later product reads: it is in L2."""
        for at in range(0, self.columns, GENERIC_CPU.line_bytes // self.element.size_bytes):
            self.prefetch_line(elements, memory, elements.moved(slot, at), self.columns)
        return self.columns_at(elements, memory, slot)

    def prefetch_line(self, elements: Elements, memory: ir.Value, place: ir.Value, columns: int) -> None:
        """Emit the prefetch of a line that a later product reads, each of them being `columns` behind the last."""
        memref.prefetch(memory, [elements.moved(place, _AHEAD * columns)], False, _NEAREST, True)

    def columns_in_place(
        self, elements: Elements, memory: ir.Value, slot: ir.Value, masks: Sequence[ir.Value]
    ) -> list[ir.Value]:
        """Emit the loads of columns that are not packed, and prefetch those of the micro-kernel beside this one."""
        for at in range(0, self.columns, GENERIC_CPU.line_bytes // self.element.size_bytes):
            memref.prefetch(memory, [elements.moved(slot, self.columns + at)], False, _NEAREST, True)
        return self.columns_at(elements, memory, slot, masks)

    def columns_at(
        self, elements: Elements, memory: ir.Value, slot: ir.Value, masks: Sequence[ir.Value] = ()
    ) -> list[ir.Value]:
        """Emit the loads of the vectors of columns from `slot` on; where there are masks, of nothing beside them."""
        places = [elements.moved(slot, at * self.lanes) for at in range(self.vectors)]
        if not masks:
            return self.vectors_at(memory, places)
        zero = vector.broadcast(self.vector_type, number(0, scalars.register_type(self.element)))
        pairs = zip(places, masks, strict=True)
        return [vector.maskedload(self.vector_type, memory, [place], mask, zero) for place, mask in pairs]

    def columns_in_panels(
        self, elements: Elements, memory: ir.Value, starts: Sequence[ir.Value], k: ir.Value
    ) -> list[ir.Value]:
        """Emit the loads of the vectors that product or word `k` has in memory in panels (`region.PANELS`).

        The first product has them at `starts`.
        """
        group = 1 if self.dot is None else self.dot.form.group
        beyond = arith.muli(k, elements.index(region.PANEL_COLUMNS * group))
        places = [arith.addi(start, beyond) for start in starts]
        for place in places[:: region.PANEL_COLUMNS // self.lanes]:
            self.prefetch_line(elements, memory, place, region.PANEL_COLUMNS * group)
        if self.dot is None:
            return self.vectors_at(memory, places)
        words = ir.VectorType.get([self.lanes * group], ir.MemRefType(memory.type).element_type)
        return [vector.bitcast(self.vector_type, vector.load(words, memory, [place])) for place in places]

    def vectors_at(self, memory: ir.Value, places: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit the loads of vectors from their places on."""
        return [vector.load(self.vector_type, memory, [place]) for place in places]

    def stepped(
        self,
        _: Elements,
        step: ir.Value,
        rows: RowPlaces,
        columns: Callable[[ir.Value], Sequence[ir.Value]],
        sums: Sequence[ir.Value],
    ) -> list[ir.Value]:
        """Emit `sums` with what a step adds: the product of that number, of an element or a word of each."""
        return self.multiplied(*rows(step), columns(step), sums)

    def multiplied(
        self, memory: ir.Value, places: Sequence[ir.Value], columns: Sequence[ir.Value], sums: Sequence[ir.Value]
    ) -> list[ir.Value]:
        """Emit the products of an element for each row, at `places` in memory, with `columns`, added to `sums`.

        What is packed for more rows or vectors is left.
        """
        found: list[ir.Value] = []
        for row, place in enumerate(places[: self.rows]):
            factor = vector.broadcast(self.vector_type, memref.load(memory, [place]))
            for at, column in enumerate(columns[: self.vectors]):
                found.append(self._added(factor, column, sums[row * self.vectors + at]))
        return found

    def turned_signs(self, columns: Sequence[ir.Value], sums: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit what turning the signs of a row of words adds to its products with `columns`, added to `sums`."""
        assert self.dot is not None
        factor = vector.broadcast(self.vector_type, signs_word(self.dot))
        return [self._added(factor, column, total) for column, total in zip(columns, sums, strict=True)]

    def without(self, sums: Sequence[ir.Value], added: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit the sums of all rows less what is `added` to each vector of columns."""
        return [arith.subi(total, added[at % self.vectors]) for at, total in enumerate(sums)]

    def _added(self, left: ir.Value, right: ir.Value, total: ir.Value) -> ir.Value:
        if self.dot is not None:
            return self._added_words(self.dot, left, right, total)
        if self.is_fused:
            return vector.fma(left, right, total)
        if self.element.is_float:
            return arith.addf(total, arith.mulf(left, right))
        return arith.addi(total, arith.muli(left, right))

    def _added_words(self, dot: DotProduct, left: ir.Value, right: ir.Value, total: ir.Value) -> ir.Value:
        """The products of words of neighbours added, by the instruction for them."""
        narrow = ir.BF16Type.get() if dot.is_of_floats else ir.IntegerType.get_signless(8)
        words = ir.VectorType.get([self.lanes * dot.form.group], narrow)
        pair = [right, left] if dot.takes_right_first else [left, right]
        factors = [vector.bitcast(words, each) for each in pair]
        return mlir.llvm.call_intrinsic(self.vector_type, ir.StringAttr.get(dot.intrinsic), [total, *factors], [], [])

    def _places(self, elements: Elements, slot: ir.Value, pitch: int) -> Iterator[ir.Value]:
        for row in range(self.rows):
            for at in range(self.vectors):
                yield elements.moved(slot, row * pitch + at * self.lanes)

    @property
    def vector_type(self) -> ir.Type:
        """The type of a vector."""
        return ir.VectorType.get([self.lanes], scalars.register_type(self.element))
