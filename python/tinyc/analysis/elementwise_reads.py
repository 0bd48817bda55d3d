"""What an element of a value is computed from, where movements and element-wise ops alone are in between.

In: a value, which stays as it is. Out: for each tensor below it the access by which it is read.
"""

from tinyc.analysis.access import Access, extend
from tinyc.analysis.tiny_ops import producer_of
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import axes
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import tensor_type


def elementwise_reads(value: ir.Value) -> dict[ir.Value, Access]:
    """How an element of `value` reads the tensors that it is computed from by movements and element-wise ops.

    These are what is read, and arguments of blocks, in the order of operands. There are none where another op is below,
    or where a tensor is read at two places for one element.
    """
    domain = tensor_type(value.type).shape
    found: dict[ir.Value, Access] = {}
    pending, seen = [Access(value, axes.identity(domain))], set[Access]()
    while pending:
        access, fault = extend(pending.pop(0), domain)
        op = producer_of(access.source)
        if access in seen or isinstance(op, tiny.ConstOp):
            continue
        seen.add(access)
        if isinstance(op, tiny.ElementwiseOp):
            pending[:0] = [Access(each, access.map, access.guards) for each in op.operands]
        elif fault is None and (op is None or isinstance(op, region.ReadOp)):
            if found.setdefault(access.source, access) != access:
                return {}
        else:
            return {}
    return found
