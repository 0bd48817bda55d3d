"""`cp.async`, `cp.async.commit_group`, `wait_group`, `wait_all`, and `cp.async.mbarrier.arrive`.

The source is read when the instruction is issued, exactly the bytes that are copied; `thread_copies` says when they
come into shared memory. The arrival of `cp.async.mbarrier.arrive` is a copy in flight, too: it happens some
turns later, or when no thread of the CTA can run, and what its threads have copied comes just before it.

Source: PTX ISA 9.1 §9.7.9.25.3 (non-bulk copy), §9.7.13.15.15 (cp.async.mbarrier.arrive).
"""

from dataclasses import dataclass

import numpy as np

from ptxsim.copies.bulk_rules import SIZES
from ptxsim.copies.thread_copies import thread_copies
from ptxsim.machine.access import Access
from ptxsim.machine.addresses import ADDRESSED_SPACES, address_reader
from ptxsim.machine.copies_in_flight import CopyInFlight
from ptxsim.machine.cta import Batch, Read, Step
from ptxsim.machine.misuse import Misuse
from ptxsim.machine.observer import AsyncOperation, Region
from ptxsim.machine.site import Site
from ptxsim.mbarrier.groups import Group, objects_at
from ptxsim.memory.byte_array import WORDS
from ptxsim.parsing.syntax import Immediate, Negated, Slot
from ptxsim.parsing.types import TYPE_BITS

_HINTS = frozenset({"L2::cache_hint", "L2::64B", "L2::128B", "L2::256B"})
_SHARED = ("shared", "shared::cta")
#: Bytes that one copy moves → the words that they are moved as: width and count.
_SHAPES = {4: (4, 1), 8: (8, 1), 16: (8, 2)}


