"""The state of one CTA (where each of its threads is, registers, memory, who waits) and batches of its threads.

A `Batch` are threads that execute one instruction together: made by `schedule`, narrowed by guards, handed to the
closures of the instructions. Batch and CTA know each other, and stand in one file for that.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar, cast

import numpy as np

from ptxsim.machine.copies_in_flight import CopiesInFlight
from ptxsim.machine.launch import Launch
from ptxsim.machine.observer import Other
from ptxsim.machine.warp import WARP
from ptxsim.memory.byte_array import ALLOCATED, READY, ByteArray
from ptxsim.memory.windows import LOCAL_START, SHARED_START
from ptxsim.parsing.types import TYPE_BITS

_T = TypeVar("_T")

#: The type in which registers of each width (bits) are kept; 128 bits are two words in a last axis.
STORAGE = {1: np.bool_, 8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64, 128: np.uint64}


@dataclass(eq=False)
class Wait:
    """Threads that wait until someone calls `Cta.release`: `lanes: [warps, 32]`, at instruction `at`.

    `what` they wait for is printed when that is reported.
    """

    lanes: np.ndarray
    at: int
    what: object


@dataclass(eq=False)
class Cta:
    """One CTA of a launch.

    `index` is its place in the grid, `rank` its number in its cluster, `number` that among the CTAs which the launch
    runs (those of a cluster follow each other).

    Shapes: [warps, 32] for `exists` (there is such a thread), `alive` (it has not exited), `ready` (it waits for
    nothing), `pc`, `depth` and every register. While all living threads are at one instruction that is `uniform`, and
    `pc` is out of date; `at` is the instruction that runs. `carry` is the condition code of extended arithmetic,
    `repeating` are lanes that come once more to an instruction at which they have waited for lanes of their warp.
    """

    launch: Launch
    index: tuple[int, int, int]
    rank: int
    number: int
    exists: np.ndarray
    registers: list[np.ndarray]
    shared: ByteArray
    local: ByteArray
    parameters: ByteArray
    peers: "list[Cta]" = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    #: Instruction → which lanes of its warp (bits) each lane waits for there; 0 for those that do not wait.
    converging: dict[int, np.ndarray] = field(default_factory=dict)
    #: Aligned barriers that take parts of warps, since the rest cannot come; the finding is recorded.
    partial: set[int] = field(default_factory=set)
    #: Register slot → the lanes in which it was written, for the registers that need it.
    written: dict[int, np.ndarray] = field(default_factory=dict)
    #: Copies that its threads have issued and that have not landed.
    copies_in_flight: CopiesInFlight = field(default_factory=CopiesInFlight)
    #: Call depth → where each lane goes on when it returns from there.
    stack: list[np.ndarray] = field(default_factory=list)
    #: Call → what it does once its lanes are back.
    after_return: "dict[int, Step]" = field(default_factory=dict)
    _states: dict[object, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.warp_count = len(self.exists)
        self.alive = self.exists.copy()
        self.ready = self.exists.copy()
        self.pc = np.zeros(self.exists.shape, np.int64)
        self.depth = np.zeros(self.exists.shape, np.int64)
        self.last_turn = np.zeros(self.exists.shape, np.int64)
        self.carry = self.no_lanes()
        self.repeating = self.no_lanes()
        self.uniform: int | None = self.launch.entry
        self.at = 0
        self.turn = 0
        self.everyone: Batch = self._everyone()

    @classmethod
    def begin(cls, launch: Launch, index: tuple[int, int, int], rank: int) -> "Cta":
        """Make a CTA whose threads stand at the kernel's first instruction."""
        shared = ByteArray("shared", 0, SHARED_START + launch.shared_bytes)
        shared.allocate(SHARED_START, launch.shared_bytes, initialized=False)
        launch.cta_count += 1
        return cls(
            launch,
            index,
            rank,
            launch.cta_count - 1,
            launch.exists,
            _zeroed_registers(launch),
            shared,
            _per_thread(launch, "local", launch.code.local_bytes, initialized=False),
            _per_thread(launch, "param::func", launch.code.param_bytes, initialized=True),
        )

    def _everyone(self) -> "Batch":
        return Batch(self, np.arange(self.warp_count), self.alive.copy(), covers=True)

    @property
    def finished(self) -> bool:
        """Whether no thread lives."""
        return not self.alive.any()

    def state_of(self, make: Callable[["Cta"], _T]) -> _T:
        """The state that instructions of one family keep for this CTA: what `make` gave when it was first asked for."""
        if make not in self._states:
            self._states[make] = make(self)
        return cast("_T", self._states[make])

    def diverge(self) -> None:
        """Keep a program counter for each thread from now on."""
        if self.uniform is not None:
            self.pc[...] = self.uniform
            self.uniform = None

    def exit(self, batch: "Batch") -> None:
        """End the threads of `batch`; who waits for them in their warps looks again."""
        self.diverge()
        batch.update(self.alive, False)
        batch.update(self.ready, False)
        for at, members in list(self.converging.items()):
            rows = batch.warps[members[batch.warps].any(axis=1)]
            again = self.no_lanes()
            again[rows] = members[rows] != 0
            self.repeat(again)
            members[rows] = 0
            if not members.any():
                del self.converging[at]
        if not self.finished:
            self.everyone = self._everyone()

    def repeat(self, lanes: np.ndarray) -> None:
        """Let lanes, [warps, 32], that wait for others of their warp come to their instruction once more."""
        self.ready |= lanes
        self.repeating |= lanes

    def block(self, batch: "Batch", following: int, wait: Wait) -> None:
        """Let the lanes of `batch` wait, and go on at `following` once `wait` is released."""
        self.diverge()
        batch.update(self.pc, following)
        batch.update(self.ready, False)
        wait.lanes |= batch.in_cta()
        if wait not in self.waits:
            self.waits.append(wait)

    def release(self, wait: Wait) -> None:
        """Let the lanes of `wait` run again."""
        self.ready |= wait.lanes & self.alive
        self.waits.remove(wait)

    def retire(self) -> None:
        """Forget what knows the CTA, once its cluster has ended: nothing keeps its memory then, nor the launch."""
        del self.everyone
        self.peers = []
        self._states.clear()

    def kill(self) -> None:
        """End all threads: the launch has gone wrong, and the finding is recorded; or its observer has seen enough."""
        self.diverge()
        self.alive[...] = False
        self.ready[...] = False
        self.waits.clear()
        self.converging.clear()
        self.copies_in_flight = CopiesInFlight()
        self._states.clear()

    def no_lanes(self) -> np.ndarray:
        """An empty set of lanes: [warps, 32]."""
        return np.zeros(self.exists.shape, bool)

    def lanes_of(self, threads: "np.ndarray | int") -> np.ndarray:
        """The lanes that are the threads of these numbers: [warps, 32]."""
        lanes = self.no_lanes()
        lanes.flat[threads] = True
        return lanes

    def report(
        self,
        kind: str,
        message: str,
        at: int,
        lanes: np.ndarray,
        address: int | None = None,
        space: str = "shared",
        other: Other | None = None,
    ) -> None:
        """Record a finding of kind `kind` at instruction `at`, by `lanes: [warps, 32]`.

        `address` is one of `space`; `other` is the other side, whose line the message may leave open
        (`findings.OTHER_LINES`).
        """
        self.launch.findings.add(kind, message, self.index, at, lanes, address, space, other)


