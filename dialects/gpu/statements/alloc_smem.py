"""`tgpu.alloc_smem`: reserve shared memory for a circular buffer of tiles."""

from typing import Any

from tinyc.dialects.gpu.dialect import TgpuOp, staged_tile
from tinyc.mlir import ext


class AllocSmemOp(TgpuOp, name="alloc_smem"):
    """Reserve a circular buffer of tiles in the CTA's shared memory."""

    tiles: ext.Result[Any]

    def check(self) -> None:
        """It gives a `!tgpu.smem`."""
        staged_tile(self.tiles.type)
