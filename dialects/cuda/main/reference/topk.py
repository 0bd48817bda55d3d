"""`tgpu.topk`, row by row."""

from tinyc.codegen import top_k
from tinyc.dialects.gpu.expand.flat_elements import FlatElements
from tinyc.dialects.gpu.statements import TopkOp
from tinyc.dialects.tiny import ops as tiny


def compute(elements: FlatElements, op: TopkOp) -> None:
    """Search each row along the axis."""
    search = op.the(tiny.TopkOp)
    with elements.loops(search.row_extents) as row:
        top_k.write_topk(elements, search, row, op.outputs)
