"""Scheme `row_reduce`, region → statements: one `gpu.func` around one statement with the region's body."""

from tinyc.dialects.gpu import statements as tgpu
from tinyc.dialects.region.to_gpu.function import Origin, close_body, copy_body, open_function
from tinyc.mlir import gpu, ir
from tinyc.mlir.locations import here
from tinyc.schemes.row_reduce.plan import row_grid, row_shape


def build_row_reduce(origin: Origin) -> None:
    """Write the function of a kernel."""
    assert origin.plan.vectorize is not None  # it is complete
    shape = row_shape(origin.candidate, origin.plan.vectorize["width"])
    frame = open_function(origin, origin.name, row_grid(origin.candidate, shape, origin.target), (*shape.cta, 1))
    with ir.InsertionPoint(frame.body), here():
        i64 = ir.IntegerType.get_signless(64)
        width, unrolled = ir.IntegerAttr.get(i64, shape.width), ir.BoolAttr.get(shape.unrolled)
        op = tgpu.RowReduceOp(ir.StringAttr.get(shape.lanes), width, unrolled)
        op.body.blocks.append()
        copy_body(frame, op, origin.kernel.body)
        close_body(op)
        gpu.ReturnOp([])
