"""Runs the CTAs of a launch: those of a cluster together, and more of them while the first wait for others.

In: a `Launch`. Out: nothing; memory, findings and tallies are in the launch. CTAs run one cluster after the other, as
far as the launch names theirs; a cluster that has had its share and is not done lets the next ones in, as many as a GPU
would hold, so that a CTA may wait for another one.
"""

from collections import deque
from collections.abc import Iterator
from itertools import islice, product
from math import prod
from typing import NamedTuple

from ptxsim.copies.bulk_groups import end_copies
from ptxsim.engine.deadlock import DeadlockDetector, give_up
from ptxsim.engine.executable import Executable
from ptxsim.engine.schedule import next_batch
from ptxsim.engine.time_outs import TimeOuts
from ptxsim.instructions.barriers import resolve_stall
from ptxsim.machine.cta import Cta
from ptxsim.machine.launch import Launch
from ptxsim.mbarrier.objects import mbarriers

#: Turns of one CTA before its peers have theirs, and of a cluster before the next one is let in.
_CTA_TURNS = 64
_CLUSTER_ROUNDS = 64
#: Rounds of a cluster without an effect on memory that end its share: it may wait for another one.
_QUIET_ROUNDS = 4
#: Clusters that run at the same time.
_RESIDENT_CLUSTERS = 128


def run_grid(launch: Launch, executable: Executable) -> None:
    """Run every CTA of the launch to its end, or until no thread can go on."""
    waiting = _clusters(launch, executable)
    resident: deque[list[Cta]] = deque()
    detector, time_outs = DeadlockDetector(launch, executable.sites), TimeOuts(launch)
    wanted = 1
    while True:
        newcomers = list(islice(waiting, min(wanted, _RESIDENT_CLUSTERS - len(resident))))
        resident += newcomers
        if not resident:
            return
        shares = [_run_cluster(each, executable) for each in resident]
        resident = deque(each for each in resident if not _retires(each))
        if launch.monitor is not None:
            ended = launch.cta_count - sum(map(len, resident))
            launch.monitor(ended, len(launch.clusters) * prod(launch.cluster), int(launch.counts.sum()))
        # If all of them wait, they may do so for CTAs that have not begun: as many again as there are.
        wanted = max(1, len(resident)) if all(share.waits for share in shares) else 1
        is_suspicious = detector.is_suspicious()
        if not newcomers and resident and (is_suspicious or not any(share.moved for share in shares)):
            ctas = [cta for each in resident for cta in each]
            if detector.are_deadlocked(ctas, lambda cta: run_turns(cta, executable, 1)) and not _go_on(ctas, time_outs):
                _end(ctas)
                return


def _clusters(launch: Launch, executable: Executable) -> Iterator[list[Cta]]:
    """Make the clusters that are run, in the order of their numbers: x fastest."""
    sizes = launch.cluster
    across, down, _ = (extent // size for extent, size in zip(launch.grid, sizes, strict=True))
    for number in launch.clusters:
        x, y, z = number % across, number // across % down, number // (across * down)
        ctas = []
        for dz, dy, dx in product(*(range(size) for size in reversed(sizes))):
            index = (x * sizes[0] + dx, y * sizes[1] + dy, z * sizes[2] + dz)
            cta = Cta.begin(launch, index, len(ctas))
            cta.written = {slot: cta.no_lanes() for slot in executable.tracked}
            cta.after_return = executable.after_return
            ctas.append(cta)
        for cta in ctas:
            cta.peers = ctas
        yield ctas


def _retires(cluster: list[Cta]) -> bool:
    """Whether all threads of a cluster have exited; reports what their mbarriers still expect then."""
    if not all(cta.finished for cta in cluster):
        return False
    for cta in cluster:
        mbarriers(cta).report_mismatches(at_end=True)
    for cta in cluster:
        cta.retire()
    return True


def _go_on(ctas: list[Cta], time_outs: TimeOuts) -> bool:
    """Let threads go on where no other can: blocked waits give up, then barriers take what has come."""
    if time_outs.let_go(ctas):
        return True
    resolved = [resolve_stall(cta, last_resort=True) for cta in ctas]
    return any(resolved)


def _end(ctas: list[Cta]) -> None:
    """End a launch in which no thread can go on: what its mbarriers lack, and who waits for what."""
    for cta in ctas:
        mbarriers(cta).report_mismatches()
    give_up(ctas)
    for cta in ctas:
        cta.retire()


class _Share(NamedTuple):
    """What a cluster has made of its share: whether any thread has run, and whether all now seem to wait."""

    moved: bool
    waits: bool


def _run_cluster(cluster: list[Cta], executable: Executable) -> _Share:
    """Run the CTAs of a cluster in turn for their share."""
    launch, moved, quiet = cluster[0].launch, False, 0
    for _ in range(_CLUSTER_ROUNDS):
        before = launch.progress
        ran = [run_turns(cta, executable, _CTA_TURNS) for cta in cluster if not cta.finished]
        moved |= any(ran)
        quiet = 0 if launch.progress != before else quiet + 1
        if not any(ran) or quiet == _QUIET_ROUNDS:
            return _Share(moved, waits=True)
    return _Share(moved, waits=False)


def run_turns(cta: Cta, executable: Executable, turns: int) -> bool:
    """Run up to `turns` straight runs of a CTA's threads; return whether there was any."""
    if cta.finished:
        return False
    launch = cta.launch
    counts = launch.counts
    cta.copies_in_flight.land_due(cta.turn)
    for turn in range(turns):
        chosen = next_batch(cta)
        if chosen is None:
            if cta.finished:
                break
            if cta.copies_in_flight.land_next() or resolve_stall(cta):
                continue
            return turn > 0
        batch, start = chosen
        end = executable.run_end[start]
        warps = len(batch.warps)
        counts[start:end] += warps
        launch.ticks += 1
        for at, step in executable.run(start):
            cta.at = at
            if step(batch):
                counts[at + 1 : end] -= warps
                end = at + 1
                break
        else:
            batch.proceed(end)
        launch.observer.ran(cta, batch.warps, start, end, batch.mask)
    if cta.finished:
        end_copies(cta)
        launch.observer.ended(cta)
    return True
