"""Replays of hand-written SASS: rows of `sass_text` and what each warp does with them, in; cycles, out."""

from dataclasses import dataclass, field

from ptxsim.clock.devices import device_of
from ptxsim.clock.memory.model import MemoryStep
from ptxsim.clock.recording.trace import CopyFacts, PhaseKey
from ptxsim.clock.replay.operations import operation_of
from ptxsim.clock.replay.path import SassPath
from ptxsim.clock.replay.residency import ClusterStreams
from ptxsim.clock.replay.sm import Replay, Replayed
from ptxsim.clock.replay.stream import WarpStream
from ptxsim_cases.sass_text import sass_function


def memory_step(l2: float, hbm: float, hits: float) -> MemoryStep:
    """Memory of which an SM gets so many bytes a cycle of L2 and of HBM; a share of what is read hits the near L2."""
    return MemoryStep(hits, 0.0, 1 - hits, 1 - hits, l2, hbm)


#: Memory that is never what limits.
AMPLE = memory_step(1e9, 1e9, 1.0)


@dataclass
class Script:
    """What a warp issues: rows of SASS, each with the events that happen there."""

    warp: int = 0
    cta: int = 0
    rows: list[tuple] = field(default_factory=list)
    events: dict[int, tuple] = field(default_factory=dict)

    def add(self, text: str, *events, line: int = 1, **control) -> "Script":
        """Issue an instruction; the control code is that of `sass_text.control_bits`."""
        if events:
            self.events[len(self.rows)] = events
        self.rows.append((line, text, control))
        return self


def replay_of(
    *scripts: Script,
    device: str = "h100",
    copies=(),
    share: MemoryStep = AMPLE,
    times: int = 1,
    resident: int = 1,
    **options,
) -> Replayed:
    """The replay of a cluster's warps, each with its own code; each CTA is on an SM of its own.

    The cluster comes `times` times, `resident` of them at once.
    """
    function = sass_function(*(row for script in scripts for row in script.rows))
    operations = [operation_of(each, device_of(device)) for each in function.instructions]
    ctas: dict[int, list[WarpStream]] = {}
    first = 0
    for script in scripts:
        code = tuple(range(first, first + len(script.rows)))
        first += len(script.rows)
        stream = WarpStream(script.cta, script.warp, code, script.events, SassPath((), 0, 0, 0))
        ctas.setdefault(script.cta, []).append(stream)
    queue = [ClusterStreams.of(list(ctas.values()), copies)] * times
    return Replay(operations, copies, queue, resident, device_of(device), lambda _: share, **options).run()


def phase(place: int, number: int = 0, kind: str = "mbarrier", cta: int = 0) -> PhaseKey:
    """A phase of the mbarrier or barrier at `place`."""
    return PhaseKey(kind, cta, place, number)


def load_of(size: int, *phases: PhaseKey, cta: int = 0, is_shared: bool = False) -> CopyFacts:
    """A bulk copy from global memory that completes `phases`."""
    return CopyFacts(0, 0, size, "global", "shared", cta, phases, (), 1 + is_shared)  # pyright: ignore[reportArgumentType]
