"""What all CTAs of a launch share: its shape, memory, findings, tallies, and who observes it."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from tinyc.simulator.asynchronous.tensor_map import TensorMap
from tinyc.simulator.engine.batch import WARP
from tinyc.simulator.engine.compile import Executable
from tinyc.simulator.engine.cta import STORAGE, Cta
from tinyc.simulator.engine.findings import Findings
from tinyc.simulator.engine.observer import Observer
from tinyc.simulator.memory.byte_array import ALLOCATED, READY, ByteArray, View
from tinyc.simulator.memory.traffic import Tally
from tinyc.simulator.memory.windows import LOCAL_START, SHARED_START
from tinyc.simulator.types import BITS

_FRAME_ALIGNMENT = 64


@dataclass(eq=False)
class Launch:
    """One launch: `memory` is global memory, `constants` the `.const` variables, `arguments` the parameters' bytes.

    `module_base` is the address of the module's global variables; `tallies` counts accesses by (instruction, kind,
    space, bytes of a lane); `tensor_maps` has the tensor maps by the number of their argument, each with the address of
    its array. `ticks` counts what was run, `skipped_time` is what the clocks show beside it, `cta_count` counts the
    CTAs that have begun. `progress` counts what may end a wait; while the launch is `watched`, what an endless loop may
    do in every round is none: a store of what is there already, the end of a phase or of a barrier.
    """

    program: Executable
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    dynamic_shared_bytes: int
    memory: ByteArray
    constants: ByteArray
    arguments: ByteArray
    module_base: int
    findings: Findings
    observer: Observer = field(default_factory=Observer)
    tallies: dict[tuple[int, str, str, int], Tally] = field(default_factory=dict)
    fences: Counter[str] = field(default_factory=Counter)
    explicit_cluster: bool = False
    tensor_maps: dict[int, tuple[TensorMap, int]] = field(default_factory=dict)
    barriers: int = 0
    cta_count: int = 0
    ticks: int = 0
    skipped_time: int = 0
    watched: bool = False
    progress: int = 0

    def __post_init__(self) -> None:
        code = self.program.code
        self.counts = np.zeros(len(code.instructions) + 2, np.int64)
        self.shared_bytes = code.dynamic_offset + self.dynamic_shared_bytes
        self.stride_of = {"local": _stride(code.local_bytes), "param::func": _stride(code.param_bytes)}
        threads = np.arange(self.warp_count * WARP).reshape(-1, WARP)
        x, y, _ = self.block
        self.thread_index = (threads % x, threads // x % y, threads // (x * y))
        self.exists = threads < self.thread_count

    @property
    def time(self) -> int:
        """What the clocks show."""
        return self.ticks + self.skipped_time

    @property
    def thread_count(self) -> int:
        """Threads of a CTA."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def warp_count(self) -> int:
        """Warps of a CTA."""
        return -(-self.thread_count // WARP)

    def tally(self, number: int, kind: str, space: str, size: int) -> Tally:
        """Return the tally of accesses by instruction `number`: "load", "store" or "atomic", `size` bytes of a lane."""
        key = (number, kind, space, size)
        found = self.tallies.get(key)
        if found is None:
            found = self.tallies[key] = Tally()
        return found

    def store(self, view: View, words: np.ndarray, values: np.ndarray) -> None:
        """Set words of a memory."""
        self.progress += not self.watched or bool((view.data[words] != values).any())
        view.data[words] = values
        view.state[words] = view.ready

    def new_cta(self, index: tuple[int, int, int], rank: int) -> Cta:
        """Return a CTA whose threads stand at the kernel's first instruction."""
        code = self.program.code
        shared = ByteArray("shared", 0, SHARED_START + self.shared_bytes)
        shared.allocate(SHARED_START, self.shared_bytes, initialized=False)
        self.cta_count += 1
        cta = Cta(
            self,
            index,
            rank,
            self.cta_count - 1,
            self.exists,
            self._registers(),
            shared,
            self._per_thread("local", code.local_bytes, initialized=False),
            self._per_thread("param::func", code.param_bytes, initialized=True),
        )
        cta.written = {slot: cta.no_lanes() for slot in self.program.tracked}
        return cta

    def _registers(self) -> list[np.ndarray]:
        """Return zeroed registers, those of one width beside each other."""
        bits = [BITS[slot.type] for slot in self.program.code.slots]
        pools = {}
        for width in set(bits):
            shape = (bits.count(width), self.warp_count, WARP, *([2] if width == 128 else []))
            pools[width] = iter(np.zeros(shape, STORAGE[width]))
        return [next(pools[width]) for width in bits]

    def _per_thread(self, space: str, size: int, initialized: bool) -> ByteArray:
        stride = self.stride_of[space]
        memory = ByteArray(space, 0, stride * self.warp_count * WARP)
        frames = memory.state[: stride * self.warp_count * WARP].reshape(-1, stride)
        frames[:, LOCAL_START : LOCAL_START + size] = READY if initialized else ALLOCATED
        return memory


def _stride(size: int) -> int:
    return LOCAL_START + -(-size // _FRAME_ALIGNMENT) * _FRAME_ALIGNMENT
