"""Memory on a GPU that outlives a run: what runs at some sizes need, and results that stay on the device."""

import contextlib
import itertools
import math
import weakref
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tinyc.runtime.bound import BoundProgram
from tinyc.runtime.cuda_driver import Device, Driver, DriverError, in_context, reserve
from tinyc.runtime.cuda_graph import STATUS
from tinyc.runtime.device_array import DeviceArray
from tinyc.runtime.outputs import Output
from tinyc.runtime.program import STATUS_BYTES

#: Where a buffer starts in the device's memory: as the driver aligns what it gives. What follows a buffer up to there
#: is nobody's: a compare-and-swap on the last 16 bits of one takes the whole 32-bit word.
DEVICE_ALIGNMENT_BYTES = 256
_ARENA = "arena"


class SizedMemory:
    """The memory that runs at some sizes need on the device, reserved when it is first needed and kept."""

    def __init__(self, device: Device, bound: BoundProgram) -> None:
        self._device, self._bound = device, bound
        self._blocks: list[int] = []
        self._places: dict[str, int] = {}

    def places(self, held: Iterable[str]) -> Mapping[str, int]:
        """Where the arena's buffers, the status slots, and the inputs and outputs in `held` are.

        Raises:
            TinycError: `OutOfMemory`.
        """
        missing = [name for name in (*held, _ARENA, STATUS) if name not in self._places]
        if missing:
            ends, end = list[int](), 0
            for name in missing:
                ends.append(end)
                end += self._size(name)
            block = self._device.allocate(end)
            self._blocks.append(block)
            self._places |= {name: block + start for name, start in zip(missing, ends, strict=True)}
            arena = self._places[_ARENA]
            self._places |= {name: arena + offset for name, offset in self._bound.offsets.items()}
        return self._places

    def _size(self, name: str) -> int:
        if name == STATUS:
            return _aligned(self._bound.program.status_slots * STATUS_BYTES + 1)  # + 1: the driver gives no 0 bytes
        return _aligned(self._bound.arena_bytes if name == _ARENA else max(1, self._bound.sizes[name]))

    def close(self) -> None:
        """Give it back to the driver."""
        for block in self._blocks:
            self._device.free(block)
        self._blocks, self._places = [], {}


class ResultMemory:
    """The memory of results that stay on the device: a result that nobody has any more leaves its to a later one.

    Results outlive the executable, so it keeps the device's context for itself.
    """

    def __init__(self, driver: Driver, name: str) -> None:
        self.driver, self._name = driver, name
        device = driver.call("cuDeviceGet", 0)
        self.context = driver.call("cuDevicePrimaryCtxRetain", device)
        self.free: dict[int, list[int]] = {}
        weakref.finalize(self, _give_back, driver, device, self.context, self.free)

    def array(self, output: Output) -> DeviceArray:
        """An array for an output, uninitialised.

        Raises:
            TinycError: `OutOfMemory`.
        """
        size = max(1, math.prod(output.shape) * output.dtype.itemsize)
        try:
            address = self.free.setdefault(size, []).pop()  # one step, whatever other threads do
        except IndexError:
            with in_context(self.driver, self.context):
                address = reserve(self.driver, self._name, size)
        return DeviceArray(address, output.dtype, output.shape, _Block(self, address, size))


class _Block:
    """Memory of a result, which later results take when it is gone."""

    def __init__(self, memory: ResultMemory, address: int, size_bytes: int) -> None:
        self._memory, self._address, self._size_bytes = memory, address, size_bytes

    def __del__(self) -> None:
        self._memory.free[self._size_bytes].append(self._address)

    def download(self, array: np.ndarray, address: int) -> None:
        """Fill a dense array from an address."""
        if array.nbytes:
            with in_context(self._memory.driver, self._memory.context):
                self._memory.driver.call("cuMemcpyDtoH", array.ctypes.data, address, array.nbytes)


def _give_back(driver: Driver, device: Any, context: Any, free: Mapping[int, list[int]]) -> None:
    with contextlib.suppress(DriverError), in_context(driver, context):
        for address in itertools.chain(*free.values()):
            driver.call("cuMemFree", address)
    with contextlib.suppress(DriverError):
        driver.call("cuDevicePrimaryCtxRelease", device)


def _aligned(size_bytes: int) -> int:
    return -(-size_bytes // DEVICE_ALIGNMENT_BYTES) * DEVICE_ALIGNMENT_BYTES
