"""What the outputs of a Tiny function or of a kernel need, and how each of those values reads tensors.

The first half of the Poly-View, over IR: which values are items of the view, the accesses that the movements below
compose to, between the axes that `index_book.splits` gives the values, and where reading stops at a movement.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from tinyc.analysis.access import Access, DimAxes, NonScop, shape_of, trace, trace_until
from tinyc.analysis.graphs import body_block
from tinyc.analysis.index_book.splits import fine_splits_of, splits_of
from tinyc.analysis.patterns.classification import Reduction, pattern_of
from tinyc.analysis.patterns.contraction import Contraction
from tinyc.analysis.tiny_ops import data_dependence, is_stored
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.dialects.tiny.ops import ReduceOp
from tinyc.expr.axes import Shape
from tinyc.mlir import func, ir


@dataclass(frozen=True)
class Reads:
    """The accesses by which an op reads tensors; those of a contraction are its operands'.

    `reduction` is what a `tiny.reduce` is. `reason` is why there are no accesses: the op is not a quasi-affine
    statement, and needs its `operands` as wholes.
    """

    accesses: tuple[Access, ...] = ()
    reduction: Reduction | None = None
    reason: str | None = None
    operands: tuple[ir.Value, ...] = ()


def tensors_read(block: ir.Block) -> Iterator[ir.Value]:
    """The values that a block has as tensors: its arguments, but where they are buffers what is read; constants."""
    for argument in block.arguments:
        if not isinstance(argument.type, region.MemRefType):
            yield argument
    for op in block.operations:
        if isinstance(op, region.ReadOp) or (isinstance(op, tiny.ConstOp) and is_stored(op.output)):
            yield op.output


def _handed_out(block: ir.Block) -> Iterator[ir.Value]:
    for op in block.operations:
        if isinstance(op, func.ReturnOp):
            yield from op.operands
        elif isinstance(op, region.YieldOp):
            yield op.value


class Needed:
    """The values that an output needs as tensors, arguments excepted: `reads` has them in program order.

    With `fine` splits the axes are those that loops can run over (`index_book.splits`).
    """

    def __init__(self, graph: ir.OpView, fine: bool = False) -> None:
        splits = fine_splits_of(graph) if fine else splits_of(graph)
        #: The axes of the dimensions, or None where no dimension is split.
        self.dims: DimAxes | None = splits.of if splits.axes else None
        self._fine = fine and self.dims is not None
        #: Why a movement's result, which could be read through by itself, is a tensor: what reads it stops there.
        self.cuts: dict[ir.Value, NonScop] = {}
        block = body_block(graph)
        #: The tensors that are there to be read: arguments and tensor constants, in a kernel what its buffers hold.
        self.arguments = tuple(tensors_read(block))
        given = set(self.arguments)
        #: Those that are tensor constants.
        self.constants = tuple(filter(is_stored, self.arguments))
        #: What the function returns, or the kernel yields.
        self.outputs = tuple(_handed_out(block))
        position = {op: number for number, op in enumerate(block.operations)}
        pending: list[ir.Value] = [*self.outputs]
        found: dict[ir.OpResult, Reads] = {}
        while pending:
            value = pending.pop()
            if isinstance(value, ir.OpResult) and value not in found and value not in given:
                found[value] = self._reads(value.owner)
                pending += [*found[value].operands, *(access.source for access in found[value].accesses)]
        order = sorted(found, key=lambda value: (position[value.owner], value.result_number))
        self.reads = {value: found[value] for value in order}

    def shape(self, value: ir.Value) -> Shape:
        """The sizes of the axes of a value."""
        return shape_of(value, self.dims)

    def _reads(self, op: ir.OpView) -> Reads:
        if isinstance(op, tiny.DataDependentOp):
            return Reads(reason=data_dependence(op), operands=tuple(op.operands))
        if isinstance(op, tiny.MovementOp):
            access = self._traced(op.results[0])
            if isinstance(access, NonScop) and access.op == op:
                return Reads(reason=access.reason, operands=(op.operands[0],))
            return Reads((self._access(op.results[0]),))
        found = pattern_of(op, self.dims) if isinstance(op, ReduceOp) else None
        if found is not None and isinstance(found.pattern, Contraction):
            return Reads((found.pattern.lhs, found.pattern.rhs), found)
        return Reads(tuple(self._access(operand) for operand in op.operands), found)

    def _access(self, value: ir.Value) -> Access:
        access = self._traced(value)
        if isinstance(access, Access):
            return access
        cut = self.cuts[access.op.results[0]] = access
        return trace_until(value, cut.op, self.dims)

    def _traced(self, value: ir.Value) -> Access | NonScop:
        """How `value` reads below its movements; with fine splits only where it does so between dimensions, too."""
        access = trace(value, self.dims)
        if self._fine and isinstance(access, Access) and isinstance(between := trace(value), NonScop):
            return between  # code composes the movements between dimensions
        return access
