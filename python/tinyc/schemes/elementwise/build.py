"""Scheme `elementwise`, region → statements: one `gpu.func` around one statement with the region's body."""

import math

from tinyc.dialects.gpu import statements as tgpu
from tinyc.dialects.region.to_gpu.function import Origin, close_body, copy_body, open_function
from tinyc.mlir import gpu, ir
from tinyc.mlir.locations import here
from tinyc.schemes.elementwise.plan import CTA_THREADS, elementwise_grid, shared_by_elements, squares_of
from tinyc.schemes.shared_operands import build_shared


def build_elementwise(origin: Origin) -> None:
    """Write the function of a kernel."""
    assert origin.plan.vectorize is not None  # it is complete
    taken, squares = origin.plan.vectorize["width"], squares_of(origin.candidate, origin.target)
    grid = elementwise_grid(origin.candidate, taken, squares, origin.target)
    # A run is read before it is written; of a square, others are read after it.
    pairs = origin.kernel.in_place if squares is None else ()
    offered = {"in_place": ir.ArrayAttr.get([ir.DenseI64ArrayAttr.get(pair) for pair in pairs])} if pairs else {}
    frame = open_function(origin, origin.name, grid, (CTA_THREADS, 1, 1), attributes=offered)
    with ir.InsertionPoint(frame.body), here():
        i64 = ir.IntegerType.get_signless(64)
        width = ir.IntegerAttr.get(i64, taken)
        for each in shared_by_elements(origin.candidate, taken, squares):
            build_shared(origin, frame, (each,), taken, math.gcd(each.elements, taken))
        if squares is None:
            op = tgpu.MapRunsOp(width)
        else:
            op = tgpu.TransposeOp(ir.IntegerAttr.get(i64, squares.side), width)
        op.body.blocks.append()
        copy_body(frame, op, origin.kernel.body)
        close_body(op)
        gpu.ReturnOp([])
