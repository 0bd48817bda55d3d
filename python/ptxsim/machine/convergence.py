"""Lanes of a warp that must execute an instruction together: the first to come wait for the rest.

In: a batch and the member mask of each of its lanes. Out: the lanes whose members have all come. Lanes of one warp may
name different members, as the tiles of a warp do: lanes wait for those, and act with those, that have the same mask.
Source: PTX ISA, `shfl.sync`, `vote.sync`, `bar.warp.sync`: the thread waits until all threads named in the mask that
have not exited execute the same instruction with the same mask.
"""

from collections.abc import Callable, Iterator

import numpy as np

from ptxsim.machine.cta import Batch, Step
from ptxsim.machine.site import Site
from ptxsim.machine.warp import LANES
from ptxsim.parsing.syntax import Immediate, Operand

_ALL_LANES = 0xFFFFFFFF
_WHOLE_WARP = Immediate(_ALL_LANES, "int", _ALL_LANES)
_LANE_BITS = np.uint32(1) << LANES.astype(np.uint32)


def ballot(lanes: np.ndarray) -> np.ndarray:
    """The lanes of each warp as bits: [..., 32] bool to [..., 1] u32."""
    return np.where(lanes, _LANE_BITS, np.uint32(0)).sum(axis=-1, dtype=np.uint32, keepdims=True)


def converge(site: Site, act: Callable[[Batch], None], mask: Operand = _WHOLE_WARP, place: int | None = None) -> Step:
    """The step that lets the lanes which a member mask names converge, and then acts on them, tile by tile.

    `place` is the instruction that counts as the same one, for instructions that may converge at several.
    """
    at, read = site.index if place is None else place, site.reader(mask, "b32")
    site.decides(mask, "a member mask")
    site.converges = True
    takes_all = isinstance(mask, Immediate) and mask.bits & _ALL_LANES == _ALL_LANES

    def act_on(batch: Batch) -> None:
        site.when_converged(batch)
        act(batch)

    def step(batch: Batch) -> bool | None:
        if takes_all and batch.dense:
            act_on(batch)
            return None
        found = _converged(batch, site.index, at, _members(batch, read(batch)))
        if found is None:
            return True
        there, members = found
        for tile in _tiles(there, members):
            act_on(tile)
        if there is batch:
            return None
        there.update(there.cta.pc, there.select(there.cta.pc) + 1)
        return True

    return step


def by_whole_warps(site: Site, act: Callable[[Batch], None]) -> Step:
    """The step that lets the lanes of each warp converge, and then acts."""

    def act_on_whole_warps(batch: Batch) -> None:
        if not batch.dense:
            short = batch.mask & ~batch.mask.all(axis=1, keepdims=True)
            batch.report("barrier-divergence", "executed by a warp with lanes that have exited or never were", short)
        act(batch)

    return converge(site, act_on_whole_warps)


def converge_warps(batch: Batch, at: int) -> Batch | None:
    """A batch of the warps all of whose lanes have come to instruction `at`, None if there is none.

    It is `batch` itself where nobody is missing. Otherwise program counters stand at `at` and the caller says where the
    returned batch goes on; the lanes of the other warps wait.
    """
    found = _converged(batch, at, at, np.where(batch.mask, np.uint32(_ALL_LANES), np.uint32(0)))
    return None if found is None else found[0]


def _members(batch: Batch, masks: np.ndarray) -> np.ndarray:
    """The lanes that each active lane waits for, as bits: [n, 32] u32; itself at least."""
    outside = batch.mask & (masks & _LANE_BITS == 0)
    if outside.any():
        batch.report("barrier-divergence", "lanes execute this that its member mask does not name", outside)
    return np.where(batch.mask, np.where(masks == 0, _LANE_BITS, masks), np.uint32(0))


def _converged(batch: Batch, at: int, place: int, members: np.ndarray) -> tuple[Batch, np.ndarray] | None:
    """A batch of the lanes whose members have come to `place`, and these; the batch's lanes are at `at`."""
    cta = batch.cta
    batch.update(cta.repeating, False)
    before = cta.converging.get(place)
    if (batch.covers and before is None) or at in cta.partial:
        return batch, members
    warps = batch.warps
    if before is not None:
        members = members | before[warps]
    came = members != 0
    equal = came[:, None, :] & (members[:, :, None] == members[:, None, :])
    complete = came & (members & ballot(cta.alive[warps]) & ~ballot(equal)[..., 0] == 0)
    if before is None and (complete == came).all():
        return batch, members
    cta.diverge()
    batch.update(cta.pc, at)
    _wait(batch, place, np.where(complete, np.uint32(0), members))
    rows = complete.any(axis=1)
    if not rows.any():
        return None
    chosen, mask = warps[rows], complete[rows]
    cta.ready[chosen] |= mask
    return Batch(cta, chosen, mask, covers=bool((mask == cta.alive[chosen]).all())), members[rows]


def _wait(batch: Batch, place: int, members: np.ndarray) -> None:
    cta = batch.cta
    waiting = cta.converging.setdefault(place, np.zeros(cta.exists.shape, np.uint32))
    waiting[batch.warps] = members
    cta.ready[batch.warps] &= members == 0
    if not waiting.any():
        del cta.converging[place]


def _tiles(batch: Batch, members: np.ndarray) -> Iterator[Batch]:
    """Yield the lanes of a batch, those of each warp together that have the same members."""
    left, warps = batch.mask, np.arange(len(members))
    while left.any():
        first = members[warps, left.argmax(axis=1)][:, None]
        tile = left & (members == first)
        yield batch if (tile == batch.mask).all() else batch.narrowed(tile)
        left = left & ~tile
