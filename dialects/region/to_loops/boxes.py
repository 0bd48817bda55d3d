"""Boxes: the places that the columns of a tile read of an image, each once, window after window of the sum.

A product of a window is for all columns at the same distance from the first one (`analysis.window_box`): vectors of
columns are loaded from there, as far apart as the places are in the box.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tinyc.analysis.window_box import WindowBox
from tinyc.codegen.elements import Elements, IndexValues
from tinyc.dialects.region.to_loops.micro_kernel import MicroKernel
from tinyc.expr.axes import constant
from tinyc.mlir import arith, ir, memref


@dataclass(frozen=True)
class Boxes:
    """Boxes of the form of `box` in `memory`, one after the other."""

    elements: Elements
    memory: ir.Value
    box: WindowBox

    def pack(
        self,
        products: ir.Value | int,
        turns: ir.Value | int,
        element: Callable[[ir.Value, IndexValues], ir.Value],
    ) -> None:
        """Pack the boxes of as many products, of columns that are `turns` places along the first axis.

        `element(product, place)` emits what is at a place of the box of that product, the first of a window.
        """
        elements, counters, box = self.elements, self.elements.counters, self.box
        first, *inner = box.extents
        end = counters.value(counters.expression(elements.extent(turns)) + (first - box.columns[0]))
        with elements.loop(0, self._number(products)) as number:
            k = counters.value(counters.expression(number) * box.products)
            with elements.loop(0, end, below=first) as turn, elements.loops(inner) as place:
                at = (turn, *place)
                slot = counters.linear(counters.expressions(at, box.extents), box.extents)
                value = element(k, at)
                memref.store(value, self.memory, [counters.value(counters.expression(number) * box.places + slot)])

    def loops(self, products: ir.Value | int) -> tuple[ir.Value | int, ...]:
        """The loops over so many products: over boxes, then over those products of a window that have a loop."""
        around = len(self.box.window) - self.box.written_out
        return (self._number(products), *self.box.window[:around])

    def products(self, index: IndexValues) -> Iterator[tuple[ir.Value, ir.Value]]:
        """Yield the products that are written out at an index of the loops.

        Each is its number, and how far it is from that of the first product, for every column.
        """
        counters, box = self.elements.counters, self.box
        number, *outer = index
        for inner in itertools.product(*map(range, box.window[len(outer) :])):
            at = (*map(counters.expression, outer), *map(constant, inner))
            sides = zip(at, box.steps, box.pitches, strict=True)
            distance = sum((place * (step * pitch) for place, step, pitch in sides), constant(0))
            k = counters.expression(number) * box.products + counters.linear(at, box.window)
            yield counters.value(k), counters.value(counters.expression(number) * box.places + distance)

    def columns(self, micro: MicroKernel, column: ir.Value) -> Callable[[ir.Value], list[ir.Value]]:
        """The vectors of columns from `column` on that a product has which is so far from the first one."""

        def columns(distance: ir.Value) -> list[ir.Value]:
            return micro.columns_at(self.elements, self.memory, self.elements.moved(column, distance))

        return columns

    def _number(self, products: ir.Value | int) -> ir.Value | int:
        """The boxes of so many products."""
        if isinstance(products, int):
            return products // self.box.products
        return arith.divui(products, self.elements.index(self.box.products))
