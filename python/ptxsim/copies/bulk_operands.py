"""What bulk and tensor copies have in common in their operands: lanes, shared destinations, mbarriers, reductions.

In: the operands of one instruction, as the lanes give them. Out: checked endpoints of copies, or `Misuse`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ptxsim.copies.bulk_forms import BulkForm
from ptxsim.copies.bulk_rules import multicast_ranks
from ptxsim.copies.endpoints import CopyUpdate, Range, shared_place
from ptxsim.copies.reduction import Reduction
from ptxsim.copies.transfer import Issuer, Signal
from ptxsim.machine.cta import Batch, Cta, Read, Step
from ptxsim.machine.misuse import Misuse
from ptxsim.machine.site import Site


def by_lane(act: Callable[[Issuer, list[int]], None], reads: Sequence[Read]) -> Step:
    """The step in which the active lanes act in order, each with its operands as unsigned integers.

    What a lane misuses is reported, and the lane left out.
    """

    def step(batch: Batch) -> None:
        mask = batch.mask
        threads = batch.threads[mask].tolist()
        columns = [np.broadcast_to(read(batch), mask.shape)[mask].tolist() for read in reads]
        for thread, *operands in zip(threads, *columns, strict=True):
            issuer = Issuer(batch.cta, thread, batch.cta.at)
            try:
                act(issuer, operands)
            except Misuse as misuse:
                issuer.report(misuse)

    return step


def shared_targets(
    cta: Cta, space: str, shape: Range, barrier: int, cta_mask: int | None = None
) -> tuple[list[Range], list[Signal]]:
    """The places that a copy to shared memory goes to, and the mbarrier that counts it in each of those CTAs.

    `shape` has the destination's address in `space` as its index. Raises: Misuse.
    """
    signal = Signal(*shared_place(cta, barrier, "shared::cluster"))
    owner, offset = shared_place(cta, shape.index, space)
    owners = [owner]
    if cta_mask is not None:
        owners = [cta.peers[rank] for rank in multicast_ranks(cta_mask, len(cta.peers))]
    elif signal.cta is not owner:
        raise Misuse(
            "out-of-bounds", f"the mbarrier at {barrier:#x} is in another CTA than the destination of the copy"
        )
    targets = [replace(shape, memory=each.shared, index=offset, owner=each) for each in owners]
    signals = [Signal(each, signal.offset) for each in owners]
    for target, each in zip(targets, signals, strict=True):
        target.require_allocated("destination of the copy")
        each.require_valid()
    return targets, signals


def update_of(reduction: Reduction, width: int) -> CopyUpdate:
    """A reduction of elements of `width` bytes as a function of bytes."""
    word = np.dtype(f"u{width}")

    def update(old: np.ndarray, given: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return reduction(old.view(word), given.view(word)).astype(word).view(np.uint8)

    return update


def read_policy(site: Site, form: BulkForm) -> None:
    """Note that the cache policy, the last operand, is read; it changes no value."""
    if form.hinted:
        site.reader(site.instruction.operands[-1], "b64")
