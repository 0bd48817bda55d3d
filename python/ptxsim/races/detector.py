"""The race detector: told of every access and synchronisation, it reports accesses that nothing orders.

Two accesses of one granule race where one writes, they are by different threads, neither happens before the other, and
they are not both strong in scopes that have both threads. Stores of the same value are let pass unless asked for.
Source: PTX ISA, "Memory Consistency Model": "Data races", "Causality order", "Proxies".
"""

from collections.abc import Callable

import numpy as np

from ptxsim.machine.findings import OTHER_LINES
from ptxsim.machine.launch import Launch
from ptxsim.machine.observer import (
    AccessFacts,
    AsyncOperation,
    ObservedBatch,
    ObservedCta,
    Observer,
    Other,
    Phase,
    Region,
)
from ptxsim.machine.warp import WARP
from ptxsim.memory.byte_array import ByteArray
from ptxsim.races import stamp
from ptxsim.races.accesses import UNORDERED, Accesses
from ptxsim.races.clocks import PROXIED, Clocks, Knowledge
from ptxsim.races.copies import CopyChecks
from ptxsim.races.history import History
from ptxsim.races.map_fences import MapFences
from ptxsim.races.messages import Strong
from ptxsim.races.observations import Observations, StrongAccesses
from ptxsim.races.release_state import Fence, ReleaseState
from ptxsim.races.shadow import Shadow

_VERBS = {"load": "reads", "store": "writes", "atomic": "updates"}
_WATCHED = frozenset({"shared", "global"})


class ClusterState:
    """What the detector knows of one cluster: its clocks, what fences have prepared, the phases of its barriers."""

    def __init__(self, clocks: Clocks) -> None:
        self.clocks = clocks
        self.release_state = ReleaseState()
        self.phases: dict[Phase, Knowledge] = {}
        #: The shared memories of CTAs that have ended.
        self.gone: set[ByteArray] = set()


