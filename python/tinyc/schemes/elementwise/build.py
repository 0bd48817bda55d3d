"""Scheme `elementwise`, region → statements: one `gpu.func` around one statement with the region's body."""

from tinyc.dialects.gpu import statements as tgpu
from tinyc.dialects.region.to_gpu.function import Origin, close_body, copy_body, open_function
from tinyc.mlir import gpu, ir
from tinyc.mlir.locations import here
from tinyc.schemes.elementwise.plan import THREADS_PER_CTA, elementwise_grid, tile_of, transposition


def build_elementwise(origin: Origin) -> None:
    """Write the function of a kernel."""
    assert origin.plan.vectorize is not None  # it is complete
    width = origin.plan.vectorize["width"]
    grid = elementwise_grid(origin.candidate, width, origin.target)
    frame = open_function(origin, origin.name, grid, (THREADS_PER_CTA, 1, 1))
    with ir.InsertionPoint(frame.body), here():
        i64 = ir.IntegerType.get_signless(64)
        taken = ir.IntegerAttr.get(i64, width)
        if transposition(origin.candidate) is None:
            op = tgpu.ElementwiseOp(taken)
        else:
            op = tgpu.TransposeOp(ir.IntegerAttr.get(i64, tile_of(origin.candidate)), taken)
        op.body.blocks.append()
        copy_body(frame, op, origin.kernel.body)
        close_body(op)
        gpu.ReturnOp([])
