"""What a launch has done so far, as the race detector and its checks of copies remember it together.

In: the instructions of events, and memories. Out: the times of events, the shadow of each memory, and who left a stamp.
"""

from weakref import WeakKeyDictionary

import numpy as np

from ptxsim.machine.observer import Other
from ptxsim.machine.warp import WARP
from ptxsim.memory.byte_array import ByteArray
from ptxsim.races import stamp
from ptxsim.races.messages import Messages
from ptxsim.races.shadow import GRANULE, Shadow

_GLOBAL_SLOTS = 2


class History:
    """The events of a launch whose CTAs have `warps` warps each, and whose clusters have `ctas` CTAs."""

    def __init__(self, warps: int, ctas: int) -> None:
        #: Threads of a CTA, warps whole.
        self.per_cta = warps * WARP
        #: What threads have told each other through memory.
        self.messages = Messages()
        self._warps_of_cluster = warps * ctas
        #: The instruction of each event; there is none at time 0.
        self._instructions = [0]
        self._shadows: WeakKeyDictionary[ByteArray, Shadow] = WeakKeyDictionary()

    def tick(self, at: int) -> int:
        """The time of a new event, at an instruction."""
        self._instructions.append(at)
        return len(self._instructions) - 1

    def at(self, time: int) -> int:
        """The instruction of the event at a time."""
        return self._instructions[time]

    def shadow(self, memory: ByteArray, size: int) -> Shadow:
        """The shadow of a memory, to which an access of `size` bytes comes."""
        found = self._shadows.get(memory)
        if found is None:
            by_warp = memory.space != "global"
            slots = self._warps_of_cluster if by_warp else _GLOBAL_SLOTS
            found = self._shadows[memory] = Shadow(
                memory.data.size, memory.allocated, slots, by_warp, min(size, GRANULE)
            )
        return found

    def known_shadow(self, memory: ByteArray) -> Shadow | None:
        """The shadow of a memory, None where nothing has happened to it."""
        return self._shadows.get(memory)

    def other(self, earlier: np.ndarray) -> Other:
        """Who left a stamp, `earlier: [1]`, and where."""
        return Other(self.at(int(stamp.times_of(earlier)[0])), *divmod(int(stamp.threads_of(earlier)[0]), self.per_cta))
