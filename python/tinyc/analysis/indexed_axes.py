"""Which axes an input is an index into: `gather` and `scatter` read their positions from data.

In: an argument of a host function, and the kernels that it launches, by symbol. Out: the extents of the axes that its
elements index, as far as the kernels show it.
"""

from collections.abc import Mapping

from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr.extents import Dim
from tinyc.mlir import func, ir
from tinyc.vocabulary.attributes import tensor_type


def indexed_extents(value: ir.Value, kernels: Mapping[str, ir.OpView | None]) -> tuple[Dim, ...]:
    """The extents of the axes that `value`, under movements, indexes; none where it is not an index."""
    found: dict[Dim, None] = {}
    pending = [value]
    while pending:
        for use in pending.pop().uses:
            op = use.owner
            if isinstance(op, tiny.GatherOp | tiny.ScatterOp) and use.operand_number == 1:
                found[tensor_type(op.data.type).shape[op.axis.value]] = None
            elif isinstance(op, tiny.MovementOp | region.ReadOp):
                pending.append(op.results[0])
            elif isinstance(op, func.CallIndirectOp) and isinstance(op.callee.owner, region.LaunchOp):
                kernel = kernels.get(op.callee.owner.kernel.value)
                if kernel is not None:
                    pending.append(kernel.regions[0].blocks[0].arguments[use.operand_number - 1])
    return tuple(found)
