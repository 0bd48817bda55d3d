"""The L1 of an SM: which sectors that its warps read are there, or on their way, and which L2 is asked for.

In: the reads of resident warps, in the order of their times. Out: when their data are there. Lines of 128 bytes are
filled by sectors of 32, the line that was not read for longest makes place. Stores go through and are not kept.
What lies in shared memory is not L1's: of both together the device has `l1_bytes`, and shared memory gets the smallest
of its sizes that holds what the resident CTAs need. Source: CUDA C++ Programming Guide, "Shared Memory" of compute
capabilities 8.x and 9.0 (the sizes).
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable

import numpy as np

from ptxsim.clock.devices import Device
from ptxsim.memory.traffic import SECTOR_BYTES

L1_LINE_BYTES = 128
_LINE_SECTORS = L1_LINE_BYTES // SECTOR_BYTES
#: Sizes that shared memory can have, in KiB; each device has those up to its `shared_bytes_per_sm`.
_SHARED_SIZES = (0, 8, 16, 32, 64, 100, 132, 164, 196, 228)


def l1_capacity(device: Device, shared_bytes: int) -> int:
    """The bytes of L1 beside resident CTAs that need so many bytes of shared memory in all."""
    sizes = [each * 1024 for each in _SHARED_SIZES if each * 1024 <= device.shared_bytes_per_sm]
    return int(device.l1_bytes) - next((size for size in sizes if size >= shared_bytes), sizes[-1])


def lines_touched(sectors: np.ndarray) -> int:
    """How many lines sectors lie in: so often the tags are looked at."""
    return len(np.unique(sectors // _LINE_SECTORS))


class L1Cache:
    """The lines of one SM's L1; a line's sectors have the times from which on they are there."""

    def __init__(self, capacity_bytes: int) -> None:
        self._most = capacity_bytes // L1_LINE_BYTES
        self._lines: OrderedDict[Hashable, dict[int, float]] = OrderedDict()

    def read(
        self, owner: Hashable, sectors: np.ndarray, time: float, fetch: Callable[[int], float]
    ) -> tuple[float, int]:
        """When sectors that are read at `time` are there, and the bytes that L2 is asked for.

        `fetch` takes these bytes and says when they come. Addresses of different owners are different memory: of a
        recorded CTA that stands for several, each reads its own.
        """
        here, missing = time, []
        for sector in sectors.tolist():
            key = owner, sector // _LINE_SECTORS
            line = self._lines.get(key)
            if line is None:
                line = self._lines[key] = {}
            else:
                self._lines.move_to_end(key)
            if sector in line:
                here = max(here, line[sector])
            else:
                missing.append((line, sector))
        while len(self._lines) > self._most:
            self._lines.popitem(last=False)
        if missing:
            come = fetch(len(missing) * SECTOR_BYTES)
            here = max(here, come)
            for line, sector in missing:
                line[sector] = come
        return here, len(missing) * SECTOR_BYTES
