"""Elements of a kernel's values as one thread of many computes them: no thread may rely on another one's writes."""

from typing import Any

from tinyc.codegen import scalars
from tinyc.codegen.elements import IndexValues
from tinyc.dialects.gpu.expand.flat_elements import FlatElements
from tinyc.dialects.gpu.statements import ReportIndexOp
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.mlir import arith, ir, scf
from tinyc.mlir.constants import i64
from tinyc.vocabulary.attributes import tensor_type


class ThreadElements(FlatElements):
    """Emits elements of values for one thread."""

    def note_index(self, chosen: ir.Value, axis: int, extent: ir.Value, at: IndexValues) -> None:
        """Emit the note of an index that is out of range, which one of the threads makes."""
        ReportIndexOp(self.status, chosen, extent, list(at), axis=i64(axis))

    def _computed(self, op: Any, index: IndexValues) -> Any:
        return self._scattered(op, index) if isinstance(op, tiny.ScatterOp) else super()._computed(op, index)

    def _scattered(self, op: tiny.ScatterOp, index: IndexValues) -> ir.Value:
        """An element of a scatter that sets: the last update that is meant for it, else the data's element.

        Which updates change an element is for no thread to know before it has looked at all positions. One that is out
        of range is no element's; `check_positions` reports it.
        """
        data, positions, updates = op.data, op.index, op.updates
        axis, shape = op.axis.value, tensor_type(positions.type).shape

        def look(number: IndexValues, last: list[ir.Value]) -> list[ir.Value]:
            (at,) = number
            chosen, _ = self.selected(op, self.delinearized(at, shape))
            meant = arith.cmpi(arith.CmpIPredicate.eq, chosen, index[axis])
            return [arith.select(meant, at, last[0])]

        (last,) = self.carried([extents.product(shape)], [self.index(-1)], look)

        def update() -> ir.Value:
            return self.at(updates, (*index[:axis], *self.delinearized(last, shape), *index[axis + 1 :]))

        return self.choose(
            arith.cmpi(arith.CmpIPredicate.sge, last, self.index(0)),
            scalars.register_type(tensor_type(data.type).element),
            update,
            lambda: self.at(data, index),
        )

    def check_positions(self, scatter: tiny.ScatterOp, index: IndexValues) -> None:
        """Report the position of update `index` of a scatter if it is out of range."""
        axis, rank = scatter.axis.value, tensor_type(scatter.index.type).rank
        at = index[axis : axis + rank]
        chosen, inside = self.selected(scatter, at)
        outside = scf.IfOp(arith.xori(inside, scalars.number(True, inside.type)))
        with self.block(outside.then_block):
            self.report_out_of_range(scatter, chosen, at)
            scf.yield_([])
