"""What all clusters that are resident at the same time ask for in a step: the recorded cluster's requests, shifted.

In: `ClusterRequests`, `ClusterOffsets`, who is resident. Out: for each step different chunks, and how many SMs of each
partition ask for each. Clusters of a round are at the same step; `drift` puts together those that are not. A cluster
that makes several tiles of the product one after the other (a persistent kernel) is taken to be as far from the
recorded one in all of them as in its first; what is shifted past the end of its array comes in at its beginning. An
array that no cluster touches early is read and written in parts of its own by each of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ptxsim.clock.memory.l2 import L2Shape
from ptxsim.clock.memory.offsets import ClusterOffsets
from ptxsim.clock.memory.requests import L2_CHUNK_BYTES, ClusterRequests, StepRequests
from ptxsim.memory.traffic import SECTOR_BYTES


@dataclass(frozen=True)
class RoundStep:
    """What a round asks for in a step: `chunks: [n]`, all different, `requests: [partitions, n]`, `sector_bytes: [n]`.

    `own_read` and `own_written` are bytes that no cluster shares with another one, beside these.
    """

    chunks: np.ndarray
    requests: np.ndarray
    sector_bytes: np.ndarray
    own_read: float
    own_written: float


@dataclass(frozen=True)
class ArrayPlace:
    """Where the chunks of an array are numbered from, and how many it has."""

    first: int
    count: int


def array_places(offsets: ClusterOffsets) -> tuple[dict[int, ArrayPlace], int]:
    """The numbers of the chunks of each array that clusters share, and how many there are."""
    places, count = {}, 0
    for number in sorted(offsets.offsets):
        start, end = offsets.ranges[number]
        size = max(1, -(-(end - start) // L2_CHUNK_BYTES))
        places[number] = ArrayPlace(count, size)
        count += size
    return places, count


class Round:
    """Clusters at the same step; `clusters` are places in `ClusterOffsets.clusters`, `slots` where they run."""

    def __init__(
        self,
        shape: L2Shape,
        sms: int,
        cluster_ctas: int,
        requests: ClusterRequests,
        offsets: ClusterOffsets,
        clusters: Sequence[int],
        slots: Sequence[int] | None = None,
    ) -> None:
        self.requests, self.count = requests, len(clusters)
        self._places, _ = array_places(offsets)
        of_sm = max(1, sms // cluster_ctas)
        partition = np.array(
            [shape.partition_of(at % of_sm * cluster_ctas) for at in (range(len(clusters)) if slots is None else slots)]
        )
        #: For each array: the different offsets in chunks, and how many clusters of each partition have them.
        self._shifts: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for number, values in offsets.offsets.items():
            shifts, which = np.unique(values[np.asarray(clusters)] // L2_CHUNK_BYTES, return_inverse=True)
            counts = [np.bincount(which[partition == each], minlength=len(shifts)) for each in range(shape.partitions)]
            self._shifts[number] = shifts, np.array(counts)
        self.partitions = shape.partitions

    def step(self, number: int) -> RoundStep:
        """What the clusters ask for in one step."""
        chunks: list[np.ndarray] = []
        counts: list[np.ndarray] = []
        sizes: list[np.ndarray] = []
        own_read = 0.0
        for part in self.requests.reads[number]:
            if part.array not in self._shifts:
                own_read += self.count * float(part.sectors.sum()) * SECTOR_BYTES
                continue
            shifts, asking = self._shifts[part.array]
            place = self._places[part.array]
            moved = (part.chunks[None, :] + shifts[:, None]) % place.count + place.first
            chunks.append(moved.reshape(-1))
            counts.append(np.repeat(asking, len(part.chunks), axis=1))
            sizes.append(np.tile(part.sectors * SECTOR_BYTES, len(shifts)))
        own_written = self.count * sum(_bytes(each) for each in self.requests.writes[number])
        if not chunks:
            none = np.zeros(0, np.int64)
            return RoundStep(none, np.zeros((self.partitions, 0)), none, own_read, own_written)
        return RoundStep(
            *different_chunks(np.concatenate(chunks), np.concatenate(counts, 1), np.concatenate(sizes)),
            own_read,
            own_written,
        )


def _bytes(part: StepRequests) -> float:
    return float(len(part.chunks)) * L2_CHUNK_BYTES


def different_chunks(
    chunks: np.ndarray, requests: np.ndarray, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Chunks that are asked for twice put together: their requests, and the mean of their bytes."""
    order = np.argsort(chunks, kind="stable")
    chunks, requests, gotten = chunks[order], requests[:, order], (requests * sizes)[:, order]
    first = np.flatnonzero(np.append(True, chunks[1:] != chunks[:-1]))
    summed, bytes_of_all = (np.add.reduceat(each, first, axis=1) for each in (requests, gotten))
    return chunks[first], summed, bytes_of_all.sum(axis=0) / np.maximum(1, summed.sum(axis=0))
