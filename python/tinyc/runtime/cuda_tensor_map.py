"""Tensor maps as the CUDA driver encodes them: the 128 bytes that a kernel takes by value.

In: a tensor map in numbers, and where its buffer lies on the device. Out: its bytes, which mean something to the
hardware alone. The driver's own function writes them: `cuda.bindings` calls it with memory of Python's allocator, which
is aligned to 16 bytes, and the driver needs 64 (NVIDIA/cuda-python#1692: the process ends).

**Source:** CUDA Driver API, cuTensorMapEncodeTiled; cuda.h has the numbers of its modes.
"""

import ctypes
from collections.abc import Sequence

import numpy as np

from tinyc.diagnostics import TinycError
from tinyc.runtime.bound import BoundTensorMap
from tinyc.runtime.cuda_driver import Driver, DriverError
from tinyc.runtime.program import KernelLaunch, TensorMapParameter
from tinyc.runtime.tensor_map import SWIZZLES_BYTES, TENSOR_MAP_BYTES
from tinyc.vocabulary.element_type import ElementType

MAP_STORE_ALIGNMENT_BYTES = 64
_NAME, _SINCE = "cuTensorMapEncodeTiled", 12000  # the version of CUDA that has it first
_ELEMENT_TYPES = {
    **dict.fromkeys((ElementType.I8, ElementType.UI8, ElementType.BOOL), 0),
    **dict.fromkeys((ElementType.I16, ElementType.UI16), 1),
    ElementType.UI32: 2,
    ElementType.I32: 3,
    ElementType.UI64: 4,
    ElementType.I64: 5,
    ElementType.F16: 6,
    ElementType.F32: 7,
    ElementType.F64: 8,
    ElementType.BF16: 9,
}
#: L2 reads whole lines of 128 bytes; no layout is interleaved; what is out of bounds reads as zeros.
_PROMOTION, _INTERLEAVE, _FILL = 2, 0, 0
#: Result; map, element type, rank, address, dims, strides, box, element strides, interleave, swizzle, promotion, fill.
_Function = ctypes.CFUNCTYPE(
    ctypes.c_int,
    *(ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.c_void_p, *[ctypes.c_void_p] * 4),
    *[ctypes.c_int] * 4,
)


def tensor_map_store(count: int) -> np.ndarray:
    """Memory for so many tensor maps, one a row, where the driver writes and reads them: all zeros."""
    memory = np.zeros(count * TENSOR_MAP_BYTES + MAP_STORE_ALIGNMENT_BYTES, np.uint8)
    start = -memory.ctypes.data % MAP_STORE_ALIGNMENT_BYTES
    return memory[start:][: count * TENSOR_MAP_BYTES].reshape(count, TENSOR_MAP_BYTES)


class TensorMapEncoder:
    """The driver's function that encodes tensor maps.

    Raises:
        DriverError: the driver does not say where it is.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        address, _ = driver.call("cuGetProcAddress", _NAME.encode(), _SINCE, 0)
        self._function = _Function(address) if address else None

    def encode(
        self,
        store: np.ndarray,
        kernel: KernelLaunch,
        parameter: TensorMapParameter,
        tensor_map: BoundTensorMap,
        address: int,
    ) -> None:
        """Write the map of a tensor at `address` to a row of a `tensor_map_store`.

        Raises:
            TinycError: `DeviceFailure`: the driver refuses it, or is too old to know tensor maps.
        """
        if self._function is None:
            message = f"the CUDA driver has no {_NAME}, which kernel '{kernel.symbol}' needs; install one for CUDA 12"
            raise TinycError("DeviceFailure", message, kernel.where)
        rank = len(tensor_map.dims)
        numbers = (
            np.array(tensor_map.dims, np.uint64),
            np.array(tensor_map.strides, np.uint64),
            np.array(tensor_map.box, np.uint32),
            np.ones(rank, np.uint32),
        )
        modes = _INTERLEAVE, SWIZZLES_BYTES.index(tensor_map.swizzle), _PROMOTION, _FILL
        places = (each.ctypes.data for each in numbers)
        code = self._function(store.ctypes.data, _ELEMENT_TYPES[parameter.element], rank, address, *places, *modes)
        if code:
            raise self._refusal(code, kernel, parameter, tensor_map, address)

    def _refusal(
        self,
        code: int,
        kernel: KernelLaunch,
        parameter: TensorMapParameter,
        tensor_map: BoundTensorMap,
        address: int,
    ) -> TinycError:
        error = DriverError(_NAME, self._driver.binding.CUresult(code), self._driver.meaning(code))
        message = (
            f"kernel '{kernel.symbol}': the driver takes no tensor map of {parameter.buffer} ({parameter.element}, "
            f"dims {_shown(tensor_map.dims)}, strides {_shown(tensor_map.strides)}, box {_shown(tensor_map.box)}, "
            f"swizzle {tensor_map.swizzle} bytes, at {address:#x}): {error}; use inputs of other sizes"
        )
        return TinycError("DeviceFailure", message, kernel.where)


def _shown(numbers: Sequence[int]) -> str:
    return "x".join(map(str, numbers)) or "none"
