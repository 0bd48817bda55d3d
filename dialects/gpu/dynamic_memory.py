"""Dynamic shared memory of a kernel: where its swizzled tiles and its mbarriers are, and how much it takes.

A kernel that has either, or tiles in the place of others, has all of its tiles there; any other kernel has them in
static shared memory.
"""

from tinyc.dialects.gpu.dialect import MbarrierType, SmemType, TgpuOp, mbarrier_stages, staged_tile
from tinyc.dialects.gpu.kernel import GpuKernel
from tinyc.dialects.gpu.shared_layout import TILE_ALIGNMENT
from tinyc.mlir import ir

#: Bytes of an mbarrier.
MBARRIER_BYTES = 8


#: On a `tgpu.alloc_smem`: its tiles take the place of those that are done with.
OVERLAY = "tgpu.overlay"


def dynamic_offsets(kernel: GpuKernel) -> dict[ir.Value, int]:
    """Where each of a kernel's tiles and mbarriers begins, in bytes; none where it has no dynamic shared memory."""
    return _placed(kernel)[0]


def dynamic_bytes(kernel: GpuKernel) -> int:
    """How much dynamic shared memory a kernel takes."""
    return _placed(kernel)[1]


def _aligned(offset: int) -> int:
    return -(-offset // TILE_ALIGNMENT) * TILE_ALIGNMENT


def _placed(kernel: GpuKernel) -> tuple[dict[ir.Value, int], int]:
    results = [result for op in kernel.ops if isinstance(op, TgpuOp) for result in op.results]
    tiles = {each: staged_tile(each.type) for each in results if isinstance(each.type, SmemType)}
    barriers = {each: mbarrier_stages(each.type) for each in results if isinstance(each.type, MbarrierType)}
    overlays = {each for each in tiles if OVERLAY in each.owner.attributes}
    if not barriers and not overlays and all(each.is_plain for each in tiles.values()):
        return {}, 0
    offsets: dict[ir.Value, int] = {}
    end = 0
    over = 0
    for value, staged in tiles.items():
        is_over = value in overlays
        offsets[value] = _aligned(over if is_over else end)
        end = max(end, offsets[value] + staged.size_bytes)
        over = offsets[value] + staged.size_bytes if is_over else over
    end = -(-end // MBARRIER_BYTES) * MBARRIER_BYTES
    for value, stages in barriers.items():
        offsets[value] = end
        end += stages * MBARRIER_BYTES
    return offsets, end
