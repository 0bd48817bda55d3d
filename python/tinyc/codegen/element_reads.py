"""What an element of a value reads of a kernel's inputs, before any code is emitted for it.

In: a value and an index of counters. Out: the address of each element that is read, as an expression over the counters
in scope. How an address moves with a counter tells which accesses are of neighbours, and which are all of one element:
what wide accesses, and the order of loops and threads, are decided by.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from tinyc.codegen.elements import Elements, IndexValues, traced
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr.axes import AxisExpr, Index, compose
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import tensor_type


@dataclass(frozen=True)
class ElementRead:
    """A read of the input `buffer` at `address`, where `guards` let it pass; without an address where data tell it."""

    buffer: ir.Value
    address: AxisExpr | None
    guards: tuple[AxisExpr, ...] = ()

    def step(self, elements: Elements, counter: ir.Value) -> int | None:
        """How far the address moves when `counter` grows by one: 1: to the neighbour, 0: not at all, None: not known.

        What a guard that changes with the counter lets pass is not known.
        """
        steps = [elements.counters.step(guard, counter) for guard in self.guards]
        if self.address is None or any(step != 0 for step in steps):
            return None
        return elements.counters.step(self.address, counter)


def element_reads(elements: Elements, value: ir.Value, index: IndexValues) -> tuple[ElementRead, ...]:
    """What element `index` of `value` reads, each once, reductions that a loop nest keeps left out."""
    start = elements.counters.expressions(index, tensor_type(value.type).shape)
    pending: list[tuple[ir.Value, Index | None, tuple[AxisExpr, ...]]] = [(value, start, ())]
    seen, found = set(pending), dict[ElementRead, None]()
    while pending:
        value, at, guards = pending.pop()
        access = traced(value)
        source = access.source
        if at is not None:
            shape, domain = tensor_type(value.type).shape, elements.counters.shape
            assert len(at) == len(shape)
            guards = (*guards, *compose(tuple(guard.expression for guard in access.guards), at, domain))
            at = compose(access.map, at, domain)
        if source in elements.reduced:
            continue
        op = source.owner
        if isinstance(op, region.ReadOp):
            held = region.held_tensor(op.buffer.type).shape
            address = None if at is None else elements.counters.linear(at, held)
            found[ElementRead(op.buffer, address, guards)] = None
            continue
        for operand in _operands(op, at):
            following = (*operand, guards)
            if following not in seen:
                seen.add(following)
                pending.append(following)
    return tuple(found)


def _operands(op: ir.OpView | ir.Block, at: Index | None) -> Iterator[tuple[ir.Value, Index | None]]:
    """Yield the operands of an op, and where each is read."""
    assert isinstance(op, ir.OpView)  # of blocks' arguments only buffers and what is reduced are read
    for position, operand in enumerate(op.operands):
        if isinstance(op, tiny.ElementwiseOp | tiny.CastOp):
            yield operand, at
        elif isinstance(op, tiny.GatherOp) and position == 1 and at is not None:
            axis = op.axis.value
            yield operand, at[axis : axis + tensor_type(op.index.type).rank]
        else:
            yield operand, None