class Races(Observer):
    """Watches one launch; `telling` are the reads that tell threads something, `same_value`: equal stores race, too."""

    def __init__(self, launch: Launch, telling: Callable[[], frozenset[int]], same_value: bool) -> None:
        self._launch = launch
        self._same_value = same_value
        self._ctas = int(np.prod(launch.cluster))
        self._history = History(launch.warp_count, self._ctas)
        self._per_cta = self._history.per_cta
        code = launch.code.instructions
        forms = [".".join(each.modifiers) for each in code if each.opcode == "fence"]
        self._proxied = any(form.startswith("proxy.async") for form in forms)
        #: Instructions on mbarrier objects, and those that make one: phases say what these hand on.
        self._of_mbarriers = self._named(launch, "mbarrier", "cp")
        self._makers = {at for at in self._named(launch, "mbarrier") if "init" in code[at].modifiers}
        #: Strong accesses that return nothing of what they read.
        self._reductions = self._named(launch, "red")
        self._messages = self._history.messages
        self._observations = Observations(telling)
        self._maps = MapFences(self._history)
        self._copies = CopyChecks(self._history, self._maps)

    @staticmethod
    def _named(launch: Launch, *opcodes: str) -> frozenset[int]:
        """The instructions with these opcodes."""
        return frozenset(at for at, each in enumerate(launch.code.instructions) if each.opcode in opcodes)

    def _state(self, cta: ObservedCta) -> ClusterState:
        return cta.peers[0].state_of(self._new_state)

    def _new_state(self, cta: ObservedCta) -> ClusterState:
        number = cta.number // self._ctas
        return ClusterState(Clocks(number, self._ctas, self._launch.warp_count, self._proxied))

    def _numbers(self, cta: ObservedCta, lanes: np.ndarray) -> np.ndarray:
        """The numbers in the cluster of lanes of a CTA: [k]."""
        return np.flatnonzero(lanes) + cta.rank * self._per_cta

    def accessed(
        self,
        access: AccessFacts,
        batch: ObservedBatch,
        memory: ByteArray,
        index: np.ndarray,
        usable: np.ndarray | None = None,
        values: np.ndarray | None = None,
    ) -> None:
        """Check an access against what came before it, and let strong ones hand on what is known."""
        if memory.space not in _WATCHED:
            return
        cta = batch.cta
        threads = cta.number * self._per_cta + batch.threads
        threads = threads.reshape(-1) if batch.dense else threads[batch.mask]
        index = index.reshape(-1)
        if usable is not None:
            chosen = usable.reshape(-1)
            threads, index = threads[chosen], index[chosen]
            values = None if values is None else values[usable]
        if not index.size:
            return
        now, state, strength = self._history.tick(cta.at), self._state(cta), stamp.strength_of(access)
        action = _VERBS[access.kind]
        look = Accesses(cta, state.clocks, cta.at, memory, index, access.size, threads, strength, action)
        look.observations = self._observations
        if values is not None and access.kind == "store":
            look.values = values.reshape(len(index), -1)
        # What an access acquires happens before the access itself.
        if access.number in self._makers:
            state.release_state.made.update(dict.fromkeys(look.local.tolist(), now))
        elif strength and access.number not in self._of_mbarriers:
            atomic = access.kind == "atomic"
            reads = access.kind == "load" or (atomic and access.number not in self._reductions)
            writes = values if atomic else np.zeros(len(index), bool) if access.kind == "load" else None
            strong = Strong(access.order, access.scope, reads, atomic, writes)
            self._messages.synchronise(strong, state.clocks, state.release_state, memory, index, look.local, now)
        self._examine(look, access, now, state.gone)

    def _examine(self, look: Accesses, access: AccessFacts, now: int, gone: set[ByteArray]) -> None:
        """Check accesses against what came before them, and note them."""
        shadow = self._history.shadow(look.memory, look.size)
        places = shadow.places(look.index, look.size)
        if look.memory in gone:
            look.report("race", np.ones(len(look.index), bool), f"of a CTA that has exited, {UNORDERED}")
        several = places.ndim > 1
        floor = self._floor(look)
        written = shadow.written[places]
        self._observe(look, access, written[:, 0] if several else written, now)
        if written.max() >= floor:
            self._report_unordered(look, written, access)
        if look.strength and shadow.hidden is not None:
            self._report_unordered(look, shadow.hidden[places], access)
        updates = None if look.strength >= self._widest(look.memory) else shadow.updates_at(places, written)
        if updates is not None:
            self._report_unordered(look, updates, access)
        self._copies.check(look, shadow, places, access.kind != "load")
        mine = stamp.stamps(now, look.threads, look.strength)
        warps = look.local // WARP
        spread = (warps[:, None], mine[:, None]) if several else (warps, mine)
        if access.kind == "load":
            shadow.note_read(places, *spread)
            return
        read = shadow.reads_at(places)
        if read is not None and read.max() >= floor:
            wrong = look.unordered(self._messages, read)
            if wrong is not None:
                text = f"that another thread reads at {OTHER_LINES}, {UNORDERED}"
                look.report("race", wrong, text, self._history.other(look.first_unordered(self._messages, read, wrong)))
        shadow.note_write(places, *spread, look.strength > 0)
        if access.kind == "store" and look.values.size:
            self._check_lanes(look, shadow, places, mine)

    def _observe(self, look: Accesses, access: AccessFacts, written: np.ndarray, now: int) -> None:
        """Note what strong accesses observe of the last writes, and what weak ones cut off."""
        if look.strength and access.number not in self._of_mbarriers:
            linked = look.strong_with(written)
            self._observations.note(StrongAccesses(access, look.memory, look.index, now, look.threads, linked))
        elif access.kind == "store":
            strong = written & stamp.STRENGTH != 0
            if np.count_nonzero(strong):
                self._messages.overwritten(look.memory, look.index[strong], look.size)

    def _widest(self, memory: ByteArray) -> int:
        """The strength in the scope of all threads that may access a memory."""
        return stamp.CTA if memory.space == "shared" and self._ctas == 1 else stamp.GPU

    def _floor(self, look: Accesses) -> int:
        """The first stamp that may be of an access which these threads do not know."""
        if look.memory.space == "global" or self._ctas > 1:
            return 1
        return int(look.clocks.cta_floor[0]) + 1 << stamp.TIME_SHIFT

    def _report_unordered(self, look: Accesses, written: np.ndarray, access: AccessFacts) -> None:
        """Report accesses to what others have written; stores of what is there already pass."""
        wrong = look.unordered(self._messages, written)
        if wrong is not None and look.values.size and access.kind == "store" and not self._same_value:
            view = look.memory.view(access.width, access.count)
            there = view.data[look.index >> view.shift].reshape(look.values.shape)
            changed = (there != look.values).any(axis=1)
            wrong &= changed.reshape(-1, *[1] * (wrong.ndim - 1))
        if wrong is not None and wrong.any():
            text = f"that another thread writes at {OTHER_LINES}, {UNORDERED}"
            look.report("race", wrong, text, self._history.other(look.first_unordered(self._messages, written, wrong)))

    def _check_lanes(self, look: Accesses, shadow: Shadow, places: np.ndarray, mine: np.ndarray) -> None:
        """Report lanes of one instruction that store different values to one place."""
        first = places if places.ndim == 1 else places[:, 0]
        lost = shadow.written[first] != mine
        if not np.count_nonzero(lost):
            return
        winner = {place: lane for lane, place in enumerate(first.tolist())}
        other = np.array([winner[place] for place in first.tolist()])
        wrong = lost if self._same_value else lost & (look.values != look.values[other]).any(axis=1)
        if wrong.any():
            thread = int(look.threads[other[wrong][0]]) - look.cta.number * self._per_cta
            party = Other(look.at, look.cta.number, thread)
            look.report("race", wrong, "that another lane of the same instruction writes", party)

    def arrived(self, cta: ObservedCta, phase: Phase, lanes: np.ndarray, relaxed: bool = False) -> None:
        """Let lanes hand on what they know to a phase; whole CTAs meet when they leave it."""
        now, state = self._history.tick(cta.at), self._state(cta)
        if relaxed:
            handed = state.release_state.relaxed(state.clocks, self._numbers(cta, lanes), stamp.scope_of("cluster"))
            if handed is not None:
                self._add(state, phase, handed)
            return
        if phase.kind == "barrier" and (lanes == cta.exists).all():
            return
        self._add(state, phase, state.clocks.release(self._numbers(cta, lanes), now))

    def _add(self, state: ClusterState, phase: Phase, knowledge: Knowledge) -> None:
        """Let a phase hand on more; the phases of an mbarrier hand on what those before did."""
        known = state.phases.get(phase)
        if known is None and phase.kind == "mbarrier":
            known = state.phases.get(phase.before(1))
            state.phases.pop(phase.before(2), None)
        state.phases[phase] = knowledge if known is None else known.joined(knowledge)

    def departed(self, cta: ObservedCta, phase: Phase, lanes: np.ndarray, relaxed: bool = False) -> None:
        """Let lanes know what a phase hands on."""
        state = self._state(cta)
        if phase.kind == "barrier":
            known = state.phases.pop(phase, None)
            if (lanes == cta.exists).all():
                state.clocks.meet_cta(cta.rank, self._history.tick(cta.at))
                return
        else:
            known = state.phases.get(phase)
        if known is not None and relaxed:
            for thread in self._numbers(cta, lanes).tolist():
                state.release_state.tell(thread, known)
        elif known is not None and lanes.any():
            state.clocks.acquire(self._numbers(cta, lanes), known)

    def converged(self, batch: ObservedBatch, members: np.ndarray) -> None:
        """Let the lanes of a warp know what each of them knows."""
        cta, now = batch.cta, self._history.tick(batch.cta.at)
        clocks = self._state(cta).clocks
        for warp, lanes in zip(batch.warps.tolist(), members, strict=True):
            if not lanes.any():
                continue
            if (lanes == cta.exists[warp]).all():
                clocks.meet_warp(cta.rank * self._launch.warp_count + warp, now)
            else:
                threads = np.flatnonzero(lanes) + cta.rank * self._per_cta + warp * WARP
                clocks.acquire(threads, clocks.release(threads, now))

    def ended(self, cta: ObservedCta) -> None:
        """Check that what other CTAs did to a CTA's shared memory happened before its end."""
        self._state(cta).gone.add(cta.shared)
        shadow = self._history.known_shadow(cta.shared)
        if shadow is None:
            return
        self._copies.end(cta, shadow, self._state(cta).clocks)
        if self._ctas == 1:
            return
        clocks, now = self._state(cta).clocks, self._history.tick(cta.at)
        known = clocks.release(self._numbers(cta, cta.exists), now).row
        for stamps in (shadow.written, shadow.read, shadow.updated):
            if stamps is None:
                continue
            others = np.unique(stamps[stamp.threads_of(stamps) // self._per_cta != cta.number])
            others = others[others != 0]
            late = others[stamp.times_of(others) > known[stamp.threads_of(others) - clocks.number * clocks.count]]
            for time in np.unique(stamp.times_of(late)).tolist():
                self._report_late(cta, time, stamp.threads_of(late[stamp.times_of(late) == time]))

    def _report_late(self, cta: ObservedCta, time: int, threads: np.ndarray) -> None:
        """Report that `threads: [k]` accessed the shared memory of a CTA with nothing that keeps it from ending."""
        peer = cta.peers[int(threads[0]) // self._per_cta - cta.peers[0].number]
        lanes = peer.lanes_of(threads - peer.number * self._per_cta)
        message = "accesses shared memory of another CTA, which may have exited: no barrier of the cluster is between"
        peer.report("race", message, self._history.at(time), lanes)

    def fenced(self, batch: ObservedBatch, name: str) -> None:
        """Let a fence prepare what is released, take in what was seen, or reach the asynchronous proxy."""
        cta, now = batch.cta, self._history.tick(batch.cta.at)
        state, words = self._state(cta), name.split(".")
        threads = self._numbers(cta, batch.in_cta())
        if words[1] == "proxy":
            if words[2] == "async":
                spaces = tuple(space for space in PROXIED if len(words) == 3 or words[3].startswith(space))
                state.clocks.fence_proxy(threads, spaces, now)
            return
        if words[1] == "mbarrier_init":
            state.release_state.publish(threads)
            return
        fence = Fence.of(words, state.clocks.snapshot(threads, now))
        self._messages.fence(state.clocks, state.release_state, threads, fence)

    def map_fenced(self, batch: ObservedBatch, name: str, maps: Region | None = None) -> None:
        """Let a fence release to the proxy of tensor maps or acquire maps there, and be the fence that it is beside."""
        cta, now = batch.cta, self._history.tick(batch.cta.at)
        state, threads = self._state(cta), (cta.number * self._per_cta + batch.threads)[batch.mask]
        local = threads - state.clocks.number * state.clocks.count
        fence = Fence.of(name.split("."), state.clocks.snapshot(local, now))
        self._messages.fence(state.clocks, state.release_state, local, fence)
        if maps is None:
            self._maps.release(threads, fence.scope, fence.then)
        else:
            where = maps.memory, maps.index, maps.size
            self._maps.acquire(Accesses(cta, state.clocks, cta.at, *where, threads, fence.scope, "acquires"), now)

    def started(self, operation: AsyncOperation) -> None:
        """Check what an operation reads and writes."""
        self._copies.start(operation, self._state(operation.cta).clocks, self._history.tick(operation.at))

    def settled(self, operation: AsyncOperation, chosen: np.ndarray) -> None:
        """Let copies be writes of their threads."""
        self._copies.settle(operation, chosen, self._history.tick(operation.at))

    def finished(self, operation: AsyncOperation, phase: Phase, reads_only: bool = False) -> None:
        """Let a phase hand on that an operation is complete."""
        state, now = self._state(operation.cta), self._history.tick(operation.at)
        self._add(state, phase, self._copies.finish(operation, state.clocks, phase, now, reads_only))
