"""What checks can watch while a launch runs: every access, barrier, fence and exit, in the order in which they happen.

The race detector is an observer. `Observer` does nothing; a check overrides what it needs.
"""

from typing import TYPE_CHECKING

import numpy as np

from tinyc.simulator.engine.batch import Batch
from tinyc.simulator.memory.byte_array import ByteArray

if TYPE_CHECKING:
    from tinyc.simulator.engine.access import Access
    from tinyc.simulator.engine.cta import Cta


class Observer:
    """Told by the engine what happens; lanes are [warps of the CTA, 32] unless they are a batch's."""

    def accessed(self, batch: Batch, space: str, memory: ByteArray, index: np.ndarray, access: "Access") -> None:
        """Note an access of `access.size` bytes at `index`: [n, 32] if the batch is dense, else one for each lane."""

    def arrived(self, cta: "Cta", barrier: object, lanes: np.ndarray) -> None:
        """Note that lanes arrive at a barrier; `barrier` is the hashable name of one phase of it."""

    def departed(self, cta: "Cta", barrier: object, lanes: np.ndarray) -> None:
        """Note that lanes pass a barrier that is complete."""

    def gathered(self, batch: Batch, members: np.ndarray) -> None:
        """Note that the lanes of each warp met at `bar.warp.sync`; `members: [n, 32]`."""

    def fenced(self, batch: Batch, name: str) -> None:
        """Note that the lanes execute a fence, named by its opcode and modifiers."""

    def exited(self, batch: Batch) -> None:
        """Note that the lanes end."""
