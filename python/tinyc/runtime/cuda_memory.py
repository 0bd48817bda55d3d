"""Memory on a GPU that outlives a run: what runs at some sizes need, and results that stay on the device."""

import contextlib
import itertools
import math
import weakref
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tinyc.runtime.bound import BoundProgram
from tinyc.runtime.cuda_driver import Device, Driver, DriverError, failure, in_context, reserve
from tinyc.runtime.cuda_graph import STATUS
from tinyc.runtime.device_array import DeviceArray
from tinyc.runtime.outputs import Output
from tinyc.runtime.program import STATUS_BYTES
from tinyc.vocabulary.alignment import aligned_size

#: How many pieces of memory that results have left are kept where another is reserved.
KEPT_RESULTS = 16
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
        """The bytes up to where the next buffer may start, as the driver aligns what it gives.

        What follows a buffer up to there is nobody's: a compare-and-swap on its last 16 bits takes a word of 32 bits.
        """
        if name == STATUS:
            return aligned_size(self._bound.program.status_slots * STATUS_BYTES)
        return aligned_size(self._bound.arena_bytes if name == _ARENA else self._bound.sizes[name])

    def close(self) -> None:
        """Give it back to the driver."""
        for block in self._blocks:
            self._device.free(block)
        self._blocks, self._places = [], {}


class ResultMemory:
    """The memory of results that stay on the device: a result that nobody has any more leaves its to a later one.

    Work that reads a result may still be on its way when the last reference to it goes, on a stream of any library. So
    what results leave is taken over, or given back to the driver, when all work that was on the device then is done.
    Results outlive the executable, so this keeps the device's context for itself.
    """

    def __init__(self, driver: Driver, name: str) -> None:
        self.driver, self.name = driver, name
        device = driver.call("cuDeviceGet", 0)
        self.context = driver.call("cuDevicePrimaryCtxRetain", device)
        #: Sizes and addresses: what results have left since the device was waited for, and what is free.
        self.left: list[tuple[int, int]] = []
        self._free: list[tuple[int, int]] = []
        weakref.finalize(self, _give_back, driver, device, self.context, self.left, self._free)

    def array(self, output: Output) -> DeviceArray:
        """An array for an output, uninitialised. One thread at a time may ask for one.

        Raises:
            TinycError: `OutOfMemory`.
        """
        size = math.prod(output.shape) * output.dtype.itemsize
        with in_context(self.driver, self.context):
            address = self._taken(size)
            if address is None and self.left:
                self._settle()
                address = self._taken(size)
            if address is None:
                self._trim(KEPT_RESULTS)
                address = reserve(self.driver, self.name, size)
        return DeviceArray(address, output.dtype, output.shape, _Block(self, address, size), device=0)

    def trim(self) -> bool:
        """Give all that is free back to the driver; whether there was something."""
        with in_context(self.driver, self.context):
            self._settle()
            return self._trim(0)

    def _taken(self, size_bytes: int) -> int | None:
        """The address of free memory of a size, which is not free from then on."""
        for position, (size, address) in enumerate(self._free):
            if size == size_bytes:
                del self._free[position]
                return address
        return None

    def _settle(self) -> None:
        """Wait for the device: what results have left before is free then."""
        count = len(self.left)  # other threads add to it
        self.driver.call("cuCtxSynchronize")
        settled = self.left[:count]
        del self.left[:count]  # first: what an interrupt leaves in both lists would be given out twice
        self._free += settled

    def _trim(self, kept: int) -> bool:
        """Give back what has been free for longest, beyond so many; whether there was something."""
        given_back = self._free[: max(0, len(self._free) - kept)]
        del self._free[: len(given_back)]
        for _, address in given_back:
            self.driver.call("cuMemFree", address)
        return bool(given_back)


class _Block:
    """Memory of a result, which later results take when it is gone."""

    def __init__(self, memory: ResultMemory, address: int, size_bytes: int) -> None:
        self._memory, self._address, self._size_bytes = memory, address, size_bytes

    def __del__(self) -> None:
        self._memory.left.append((self._size_bytes, self._address))  # one step, whatever other threads do

    def download(self, array: np.ndarray, address: int) -> None:
        """Fill a dense array from an address.

        Raises:
            TinycError: `DeviceFailure`.
        """
        memory = self._memory
        try:
            if array.nbytes:
                with in_context(memory.driver, memory.context):
                    memory.driver.call("cuMemcpyDtoH", array.ctypes.data, address, array.nbytes)
        except DriverError as error:
            raise failure(error, f"copying a result from {memory.name}") from None


def _give_back(driver: Driver, device: Any, context: Any, *blocks: Iterable[tuple[int, int]]) -> None:
    with contextlib.suppress(DriverError), in_context(driver, context):
        driver.call("cuCtxSynchronize")
        for _, address in itertools.chain(*blocks):
            driver.call("cuMemFree", address)
    with contextlib.suppress(DriverError):
        driver.call("cuDevicePrimaryCtxRelease", device)
