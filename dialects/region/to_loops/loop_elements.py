"""Elements in the loops of a CPU: what a sum takes in of products that are written out, and of images that are held."""

from collections.abc import Callable, Mapping

from tinyc.analysis.patterns.contraction import is_summed_product
from tinyc.codegen.elements import Elements, IndexValues
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import arith, ir, math
from tinyc.target import VectorUnit


class LoopElements(Elements):
    """Emits elements of one kernel's values for a CPU, which may add a product before it is rounded."""

    def __init__(
        self,
        buffers: Mapping[ir.Value, ir.Value],
        symbols: Mapping[str, ir.Value],
        status: ir.Value | None,
        unit: VectorUnit,
    ) -> None:
        super().__init__(buffers, symbols, status)
        self._unit = unit
        #: What factors of terms are read from where an image of them is held.
        self.held: dict[ir.Value, Callable[[IndexValues], ir.Value]] = {}

    def factor(self, value: ir.Value, index: IndexValues) -> ir.Value:
        """Element `index` of what a reduction takes in, or of a factor of it: of the image of that, if one is held."""
        return self.held[value](index) if value in self.held else self.at(value, index)

    def multiplied_and_added(self, op: tiny.ReduceOp, accumulator: ir.Value, term: ir.Value) -> ir.Value:
        """The accumulator with a term taken in, of several that are written out.

        Loops over lanes of sums are better without: LLVM would write them out, lane by lane.
        """
        product = term.owner
        if self._unit.has_fma and is_summed_product(op) and isinstance(product, arith.MulFOp):
            return math.fma(product.lhs, product.rhs, accumulator)
        return self.combined(op, accumulator, term)
