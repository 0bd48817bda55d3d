"""Hints for the generated kernel: the synchronisation that an edge needs, and bank conflicts of staged tiles.

Bank conflicts are found by enumeration of the lanes' addresses. Shared memory serves a warp in phases: all lanes at
once for accesses of up to 4 bytes, a half warp for 8 and a quarter for 16 bytes; `ldmatrix` takes the 8 rows of a
matrix, of 16 bytes each, in one phase. In a phase, the words of one bank are served one after the other. Source: CUDA
C++ Programming Guide, "Shared Memory" of compute capability 5.x and later; PTX ISA, ldmatrix.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tinyc.analysis.poly.block import PolyAccess, PolyBlock
from tinyc.analysis.poly_core.buffer import MinBuffer
from tinyc.analysis.poly_core.subscript import subscript_of
from tinyc.analysis.poly_core.tile import kept_axes, tile_of
from tinyc.expr import axes
from tinyc.target.target import Target
from tinyc.vocabulary.element_type import ElementType

#: The first architecture with tensor copies (TMA) and their mbarriers: PTX ISA, cp.async.bulk.tensor.
_TENSOR_COPIES = (9, 0)
_LANES = 32
_CHUNK_BYTES = 16  # what a row of an ldmatrix matrix is, and what a swizzle moves


@dataclass(frozen=True)
class BarrierHint:
    """The synchronisation that `consumer` waits for before it reads `tensor` in shared memory, and why.

    `kind` is "commit/wait" (groups of cp.async), "mbarrier" (a phase for each stage) or "barrier" (of all threads).
    """

    kind: str
    tensor: str
    consumer: str
    reason: str


@dataclass(frozen=True)
class BankHint:
    """Reading a tile of `tensor` with `pitch_bytes` between rows by `pattern` takes `ways` times as long as it could.

    Pitches are whole chunks of 16 bytes for "ldmatrix", which reads no others, and words for "column";
    `padded_pitch_bytes` is the least one without conflicts.
    """

    tensor: str
    pattern: str
    pitch_bytes: int
    ways: int
    padded_pitch_bytes: int

    @property
    def remedy(self) -> str:
        """The way to avoid the conflicts."""
        if self.ways == 1:
            return "none needed"
        swizzle = f", or swizzle chunks of {_CHUNK_BYTES} bytes by the row" if self.pattern == "ldmatrix" else ""
        return f"pad rows to {self.padded_pitch_bytes} bytes{swizzle}"


def barrier_hints(
    blocks: Sequence[PolyBlock], buffers: Mapping[tuple[str, str], MinBuffer], target: Target
) -> Iterator[BarrierHint]:
    """The barrier of each tile that passes through shared memory: operands of contractions, circular buffers."""
    made = {block.name for block in blocks}
    has_mbarrier = target.compute_capability >= _TENSOR_COPIES
    copied = ("mbarrier", "the tensor copy arrives with its bytes") if has_mbarrier else ("commit/wait", "by cp.async")
    passed = ("mbarrier", "producer threads arrive") if has_mbarrier else ("barrier", "all threads of the CTA write it")
    for block in blocks:
        for tensor in dict.fromkeys(read.tensor for read in block.accesses):
            buffer = buffers.get((tensor, block.name))
            if tensor not in made and block.kind == "contraction_pattern":
                yield BarrierHint(copied[0], tensor, block.name, f"a stage comes from global memory: {copied[1]}")
            elif buffer is not None and buffer.buffer == "smem_ring":
                reason = (
                    f"a circular buffer of {buffer.depth} stages: {passed[1]}; a stage is free again when it is read"
                )
                yield BarrierHint(passed[0], tensor, block.name, reason)


def bank_hints(
    block: PolyBlock, sizes: Mapping[str, int], elements: Mapping[str, ElementType], target: Target
) -> Iterator[BankHint]:
    """The conflicts of the operands of a contraction, and of what is read by columns, as row-major tiles.

    `elements` has the element types of the tensors that are known; of others nothing can be said.
    """
    for read in dict.fromkeys(block.accesses):
        if read.tensor not in elements or not read.index:
            continue
        element_bytes = elements[read.tensor].size_bytes
        pattern = _pattern(block, read, element_bytes)
        row = subscript_of([read], len(read.index) - 1, block.statement.shape)
        width = None if row is None else row.width(tile_of(block, sizes))
        if pattern is not None and isinstance(width, int):
            yield bank_hint(read.tensor, pattern, width * element_bytes, target)


def _pattern(block: PolyBlock, read: PolyAccess, element_bytes: int) -> str | None:
    """How a warp reads a staged tile: an MMA's operand of 16-bit elements, or along its columns."""
    if block.kind == "contraction_pattern" and element_bytes == 2:
        return "ldmatrix"
    if len(read.index) < 2:
        return None
    fastest = max(kept_axes(block), default=None)
    by_column = fastest is not None and fastest in axes.positions(read.index[-2])
    return "column" if by_column and fastest not in axes.positions(read.index[-1]) else None


def conflict_ways(addresses: Sequence[int] | np.ndarray, access_bytes: int, target: Target) -> int:
    """The most words of one bank that a phase asks for: 1 where there is no conflict.

    Shapes: `addresses: [lanes]`, of the lanes in order, in bytes; multiples of 4.
    """
    lanes = max(1, _LANES * target.shared_bank_bytes // max(access_bytes, target.shared_bank_bytes))
    words = np.arange(0, access_bytes, target.shared_bank_bytes)
    worst = 1
    places = np.asarray(addresses)
    for first in range(0, len(places), lanes):
        touched = np.unique((places[first : first + lanes, None] + words) // target.shared_bank_bytes)
        worst = max(worst, int(np.bincount(touched % target.shared_banks).max()))
    return worst


def row_addresses(pitch_bytes: int, swizzled: bool = False) -> np.ndarray:
    """Where the 8 rows of an `ldmatrix` matrix begin; a swizzle moves chunk c of row r to chunk ``c xor r``."""
    rows = np.arange(8)
    return rows * pitch_bytes + (rows * _CHUNK_BYTES if swizzled else 0)


def column_addresses(pitch_bytes: int) -> np.ndarray:
    """Where the 32 lanes of a warp read that take a column."""
    return np.arange(_LANES) * pitch_bytes


def bank_hint(tensor: str, pattern: str, pitch_bytes: int, target: Target) -> BankHint:
    """The conflicts of reading a row-major tile by `pattern`: "ldmatrix", or "column" (a word for each lane).

    Rows of `pitch_bytes` have the next pitch that the pattern can read.
    """
    unit = _CHUNK_BYTES if pattern == "ldmatrix" else target.shared_bank_bytes
    units = -(-pitch_bytes // unit)
    ways = _ways(pattern, units * unit, target)
    padded = units if ways == 1 else units | 1  # an odd number of units has no conflicts
    return BankHint(tensor, pattern, units * unit, ways, padded * unit)


def _ways(pattern: str, pitch_bytes: int, target: Target) -> int:
    if pattern == "ldmatrix":
        return conflict_ways(row_addresses(pitch_bytes), _CHUNK_BYTES, target)
    return conflict_ways(column_addresses(pitch_bytes), target.shared_bank_bytes, target)
