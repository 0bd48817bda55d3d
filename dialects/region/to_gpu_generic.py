"""The scheme `generic`: one thread for each element of a result, which any region can have.

In: a `region.kernel`. Out: one `gpu.func` around one statement with the region's body; two of them where updates are
added to a copy of the data.
"""

from collections.abc import Iterable
from typing import Any

from tinyc.analysis import extents
from tinyc.analysis.extents import Dim
from tinyc.codegen import top_k
from tinyc.dialects.gpu import ops as gpu_ops
from tinyc.dialects.region.ops import held_tensor
from tinyc.dialects.region.to_gpu_function import Frame, Origin, close_body, copy_body, needed_for, open_function
from tinyc.dialects.region.verify import block_of, outputs_of, yields_of
from tinyc.dialects.tiny.attributes import arguments, tensor_type
from tinyc.mlir import body_of, gpu, ir

#: Threads of a block.
THREADS = 256
#: Blocks that a grid can have along x; threads go on to further elements. Symbolic grids are checked at each launch.
MOST_BLOCKS = 2**31 - 1


def build(origin: Origin, name: str, init: str) -> None:
    """Write the function `name`, and before it `init` where updates are added to a copy of the data."""
    by_name = {op.operation.name: op for op in block_of(origin.kernel).operations}
    scatter, topk = by_name.get("tiny.scatter"), by_name.get("tiny.topk")
    outputs = [held_tensor(output.type).shape for output in outputs_of(origin.kernel)]
    if scatter is not None:
        updates = tensor_type(scatter.operation.operands[2].type).shape
        if arguments(scatter)["op"] == "add":
            _copy_data(origin, init, outputs, scatter)
            symbol = ir.FlatSymbolRefAttr.get(init)
            _write(origin, name, [updates], gpu_ops.ScatterAddOp, init=symbol)
        else:
            _write(origin, name, [*outputs, updates], gpu_ops.MapOp)
    elif topk is not None:
        _write(origin, name, [top_k.lanes(topk)], gpu_ops.TopkOp)
    else:
        _write(origin, name, outputs, gpu_ops.MapOp)


def _write(origin: Origin, name: str, shared: Iterable[Any], statement: Any, **attributes: Any) -> None:
    """Write a function with the region's whole body in one statement; threads share the elements of shapes."""
    frame = _open(origin, name, shared, attributes)
    with ir.InsertionPoint(frame.function.entry_block):
        op = statement()
        op.operation.regions[0].blocks.append()
        copy_body(frame, op, body_of(origin.kernel))
        close_body(op)
        gpu.ReturnOp([])


def _copy_data(origin: Origin, name: str, outputs: list[Any], scatter: Any) -> None:
    """Write the function that gives the output the elements of the data."""
    data = scatter.operation.operands[0]
    (yielding,) = yields_of(origin.kernel)
    frame = _open(origin, name, outputs, {})
    with ir.InsertionPoint(frame.function.entry_block):
        op = gpu_ops.MapOp()
        block = op.operation.regions[0].blocks.append()
        local = copy_body(frame, op, needed_for(origin.kernel, [data]))
        with ir.InsertionPoint(block):
            ir.Operation.create(
                "region.yield",
                operands=[local[data], local[yielding.operation.operands[1]]],
                attributes={"materialize": ir.StringAttr.get("gmem")},
            )
        close_body(op)
        gpu.ReturnOp([])


def _open(origin: Origin, name: str, shared: Iterable[Any], attributes: dict[str, Any]) -> Frame:
    total: Dim = 0
    for shape in shared:
        total = total + extents.product(shape)
    blocks = extents.ceildiv(total, THREADS)
    grid = (min(blocks, MOST_BLOCKS) if isinstance(blocks, int) else blocks, 1, 1)
    return open_function(origin, name, grid, (THREADS, 1, 1), **attributes)
