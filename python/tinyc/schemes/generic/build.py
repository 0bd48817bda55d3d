"""Scheme `generic`, region → statements: one `gpu.func` around one statement with the region's body.

Where updates are added to a copy of the data there are two: the one that makes the copy is launched first.
"""

from collections.abc import Sequence

from tinyc.dialects.gpu import statements as tgpu
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.kernel_body import needed_for
from tinyc.dialects.region.to_gpu.function import Frame, Origin, close_body, copy_body, open_function
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr.extents import Dim
from tinyc.mlir import gpu, ir
from tinyc.mlir.locations import here
from tinyc.schemes.generic.grid import THREADS_PER_CTA, generic_grid, shared_shapes

Shapes = Sequence[tuple[Dim, ...]]


def build_generic(origin: Origin) -> None:
    """Write the function of a kernel, and before it the one that initialises its output, if it needs one."""
    candidate = origin.candidate
    init: dict[str, ir.Attribute] = {}
    statement: type[tgpu.MapOp | tgpu.TopkOp | tgpu.ScatterAddOp] = tgpu.MapOp
    if candidate.scatter is not None and candidate.scatter.adds:
        _copy_data(origin)
        init["init"] = ir.FlatSymbolRefAttr.get(origin.init_name)
        statement = tgpu.ScatterAddOp
    elif candidate.top_k is not None:
        statement = tgpu.TopkOp
    frame = _open(origin, origin.name, shared_shapes(candidate), init)
    with ir.InsertionPoint(frame.body), here():
        op = statement()
        op.body.blocks.append()
        copy_body(frame, op, origin.kernel.body)
        close_body(op)
        gpu.ReturnOp([])


def _copy_data(origin: Origin) -> None:
    """Write the function that gives the output the elements of the data."""
    (yielding,) = origin.kernel.yields
    scatter = yielding.value.owner
    assert isinstance(scatter, tiny.ScatterOp)  # the layer's rule: it is all that such a kernel yields
    frame = _open(origin, origin.init_name, origin.candidate.outputs, {})
    with ir.InsertionPoint(frame.body), here():
        op = tgpu.MapOp()
        block = op.body.blocks.append()
        local = copy_body(frame, op, needed_for(origin.kernel, [scatter.data]))
        with ir.InsertionPoint(block):
            region.YieldOp(local[scatter.data], local[yielding.buffer], materialize=ir.StringAttr.get("gmem"))
        close_body(op)
        gpu.ReturnOp([])


def _open(origin: Origin, name: str, shapes: Shapes, attributes: dict[str, ir.Attribute]) -> Frame:
    grid = generic_grid(tuple(shapes), origin.target)
    return open_function(origin, name, grid, (THREADS_PER_CTA, 1, 1), attributes=attributes)
