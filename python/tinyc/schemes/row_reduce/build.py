"""Scheme `row_reduce`, region → statements: one `gpu.func` around one statement with the region's body."""

from tinyc.dialects.gpu import statements as tgpu
from tinyc.dialects.region.to_gpu.function import Origin, close_body, copy_body, open_function
from tinyc.mlir import gpu, ir
from tinyc.mlir.constants import i64
from tinyc.mlir.locations import here
from tinyc.schemes.neighbours import loops_of, shared_by_ctas
from tinyc.schemes.row_reduce.plan import reduction_shape
from tinyc.schemes.rows import build_shared_by_rows, row_width


def build_row_reduce(origin: Origin) -> None:
    """Write the function of a kernel."""
    assert origin.plan.vectorize is not None  # it is complete
    # What parts of rows have found are rows of their own.
    shape = reduction_shape(origin.candidate, min(origin.plan.vectorize["width"], row_width(origin.candidate)))
    grid = shared_by_ctas(loops_of(origin.candidate).steps, shape.rows_per_cta, origin.target)
    frame = open_function(origin, origin.name, grid, (*shape.cta, 1))
    with ir.InsertionPoint(frame.body), here():
        build_shared_by_rows(origin, frame, shape)
        width = i64(shape.width)
        op = tgpu.ReduceRowsOp(ir.StringAttr.get(shape.lanes), width, ir.BoolAttr.get(shape.unrolled))
        op.body.blocks.append()
        copy_body(frame, op, origin.kernel.body)
        close_body(op)
        gpu.ReturnOp([])
