"""How far into each array a cluster reads: the offset of its accesses from those of the recorded cluster.

In: a module of the simulator, a launch, numbers of clusters. Out: `ClusterOffsets`. Clusters run on the simulator until
they have touched each array once, and are ended there: what they touch first, beside what the recorded one touches
first, is their offset, since kernels address an array by an offset of the CTA and steps that all CTAs have in common.

Where there are many clusters, a sample of them runs, from which offsets are put together by the digits of the cluster's
indices: `x % p` and `x // p` alike then need no formula. Others are checked; if one is elsewhere, all run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from ptxsim.launch import Dim3
from ptxsim.machine.observer import AccessFacts, AsyncOperation, ObservedBatch, ObservedCta, ObservedLaunch, Observer
from ptxsim.memory.byte_array import ByteArray
from ptxsim.module import Module

#: Straight runs of a CTA in which its cluster is asked to have touched what it reads early; and how much later than the
#: first array another one is touched early, too: so many times, and so many runs.
_MOST_RUNS, _LATER_TIMES, _LATER_RUNS = 1000, 4, 100
#: Clusters that all run, beyond which offsets come from a sample; those of the sample that are checked; and those that
#: run at most where the sample does not tell the others.
_FEW, _CHECKED, _MOST = 192, 12, 1056


@dataclass(frozen=True)
class ClusterOffsets:
    """Bytes from what the recorded cluster touches to what others do.

    `ranges` are the arrays of the launch's global memory, [start, end) in bytes from its first one; `offsets` are by the
    number of a range, one for each of `clusters`. An array that is not there is touched late, if at all. `ran` counts
    the clusters that ran; `exact` is false if offsets of some others were only put together, and a check failed.
    """

    ranges: tuple[tuple[int, int], ...]
    clusters: np.ndarray
    offsets: dict[int, np.ndarray] = field(default_factory=dict)
    ran: int = 0
    exact: bool = True


class FirstAccesses(Observer):
    """Notes the first place that each cluster touches of each array, and ends clusters that have touched `wanted`.

    `places` are by cluster, then by the number of an allocated range: the lowest byte of the first access. `runs` has
    the straight runs before each of them, of the last cluster.
    """

    def __init__(self, wanted: frozenset[int] | None = None) -> None:
        self.places: dict[int, dict[int, int]] = {}
        self.ranges: tuple[tuple[int, int], ...] = ()
        self.runs: dict[int, int] = {}
        self._wanted = wanted
        self._run_of: dict[int, int] = {}

    def began(self, launch: ObservedLaunch) -> None:
        """Note the launch."""
        self._launch = launch
        self.ranges = tuple(launch.memory.allocated)
        self._starts = np.array([start for start, _ in self.ranges])
        x, y, _ = (extent // size for extent, size in zip(launch.grid, launch.cluster, strict=True))
        self._pitch = (1, x, x * y)

    def accessed(
        self,
        access: AccessFacts,
        batch: ObservedBatch,
        memory: ByteArray,
        index: np.ndarray,
        usable: np.ndarray | None = None,
        values: np.ndarray | None = None,
    ) -> None:
        """Note an access by threads."""
        if memory.space == "global" and index.size:
            places = index if batch.mask.shape != index.shape else index[batch.mask]
            self._touch(batch.cta, places if usable is None else places[usable.reshape(places.shape)])

    def started(self, operation: AsyncOperation) -> None:
        """Note a copy."""
        for region in (*operation.reads, *operation.writes):
            if region.memory.space == "global":
                self._touch(operation.cta, region.index)

    def ran(self, cta: ObservedCta, warps: np.ndarray, start: int, end: int, mask: np.ndarray) -> None:
        """End a cluster that has touched what is wanted."""
        number = self._cluster(cta)
        count = self._run_of[number] = self._run_of.get(number, 0) + 1
        touched = self.places.get(number, {})
        late = _MOST_RUNS * len(cta.peers)
        if self._wanted is None:
            late = min(late, _late(self.runs))
            is_enough = False
        else:
            is_enough = self._wanted <= touched.keys()
        if is_enough or count >= late:
            for peer in cta.peers:
                peer.kill()

    def _touch(self, cta: ObservedCta, places: np.ndarray) -> None:
        if not places.size:
            return
        known = self.places.setdefault(self._cluster(cta), {})
        for number in np.unique(np.searchsorted(self._starts, places.reshape(-1), "right") - 1).tolist():
            if number >= 0 and number not in known:
                inside = places[places >= self._starts[number]]
                known[number] = int(inside.min())
                self.runs[number] = self._run_of.get(self._cluster(cta), 0)

    def _cluster(self, cta: ObservedCta) -> int:
        extents = zip(cta.index, self._launch.cluster, self._pitch, strict=True)
        return sum(place // size * pitch for place, size, pitch in extents)


def _late(runs: dict[int, int]) -> float:
    """The straight run from which on an array is not touched early any more."""
    return _LATER_TIMES * min(runs.values()) + _LATER_RUNS if runs else float("inf")


@dataclass(frozen=True)
class LaunchOfKernel:
    """What `Module.launch_observed` takes for a launch."""

    module: Module
    kernel: str
    grid: Dim3
    block: Dim3
    args: Sequence[object]
    dynamic_shared_bytes: int = 0
    cluster: Dim3 = (1, 1, 1)

    @property
    def across(self) -> Dim3:
        """The clusters of the grid in x, y and z."""
        x, y, z = (extent // size for extent, size in zip(self.grid, self.cluster, strict=True))
        return x, y, z

    def observe(self, observer: Observer, clusters: Sequence[int]) -> None:
        """Run some clusters and tell the observer."""
        self.module.launch_observed(
            observer,
            self.kernel,
            self.grid,
            self.block,
            self.args,
            self.dynamic_shared_bytes,
            self.cluster,
            clusters,
        )


def offsets_of_clusters(launch: LaunchOfKernel, recorded: int, count: int) -> ClusterOffsets:
    """The offsets of the first `count` clusters of a launch from the recorded one.

    Raises:
        InputError, PtxError: as `Module.launch_observed`.
    """
    first = FirstAccesses()
    launch.observe(first, [recorded])
    base = first.places.get(recorded, {})
    wanted, everything = frozenset(base), np.arange(min(count, prod(launch.across)))
    if not wanted:
        return ClusterOffsets(first.ranges, everything)
    if len(everything) <= _FEW:
        found = _first_places(launch, wanted, everything)
        offsets = _relative(found, base, everything)
        return ClusterOffsets(first.ranges, everything, offsets, len(everything))
    corners = _corners(launch.across)
    checked = everything[np.linspace(1, len(everything) - 1, _CHECKED).astype(int)]
    sample = np.unique(np.concatenate([corners, checked]))
    found = _first_places(launch, wanted, sample)
    offsets = {number: _by_digits(found, number, launch.across, everything) - place for number, place in base.items()}
    told = _relative(found, base, checked)
    exact = all(np.array_equal(offsets[number][checked], told[number]) for number in base)
    ran = len(sample)
    if not exact:
        some = everything[:_MOST]
        found = _first_places(launch, wanted, some)
        for number, values in _relative(found, base, some).items():
            offsets[number][some] = values
        ran, exact = ran + len(some), len(some) == len(everything)
    return ClusterOffsets(first.ranges, everything, offsets, ran, exact)


def _first_places(launch: LaunchOfKernel, wanted: frozenset[int], clusters: np.ndarray) -> dict[int, dict[int, int]]:
    observer = FirstAccesses(wanted)
    launch.observe(observer, clusters.tolist())
    return observer.places


def _relative(found: dict[int, dict[int, int]], base: dict[int, int], clusters: np.ndarray) -> dict[int, np.ndarray]:
    """Offsets of clusters by array; one that has not touched an array is as the recorded one."""
    return {
        number: np.array([found.get(each, {}).get(number, place) - place for each in clusters.tolist()], np.int64)
        for number, place in base.items()
    }


def _digits(extent: int) -> list[tuple[int, int]]:
    """The digits of indices below `extent`: weight and radix of each, radices its prime factors."""
    digits, weight, left = [], 1, extent
    while left > 1:
        radix = next(each for each in range(2, left + 1) if left % each == 0)
        digits.append((weight, radix))
        weight, left = weight * radix, left // radix
    return digits


def _corners(across: Dim3) -> np.ndarray:
    """The clusters all of whose digits but one are 0."""
    pitches = (1, across[0], across[0] * across[1])
    alone = [
        value * weight * pitch
        for extent, pitch in zip(across, pitches, strict=True)
        for weight, radix in _digits(extent)
        for value in range(1, radix)
    ]
    return np.unique([0, *alone])


def _by_digits(found: dict[int, dict[int, int]], number: int, across: Dim3, clusters: np.ndarray) -> np.ndarray:
    """The place of each cluster in an array: that of cluster 0, and what each of its digits adds to it."""
    origin = found.get(0, {}).get(number, 0)
    places = np.full(len(clusters), origin, np.int64)
    pitches = (1, across[0], across[0] * across[1])
    for extent, pitch in zip(across, pitches, strict=True):
        index = clusters // pitch % extent
        for weight, radix in _digits(extent):
            steps = [found.get(value * weight * pitch, {}).get(number, origin) - origin for value in range(radix)]
            places += np.array(steps)[index // weight % radix]
    return places
