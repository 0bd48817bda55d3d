"""What has to hold of a program's symbols before it may run: the one answer that every executor checks.

In: a Tiny function, or a host function with the blocks in which the kernels that it launches compute: of a
`region.kernel` its own block, of a function on a GPU the bodies of its statements (the layer of the kernel knows). Out:
`Assumption`s: what is stated, and that every extent of a value that is needed is a size; a host function makes every
launch, needed or not. No IR is changed.
"""

from collections.abc import Iterator, Mapping, Sequence

from tinyc.analysis.graphs import assumptions_of, body_block, is_tensor, needed_ops
from tinyc.dialects.region.ops import LaunchOp
from tinyc.dialects.tiny.ops import ShrinkOp
from tinyc.expr.assumption import Assumption, required
from tinyc.expr.extents import Dim
from tinyc.mlir import func, ir
from tinyc.vocabulary.attributes import arguments, tensor_type


def preconditions(function: func.FuncOp, kernels: Mapping[str, Sequence[ir.Block]]) -> list[Assumption]:
    """The relations in the order in which they are to be checked; `kernels` has the blocks of each by its name."""
    block = body_block(function)
    launches = [op for op in block.operations if isinstance(op, LaunchOp)]
    dims = dict.fromkeys(_extents(block, list(block.operations) if launches else needed_ops(block)))
    for name in dict.fromkeys(launch.kernel.value for launch in launches):
        for body in kernels[name]:
            dims.update(dict.fromkeys(_extents(body, needed_ops(body))))
    return required(dims, assumptions_of(block))


def _extents(block: ir.Block, ops: Sequence[ir.OpView]) -> Iterator[Dim]:
    """The extents of a block's arguments and of what some ops make, and the bounds that cuts are made at."""
    values = [*block.arguments, *(result for op in ops for result in op.results)]
    for value in values:
        if is_tensor(value.type):  # the tensor of a kernel's buffer is what it reads or yields
            yield from tensor_type(value.type).shape
    for op in ops:
        if isinstance(op, ShrinkOp):
            bounds = arguments(op)
            yield from (*bounds["lo"], *bounds["hi"])
