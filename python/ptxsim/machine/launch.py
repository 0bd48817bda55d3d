"""What all CTAs of a launch share: its shape, memory, findings, tallies, and who observes it."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ptxsim.linking.code import Code
from ptxsim.machine.findings import Findings
from ptxsim.machine.observer import Observer
from ptxsim.machine.warp import WARP
from ptxsim.memory.array_traffic import ArrayTraffic
from ptxsim.memory.byte_array import ByteArray, View
from ptxsim.memory.traffic import Tally
from ptxsim.memory.windows import LOCAL_START

_FRAME_ALIGNMENT = 64


#: Told how far a launch is: CTAs that have ended, all CTAs, and warp-instructions that have been executed.
Monitor: TypeAlias = Callable[[int, int, int], None]


@dataclass(eq=False)
class Launch:
    """One launch: `memory` is global memory, `constants` the `.const` variables, `arguments` the parameters' bytes.

    `clusters` are the numbers of the grid's clusters that are run, x fastest; the others are not. `module_base` is the
    address of the module's global variables; `tallies` counts accesses by (instruction, kind, space, bytes of a lane),
    `arrays` those to each array. `ticks` counts what was run, `skipped_time` is what the clocks show beside it,
    `cta_count` counts the CTAs that have begun. `progress` counts what may end a wait; while the launch is `watched`,
    what an endless loop may do in every round is none: a store of what is there already, the end of a phase or of a
    barrier. `monitor` is told now and then how far the launch is. `printed` is what `printf` has printed.
    """

    code: Code
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    clusters: Sequence[int]
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
    barriers: int = 0
    cta_count: int = 0
    ticks: int = 0
    skipped_time: int = 0
    watched: bool = False
    progress: int = 0
    monitor: Monitor | None = None
    printed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        code = self.code
        self.arrays = ArrayTraffic(self.memory.allocated)
        self.counts = np.zeros(len(code.instructions) + 2, np.int64)
        self.shared_bytes = code.dynamic_offset + self.dynamic_shared_bytes
        self.stride_of = {"local": _stride(code.local_bytes), "param::func": _stride(code.param_bytes)}
        self.thread_numbers = threads = np.arange(self.warp_count * WARP).reshape(-1, WARP)
        x, y, _ = self.block
        self.thread_index = (threads % x, threads // x % y, threads // (x * y))
        self.exists = threads < self.thread_count

    @property
    def entry(self) -> int:
        """The first instruction of the kernel."""
        return self.code.kernel.start

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
        """The tally of accesses by instruction `number`: "load", "store" or "atomic", `size` bytes of a lane."""
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


def _stride(size: int) -> int:
    return LOCAL_START + -(-size // _FRAME_ALIGNMENT) * _FRAME_ALIGNMENT
