"""Runs in which every write is recorded: which turn of a kernel has written which byte, in the place of which thread.

In: a program as `CpuExecutable` takes it. Out: its outputs, or an `AssertionError` that names the kernel: two turns
have written the same byte, or two threads to the same workspace; a write is to no buffer that the kernel writes; or
some of that is written by none. Or it names two kernels of a generation of which one writes what the other reads or
writes, or holds in the workspace of another thread.

Turns are computed one at a time, with the addresses of one thread after the other, in memory that is full of one byte
and then of another, all but what the kernel reads: whichever byte is written, it differs from one of the two. What is
read and overwritten in place keeps its values, so that a write of the same value there is not seen.
"""

import ctypes
from itertools import combinations, groupby

import numpy as np

from tinyc.runtime.cpu import CpuExecutable

#: What memory is full of before a turn.
FILLERS = (0x55, 0xAA)
#: A kernel on some of its turns, as `dialects.exec.to_llvm` says.
KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)


class RecordingExecutable(CpuExecutable):
    """What runs a program turn by turn, and checks who writes what; `turns` counts those that were recorded."""

    turns = 0
    reads_in_place = False  # the pool has all constants

    def _execute(self, run, prepared):
        memory, frame = _Memory(run, self.program, prepared.arena_bytes), prepared.take()
        frame.fill(run.inputs, memory.outputs, memory.arena_address, run.key)
        frame.fill_pool(memory.pool_address)
        calls = frame.every_call if run.prepares else frame.calls
        for _, generation in groupby(calls, lambda call: call.launch.kernel.generation):
            launches = [_Launch(memory, self.program, call, number) for number, call in enumerate(generation)]
            for each in launches:
                self.turns += each.record(self._kernels.threads)
            for one, other in combinations(launches, 2):
                one.require_independence(other)
                other.require_independence(one)
        for array, found in zip(run.outputs, memory.outputs, strict=True):
            array[...] = found
        if run.pool is not None:
            run.pool.memory[...] = memory.pool


class _Memory:
    """All that a run may write to, in one array of bytes: the arena with the threads' workspaces, pool, outputs."""

    def __init__(self, run, program, arena_bytes):
        pool = np.empty(0, np.uint8) if run.pool is None else run.pool.memory
        ends = np.cumsum(
            [0, *(-(-size // 256) * 256 for size in (arena_bytes, pool.size, *(each.nbytes for each in run.outputs)))]
        )
        self.bytes = np.full(ends[-1], 0xFF, np.uint8)
        self.pool = self.bytes[ends[1] : ends[1] + pool.size]
        self.pool[...] = pool
        self.outputs = [
            self.bytes[first : first + each.nbytes].view(each.dtype).reshape(each.shape)
            for first, each in zip(ends[2:], run.outputs, strict=False)
        ]
        self.arena_address = self.bytes.ctypes.data
        self.pool_address = self.arena_address + int(ends[1])
        starts = {name: int(ends[1]) + offset for name, offset in run.bound.pool_offsets.items()} | run.bound.offsets
        starts |= {f"output_{k}": int(first) for k, first in enumerate(ends[2:-1])}
        self._places = {name: slice(first, first + run.bound.sizes[name]) for name, first in starts.items()}

    def mask(self, names):
        """Say which bytes are those of buffers; the inputs are not in this memory."""
        found = np.zeros(self.bytes.size, bool)
        for name in names:
            if name in self._places:
                found[self._places[name]] = True
        return found


class _Launch:
    """A launch, one of several of its generation, whose turns are recorded."""

    def __init__(self, memory, program, call, number):
        kernel = call.launch.kernel
        own = program.workspaces_of(kernel)
        self._memory, self._call, self._symbol, self._number = memory, call, kernel.symbol, number
        self._kept = memory.mask({*kernel.reads} - own)
        self._written = memory.mask({*kernel.writes} - own)
        self._work = _work_of(call)

    def record(self, threads):
        """Compute each turn by itself, and return how many there are; what the launch writes is in memory afterwards.

        Raises:
            AssertionError: a byte has no owner, or several.
        """
        self._before = self._memory.bytes.copy()
        owners = np.full(self._memory.bytes.size, -1)
        for turn in range(self._call.turns):
            thread = (turn + self._number) % threads
            changed = self._changed(thread, turn, turn + 1)
            owner = np.where(self._written, turn, thread)
            shared = changed & (owners >= 0) & (owners != owner)
            assert not shared.any(), f"{self}: turn {turn} writes what turn or thread {owners[shared][0]} has written"
            owners[changed] = owner[changed]
        self._check(owners)
        self._compute_in_another_order(threads)
        self._results, self._held_by = (owners >= 0) & self._written, np.where(self._written, -1, owners)
        return self._call.turns

    def require_independence(self, other):
        """Check that another launch of the same generation neither reads what this one has written, nor writes there.

        Raises:
            AssertionError: it does so.
        """
        beside = f"{self} writes what {other} of the same generation"
        assert not (self._results & other._kept).any(), f"{beside} reads"
        held = (self._results & (other._held_by >= 0)) | (
            (self._held_by >= 0) & (other._held_by >= 0) & (self._held_by != other._held_by)
        )
        assert not ((self._results & other._results) | held).any(), f"{beside} writes"

    def _check(self, owners):
        """Compare what the turns have written with what the launch as a whole writes, and what it should."""
        whole = self._changed(0, 0, self._call.turns)
        found = (owners >= 0) & self._written
        assert (found == whole & self._written).all(), (
            f"{self}: all turns together write other bytes than each by itself"
        )
        missing = self._written & ~self._kept & ~found
        assert not self._call.turns or not missing.any(), f"{self}: no turn writes {missing.sum()} bytes"

    def _compute_in_another_order(self, threads):
        """Compare the values of all turns at once with those of each by itself, the last one first."""
        expected = self._memory.bytes[self._written]
        self._fill(FILLERS[0])
        for turn in reversed(range(self._call.turns)):
            self._work(turn % threads, turn, turn + 1)
        found = self._memory.bytes[self._written]
        assert (found == expected).all(), f"{self}: the order of the turns makes a difference"
        self._memory.bytes[~self._written] = self._before[~self._written]

    def _changed(self, thread, low, high):
        """Say which bytes some turns write, in the place of a thread."""
        changed = np.zeros(self._memory.bytes.size, bool)
        for filler in FILLERS:
            before = self._fill(filler)
            self._work(thread, low, high)
            changed |= self._memory.bytes != before
        beside = changed & (self._kept & ~self._written)
        assert not beside.any(), f"{self}: turns {low} … {high - 1} write to what is only read"
        return changed

    def _fill(self, filler):
        """Fill memory but for what the launch reads; return it as it is then."""
        self._memory.bytes[...] = np.where(self._kept, self._before, np.uint8(filler))
        return self._memory.bytes.copy()

    def __str__(self):
        return f"kernel '{self._symbol}'"


def _work_of(call):
    """Return a function that runs turns low … high - 1 of a call with the addresses of a thread."""
    function, bufs, apart, extents = call.arguments
    kernel = KERNEL(function)
    return lambda thread, low, high: kernel(bufs + thread * apart, extents, low, high)
