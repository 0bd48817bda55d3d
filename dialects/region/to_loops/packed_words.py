"""Words of neighbours along the sum, two bf16 or four bytes, as instructions take them that add their products.

In: the elements of an operand, in the type of the sums, which hold no more than the narrow type does. Out: a word in
the place of as many elements, the first one in its lowest bits, and zeros behind the last one: what is multiplied by
them is added to every sum.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tinyc.analysis.cpu_product import CpuProduct
from tinyc.codegen import scalars
from tinyc.codegen.elements import Elements
from tinyc.dialects.region.to_loops.packing import PackedRun
from tinyc.mlir import arith, ir
from tinyc.mlir.constants import number
from tinyc.target import DotProduct

#: The sign of each byte of a word.
_SIGNS = 0x80808080 - (1 << 32)


@dataclass(frozen=True)
class PackedWords:
    """The `words` of a line that has so many `products` in a panel; the first `whole` ones are full of them.

    What is not known when code is made is an index.
    """

    elements: Elements
    product: CpuProduct
    dot: DotProduct
    products: ir.Value | int
    words: ir.Value | int
    whole: ir.Value | int

    @classmethod
    def of(cls, elements: Elements, product: CpuProduct, dot: DotProduct, products: ir.Value | int) -> "PackedWords":
        """The words of so many products."""
        form = dot.form
        if isinstance(products, int):
            return cls(elements, product, dot, products, form.words(products), products // form.group)
        steps = arith.divui(elements.moved(products, form.step_products - 1), elements.index(form.step_products))
        words = arith.muli(steps, elements.index(form.step))
        return cls(elements, product, dot, products, words, arith.divui(products, elements.index(form.group)))

    @property
    def steps(self) -> ir.Value | int:
        """The steps of the micro-kernel that they take."""
        step = self.dot.form.step
        if isinstance(self.words, int):
            return self.words // step
        return self.words if step == 1 else arith.divui(self.words, self.elements.index(step))

    def runs(self, element: Callable[[ir.Value, ir.Value], ir.Value], *, is_left: bool) -> list[PackedRun]:
        """The words of lines, as the type of the sums: the whole ones, and those with zeros behind the last product.

        `element(line, product)` emits what they are made of.
        """

        def whole(line: ir.Value, k: ir.Value) -> ir.Value:
            return self._word(k, lambda place: element(line, place), is_left)

        def filled_up(line: ir.Value, k: ir.Value) -> ir.Value:
            return self._word(k, self._guarded(lambda place: element(line, place)), is_left)

        runs = PackedRun(self.whole, whole), PackedRun(self.words, filled_up)
        return [runs[0]] if self.whole == self.words else [*runs]

    @property
    def _sum_type(self) -> ir.Type:
        return scalars.register_type(self.product.accumulator)

    def _guarded(self, element: Callable[[ir.Value], ir.Value]) -> Callable[[ir.Value], ir.Value]:
        """Elements of a line, which are zeros behind the last one."""
        elements, zero = self.elements, number(0, self._sum_type)

        def guarded(place: ir.Value) -> ir.Value:
            is_there = arith.cmpi(arith.CmpIPredicate.slt, place, elements.extent(self.products))
            return elements.choose(is_there, self._sum_type, lambda: element(place), lambda: zero)

        return guarded

    def _word(self, k: ir.Value, element: Callable[[ir.Value], ir.Value], is_left: bool) -> ir.Value:
        counters, group = self.elements.counters, self.dot.form.group
        places = [counters.value(counters.expression(k) * group + near) for near in range(group)]
        found = self._bits(element(places[0]))
        for near, place in enumerate(places[1:], 1):
            shifted = arith.shli(self._bits(element(place)), number(near * 32 // group, found.type))
            found = arith.ori(found, shifted)
        if is_left and self.dot.turns_signs:
            found = arith.xori(found, number(_SIGNS, found.type))
        return arith.bitcast(self._sum_type, found) if self.dot.is_of_floats else found

    def _bits(self, element: ir.Value) -> ir.Value:
        """The bits of an element that a word has, below zeros: of a bf16 the upper half of what it is in f32."""
        i32 = ir.IntegerType.get_signless(32)
        if self.dot.is_of_floats:
            return arith.shrui(arith.bitcast(i32, element), number(16, i32))
        return arith.andi(element, number(0xFF, i32))


def signs_word(dot: DotProduct) -> ir.Value:
    """Emit what turning signs has added to each word of the left operand."""
    assert dot.turns_signs
    return number(_SIGNS, ir.IntegerType.get_signless(32))
