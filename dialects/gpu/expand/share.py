"""`tgpu.share` for one thread: its part of the copies, and where the statements behind it find the elements."""

import math

from tinyc.codegen import scalars
from tinyc.dialects.gpu.expand.alloc_smem import shared_array
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.planes import Planes
from tinyc.dialects.gpu.expand.threads import comment
from tinyc.dialects.gpu.statements import LoadVectorOp, ShareOp, StoreVectorOp
from tinyc.dialects.gpu.statements.rules import VECTOR_BYTES
from tinyc.dialects.region import ops as region
from tinyc.mlir import gpu, ir, memref


def expand(expansion: Expansion, op: ShareOp) -> None:
    """Emit the copies, and a barrier behind them."""
    for buffer in op.buffers:
        tensor = region.held_tensor(buffer.type)
        element, count = tensor.element, math.prod(each for each in tensor.shape if isinstance(each, int))
        planes = Planes.of(count, element.size_bytes, op.width.value, op.aligned_to.value)
        memory = shared_array(expansion, element, planes.count * planes.size)
        width = VECTOR_BYTES // element.size_bytes
        _copy(expansion, buffer, memory, planes, 0, count // width, width)
        _copy(expansion, buffer, memory, planes, count - count % width, count % width, 1)
        expansion.elements.keep_in(buffer, memory, planes)
    gpu.barrier()


def _copy(
    expansion: Expansion, buffer: ir.Value, memory: ir.Value, planes: Planes, start: int, accesses: int, width: int
) -> None:
    """Emit the copy of what so many accesses of `width` elements take from `start` on."""
    elements, source = expansion.elements, expansion.elements.buffers[buffer]
    counters, stored = elements.counters, scalars.storage_type(elements.element_of(buffer))
    if not accesses:
        return
    with expansion.threads.shared_in_cta(accesses) as number:
        comment("share: what all rows of the CTA read")
        first = counters.expression(number) * width + start
        if width == 1:
            values = [memref.load(source, [counters.value(first)])]
        else:
            values = list(LoadVectorOp([stored] * width, source, counters.value(first)).results)
        taken = min(planes.taken, width)
        for lane in range(0, width, taken):
            place = counters.value(planes.place(counters, first + lane))
            if taken == 1:
                memref.store(values[lane], memory, [place])
            else:
                StoreVectorOp(memory, place, values[lane : lane + taken])
