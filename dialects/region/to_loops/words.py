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
from tinyc.mlir import arith, ir
from tinyc.mlir.constants import number
from tinyc.target import DotProduct

#: The sign of each byte of a word.
_SIGNS = 0x80808080 - (1 << 32)


@dataclass(frozen=True)
class Words:
    """The words of a line that has `count` products in a panel; `are_whole` says whether they fill all words, if known.

    What is not known when code is made is an index, and a condition.
    """

    elements: Elements
    product: CpuProduct
    dot: DotProduct
    count: ir.Value | int
    number: ir.Value | int
    are_whole: ir.Value | bool

    @classmethod
    def of(cls, elements: Elements, product: CpuProduct, dot: DotProduct, count: ir.Value | int) -> "Words":
        """The words of `count` products."""
        if isinstance(count, int):
            packed = dot.form.words(count)
            return cls(elements, product, dot, count, packed, packed * dot.form.group == count)
        step, group = elements.index(dot.form.step), elements.index(dot.form.group)
        whole = elements.index(dot.form.step_products)
        packed = arith.muli(arith.divui(elements.moved(count, dot.form.step_products - 1), whole), step)
        are_whole = arith.cmpi(arith.CmpIPredicate.eq, arith.muli(packed, group), count)
        return cls(elements, product, dot, count, packed, are_whole)

    @property
    def steps(self) -> ir.Value | int:
        """The steps of the micro-kernel that they take."""
        step = self.dot.form.step
        if isinstance(self.number, int):
            return self.number // step
        return self.number if step == 1 else arith.divui(self.number, self.elements.index(step))

    def word(self, k: ir.Value, element: Callable[[ir.Value], ir.Value], *, is_left: bool) -> ir.Value:
        """Emit word `k` of a line, of which `element` emits the elements, as the type of the sums."""
        if isinstance(self.are_whole, bool):
            return self._word(k, element if self.are_whole else self._guarded(element), is_left)
        return self.elements.choose(
            self.are_whole,
            self._sum_type,
            lambda: self._word(k, element, is_left),
            lambda: self._word(k, self._guarded(element), is_left),
        )

    @property
    def _sum_type(self) -> ir.Type:
        return scalars.register_type(self.product.accumulator)

    def _guarded(self, element: Callable[[ir.Value], ir.Value]) -> Callable[[ir.Value], ir.Value]:
        """Elements of a line, which are zeros behind the last one."""
        elements, zero = self.elements, number(0, self._sum_type)

        def guarded(place: ir.Value) -> ir.Value:
            is_there = arith.cmpi(arith.CmpIPredicate.slt, place, elements.extent(self.count))
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
