"""Hints for the generated kernel: which synchronisation an edge needs, and which staged tiles have bank conflicts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tinyc.analysis import axes
from tinyc.analysis.poly.block import PolyAccess, PolyBlock
from tinyc.analysis.poly_core.banks import BankHint, bank_hint
from tinyc.analysis.poly_core.buffer import MinBuffer
from tinyc.analysis.poly_core.row import row_of
from tinyc.analysis.poly_core.tile import kept_axes, tile_of
from tinyc.dialects.tiny.types import size_bytes
from tinyc.target.target import Target

#: The first architecture with tensor copies (TMA) and their mbarriers: PTX ISA, cp.async.bulk.tensor.
_TENSOR_COPIES = (9, 0)


@dataclass(frozen=True)
class BarrierHint:
    """What `consumer` has to wait for before it reads `tensor` in shared memory, and why.

    `kind` is "commit/wait" (groups of cp.async), "mbarrier" (a phase for each stage) or "barrier" (of all threads).
    """

    kind: str
    tensor: str
    consumer: str
    reason: str


def barrier_hints(
    blocks: Sequence[PolyBlock], buffers: Mapping[tuple[str, str], MinBuffer], target: Target
) -> Iterator[BarrierHint]:
    """Yield what each tile that passes through shared memory needs: the operands of contractions, and the rings."""
    made = {block.name for block in blocks}
    has_mbarrier = target.compute_capability >= _TENSOR_COPIES
    copied = ("mbarrier", "the tensor copy arrives with its bytes") if has_mbarrier else ("commit/wait", "by cp.async")
    passed = (
        ("mbarrier", "producer threads arrive") if has_mbarrier else ("barrier", "all threads of the block write it")
    )
    for block in blocks:
        for tensor in dict.fromkeys(read.tensor for read in block.accesses):
            buffer = buffers.get((tensor, block.name))
            if tensor not in made and block.kind == "contraction_pattern":
                yield BarrierHint(copied[0], tensor, block.name, f"a stage comes from global memory: {copied[1]}")
            elif buffer is not None and buffer.buffer == "smem_ring":
                reason = f"a ring of {buffer.depth} stages: {passed[1]}; a stage is free again when it is read"
                yield BarrierHint(passed[0], tensor, block.name, reason)


def bank_hints(
    block: PolyBlock, sizes: Mapping[str, int], elements: Mapping[str, str], target: Target
) -> Iterator[BankHint]:
    """Yield the conflicts of the operands of a contraction, and of what is read by columns, as row-major tiles.

    `elements` has the element types of the tensors that are known; of others nothing can be said.
    """
    for read in dict.fromkeys(block.accesses):
        if read.tensor not in elements or not read.index:
            continue
        element_bytes = size_bytes(elements[read.tensor])
        pattern = _pattern(block, read, element_bytes)
        row = row_of([read], len(read.index) - 1, block.statement.shape)
        width = None if row is None else row.width(tile_of(block, sizes))
        if pattern is not None and isinstance(width, int):
            yield bank_hint(read.tensor, pattern, width * element_bytes, target)


def _pattern(block: PolyBlock, read: PolyAccess, element_bytes: int) -> str | None:
    """Return how a warp reads a staged tile: an MMA's operand of 16-bit elements, or along its columns."""
    if block.kind == "contraction_pattern" and element_bytes == 2:
        return "ldmatrix"
    if len(read.index) < 2:
        return None
    fastest = max(kept_axes(block), default=None)
    by_column = fastest is not None and fastest in axes.positions(read.index[-2])
    return "column" if by_column and fastest not in axes.positions(read.index[-1]) else None
