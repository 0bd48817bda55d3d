"""What a recorded cluster reads and writes of global memory, in order and cut into steps.

In: a `Recording`, and the arrays that lie in global memory. Out: `ClusterRequests`, plain arrays. Bytes are counted in
chunks of 64, which is what L2 brings in from memory at once, and in sectors of 32.

Warps have no common order in a recording: the requests of each are spread over the cluster's progress by the share of
its own bytes that it has read before. A multicast copy is read once.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ptxsim.clock.recording.trace import CopyFacts, CopyStart, MemoryRequest, Recording, WarpTrace
from ptxsim.memory.traffic import SECTOR_BYTES

#: What L2 fetches at once. Source: CUDA C++ Programming Guide, `cudaLimitMaxL2FetchGranularity`, default; A100.
L2_CHUNK_BYTES = 64
_SECTORS = L2_CHUNK_BYTES // SECTOR_BYTES


@dataclass(frozen=True)
class StepRequests:
    """A step of a cluster in one array: chunks, counted from the array's first one, and how many sectors of each."""

    array: int
    chunks: np.ndarray
    sectors: np.ndarray


@dataclass(frozen=True)
class ClusterRequests:
    """What one cluster reads and writes: by step, then by array; a step has `step_bytes` of reads.

    `read_bytes` and `written_bytes` are of all steps; bytes of written chunks are counted whole.
    """

    step_bytes: float
    reads: tuple[tuple[StepRequests, ...], ...]
    writes: tuple[tuple[StepRequests, ...], ...]
    read_bytes: int
    written_bytes: int


@dataclass(frozen=True)
class _Requests:
    """Requests in order: how far the cluster is at each of them, in shares of its way, and their sectors."""

    progress: np.ndarray
    sectors: list[np.ndarray]


def requests_of(
    recording: Recording, cluster: int, ranges: Sequence[tuple[int, int]], step_bytes: float
) -> ClusterRequests:
    """The requests of a recorded cluster; `ranges` are the arrays, [start, end) in bytes of global memory."""
    kept = set(_read_once(recording.copies))
    found = [event for warp in recording.warps_of(cluster) for event in _of_warp(warp, recording.copies, kept)]
    reads = _ordered([(progress, sectors) for progress, writes, sectors in found if not writes])
    writes = _ordered([(progress, sectors) for progress, writes, sectors in found if writes])
    sizes = np.array([len(each) * SECTOR_BYTES for each in reads.sectors], np.int64)
    steps = max(1, round(float(sizes.sum()) / step_bytes)) if len(sizes) else 1
    width = sizes.sum() / steps if len(sizes) else step_bytes
    read_at = np.minimum((np.cumsum(sizes) - sizes) // max(width, 1), steps - 1).astype(np.int64)
    written_at = np.minimum((writes.progress * steps).astype(np.int64), steps - 1)
    written = _by_step(_once(writes.sectors), written_at, steps, ranges)
    chunks = sum(len(each.chunks) for step in written for each in step)
    return ClusterRequests(
        float(width),
        _by_step(reads.sectors, read_at, steps, ranges),
        written,
        int(sizes.sum()),
        chunks * L2_CHUNK_BYTES,
    )


def _read_once(copies: Sequence[CopyFacts]) -> Iterator[int]:
    """The numbers of the copies without those whose bytes another one has asked for, too (multicast)."""
    seen: Counter[tuple[int, int, int, int]] = Counter()
    for number, copy in enumerate(copies):
        key = copy.at, copy.issuer, int(copy.sectors[0]) if len(copy.sectors) else 0, len(copy.sectors)
        if seen[key] % copy.sharers == 0:
            yield number
        seen[key] += 1


def _of_warp(warp: WarpTrace, copies: Sequence[CopyFacts], kept: set[int]) -> list[tuple[float, bool, np.ndarray]]:
    """The requests of a warp: how far it is, whether it writes, its sectors."""
    found: list[tuple[bool, np.ndarray]] = []
    for run in warp.runs:
        for event in run.events:
            if isinstance(event, MemoryRequest) and event.space == "global" and event.sectors is not None:
                if event.kind != "store":
                    found.append((False, event.sectors))
                if event.kind != "load":
                    found.append((True, event.sectors))
            elif isinstance(event, CopyStart) and event.number in kept:
                copy = copies[event.number]
                if "global" in (copy.source, copy.destination):
                    found.append((copy.source != "global", copy.sectors))
    read = np.array([0 if writes else len(sectors) for writes, sectors in found], float)
    behind = np.cumsum(read) - read if read.any() else np.arange(1, len(found) + 1)
    progress = behind / max(1.0, read.sum() or len(found))
    return [(share, *each) for share, each in zip(progress.tolist(), found, strict=True)]


def _ordered(found: list[tuple[float, np.ndarray]]) -> _Requests:
    order = sorted(range(len(found)), key=lambda at: found[at][0])
    return _Requests(np.array([found[at][0] for at in order]), [found[at][1] for at in order])


def _once(sectors: list[np.ndarray]) -> list[np.ndarray]:
    """The first time only of each chunk: L2 puts together what is stored to it before it goes to memory."""
    if not sectors:
        return []
    flat = np.concatenate(sectors)
    is_first = np.zeros(len(flat), bool)
    is_first[np.unique(flat // _SECTORS, return_index=True)[1]] = True
    ends = np.cumsum([len(each) for each in sectors])
    return [each[first] for each, first in zip(sectors, np.split(is_first, ends[:-1]), strict=True)]


def _by_step(
    sectors: list[np.ndarray], step_of: np.ndarray, steps: int, ranges: Sequence[tuple[int, int]]
) -> tuple[tuple[StepRequests, ...], ...]:
    """Requests as chunks of arrays, by step. A chunk that is asked for twice stands there twice."""
    if not sectors:
        return ((),) * steps
    flat = np.concatenate(sectors)
    request = np.repeat(np.arange(len(sectors)), [len(each) for each in sectors])
    chunk = flat // _SECTORS
    is_first = np.ones(len(flat), bool)
    is_first[1:] = (chunk[1:] != chunk[:-1]) | (request[1:] != request[:-1])
    first = np.flatnonzero(is_first)
    counts = np.diff(np.append(first, len(flat)))
    starts = np.array([start // L2_CHUNK_BYTES for start, _ in ranges] or [0])
    chunk, step = chunk[first], step_of[request[first]]
    array = np.maximum(np.searchsorted(starts, chunk, "right") - 1, 0)
    chunk = chunk - starts[array]
    ends = np.searchsorted(step, np.arange(steps + 1))
    found: list[tuple[StepRequests, ...]] = []
    for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        here = array[begin:end]
        parts = ((number, here == number) for number in np.unique(here).tolist())
        found.append(
            tuple(StepRequests(number, chunk[begin:end][which], counts[begin:end][which]) for number, which in parts)
        )
    return tuple(found)
