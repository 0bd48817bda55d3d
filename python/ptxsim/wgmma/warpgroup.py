"""Warpgroups that execute an instruction together: four neighbouring warps, the first's number a multiple of four.

In: what an instruction does with a warpgroup. Out: its step, which lets the warps that come first wait for the others.
A warp that never comes is a deadlock; a warpgroup that lacks threads cannot execute the instruction at all. Source: PTX
ISA, "Asynchronous Warpgroup Level Matrix Instructions".
"""

import numpy as np

from ptxsim.machine.convergence import converge_warps
from ptxsim.machine.cta import Act, Batch, Cta, Step, Wait
from ptxsim.machine.site import Site
from ptxsim.wgmma.product import WARPS


def together(site: Site, act: Act) -> Step:
    """The step that lets the warps of each warpgroup converge, and then acts, with a batch of 4 whole warps."""
    at, site.converges = site.index, True

    def run(batch: Batch) -> None:
        site.when_converged(batch)
        act(batch)

    def step(batch: Batch) -> bool | None:
        there = converge_warps(batch, at)
        if there is None:
            return True
        if there is batch and _is_whole(batch) and not batch.cta.state_of(_waiting):
            for first in batch.warps[::WARPS].tolist():
                run(_warpgroup(batch.cta, first))
            return None
        there.proceed(at + 1)
        for first in sorted(set((there.warps // WARPS * WARPS).tolist())):
            _arrive(there, first, at, run)
        return True

    return step


def _is_whole(batch: Batch) -> bool:
    warps = batch.warps
    if not batch.dense or len(warps) % WARPS:
        return False
    groups = warps.reshape(-1, WARPS)
    return not (groups[:, 0] % WARPS).any() and bool((groups == groups[:, :1] + np.arange(WARPS)).all())


def _warpgroup(cta: Cta, first: int) -> Batch:
    return Batch(cta, np.arange(first, first + WARPS), np.ones((WARPS, cta.exists.shape[1]), bool), covers=True)


def _waiting(cta: Cta) -> dict[tuple[int, int], Wait]:
    """Who waits for the rest of a warpgroup, by instruction and the warpgroup's first warp: at first nobody."""
    return {}


def _arrive(there: Batch, first: int, at: int, act: Act) -> None:
    """Let warps of the warpgroup from `first` on come to the instruction; the last of them lets it happen."""
    cta, chosen = there.cta, there.warps // WARPS * WARPS == first
    came = Batch(cta, there.warps[chosen], there.mask[chosen], covers=False)
    alive = cta.alive[first : first + WARPS]
    if len(alive) < WARPS or not alive.all():
        message = "executed by a warpgroup with threads that have exited or never were"
        came.report("barrier-divergence", message)
        return
    waiting = cta.state_of(_waiting)
    wait = waiting.setdefault((at, first), Wait(cta.no_lanes(), at, "the other warps of its warpgroup"))
    cta.block(came, at + 1, wait)
    if wait.lanes[first : first + WARPS].all():
        del waiting[at, first]
        act(_warpgroup(cta, first))
        cta.release(wait)
