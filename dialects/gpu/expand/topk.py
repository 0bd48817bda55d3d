"""`tgpu.topk` for one thread: its share of the rows along the searched axis."""

from tinyc.codegen import top_k
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.threads import comment
from tinyc.dialects.gpu.statements import TopkOp
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents


def expand(expansion: Expansion, op: TopkOp) -> None:
    """Emit the loop over the rows, each of which one thread searches."""
    elements, search = expansion.elements, op.the(tiny.TopkOp)
    with expansion.threads.shared_in_grid(extents.product(search.row_extents)) as number:
        comment("topk: one row for each thread at a time")
        top_k.write_topk(elements, search, elements.delinearized(number, search.row_extents), op.outputs)
