"""Which operand of a kernel its result may take the place of: each element is read where it is written, and only there.

In: a `region.kernel`. Out: pairs of its buffers by their positions, what is read and what is written. The claim is that
of the access relation: a step of the fused loops reads the one element of the operand whose place in memory is that of
the element that it writes. So no other step reads what a step has overwritten, in whatever order or in how many lanes
they run, as long as a step reads before it writes.
"""

from tinyc.analysis.kernel_loops import KernelLoops, kernel_loops
from tinyc.analysis.poly.block import PolyAccess
from tinyc.analysis.poly_core.fused_loops import Phase
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny.ops import ReduceOp
from tinyc.expr.axes import AxisExpr, Index, Shape
from tinyc.expr.extents import Dim
from tinyc.mlir import ir
from tinyc.mlir.bodies import body_of

#: The positions of two buffers of a kernel: one that is read, and one that is written.
InPlacePair = tuple[int, int]


def in_place_pairs(op: region.KernelOp) -> tuple[InPlacePair, ...]:
    """The buffers of a kernel whose memory may be that of its result, each with the result."""
    body = body_of(op)
    yields = [each for each in body if isinstance(each, region.YieldOp)]
    whole = (region.OrderedOp, region.CheckedOp, ReduceOp)
    if len(yields) != 1 or any(isinstance(each, whole) for each in body) or region.PANELS in op.attributes:
        return ()
    kernel = kernel_loops(op)
    if isinstance(kernel, str) or len(kernel.loops.phases) != 1:
        return ()
    (phase,) = kernel.loops.phases
    buffers: list[ir.Value] = list(op.regions[0].blocks[0].arguments)
    owners = [kernel.tensor(access.tensor).owner for access in phase.block.accesses]
    reads: list[ir.Value] = [owner.buffer for owner in owners if isinstance(owner, region.ReadOp)]
    if len(reads) != len(owners) or phase.inner or phase.is_reduction:
        return ()
    accesses = zip(reads, phase.block.accesses, strict=True)
    elsewhere = {buffer for buffer, access in accesses if not is_in_place(kernel, phase, access)}
    return tuple(
        (position, len(buffers) - 1)
        for position, buffer in enumerate(buffers[:-1])
        if buffer in reads and buffer not in elsewhere
    )


def is_in_place(kernel: KernelLoops, phase: Phase, access: PolyAccess) -> bool:
    """Whether each instance of a phase reads the element at the place in memory at which it writes its own."""
    block, read = phase.block, kernel.tensor(access.tensor).owner
    return (
        isinstance(read, region.ReadOp)
        and not access.guards
        and _moving(access.index, kernel.shape(access.tensor)) == _moving(block.write, block.written_shape)
        and region.held_tensor(read.buffer.type).element.size_bytes == block.element.size_bytes
    )


def _moving(index: Index, shape: Shape) -> list[tuple[AxisExpr, Dim]]:
    """The rows of an index with their extents, where there is more than one element."""
    return [(row, extent) for row, extent in zip(index, shape, strict=True) if extent != 1]
