"""How far into each array a cluster reads: the offset of its accesses from those of the recorded cluster.

In: a module of the simulator, a launch, numbers of clusters. Out: `ClusterOffsets`. Clusters run on the simulator until
they have touched each array once, and are ended there: what they touch first, beside what the recorded one touches
first, is their offset, since kernels address an array by an offset of the CTA and steps that all CTAs have in common.

Where there are many clusters, a sample of them runs, from which offsets are put together by the digits of the cluster's
indices: `x % p` and `x // p` alike then need no formula. Others are checked; if one is elsewhere, all run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ptxsim.clock.kernel_launch import KernelLaunch
from ptxsim.launch import Dim3
from ptxsim.loaded_module import LoadedModule
from ptxsim.machine.observer import (
    AccessFacts,
    AsyncOperation,
    ObservedBatch,
    ObservedCta,
    ObservedLaunch,
    Observer,
)
from ptxsim.memory.byte_array import ByteArray
from ptxsim.report import Report

#: Straight runs of a CTA in which its cluster is asked to have touched what it reads early; and how much later than the
#: first array another one is touched early, too: so many times, and so many runs.
_MOST_RUNS, _LATER_TIMES, _LATER_RUNS = 1000, 4, 100
#: Clusters that all run, beyond which offsets come from a sample; those of the sample that are checked; and those that
#: run at most where the sample does not tell the others.
_FEW, _CHECKED, _MOST = 192, 12, 1056


@dataclass(frozen=True)
class ClusterOffsets:
    """Bytes from what the recorded cluster touches to what others do.

    `ranges` are the arrays of the launch's global memory, [start, end) in bytes from its first one; `offsets` are by
    the number of a range, one for each of `clusters`. An array that is not there is touched late, if at all. `ran`
    counts the clusters that ran; `exact` is false if offsets of others were only put together, and a check failed.
    """

    ranges: tuple[tuple[int, int], ...]
    clusters: np.ndarray
    offsets: dict[int, np.ndarray] = field(default_factory=dict)
    ran: int = 0
    exact: bool = True


class FirstAccesses(Observer):
    """Notes the first place that each cluster touches of each array, and ends clusters that have touched enough.

    The cluster `leader`, which runs first, decides which arrays are touched early. `places` are by cluster, then by the
    number of an allocated range: the lowest byte of the first access.
    """

    def __init__(self, leader: int) -> None:
        self.places: dict[int, dict[int, int]] = {}
        self.ranges: tuple[tuple[int, int], ...] = ()
        self._leader = leader
        self._wanted: frozenset[int] | None = None
        self._run_of: dict[int, int] = {}
        self._earliest: int | None = None

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
        touched, late = self.places.get(number, {}), _MOST_RUNS * len(cta.peers)
        if number == self._leader and self._earliest is not None:
            late = min(late, _LATER_TIMES * self._earliest + _LATER_RUNS)
        if count < late and not (self._wanted is not None and self._wanted <= touched.keys()):
            return
        if number == self._leader:
            self._wanted = self._wanted or frozenset(touched)
        for peer in cta.peers:
            peer.kill()

    def _touch(self, cta: ObservedCta, places: np.ndarray) -> None:
        if not places.size:
            return
        cluster = self._cluster(cta)
        known = self.places.setdefault(cluster, {})
        if cluster == self._leader and self._earliest is None:
            self._earliest = self._run_of.get(cluster, 0)
        for number in np.unique(np.searchsorted(self._starts, places.reshape(-1), "right") - 1).tolist():
            if number >= 0 and number not in known:
                inside = places[places >= self._starts[number]]
                known[number] = int(inside.min())

    def _cluster(self, cta: ObservedCta) -> int:
        extents = zip(cta.index, self._launch.cluster, self._pitch, strict=True)
        return sum(place // size * pitch for place, size, pitch in extents)


def observe_clusters(
    module: LoadedModule, launch: KernelLaunch, observer: Observer, clusters: Sequence[int], checks: Sequence[str] = ()
) -> Report:
    """Run some clusters of a launch of a module and tell the observer.

    Raises:
        InputError, PtxError: as `LoadedModule.launch_observed`.
    """
    shape = launch.grid, launch.block, launch.args, launch.dynamic_shared_bytes, launch.cluster
    return module.launch_observed(observer, launch.kernel, *shape, clusters, checks)


def offsets_of_clusters(module: LoadedModule, launch: KernelLaunch, recorded: int, count: int) -> ClusterOffsets:
    """The offsets of the first `count` clusters of a launch from the recorded one.

    Raises:
        InputError, PtxError: as `LoadedModule.launch_observed`.
    """
    everything = np.arange(min(count, launch.clusters))
    sample = clusters_to_run(launch, recorded, count)
    first = _first_accesses(module, launch, recorded, sample)
    if len(everything) <= _FEW:
        return ClusterOffsets(first.ranges, everything, _relative(first.places, recorded, everything), len(sample))
    checked = _checked(everything)
    places, ran = first.places, len(sample)
    told = _relative(places, recorded, checked)
    offsets = {
        number: _by_digits(places, number, launch.across, everything) - places[recorded][number] for number in told
    }
    exact = all(np.array_equal(offsets[number][checked], told[number]) for number in told)
    if not exact:
        some = everything[:_MOST]
        for number, values in _relative(
            _first_accesses(module, launch, recorded, some.tolist()).places, recorded, some
        ).items():
            offsets[number][some] = values
        ran, exact = ran + len(some), len(some) == len(everything)
    return ClusterOffsets(first.ranges, everything, offsets, ran, exact)


def clusters_to_run(launch: KernelLaunch, recorded: int, count: int) -> list[int]:
    """The clusters that tell the offsets of the first `count`, the recorded one among them."""
    everything = np.arange(min(count, launch.clusters))
    if len(everything) <= _FEW:
        return sorted({recorded, *everything.tolist()})
    return sorted({recorded, *_corners(launch.across), *_checked(everything).tolist()})


def _checked(everything: np.ndarray) -> np.ndarray:
    """Clusters of which is checked whether their digits tell their offsets."""
    return everything[np.linspace(1, len(everything) - 1, _CHECKED).astype(int)]


def _first_accesses(
    module: LoadedModule, launch: KernelLaunch, recorded: int, clusters: Sequence[int]
) -> FirstAccesses:
    """What clusters touch first, the recorded one among them; that one runs before the others."""
    observer = FirstAccesses(recorded)
    rest = sorted({*clusters} - {recorded})
    if rest and rest[0] < recorded:
        observe_clusters(module, launch, observer, [recorded])
        observe_clusters(module, launch, observer, rest)
    else:
        observe_clusters(module, launch, observer, [recorded, *rest])
    return observer


def _relative(found: dict[int, dict[int, int]], recorded: int, clusters: np.ndarray) -> dict[int, np.ndarray]:
    """Offsets of clusters by array; one that has not touched an array is as the recorded one."""
    return {
        number: np.array([found.get(each, {}).get(number, place) - place for each in clusters.tolist()], np.int64)
        for number, place in found.get(recorded, {}).items()
    }


def _digits(extent: int) -> list[tuple[int, int]]:
    """The digits of indices below `extent`: weight and radix of each, radices its prime factors."""
    digits, weight, left = [], 1, extent
    while left > 1:
        radix = next(each for each in range(2, left + 1) if left % each == 0)
        digits.append((weight, radix))
        weight, left = weight * radix, left // radix
    return digits


def _corners(across: Dim3) -> list[int]:
    """The clusters all of whose digits but one are 0."""
    pitches = (1, across[0], across[0] * across[1])
    alone = [
        value * weight * pitch
        for extent, pitch in zip(across, pitches, strict=True)
        for weight, radix in _digits(extent)
        for value in range(1, radix)
    ]
    return [0, *alone]


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
