"""Runs the CTAs of a launch: those of a cluster together, and more of them while the first wait for others.

In: a `Launch`. Out: nothing; memory, findings and tallies are in the launch. CTAs run one cluster after the other; a
cluster that has had its share and is not done lets the next ones in, as many as a GPU would hold, so that a CTA may
wait for another one.
"""

from collections import deque
from collections.abc import Iterator
from itertools import product

from tinyc.simulator.engine.barriers import resolve_stall
from tinyc.simulator.engine.cta import Cta
from tinyc.simulator.engine.launch import Launch
from tinyc.simulator.engine.schedule import next_batch
from tinyc.simulator.engine.stuck import all_stuck, give_up

#: Turns of one CTA before its peers have theirs, and of a cluster before the next one is let in.
_CTA_TURNS = 64
_CLUSTER_ROUNDS = 64
#: Clusters that run at the same time.
_RESIDENT_CLUSTERS = 128
#: Turns without an effect on memory after which threads are suspected of waiting for what never comes.
_QUIET_TURNS = 10_000


def run_grid(launch: Launch) -> None:
    """Run every CTA of the launch to its end, or until no thread can go on."""
    waiting = _clusters(launch)
    resident: deque[list[Cta]] = deque()
    last_progress, quiet_since = -1, 0
    while True:
        full = len(resident) == _RESIDENT_CLUSTERS
        cluster = None if full else next(waiting, None)
        if cluster is not None:
            resident.append(cluster)
        if not resident:
            return
        moved = [_run_cluster(each) for each in resident]
        resident = deque(each for each in resident if not all(cta.finished for cta in each))
        if launch.progress != last_progress:
            last_progress, quiet_since = launch.progress, launch.ticks
        if cluster is None and resident and (not any(moved) or launch.ticks - quiet_since > _QUIET_TURNS):
            ctas = [cta for each in resident for cta in each]
            if all_stuck(ctas, lambda cta: run_turns(cta, 1)):
                give_up(ctas)
                return
            quiet_since = launch.ticks


def _clusters(launch: Launch) -> Iterator[list[Cta]]:
    """Make the clusters of the grid, x fastest."""
    sizes = launch.cluster
    counts = [extent // size for extent, size in zip(launch.grid, sizes, strict=True)]
    for z, y, x in product(*(range(count) for count in reversed(counts))):
        ctas = []
        for dz, dy, dx in product(*(range(size) for size in reversed(sizes))):
            index = (x * sizes[0] + dx, y * sizes[1] + dy, z * sizes[2] + dz)
            ctas.append(launch.new_cta(index, len(ctas)))
        for cta in ctas:
            cta.peers = ctas
        yield ctas


def _run_cluster(cluster: list[Cta]) -> bool:
    """Run the CTAs of a cluster in turn for their share; return whether any thread has run."""
    moved = False
    for _ in range(_CLUSTER_ROUNDS):
        ran = [run_turns(cta, _CTA_TURNS) for cta in cluster if not cta.finished]
        moved |= any(ran)
        if not any(ran):
            break
    return moved


def run_turns(cta: Cta, turns: int) -> bool:
    """Run up to `turns` straight runs of a CTA's threads; return whether there was any."""
    launch, program = cta.launch, cta.launch.program
    counts = launch.counts
    for turn in range(turns):
        chosen = next_batch(cta)
        if chosen is None:
            if cta.finished or not resolve_stall(cta):
                return turn > 0
            continue
        batch, start = chosen
        end = program.run_end[start]
        warps = len(batch.warps)
        counts[start:end] += warps
        launch.ticks += 1
        for at, step in program.run(start):
            cta.at = at
            if step(batch):
                counts[at + 1 : end] -= warps
                break
        else:
            batch.proceed(end)
    return True
