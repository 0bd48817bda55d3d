"""Which values of a Tiny function live in memory, and which of them a value reads.

A kernel reads buffers through movements. Buffers are the function's arguments, the outputs of groups, and the operands
of movements that could not be an access map otherwise: where a chain of movements is not affine, or too long, the
operand of its last movement is copied to a buffer. A reshape that is not affine by itself is a *view*: its operand's
buffer under another shape.
"""

from collections.abc import Iterator

from tinyc.analysis.access import Access, NonScop, extend
from tinyc.analysis.grouping import Group
from tinyc.analysis.tiny_ops import producer_of
from tinyc.diagnostics import TinycError, remark
from tinyc.dialects.tiny import ops as tiny
from tinyc.dialects.tiny.ops import ReshapeOp
from tinyc.expr import axes
from tinyc.mlir import ir
from tinyc.mlir.locations import where
from tinyc.vocabulary.attributes import tensor_type

#: Movements that one access map may compose; a longer chain is copied in between.
MAX_CHAIN = 64


class Buffers:
    """The buffers of the function with the single block `block`."""

    def __init__(self, block: ir.Block, groups: list[Group]) -> None:
        self.group_of: dict[ir.Value, Group] = {value: group for group in groups for value in group.outputs}
        self.views: set[ir.Value] = set()
        self._buffers: set[ir.Value] = {*block.arguments, *self.group_of}
        self._chain: dict[ir.Value, int] = {}
        for op in block.operations:
            if isinstance(op, tiny.MovementOp):
                self._movement(op)

    def __contains__(self, value: ir.Value) -> bool:
        return value in self._buffers

    def _movement(self, op: ir.OpView) -> None:
        """Decide whether reading through `op` needs its operand in a buffer."""
        operand, result = op.operands[0], op.result
        length = self._chain.get(operand, 0) + 1
        fault = self._fault(result)
        if fault is None and length <= MAX_CHAIN:
            self._chain[result] = length
            return
        reason = fault.reason if fault else f"{length} movements in a row (limit {MAX_CHAIN})"
        remark("region-boundary", where(op.location), f"a region ends before this movement: {reason}", reason=reason)
        self._buffers.add(operand)
        self._chain[result] = 1
        if (alone := self._fault(result)) is None:
            return
        if not isinstance(op, ReshapeOp):
            counts = alone.reason.rpartition(": ")[2]
            message = f"'{op.name}' alone is too much for one access map: {counts}; write it as several movements"
            raise TinycError("ExcessivePiecewise", message, where(op.location))
        self.views.add(result)
        self._buffers.add(result)
        self._chain[result] = 0

    def _fault(self, value: ir.Value) -> NonScop | None:
        domain = tensor_type(value.type).shape
        start = Access(value, axes.identity(domain))
        _, fault = extend(
            start, domain, lambda op: isinstance(op, tiny.MovementOp) and op.results[0] not in self._buffers
        )
        return fault

    def read_by(self, value: ir.Value, casts: frozenset[ir.OpView] = frozenset()) -> Iterator[ir.Value]:
        """The buffer that reading `value` needs; none for a leaf. The ops in `casts` are read through."""
        while (op := producer_of(value)) is not None and (value not in self._buffers or op in casts):
            if not op.operands:
                return
            value = op.operands[0]
        yield value

    def needed_by(self, value: ir.Value) -> Iterator[ir.Value]:
        """The buffers that computing the buffer `value` reads."""
        group = self.group_of.get(value)
        if group is not None:
            yield from self.inputs(group)
        elif (op := producer_of(value)) is not None and op.operands:
            yield from [op.operands[0]] if value in self.views else self.read_by(op.operands[0])

    def inputs(self, group: Group) -> Iterator[ir.Value]:
        """The buffers that a group reads, in order of first use, some more than once."""
        inside = {result for op in group.ops for result in op.results}
        for op in group.ops:
            for operand in op.operands:
                if operand not in inside:
                    yield from self.read_by(operand, group.casts)
