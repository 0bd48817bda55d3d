"""Which threads run next: those at the lowest program counter, so that they converge; by turns the longest waiting.

In: a CTA. Out: a batch and its program counter. Lanes of a warp that went different ways wait at the higher program
counters; every `_WARP_TURNS`th turn goes to the warp, and every `_LANE_TURNS`th to the lane that has not run for
longest, so that no one starves others by spinning.
"""

import numpy as np

from ptxsim.machine.cta import Batch, Cta

_NOWHERE = np.iinfo(np.int64).max
_WARP_TURNS = 16
_LANE_TURNS = 64


def next_batch(cta: Cta) -> tuple[Batch, int] | None:
    """The threads that run next and where they are, or None if no thread of the CTA can run."""
    cta.turn += 1
    if cta.uniform is not None:
        return cta.everyone, cta.uniform
    places = np.where(cta.ready, cta.pc, _NOWHERE)
    lowest = places.min(axis=1)
    target = int(lowest.min())
    if target == _NOWHERE:
        return None
    if cta.turn % _LANE_TURNS == 0:
        target = _longest_waiting_lane(cta, places, lowest)
    elif cta.turn % _WARP_TURNS == 0:
        waited = np.where(lowest == _NOWHERE, _NOWHERE, cta.last_turn.max(axis=1))
        target = int(lowest[waited.argmin()])
    warps = np.flatnonzero(lowest == target)
    mask = places[warps] == target
    if len(warps) == cta.warp_count and (mask == cta.alive).all():
        cta.uniform = target
        return cta.everyone, target
    batch = Batch(cta, warps, mask, covers=bool((mask == cta.alive[warps]).all()))
    batch.update(cta.last_turn, cta.turn)
    return batch, target


def _longest_waiting_lane(cta: Cta, places: np.ndarray, lowest: np.ndarray) -> int:
    """The place of the lane that has waited longest; `lowest` becomes it in its warp."""
    waited = np.where(cta.ready, cta.last_turn, _NOWHERE)
    warp, lane = divmod(int(waited.argmin()), waited.shape[1])
    lowest[warp] = places[warp, lane]
    return int(lowest[warp])
