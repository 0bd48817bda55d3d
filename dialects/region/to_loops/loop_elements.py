"""Elements in the loops of a CPU, as it computes them: what a sum takes in of products."""

from collections.abc import Mapping

from tinyc.analysis.patterns.contraction import is_summed_product
from tinyc.codegen.elements import Elements
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import arith, ir, math
from tinyc.target import VectorUnit


class LoopElements(Elements):
    """Emits elements of one kernel's values for a CPU; a sum takes in products before they are rounded, if it can."""

    def __init__(
        self,
        buffers: Mapping[ir.Value, ir.Value],
        symbols: Mapping[str, ir.Value],
        status: ir.Value | None,
        unit: VectorUnit,
    ) -> None:
        super().__init__(buffers, symbols, status)
        self._unit = unit

    def combined(self, op: tiny.ReduceOp, accumulator: ir.Value, term: ir.Value) -> ir.Value:
        """The accumulator with a term taken in."""
        product = term.owner
        if self._unit.has_fma and is_summed_product(op) and isinstance(product, arith.MulFOp):
            return math.fma(product.lhs, product.rhs, accumulator)
        return super().combined(op, accumulator, term)
