"""Runs in which a team takes all kernels of a generation together, from the first run on, however long each takes."""

from tinyc.runtime.cpu import CpuExecutable
from tinyc.runtime.cpu_calls import Pace

#: As long as no kernel takes that is over at once, or that stays by itself.
SECONDS = 1e-4


class JoinedExecutable(CpuExecutable):
    """What runs a program so; as many threads as there are wait for each generation."""

    def _prepare(self, bound):
        frames = super()._prepare(bound)
        frames._paces[:] = [known_pace() for _ in frames._paces]
        return frames


def known_pace(seconds=SECONDS):
    """Return the pace of a kernel that is known to take so long in one thread."""
    return Pace(turns=1 << 30, seconds=seconds, alone_seconds=seconds, tries=0)
