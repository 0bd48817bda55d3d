"""Loads and stores of a batch: from addresses to bytes, with every check on the way, and no harm from faulty lanes.

In: addresses of [n, 32] in a state space. Out: words of [n, 32] (and a last axis for vectors). Lanes whose address is
bad are reported; their loads give zeros and their stores are dropped.
"""

from dataclasses import dataclass

import numpy as np

from ptxsim.machine.cta import Batch
from ptxsim.machine.observer import AccessFacts
from ptxsim.memory import traffic
from ptxsim.memory.byte_array import ALLOCATED, INITIALIZED, UNDEFINED, WORDS, ByteArray, View
from ptxsim.memory.windows import BASES, CTA_STRIDE, SPACE_OF_WINDOW, WINDOW_BITS

PER_THREAD = frozenset({"local", "param::func"})
#: Where the variables of a module are.
_VARIABLES = frozenset({"global", "const"})
#: An address beyond every memory.
_NOWHERE = np.uint64(1 << 62)


@dataclass(frozen=True)
class Part:
    """The lanes of an access in one memory; `index` is their first byte: [n, 32] if `batch` is dense, or [k]."""

    space: str
    memory: ByteArray
    index: np.ndarray
    batch: Batch


@dataclass(frozen=True, eq=False)
class Access(AccessFacts):
    """Accesses of one instruction, as they are carried out."""

    @property
    def copies_unwritten(self) -> frozenset[str]:
        """The spaces where this may read what nobody wrote, undefined: compilers copy structures with their padding."""
        return frozenset({"local"}) if self.passes_on and self.size == 1 else frozenset()

    def load(self, batch: Batch, addresses: np.ndarray) -> np.ndarray:
        """The words at `addresses: [n, 32]` u64: [n, 32], or [n, 32, count] where there are several."""
        parts = self.parts(batch, addresses)
        if len(parts) == 1 and parts[0].batch is batch:
            values = self._load(parts[0])
            return values if batch.dense else batch.spread(values)
        shape = batch.mask.shape if self.count == 1 else (*batch.mask.shape, self.count)
        result = np.zeros(shape, WORDS[self.width])
        for part in parts:
            result[part.batch.mask] = self._load(part).reshape(-1, *result.shape[2:])
        return result

    def store(self, batch: Batch, addresses: np.ndarray, values: np.ndarray) -> None:
        """Store words (in the shape that `load` returns) at `addresses: [n, 32]` u64."""
        for part in self.parts(batch, addresses):
            chosen = values if part.batch.dense else values[part.batch.mask]
            self._store(part, chosen)

    def parts(self, batch: Batch, addresses: np.ndarray) -> list[Part]:
        """The access by memories, after having counted it."""
        parts = self.places(batch, addresses)
        for part in parts:
            self._count(part)
        return parts

    def places(self, batch: Batch, addresses: np.ndarray) -> list[Part]:
        """The lanes of an access, by memories."""
        if addresses.shape != batch.mask.shape:
            addresses = np.broadcast_to(addresses, batch.mask.shape)
        return self._generic(batch, addresses) if self.space == "generic" else self._in(batch, self.space, addresses)

    def _generic(self, batch: Batch, addresses: np.ndarray) -> list[Part]:
        windows = addresses >> np.uint64(WINDOW_BITS)
        found = np.unique(windows if batch.dense else windows[batch.mask])
        spaces: dict[str, np.ndarray] = {}
        for window in found.tolist():
            space = SPACE_OF_WINDOW.get(window, "global")
            lanes = (windows == window) & batch.mask
            spaces[space] = spaces[space] | lanes if space in spaces else lanes
        parts = []
        for space, lanes in spaces.items():
            there = batch if len(spaces) == 1 else batch.narrowed(lanes)
            parts += self._in(there, space, addresses - np.uint64(BASES[space]))
        return parts

    def _in(self, batch: Batch, space: str, addresses: np.ndarray) -> list[Part]:
        cta = batch.cta
        if space.startswith("shared"):
            if (addresses < CTA_STRIDE).all():
                return [self._part(batch, "shared", cta.shared, addresses)]
            return self._in_cluster(batch, addresses)
        if space == "global":
            return [self._part(batch, space, batch.launch.memory, addresses)]
        if space in PER_THREAD:
            memory = cta.local if space == "local" else cta.parameters
            return [self._part(batch, space, memory, self._of_thread(batch, memory, addresses))]
        constants = batch.launch.constants if space == "const" else batch.launch.arguments
        return [self._part(batch, space, constants, addresses)]

    def _in_cluster(self, batch: Batch, addresses: np.ndarray) -> list[Part]:
        ranks = (addresses // CTA_STRIDE).astype(np.int64) - 1
        ranks[ranks < 0] = batch.cta.rank
        ranks[ranks >= len(batch.cta.peers)] = batch.cta.rank
        offsets = np.where(addresses < CTA_STRIDE * (len(batch.cta.peers) + 1), addresses % CTA_STRIDE, addresses)
        parts = []
        for rank in np.unique(ranks[batch.mask]).tolist():
            lanes = batch.mask & (ranks == rank)
            there = batch if (lanes == batch.mask).all() else batch.narrowed(lanes)
            parts.append(self._part(there, "shared", batch.cta.peers[rank].shared, offsets))
        return parts

    def _of_thread(self, batch: Batch, memory: ByteArray, addresses: np.ndarray) -> np.ndarray:
        stride = batch.launch.stride_of[memory.space]
        frames = (batch.threads * stride).astype(np.uint64)
        return np.where(addresses < stride, addresses + frames, _NOWHERE)

    def _part(self, batch: Batch, space: str, memory: ByteArray, addresses: np.ndarray) -> Part:
        index = addresses.view(np.int64) if addresses.dtype == np.uint64 else addresses.astype(np.int64)
        if memory.base:
            index = index - memory.base
        return Part(space, memory, index if batch.dense else index[batch.mask], batch)

    def _count(self, part: Part) -> None:
        mask, launch = part.batch.mask, part.batch.launch
        tally = launch.tally(self.number, self.kind, part.space, self.size)
        if part.space not in ("global", "shared"):
            tally.add(part.index.size)
            return
        warps = len(mask) if part.batch.dense else int(mask.any(axis=1).sum())
        index = part.index if part.batch.dense else part.batch.spread(part.index)
        needed, fewest = traffic.units(part.space, index, mask, part.batch.dense, self.size)
        tally.add(part.index.size, warps, needed, fewest)
        if part.space == "global":
            launch.arrays.add_lanes(self.kind, self.size, index, mask, needed)

    def _load(self, part: Part) -> np.ndarray:
        view = part.memory.view(self.width, self.count)
        words = part.index >> view.shift
        usable = self._usable(part, view, words, view.ready)
        part.batch.launch.observer.accessed(self, part.batch, part.memory, part.index, usable)
        values = view.data.take(words, axis=0, mode="clip")
        if usable is not None:
            values[~usable] = 0
        return values

    def _store(self, part: Part, values: np.ndarray) -> None:
        view = part.memory.view(self.width, self.count)
        words = part.index >> view.shift
        usable = self._usable(part, view, words, view.allocated)
        part.batch.launch.observer.accessed(self, part.batch, part.memory, part.index, usable, values)
        if usable is not None:
            words, values = words[usable], values[usable]
        part.batch.launch.store(view, words, values)

    def _usable(self, part: Part, view: View, words: np.ndarray, expected: np.generic) -> np.ndarray | None:
        """The lanes that may go on, None for all of them; report what is wrong with the others."""
        state = view.state.take(words, axis=0, mode="clip")
        fine = (state & expected) == expected if self.kind == "store" or self.passes_on else state == expected
        if fine.all() and not np.count_nonzero(part.index & (self.size - 1)):
            return None
        return self.examine(part)

    def examine(self, part: Part) -> np.ndarray:
        """The lanes of `part` that may go on; reports those that may not, or that read what nobody wrote."""
        misaligned = (part.index & (self.size - 1)) != 0
        state = part.memory.states(part.index, self.size)
        outside = ~misaligned & ~(state & ALLOCATED).astype(bool).all(axis=-1)
        usable = ~(misaligned | outside)
        verb = {"load": "reads", "store": "writes", "atomic": "updates"}[self.kind]
        what = f"{verb} {self.size} bytes of {part.space} memory"
        self._report(part, misaligned, "misaligned", f"{what} at an address that is no multiple of {self.size}")
        self._report(part, outside, "out-of-bounds", f"{what} outside of what is allocated")
        if self.kind != "store" and part.space in _VARIABLES:
            unset = usable & ~(state & INITIALIZED).astype(bool).all(axis=-1)
            self._report(
                part, unset, "unset-variable", f"{what}, a variable that has no initial value and was never set"
            )
        if self.kind != "store" and part.space in {"shared", "local"} - self.copies_unwritten:
            unwritten = usable & ~(state & INITIALIZED).astype(bool).all(axis=-1)
            self._report(part, unwritten, "uninitialized", f"{what} that nobody has written")
            undefined = usable & ~unwritten & (state & UNDEFINED).astype(bool).any(axis=-1) & (not self.passes_on)
            self._report(part, undefined, "uninitialized", f"{what} that come from registers that nobody has written")
        return usable

    def _report(self, part: Part, chosen: np.ndarray, kind: str, message: str) -> None:
        if chosen.any():
            lanes = chosen if part.batch.dense else part.batch.spread(chosen)
            address = int(part.index[chosen].flat[0]) + part.memory.base
            if part.space in PER_THREAD:
                address %= part.batch.launch.stride_of[part.memory.space]
            part.batch.report(kind, message, lanes, address, part.space)
