"""Lanes of a warp that must execute an instruction together: the first to come wait for the rest.

In: a batch and the lanes that each of its warps needs. Out: the warps that are complete, with all lanes that came.
Source: PTX ISA, `shfl.sync`, `vote.sync`, `bar.warp.sync`: the thread waits until all threads named in the mask that
have not exited execute the same instruction.
"""

import numpy as np

from tinyc.simulator.engine.batch import Batch


def gather(batch: Batch, at: int, members: np.ndarray) -> Batch | None:
    """Return a batch of the warps whose `members: [n, 32]` have all come to instruction `at`, None if there is none.

    The batch is `batch` itself where nobody is missing. Otherwise program counters stand at `at` and the caller says
    where the returned batch goes on; the lanes of the other warps wait.
    """
    cta = batch.cta
    before = cta.gathering.get(at)
    if (batch.covers and before is None) or at in cta.partial:
        return batch
    warps = batch.warps
    came = batch.mask if before is None else batch.mask | before[warps]
    missing = np.any(members & cta.alive[warps] & ~came, axis=1)
    if before is None and not missing.any():
        return batch
    cta.diverge()
    batch.update(cta.pc, at)
    _wait(batch, at, came, missing)
    complete = ~missing & came.any(axis=1)
    if not complete.any():
        return None
    chosen, mask = warps[complete], came[complete]
    cta.ready[chosen] |= mask
    return Batch(cta, chosen, mask, covers=bool((mask == cta.alive[chosen]).all()))


def _wait(batch: Batch, at: int, came: np.ndarray, missing: np.ndarray) -> None:
    cta = batch.cta
    waiting = cta.gathering.setdefault(at, cta.no_lanes())
    waiting[batch.warps] = came & missing[:, None]
    cta.ready[batch.warps] &= ~(came & missing[:, None])
    if not waiting.any():
        del cta.gathering[at]


def members_of(batch: Batch, masks: np.ndarray) -> np.ndarray:
    """Return the lanes that the active lanes' member masks name: [n, 32]; `masks: [n, 32]` u32 (or broadcastable)."""
    named = np.where(batch.mask, masks, np.uint32(0))
    together = np.bitwise_or.reduce(named, axis=1)
    return (together[:, None] >> np.arange(32, dtype=np.uint32)) & np.uint32(1) != 0
