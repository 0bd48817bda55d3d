"""The barrier of a cluster: `barrier.cluster.arrive` and `barrier.cluster.wait`.

Every thread of the cluster arrives and then waits, in turn; threads that have exited are not waited for. A relaxed
arrival hands on what a thread has done only where a fence came before it. Source: PTX ISA, `barrier.cluster`.
"""

from dataclasses import dataclass, field

import numpy as np

from tinyc.simulator.engine.batch import Batch
from tinyc.simulator.engine.cta import Cta, Wait
from tinyc.simulator.engine.gather import gather
from tinyc.simulator.engine.observer import Phase
from tinyc.simulator.engine.site import Site, Step

_KEY = "cluster barrier"


@dataclass(eq=False)
class _Phase:
    """One CTA's part: who has arrived in this phase, who waits for its end, and the phase's number.

    `fenced` are the threads that have executed a fence with release semantics for their cluster.
    """

    arrived: np.ndarray
    fenced: np.ndarray
    waiting: Wait | None = None
    number: int = 0
    #: Threads that arrived and have not waited: their phase.
    open: np.ndarray = field(default_factory=lambda: np.zeros(0))


def _phase(cta: Cta) -> _Phase:
    if _KEY not in cta.extensions:
        cta.extensions[_KEY] = _Phase(cta.no_lanes(), cta.no_lanes(), open=np.full(cta.exists.shape, -1))
    return cta.extensions[_KEY]


def cluster_barrier(site: Site) -> Step:
    """`barrier.cluster.arrive{.release|.relaxed}{.aligned};`, `barrier.cluster.wait{.acquire}{.aligned};`."""
    words = list(site.instruction.modifiers[1:])
    aligned = words[-1:] == ["aligned"]
    kind, order = words[0] if words else "", words[1 : len(words) - aligned]
    if kind not in ("arrive", "wait") or site.instruction.operands:
        site.unknown()
    if order not in ([], *([["release"], ["relaxed"]] if kind == "arrive" else [["acquire"]])):
        site.unknown()
    at, releases = site.index, order != ["relaxed"]

    def step(batch: Batch):
        there = gather(batch, at, np.ones_like(batch.mask)) if aligned else batch
        if there is not None:
            there.proceed(at + 1)
            if kind == "arrive":
                _arrive(there, releases)
            else:
                _wait(there, at)
        return True

    return step


def note_fence(batch: Batch) -> None:
    """Note a fence with release semantics and at least the scope of the cluster."""
    batch.update(_phase(batch.cta).fenced, True)


def _arrive(batch: Batch, releases: bool) -> None:
    cta = batch.cta
    phase = _phase(cta)
    again = batch.mask & (batch.select(phase.open) >= 0)
    if again.any():
        batch.report("barrier-divergence", "arrives at the cluster's barrier again, without a wait between", again)
    batch.update(phase.arrived, True)
    batch.update(phase.open, phase.number)
    lanes = cta.no_lanes()
    lanes[batch.warps] = batch.mask
    if not releases:
        lanes &= phase.fenced
    if lanes.any():
        cta.launch.observer.arrived(cta, _name(cta, phase.number), lanes)
    complete(cta)


def complete(cta: Cta) -> None:
    """End the phase if every living thread of the cluster has arrived."""
    peers = cta.peers
    if any((peer.alive & ~_phase(peer).arrived).any() for peer in peers):
        return
    cta.launch.barriers += 1
    cta.launch.progress += 1
    for peer in peers:
        phase = _phase(peer)
        phase.arrived[...] = False
        phase.number += 1
        if phase.waiting is not None:
            _depart(peer, phase.waiting.lanes, phase.number - 1)
            peer.release(phase.waiting)
            phase.waiting = None


def has_waiters(cta: Cta) -> bool:
    """Return whether threads of the CTA wait for others of its cluster."""
    return _phase(cta).waiting is not None


def resolve_exits(cta: Cta) -> bool:
    """Let a CTA that waits go on if those who are missing have exited since; return whether it can."""
    if _phase(cta).waiting is None:
        return False
    complete(cta)
    return _phase(cta).waiting is None


def _wait(batch: Batch, at: int) -> None:
    cta = batch.cta
    phase = _phase(cta)
    since = batch.select(phase.open)
    if (batch.mask & (since < 0)).any():
        batch.report(
            "barrier-divergence", "waits at the cluster's barrier without having arrived", batch.mask & (since < 0)
        )
    early = batch.mask & (since == phase.number)
    past = cta.no_lanes()
    past[batch.warps] = batch.mask & ~early
    _depart(cta, past, phase.number - 1)
    batch.update(phase.open, -1)
    if early.any():
        if phase.waiting is None:
            phase.waiting = Wait(cta.no_lanes(), at, "the barrier of the cluster")
        cta.block(batch.narrowed(early), at + 1, phase.waiting)


def _depart(cta: Cta, lanes: np.ndarray, number: int) -> None:
    cta.launch.observer.departed(cta, _name(cta, number), lanes)


def _name(cta: Cta, number: int) -> Phase:
    return Phase("cluster", cta.peers[0], 0, number)
