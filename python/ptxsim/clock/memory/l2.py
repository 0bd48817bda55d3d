"""An L2 of lines: two partitions that each keep a copy of what their SMs read, and slices that serve one line each.

In: what all clusters of a step ask for, as chunks of 64 bytes with the requests of each partition's SMs. Out: how many
of them are there, come from the other partition, or from memory, and how unevenly the slices are loaded.

A chunk stays until as many bytes as a partition holds have been brought in since it was last asked for. Each line has a
home: the partition next to its memory. What another partition's SMs read is brought there, too (NVIDIA A100 whitepaper:
"each L2 partition caches data for memory accesses from SMs in the GPCs directly connected to the partition").

How lines are hashed to slices and homes is not published: a line's place is as good as chance here, but for lines that
follow each other, which go to all slices by turns.
"""

from copy import copy
from dataclasses import dataclass

import numpy as np

from ptxsim.clock.devices import Device
from ptxsim.clock.memory.requests import L2_CHUNK_BYTES

_LINE_BYTES = 128
_CHUNKS_OF_LINE = _LINE_BYTES // L2_CHUNK_BYTES
_NEVER = np.iinfo(np.int32).min // 2


@dataclass(frozen=True)
class L2Shape:
    """The L2 of a device: bytes of all partitions, partitions, slices of all of them."""

    size_bytes: int
    partitions: int
    slices: int

    @classmethod
    def of(cls, device: Device) -> "L2Shape":
        """The L2 of a device of the table."""
        partitions = int(device.l2_partitions)
        return cls(int(device.l2_bytes), partitions, int(device.l2_slices) // partitions * partitions)

    def partition_of(self, sm: int) -> int:
        """The partition of an SM, by its TPC.

        GPCs of several sizes are numbered alternately, so that no rule of the CTA's number holds for long: a parity
        that never repeats stands for it. Assumed: no publication tells the order.
        """
        return (sm // 2).bit_count() % self.partitions


@dataclass(frozen=True)
class StepTraffic:
    """What L2 does in a step, in bytes of the whole chip.

    `requested` is what SMs get; of it, `near` was there, `far_waits` waited for the other partition and `memory_waits`
    for memory: all who ask for a line in the step in which it comes wait for it. `far` and `memory` are what was
    brought in, each line once; `missed` is what partitions did not have, once for each of them. `imbalance` is the
    fullest slice over the mean.
    """

    requested: float
    near: float
    far_waits: float
    memory_waits: float
    far: float
    memory: float
    missed: float
    imbalance: float

    def with_own(self, own_read: float, lines: float = 1.0) -> "StepTraffic":
        """The traffic of `lines` times as many lines, and of bytes that clusters read of their own, from memory."""
        return StepTraffic(
            self.requested * lines + own_read,
            self.near * lines,
            self.far_waits * lines,
            self.memory_waits * lines + own_read,
            self.far * lines,
            self.memory * lines + own_read,
            self.missed * lines + own_read,
            self.imbalance,
        )


class L2State:
    """What is in L2; chunks are numbers below `chunks`."""

    def __init__(self, shape: L2Shape, chunks: int) -> None:
        self.shape = shape
        self._empty(chunks)
        lines = np.arange(-(-chunks // _CHUNKS_OF_LINE), dtype=np.uint64)
        of_partition = shape.slices // shape.partitions
        rotated = (lines % of_partition + _mixed(lines // of_partition) % of_partition) % of_partition
        self._slice = np.repeat(rotated.astype(np.int16), _CHUNKS_OF_LINE)[:chunks]
        homes = (_mixed(lines + np.uint64(1 << 40)) >> np.uint64(7)) % np.uint64(shape.partitions)
        self._home = np.repeat(homes.astype(np.int8), _CHUNKS_OF_LINE)[:chunks]

    def _empty(self, chunks: int, share: int = 1) -> None:
        #: The clock of each partition counts the chunks that were brought in; that at which each was last asked for.
        self._clock = np.zeros(self.shape.partitions, np.int64)
        self._last = np.full((self.shape.partitions, chunks), _NEVER, np.int32)
        self._held = self.shape.size_bytes // self.shape.partitions // L2_CHUNK_BYTES // share

    def sampled(self, share: int) -> "tuple[L2State, np.ndarray]":
        """An empty L2 of one in `share` lines, and which chunks are in these: [chunks] bool."""
        state = copy(self)
        chunks = self._last.shape[1]
        state._empty(chunks, share)
        lines = np.arange(-(-chunks // _CHUNKS_OF_LINE), dtype=np.uint64)
        is_in = (_mixed(lines + np.uint64(1 << 41)) >> np.uint64(9)) % np.uint64(share) == 0
        return state, np.repeat(is_in, _CHUNKS_OF_LINE)[:chunks]

    def hold(self, chunks: np.ndarray) -> None:
        """Let chunks be there from the beginning, in all partitions."""
        self._last[:, chunks] = 0

    def occupy(self, count: float) -> None:
        """Let chunks that are not asked for again be brought in, spread over the partitions: what is written."""
        self._clock += int(count / self.shape.partitions)

    def read(self, chunks: np.ndarray, requests: np.ndarray, sector_bytes: np.ndarray) -> StepTraffic:
        """Ask for different chunks.

        Args:
            chunks: their numbers: [n].
            requests: how many SMs of each partition ask for each: [partitions, n].
            sector_bytes: the bytes of it that each of them gets: [n].
        """
        partitions, home, place = self.shape.partitions, self._home[chunks], np.arange(len(chunks))
        is_there = self._last[:, chunks].astype(np.int64) >= self._clock[:, None] - self._held
        asks = requests > 0
        lacks = asks & ~is_there
        from_memory = lacks.any(axis=0) & ~is_there[home, place]
        is_home = home[None, :] == np.arange(partitions)[:, None]
        from_far = lacks & ~is_home
        gotten = requests * sector_bytes
        late = np.where(from_memory[None, :] & lacks, gotten, 0).sum()
        far_late = np.where(from_far & ~from_memory[None, :], gotten, 0).sum()
        brought = lacks | (is_home & lacks.any(axis=0))
        self._clock += (brought & ~is_there).sum(axis=1)
        for number in range(partitions):
            self._last[number, chunks[asks[number] | brought[number]]] = self._clock[number]
        total = float(gotten.sum())
        return StepTraffic(
            total,
            total - float(late) - float(far_late),
            float(far_late),
            float(late),
            float(from_far.sum()) * L2_CHUNK_BYTES,
            float(from_memory.sum()) * L2_CHUNK_BYTES,
            float(lacks.sum()) * L2_CHUNK_BYTES,
            self._imbalance(chunks, gotten, is_home & from_far.any(axis=0)),
        )

    def _imbalance(self, chunks: np.ndarray, gotten: np.ndarray, forwarded: np.ndarray) -> float:
        """The fullest slice over the mean; homes also give what they forward to the other partition."""
        of_partition = self.shape.slices // self.shape.partitions
        slices, served = self._slice[chunks], gotten + forwarded * L2_CHUNK_BYTES
        loads = [np.bincount(slices, served[number], of_partition) for number in range(self.shape.partitions)]
        load = np.concatenate(loads)
        return float(load.max() / load.mean()) if load.any() else 1.0


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Numbers as good as chance. Source: Steele et al., splitmix64, OOPSLA 2014."""
    mixed = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
