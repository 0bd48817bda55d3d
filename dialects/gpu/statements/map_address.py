"""`tgpu.map_address`: of the scalar level, where a tensor map is."""

from typing import Any

from tinyc.dialects.gpu.dialect import TensorMapType, TgpuOp
from tinyc.mlir import ext
from tinyc.mlir.verifying import Malformed


class MapAddressOp(TgpuOp, name="map_address"):
    """The address of a tensor map, an argument of the kernel: an i64."""

    place: ext.Result[Any]
    map: ext.Operand[Any]

    def check(self) -> None:
        """It is a tensor map."""
        if not isinstance(self.map.type, TensorMapType) or str(self.place.type) != "i64":
            raise Malformed(f"gives {self.place.type} for {self.map.type}; it must be an i64 for a !tgpu.tensor_map")
