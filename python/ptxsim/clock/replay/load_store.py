"""The load/store unit of an SM: queues of its sub-partitions, the addresses, the banks of shared memory and L1.

In: memory instructions as they issue. Out: when they may, when their addresses are there, when their data has moved.
Source: Huerta et al., MICRO 2025, table 1 and §5: a sub-partition has room for five memory instructions, each until its
operands have been read; it computes the addresses of one in 4 cycles, the SM takes one in 2; of one warp the first five
issue at once, the sixth 11 cycles behind the first, further ones every 4 cycles, every 8 where four sub-partitions do
so. The banks move 128 bytes in a cycle, one instruction after the other: what waits for them holds up those behind it.
"""

from collections import deque

from ptxsim.clock.devices import Device

#: Cycles from the address unit until the operands of a memory instruction have been read. Source: the same.
OPERANDS_READ = 11


class LoadStoreUnit:
    """The unit of one SM; times are cycles."""

    def __init__(self, device: Device) -> None:
        parts = int(device.subpartitions)
        self._interval, self._address_interval = float(device.lsu_interval), float(device.lsu_address_interval)
        self._room = int(device.lsu_queue)
        self._queues: list[deque[float]] = [deque() for _ in range(parts)]
        self._addresses = [0.0] * parts
        self._next = self._banks = 0.0

    def room(self, part: int, time: float) -> float:
        """When there is room for an instruction of a sub-partition, from `time` on."""
        queue = self._queues[part]
        while queue and queue[0] <= time:
            queue.popleft()
        return queue[0] if len(queue) >= self._room else time

    def take(self, part: int, time: float) -> float:
        """Take an instruction that issues at `time`; returns when its addresses are computed."""
        start = max(self._next, self._addresses[part], time)
        self._next = start + self._interval
        self._addresses[part] = start + self._address_interval
        self._queues[part].append(start + OPERANDS_READ)
        return start

    def move(self, start: float, passes: float, at_once: bool = True) -> float:
        """When the first of some passes through the banks is; `at_once` for what L1 and shared memory have."""
        begun = max(self._banks, start)
        self._banks = begun + passes
        if at_once:
            self._next = max(self._next, begun)
        return begun
