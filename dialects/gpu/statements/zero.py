"""`tgpu.zero`: an accumulator tile to start from."""

from typing import Any

from tinyc.dialects.gpu.dialect import TgpuOp, accumulator_tile
from tinyc.mlir import ext


class ZeroOp(TgpuOp, name="zero"):
    """An accumulator tile of zeros."""

    accumulator: ext.Result[Any]

    def check(self) -> None:
        """It gives a `!tgpu.acc`."""
        accumulator_tile(self.accumulator.type)
