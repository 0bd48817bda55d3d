"""What this machine reaches at most, measured: its arithmetic by multiply-adds, its memory by copies and reads.

In: what is computed in, and how many threads runs have. Out: operations and bytes a second. A loop (`peak_loops`)
takes a few milliseconds and runs some times, of which the fastest counts: other work on the machine only ever adds to
it. Memory, which threads share, is measured by a team of them, as runs have it.
"""

import ctypes
import functools
import os
import time
from pathlib import Path

import numpy as np

from tinyc.cache.objects import object_of
from tinyc.driver.peak_loops import COPY_LOOP, MEMORY_CHUNK_BYTES, READ_LOOP, ArithmeticLoop, arithmetic_loops
from tinyc.driver.roofline import MachinePeak
from tinyc.runtime.arena import allocate_array
from tinyc.runtime.cpu_features import machine_cpu
from tinyc.runtime.object_code import Code
from tinyc.runtime.threads import team
from tinyc.target.cpu import DEFAULT_CPU
from tinyc.vocabulary.element_type import ElementType

_SECONDS, _LOOPS = 2e-3, 6
#: The least and the most bytes that an array has, which else has those of the caches.
_LEAST_BYTES, _MOST_BYTES = 1 << 24, 1 << 28
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS = {"K": 1 << 10, "M": 1 << 20}


def machine_peak(threads: int) -> MachinePeak:
    """What so many threads of this machine reach: one core's arithmetic as often, and the memory that they share."""
    cores = min(threads, len(os.sched_getaffinity(0)))

    def operations(kind: ElementType) -> float:
        return cores * peak_operations(kind)

    return MachinePeak(operations, functools.partial(peak_bandwidths, threads), last_cache_bytes())


def peak_operations(kind: ElementType) -> float:
    """The operations of one thread in a second, in f64, f32, bf16, i32 or i8, a multiply-add being two.

    Of bf16 and i8 the fastest instructions count that this machine has, those for products of neighbours among them.

    Raises:
        TinycError: `UnsupportedTarget`: code is made for no CPU like this machine's.
    """
    return max(map(_measured, arithmetic_loops(kind, machine_cpu() or DEFAULT_CPU)))


@functools.cache
def _measured(loop: ArithmeticLoop) -> float:
    """The operations a second of a loop."""
    call, steps = _loaded(loop.llvm_ir, 1), 1000
    while call(steps) < _SECONDS:
        steps *= 2
    return loop.operations * steps / min(call(steps) for _ in range(_LOOPS))


@functools.cache
def peak_bandwidths(threads: int) -> tuple[float, float]:
    """The bytes a second of copying arrays that no cache holds, what is read and what is written, and of reading one.

    Raises:
        TinycError: `OutOfMemory`; `UnsupportedTarget`, as `peak_operations`.
    """
    size = max(_LEAST_BYTES, min(last_cache_bytes(), _MOST_BYTES))
    source, target = (allocate_array((size,), np.dtype(np.uint8), "measuring the memory") for _ in range(2))
    source[...] = 1  # pages that nobody has written are all the same one
    places = source.ctypes.data, target.ctypes.data, size // MEMORY_CHUNK_BYTES
    copying, reading = (_loaded(each, threads) for each in (COPY_LOOP, READ_LOOP))
    copying(*places, 0)  # gives the target its pages
    found = [min(call(*places, 0) for _ in range(_LOOPS)) for call in (copying, reading)]
    moved = size // MEMORY_CHUNK_BYTES * MEMORY_CHUNK_BYTES
    return 2 * moved / found[0], moved / found[1]


def last_cache_bytes() -> int:
    """The size of this machine's largest cache in bytes, as Linux tells it; 0 where it does not."""
    sizes = [path.read_text().strip() for path in _CACHES.glob("index*/size")]
    return max((int(each[:-1]) * _UNITS[each[-1]] for each in sizes if each[-1:] in _UNITS), default=0)


class _Loop:
    """A function of a job, run by so many threads at once; a call gives the seconds that all took."""

    def __init__(self, code: Code, threads: int) -> None:
        self._code, self._threads, self._team = code, threads, team() if threads > 1 else None
        self._function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.addresses["loop"])

    def __call__(self, *job: int) -> float:
        """Run it on a job of these numbers."""
        numbers = (ctypes.c_size_t * len(job))(*job)
        started = time.perf_counter()
        if self._team is None:
            self._function(numbers)
        else:
            self._team(self._code.addresses["loop"], ctypes.addressof(numbers), self._threads)
        return time.perf_counter() - started


def _loaded(llvm_ir: str, threads: int) -> _Loop:
    return _Loop(Code(object_of({"peak": llvm_ir}).image, ["loop"]), threads)