@dataclass(frozen=True)
class _Copy:
    """One `cp.async`: where the bytes go, where they come from, and how many are read (`bytes_read`; None: all).

    `pieces` has the accesses to the source by their width, for lanes that read less than the whole.
    """

    target: Access
    target_addresses: Read
    source: Access
    source_addresses: Read
    bytes_read: Read | None
    pieces: dict[int, Access]

    def __call__(self, batch: Batch) -> None:
        there, index = self._target(batch)
        if there is None:
            return
        words = self._words(there)
        words = words.reshape(-1, *words.shape[2:]) if there.dense else words[there.mask]
        cta, size = batch.cta, self.target.size
        threads = there.threads[there.mask]
        operation = AsyncOperation(
            cta, self.target.number, threads, writes=(Region(cta.shared, index, size),), proxy="generic"
        )
        thread_copies(cta).start(self.target, operation, words)

    def _target(self, batch: Batch) -> tuple[Batch | None, np.ndarray]:
        """The lanes whose target is memory of their CTA, and its bytes' index: [k]; report the others."""
        parts = self.target.parts(batch, self.target_addresses(batch))
        for part in parts:
            if part.memory is not batch.cta.shared:
                part.batch.report("out-of-bounds", "copies to shared memory of another CTA")
        own = next((part for part in parts if part.memory is batch.cta.shared), None)
        if own is None:
            return None, np.zeros(0, np.int64)
        view, index = (
            own.memory.view(self.target.width, self.target.count),
            own.index.flatten(),
        )  # not a view of a register
        state = view.state.take(index >> view.shift, axis=0, mode="clip")
        if ((state & view.allocated) == view.allocated).all() and not (index & (self.target.size - 1)).any():
            return own.batch, index
        usable = self.target.examine(own).reshape(-1)
        mask = np.zeros(own.batch.mask.shape, bool)
        mask[own.batch.mask] = usable
        return (own.batch.narrowed(mask), index[usable]) if usable.any() else (None, index)

    def _words(self, batch: Batch) -> np.ndarray:
        """The bytes that the lanes read, zeros behind what is copied: [n, 32], or [n, 32, count]."""
        addresses = np.broadcast_to(self.source_addresses(batch), batch.mask.shape)
        if self.bytes_read is None:
            return self.source.load(batch, addresses)
        sizes = np.where(batch.mask, self.bytes_read(batch), 0)
        size = self.source.size
        too_many = sizes > size
        if too_many.any():
            batch.report("out-of-bounds", f"reads more bytes than the {size} that cp.async copies", too_many)
        whole = batch.mask & (sizes >= size)
        if (whole == batch.mask).all():
            return self.source.load(batch, addresses)
        words = np.zeros((*batch.mask.shape, self.source.count), WORDS[self.source.width])
        if whole.any():
            words[whole] = self.source.load(batch.narrowed(whole), addresses).reshape(words.shape)[whole]
        for copied in np.unique(sizes[batch.mask & ~whole & (sizes > 0)]).tolist():
            self._read_some(batch.narrowed(batch.mask & (sizes == copied)), addresses, copied, words)
        return words if self.source.count > 1 else words[..., 0]

    def _read_some(self, batch: Batch, addresses: np.ndarray, copied: int, words: np.ndarray) -> None:
        """Read the first `copied` bytes, fewer than the copy's size, as words of the widest fitting width."""
        misaligned = batch.mask & (addresses % np.uint64(self.source.size) != 0)
        if misaligned.any():
            batch.report("misaligned", f"cp.async at an address that is no multiple of {self.source.size}", misaligned)
        width = min(copied & -copied, 8)
        pieces = words.view(WORDS[width])
        for piece in range(copied // width):
            values = self.pieces[width].load(batch, addresses + np.uint64(piece * width))
            pieces[..., piece][batch.mask] = values[batch.mask]


def _copy(site: Site) -> Step:
    """`cp.async.ca|cg.shared{::cta}.global{.hints} [a], [b], size{, bytes|ignore}{, cache-policy};`."""
    cache, space, *rest = (*site.instruction.modifiers[1:], "", "")
    hints = [word for word in rest[1:] if word]
    if cache not in ("ca", "cg") or space not in _SHARED or rest[0] != "global" or not _HINTS.issuperset(hints):
        site.unknown()
    hinted = "L2::cache_hint" in hints
    operands = list(site.operands(3 + hinted, 4 + hinted))
    if hinted:
        site.reader(operands.pop(), "b64")
    size = _size(site, operands[2], cache)
    target_space, target = address_reader(site, operands[0], ADDRESSED_SPACES[space])
    source_space, source = address_reader(site, operands[1], "global")
    width, count = _SHAPES[size]
    return _Copy(
        Access(target_space, width, count, site.index, "store"),
        target,
        Access(source_space, width, count, site.index, "load"),
        source,
        _bytes_read(site, operands[3], size) if len(operands) == 4 else None,
        {width: Access(source_space, width, 1, site.index, "load") for width in WORDS},
    )


def _size(site: Site, operand: object, cache: str) -> int:
    size = site.constant(operand, "number of bytes")
    if size not in (SIZES if cache == "ca" else (16,)):
        allowed = "4, 8 or 16 bytes" if cache == "ca" else "16 bytes"
        site.fail(f"cp.async.{cache} copies {allowed}, not {size}")
    return size


def _bytes_read(site: Site, operand: object, size: int) -> Read:
    """The reader of the bytes that are read: src-size, or none where the predicate ignore-src is true."""
    if isinstance(operand, Negated) or (isinstance(operand, Slot) and TYPE_BITS[operand.type] == 1):
        ignore = site.reader(operand, "pred")
        return lambda batch: np.where(ignore(batch), np.uint32(0), np.uint32(size))
    if isinstance(operand, Immediate) and int(operand.value) > size:
        site.fail(f"cp.async of {size} bytes cannot read {int(operand.value)}")
    return site.reader(operand, "u32")


def _commit_group(site: Site) -> Step:
    """`cp.async.commit_group;`."""
    site.operands(0)
    return lambda batch: thread_copies(batch.cta).commit(batch)


def _wait_group(site: Site) -> Step:
    """`cp.async.wait_group n;`."""
    (operand,) = site.operands(1)
    left = site.constant(operand, "number of groups")
    return lambda batch: thread_copies(batch.cta).wait(batch, left)


def _wait_all(site: Site) -> Step:
    """`cp.async.wait_all;`: as `commit_group` and `wait_group 0`."""
    site.operands(0)

    def step(batch: Batch) -> None:
        copies = thread_copies(batch.cta)
        copies.commit(batch)
        copies.wait(batch, 0)

    return step


def _mbarrier_arrive(site: Site) -> Step:
    """`cp.async.mbarrier.arrive{.noinc}{.shared{::cta}}.b64 [a];`."""
    words = list(site.instruction.modifiers[3:])
    counted = words[:1] == ["noinc"]
    if counted:
        del words[0]
    space = ADDRESSED_SPACES[words.pop(0)] if words and words[0] in _SHARED else "generic"
    if words != ["b64"] or site.instruction.modifiers[1:3] != ("mbarrier", "arrive"):
        site.unknown()
    (operand,) = site.operands(1)
    return objects_at(site, operand, space).by_group(lambda group: _track(group, counted))


def _track(group: Group, counted: bool) -> None:
    """Let the lanes arrive once their copies have come; where they are not `counted` yet, the phase waits for more."""
    if not counted:
        for _ in group.positions:
            group.objects.add_pending(group.offset)
    group.objects.find(group.offset)
    cta = group.batch.cta
    copies, lanes = thread_copies(cta), group.lanes
    before = copies.issued

    def land() -> None:
        copies.land_issued(lanes, before)
        try:
            group.arrived()
            group.objects.arrive(group.offset, len(group.positions))
        except Misuse as misuse:
            group.report(misuse)

    copies.arrive_behind(lanes, CopyInFlight(land))


_FORMS = {"commit_group": _commit_group, "wait_group": _wait_group, "wait_all": _wait_all, "mbarrier": _mbarrier_arrive}


def compile_cp_async(site: Site) -> Step:
    """Compile a `cp.async` instruction that is not a bulk copy."""
    words = site.instruction.modifiers
    if words[:1] != ("async",) or len(words) < 2:
        site.unknown()
    form = _FORMS.get(words[1], _copy)
    if words[1].endswith(("_group", "_all")) and len(words) > 2:
        site.unknown()
    return form(site)
