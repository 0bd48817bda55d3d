"""Operands that the rows of a CTA read in common: it reads them once, into shared memory.

In: a candidate with fused loops, and how its scheme shares them. Out: which operands, how many bytes they take, and the
statement that copies them. It pays where a CTA computes several rows; longer operands than `_MOST_BYTES` are left to
the caches.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinyc.analysis.candidate import Candidate
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.schemes.neighbours import loops_of

if TYPE_CHECKING:  # plans are judged where MLIR is not installed
    from tinyc.analysis.poly.block import PolyAccess
    from tinyc.analysis.poly_core.fused_loops import Phase
    from tinyc.dialects.region.to_gpu.function import Frame, Origin

#: What shared operands take of shared memory at most: ten CTAs of an SM of sm_80 have room for so many.
_MOST_BYTES = 16 * 1024


@dataclass(frozen=True)
class SharedOperand:
    """A tensor by the name that accesses have for it, its elements, and its bytes."""

    name: str
    elements: int
    bytes: int


def shared_operands(
    candidate: Candidate, in_common: Callable[["Phase", "PolyAccess"], Dim | None]
) -> tuple[SharedOperand, ...]:
    """The operands of which `in_common` says for each access how many elements several rows read, all of the operand.

    They are taken in the order in which they are read, as long as there is room for them.
    """
    loops = loops_of(candidate)
    anchors = {phase.block.name for phase in loops.phases}
    found: dict[str, set[Dim | None]] = {}
    for phase in loops.phases:
        for access in phase.block.accesses:
            if access.tensor not in anchors:
                is_moved = bool(access.positions) and not access.guards
                found.setdefault(access.tensor, set()).add(in_common(phase, access) if is_moved else None)
    operands: list[SharedOperand] = []
    for name, counts in found.items():
        (elements, *others) = counts
        if others or not isinstance(elements, int) or elements == 0:
            continue
        sizes = [each.element.size_bytes for each in candidate.tensors if extents.product(each.shape) == elements]
        if sizes and elements * max(sizes) + sum(each.bytes for each in operands) <= _MOST_BYTES:
            operands.append(SharedOperand(name, elements, elements * max(sizes)))
    return tuple(operands)


def build_shared(
    origin: "Origin", frame: "Frame", operands: tuple[SharedOperand, ...], width: int, aligned_to: int
) -> None:
    """Emit the statements that copy operands, those of a type by one; `width` and `aligned_to` are their attributes."""
    from tinyc.analysis.kernel_loops import kernel_loops  # MLIR: when a kernel is built
    from tinyc.dialects.gpu import statements as tgpu
    from tinyc.dialects.region import ops as region
    from tinyc.mlir.constants import i64

    found = kernel_loops(origin.kernel.op)
    assert not isinstance(found, str)  # the candidate has them
    reads = [(found.tensor(each.name).owner, each.elements) for each in operands]
    buffers = [
        frame.buffers[op.buffer]
        for op, elements in reads
        if isinstance(op, region.ReadOp) and extents.product(region.held_tensor(op.buffer.type).shape) == elements
    ]
    numbers = [i64(number) for number in (width, aligned_to)]
    for kind in dict.fromkeys(buffer.type for buffer in buffers):
        # IRDL holds the operands of a group to one type.
        tgpu.ShareOp([buffer for buffer in dict.fromkeys(buffers) if buffer.type == kind], *numbers)
