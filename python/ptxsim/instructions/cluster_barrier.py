"""The barrier of a cluster: `barrier.cluster.arrive` and `barrier.cluster.wait`.

Every thread of the cluster arrives and then waits, in turn; threads that have exited are not waited for. A relaxed
arrival hands on what a thread has done only where a fence came before it. Source: PTX ISA, `barrier.cluster`.
"""

import numpy as np

from ptxsim.machine.convergence import converge_warps
from ptxsim.machine.cta import Batch, Cta, Step, Wait
from ptxsim.machine.observer import Phase
from ptxsim.machine.rounds import check_rounds
from ptxsim.machine.site import Site

_NO_PHASE = -1


class _Part:
    """One CTA's part in the current phase, which has a `number`: who has `arrived`, and who waits for its end.

    Shapes: [warps, 32] for `arrived`, and for `entered`, the phase of threads that have arrived and not waited.
    """

    def __init__(self, cta: Cta) -> None:
        self.number = 0
        self.arrived = cta.no_lanes()
        self.entered = np.full(cta.exists.shape, _NO_PHASE)
        self.waiting: Wait | None = None


def _part(cta: Cta) -> _Part:
    return cta.state_of(_Part)


def cluster_barrier(site: Site) -> Step:
    """`barrier.cluster.arrive{.release|.relaxed}{.aligned};`, `barrier.cluster.wait{.acquire}{.aligned};`."""
    words = list(site.instruction.modifiers[1:])
    aligned = words[-1:] == ["aligned"]
    kind, order = words[0] if words else "", words[1 : len(words) - aligned]
    if kind not in ("arrive", "wait"):
        site.unknown()
    if order not in ([], *([["release"], ["relaxed"]] if kind == "arrive" else [["acquire"]])):
        site.unknown()
    site.operands(0)
    at, releases = site.index, order != ["relaxed"]

    def step(batch: Batch) -> bool:
        there = converge_warps(batch, at) if aligned else batch
        if there is not None:
            if aligned:
                check_rounds(there.cta, at, there.in_cta(), there.whole_warps(), "warp")
            there.proceed(at + 1)
            if kind == "arrive":
                _arrive(there, releases)
            else:
                _wait(there, at)
        return True

    return step


def _arrive(batch: Batch, releases: bool) -> None:
    cta = batch.cta
    part = _part(cta)
    again = batch.mask & (batch.select(part.entered) != _NO_PHASE)
    if again.any():
        batch.report("barrier-divergence", "arrives at the cluster's barrier again, without a wait between", again)
    batch.update(part.arrived, True)
    batch.update(part.entered, part.number)
    cta.launch.observer.arrived(cta, _name(cta, part.number), batch.in_cta(), relaxed=not releases)
    complete(cta)


def complete(cta: Cta) -> None:
    """End the phase if every living thread of the cluster has arrived."""
    peers = cta.peers
    if any((peer.alive & ~_part(peer).arrived).any() for peer in peers):
        return
    cta.launch.barriers += 1
    cta.launch.progress += 1
    for peer in peers:
        part = _part(peer)
        part.arrived[...] = False
        part.number += 1
        if part.waiting is not None:
            _depart(peer, part.waiting.lanes, part.number - 1)
            peer.release(part.waiting)
            part.waiting = None


def has_waiters(cta: Cta) -> bool:
    """Whether threads of the CTA wait for others of its cluster."""
    return _part(cta).waiting is not None


def resolve_exits(cta: Cta) -> bool:
    """Let a CTA that waits go on if those who are missing have exited since; return whether it can."""
    if _part(cta).waiting is None:
        return False
    complete(cta)
    return _part(cta).waiting is None


def _wait(batch: Batch, at: int) -> None:
    cta = batch.cta
    part = _part(cta)
    since = batch.select(part.entered)
    strangers = batch.mask & (since == _NO_PHASE)
    if strangers.any():
        batch.report("barrier-divergence", "waits at the cluster's barrier without having arrived", strangers)
    early = batch.mask & (since == part.number)
    _depart(cta, batch.in_cta(batch.mask & ~early), part.number - 1)
    batch.update(part.entered, _NO_PHASE)
    if early.any():
        if part.waiting is None:
            part.waiting = Wait(cta.no_lanes(), at, "the barrier of the cluster")
        cta.block(batch.narrowed(early), at + 1, part.waiting)


def _depart(cta: Cta, lanes: np.ndarray, number: int) -> None:
    cta.launch.observer.departed(cta, _name(cta, number), lanes)


def _name(cta: Cta, number: int) -> Phase:
    return Phase("cluster", cta.peers[0], 0, number)
