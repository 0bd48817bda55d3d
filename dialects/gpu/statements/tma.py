"""`tgpu.tma_load`, `tgpu.tma_store`: copies of boxes between a buffer and shared memory, which one thread starts."""

from collections.abc import Sequence
from typing import Any

from tinyc.dialects.gpu.dialect import TensorMapType, TgpuOp, mbarrier_stages, staged_tile
from tinyc.dialects.gpu.statements.rules import require_indices
from tinyc.mlir import ext, ir
from tinyc.mlir.verifying import Malformed


class TmaLoadOp(TgpuOp, name="tma_load"):
    """Copy the tile of a stage by a tensor map; the bytes count at the stage's mbarrier.

    One of the threads that run it does so. `place` is where the box of a slab begins in the map's tensor, innermost
    dimension first; the next slab is one line further along that. With `multicast` above 1 the CTAs of the cluster, so
    many, load a part each, for all of them.
    """

    tiles: ext.Operand[Any]
    stage: ext.Operand[Any]
    barriers: ext.Operand[Any]
    map: ext.Operand[Any]
    place: Sequence[ext.Operand[Any]]
    multicast: ir.IntegerAttr

    def check(self) -> None:
        """Stages of tiles and mbarriers agree; the place is one of a tensor that a map can have."""
        _require_copy(self)
        if staged_tile(self.tiles.type).stages != mbarrier_stages(self.barriers.type):
            raise Malformed(f"fills a stage of {self.tiles.type} and counts at {self.barriers.type}; give both as many")
        lines = staged_tile(self.tiles.type).layout.lines
        if not 1 <= self.multicast.value <= 16 or lines % (8 * self.multicast.value):
            raise Malformed(
                f"has multicast = {self.multicast.value}; the CTAs share {lines} lines, each a multiple of 8"
            )


class TmaStoreOp(TgpuOp, name="tma_store"):
    """Copy the tile of a stage to a buffer by its tensor map; what reaches beyond the buffer is not written."""

    tiles: ext.Operand[Any]
    stage: ext.Operand[Any]
    buffer: ext.Operand[Any]
    map: ext.Operand[Any]
    place: Sequence[ext.Operand[Any]]

    def check(self) -> None:
        """The place is one of a tensor that a map can have."""
        _require_copy(self)


def _require_copy(op: TmaLoadOp | TmaStoreOp) -> None:
    staged_tile(op.tiles.type)
    require_indices(op, "stage")
    if not isinstance(op.map.type, TensorMapType):
        raise Malformed(f"copies by {op.map.type}; it must be a !tgpu.tensor_map, an argument of the kernel")
    if not 1 <= len(op.place) <= 5 or any(not isinstance(each.type, ir.IndexType) for each in op.place):
        shown = ", ".join(str(each.type) for each in op.place)
        raise Malformed(f"has a place of coordinates ({shown}); a tensor map has 1 to 5, of type index")
