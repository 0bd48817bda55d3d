"""The CPU device: a program and its machine code become a function on numpy arrays.

Generations run one after the other. The turns of a kernel that takes long enough are shared by a team of threads
(`threads`), those of several kernels of a generation where that is sooner (`cpu_calls`). Kernels run without Python's
lock, but for those that are over at once; so callers run at once, each in an arena of its own, which a later run takes
over. Outputs are fresh arrays; inputs are read where they are. What takes long runs in chunks of its parallel loop, so
that Python can stop it between.
"""

import time
from collections.abc import Iterator, Mapping

import numpy as np

from tinyc.diagnostics import progress
from tinyc.runtime.arena import ArenaPool
from tinyc.runtime.bound import BoundProgram
from tinyc.runtime.const_pool import PoolImage
from tinyc.runtime.cpu_calls import Call, Kernels, Pace, RunTurns
from tinyc.runtime.cpu_frame import CpuFrame, CpuFrames
from tinyc.runtime.executable import Executable, Run
from tinyc.runtime.function_names import KERNEL_PREFIX, TEAM_FUNCTION
from tinyc.runtime.object_code import Code
from tinyc.runtime.program import Program
from tinyc.runtime.status import check_status
from tinyc.runtime.threads import thread_count

#: How long a chunk takes: an interrupt waits no longer, and the calls take no time beside it.
_CHUNK_SECONDS = 0.05
#: How much longer a chunk may be than the one before, which was over too soon to tell much.
_GROWTH = 8


class CpuExecutable(Executable[CpuFrames]):
    """A program that is ready to run in so many `threads`; `image` has its kernels, as `Code` takes it.

    Raises:
        ObjectError: the image cannot be loaded.
        TinycError: `InvalidOption`, as `thread_count`.
    """

    reads_in_place = True

    def __init__(
        self,
        program: Program,
        image: bytes,
        arrays: Mapping[str, np.ndarray] | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(program, arrays)
        symbols = [launch.symbol for launch in program.launches]
        self._code = Code(image, [KERNEL_PREFIX + symbol for symbol in symbols], [TEAM_FUNCTION])
        addresses = self._code.addresses
        functions = {symbol: addresses[KERNEL_PREFIX + symbol] for symbol in symbols}
        self.threads = thread_count(threads)
        self._kernels = Kernels(functions, addresses.get(TEAM_FUNCTION), self.threads)
        self._arenas = ArenaPool()

    def release(self) -> None:
        """Give back arenas and frames, all but the ConstPool; runs on their way are not disturbed."""
        super().release()
        self._arenas = ArenaPool()

    def _prepare(self, bound: BoundProgram) -> CpuFrames:
        return CpuFrames(bound, self._kernels)

    def _execute(self, run: Run, prepared: CpuFrames) -> None:
        arenas = self._arenas  # another one after `release`
        arena, frame = arenas.take(prepared.arena_bytes), prepared.take()
        try:
            frame.fill(run.inputs, run.outputs, arena.address, run.key)
            if run.pool is not None:
                frame.fill_pool(run.pool.memory.ctypes.data)
            if run.prepares or run.timer is not None or run.observe is not None:
                self._one_by_one(run, frame)
            else:
                for call in frame.joined_calls:
                    if call.pace.is_known_short:
                        progress(call.title, 0, call.turns)
                        call.at_once()
                    else:
                        in_chunks(call.work, call.turns, call.pace, call.title, call.threads)
            check_status(self.program, frame.status)
        finally:
            prepared.give_back(frame)
            arenas.give_back(arena)

    def _one_by_one(self, run: Run, frame: CpuFrame) -> None:
        """Call each kernel by itself, for who asks how long it takes, what it has written, or what it reads."""
        for call in _preparing(frame, run.pool) if run.pool is not None and run.prepares else frame.calls:
            seconds = in_chunks(call.work, call.turns, call.pace, call.title, call.threads)
            if run.timer is not None:
                run.timer(run.bound, call.launch, seconds)
            if run.observe is not None:
                self._tell_writes(run, run.observe, call.launch.kernel, frame.contents)


def _preparing(frame: CpuFrame, pool: PoolImage) -> Iterator[Call]:
    """The calls of a run that prepares; the next one is asked for when a kernel is done."""
    for call in frame.every_call:
        with pool.passing.read_by(call.launch.kernel) as arrays:
            frame.fill_constants(arrays)
            yield call


def in_chunks(work: RunTurns, turns: int, pace: Pace, title: str, threads: int = 1) -> float:
    """Call `work(low, high)` on consecutive ranges that make up ``0 … turns``, each of about `_CHUNK_SECONDS`.

    Ranges are about equal, and have as many turns for each of the `threads`, however long one takes: none waits for the
    others at the end of each.

    What Python has been told to do meanwhile, such as to raise KeyboardInterrupt, it does between two calls. `pace` is
    what earlier runs have told, and later ones are told by it: a kernel that is over soon is one call from then on.
    Returns how long all took, in seconds.
    """
    is_alone = threads == 1 or not pace.wants_team
    low, started = 0, time.perf_counter()
    before = started
    while low < turns:
        progress(title, low, turns)
        ranges = -(-(turns - low) // max(pace.turns, threads))
        size = -(-(turns - low) // (ranges * threads)) * threads
        high = min(low + size, turns)
        work(low, high)
        now = time.perf_counter()
        seconds, before = now - before, now
        pace.turns = min(size * _GROWTH, int((high - low) * _CHUNK_SECONDS / (seconds + 1e-9)) or 1)
        low = high
    pace.seconds = before - started
    if is_alone:
        pace.alone_seconds, pace.tries = min(pace.seconds, pace.alone_seconds), pace.tries - 1
    return pace.seconds