def _zeroed_registers(launch: Launch) -> list[np.ndarray]:
    """Zeroed registers, those of one width beside each other."""
    bits = [TYPE_BITS[slot.type] for slot in launch.code.slots]
    pools = {}
    for width in set(bits):
        shape = (bits.count(width), launch.warp_count, WARP, *([2] if width == 128 else []))
        pools[width] = iter(np.zeros(shape, STORAGE[width]))
    return [next(pools[width]) for width in bits]


def _per_thread(launch: Launch, space: str, size: int, initialized: bool) -> ByteArray:
    stride = launch.stride_of[space]
    memory = ByteArray(space, 0, stride * launch.warp_count * WARP)
    frames = memory.state[: stride * launch.warp_count * WARP].reshape(-1, stride)
    frames[:, LOCAL_START : LOCAL_START + size] = READY if initialized else ALLOCATED
    return memory


class Batch:
    """Lanes of some warps of a CTA that are at one program counter.

    Shapes: `warps: [n]` are the warps' numbers in the CTA and `mask: [n, 32]` the lanes that execute. `rows` selects
    the warps from an array of [warps of the CTA, 32]: None for all of them, a slice where they are neighbours.
    `covers` says that no thread outside of `mask` lives in these warps, so that registers may be written as a whole;
    `dense` says that the mask is all ones.
    """

    __slots__ = ("covers", "cta", "dense", "launch", "mask", "registers", "rows", "warps")

    def __init__(self, cta: Cta, warps: np.ndarray, mask: np.ndarray, covers: bool) -> None:
        self.cta = cta
        self.launch = cta.launch
        self.registers = cta.registers
        self.warps = warps
        self.rows = _rows(warps, cta.warp_count)
        self.mask = mask
        self.covers = covers
        self.dense = bool(mask.all())

    @property
    def threads(self) -> np.ndarray:
        """The numbers in their CTA of all lanes of these warps: [n, 32]."""
        return self.select(self.launch.thread_numbers)

    def in_cta(self, lanes: np.ndarray | None = None) -> np.ndarray:
        """`lanes: [n, 32]` of this batch (those that execute where None) as lanes of the CTA: [warps, 32]."""
        places = self.cta.no_lanes()
        places[self.warps] = self.mask if lanes is None else lanes
        return places

    def whole_warps(self) -> np.ndarray:
        """All threads of the warps that have lanes in this batch, as lanes of the CTA: [warps, 32]."""
        return self.cta.exists & self.in_cta().any(axis=1, keepdims=True)

    def narrowed(self, mask: np.ndarray) -> "Batch":
        """The same warps with only the lanes of `mask`, which are some of this batch's."""
        narrow = Batch.__new__(Batch)
        narrow.cta, narrow.launch, narrow.registers = self.cta, self.launch, self.registers
        narrow.warps, narrow.rows, narrow.mask = self.warps, self.rows, mask
        narrow.covers = narrow.dense = False
        return narrow

    def select(self, array: np.ndarray) -> np.ndarray:
        """The rows of an array over the CTA's warps: a view, or a copy where the warps are not neighbours."""
        return array if self.rows is None else array[self.rows]

    def update(self, array: np.ndarray, values: "np.ndarray | int | bool") -> None:
        """Set the lanes of this batch in an array over the CTA's warps."""
        if isinstance(self.rows, np.ndarray):
            array[self.rows] = np.where(_like(self.mask, array), values, array[self.rows])
        else:
            np.copyto(self.select(array), values, where=_like(self.mask, array), casting="unsafe")

    def write(self, array: np.ndarray, values: np.ndarray) -> None:
        """Set a register; where the batch covers its warps, lanes without a thread are written, too."""
        if not self.covers:
            self.update(array, values)
        elif self.rows is None:
            array[...] = values
        else:
            array[self.rows] = values

    def spread(self, values: np.ndarray) -> np.ndarray:
        """An array of [n, 32, …] with `values` (one for each active lane, in order) at them, and zeros."""
        full = np.zeros((*self.mask.shape, *values.shape[1:]), values.dtype)
        full[self.mask] = values
        return full

    def split(self, taken: np.ndarray, target: int, otherwise: int) -> None:
        """Send the lanes of `taken` to `target` and the others of this batch to `otherwise`."""
        cta = self.cta
        lanes = taken & self.mask
        count = np.count_nonzero(lanes)
        if not count:
            self.proceed(otherwise)
        elif count == np.count_nonzero(self.mask):
            self.proceed(target)
        else:
            cta.diverge()
            self.update(cta.pc, np.where(lanes, target, otherwise))

    def proceed(self, target: int) -> None:
        """Send all lanes of this batch to `target`."""
        if self.cta.uniform is not None and self.covers and self.rows is None:
            self.cta.uniform = target
        else:
            self.cta.diverge()
            self.update(self.cta.pc, target)

    def report(
        self,
        kind: str,
        message: str,
        lanes: np.ndarray | None = None,
        address: int | None = None,
        space: str = "shared",
    ) -> None:
        """Record a finding of kind `kind` at the instruction that runs, by `lanes: [n, 32]` (all where None).

        `address` is one of `space`.
        """
        self.cta.report(kind, message, self.cta.at, self.in_cta(lanes), address, space)


#: What an instruction does to a batch. True: it has set the program counters itself, and the batch ends here.
Step: TypeAlias = Callable[[Batch], "bool | None"]
#: The values of an operand: [n, 32], or [1, 1] where all lanes agree; and how a result is set.
Read: TypeAlias = Callable[[Batch], np.ndarray]
Write: TypeAlias = Callable[[Batch, np.ndarray], None]
#: What is done with a batch that goes on.
Act: TypeAlias = Callable[[Batch], None]


def _rows(warps: np.ndarray, warp_count: int) -> "slice | np.ndarray | None":
    if len(warps) == warp_count:
        return None
    first, last = int(warps[0]), int(warps[-1])
    return slice(first, last + 1) if last - first + 1 == len(warps) else warps


def _like(mask: np.ndarray, array: np.ndarray) -> np.ndarray:
    return mask if array.ndim == mask.ndim else mask.reshape(*mask.shape, *[1] * (array.ndim - mask.ndim))
