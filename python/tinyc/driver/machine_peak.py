"""What this machine reaches at most, measured: its arithmetic by multiply-adds, its memory by copies and reads.

In: what is computed in, and how many threads runs have. Out: operations and bytes a second. A loop takes a few
milliseconds and runs some times, of which the fastest counts: other work on the machine only ever adds to it. Memory,
which threads share, is measured by a team of them, as runs have it.
"""

import ctypes
import functools
import os
import time
from pathlib import Path

import numpy as np

from tinyc.cache.objects import object_of
from tinyc.driver.roofline import MachinePeak
from tinyc.runtime.arena import allocate_array
from tinyc.runtime.cpu_features import machine_level
from tinyc.runtime.object_code import Code
from tinyc.runtime.threads import team
from tinyc.target.cpu import DEFAULT_CPU, vector_unit_of
from tinyc.vocabulary.element_type import ElementType

#: Sums that do not wait for each other: two multiply-adds begin in a cycle, and each takes up to five.
_SUMS = 12
#: What numbers are in a vector, by what is computed in, how many bytes each has there, and operations on it in a step.
_NUMBERS = {
    ElementType.F64: ("double", 8, 2),
    ElementType.F32: ("float", 4, 2),
    ElementType.I32: ("i32", 4, 2),
    ElementType.I8: ("i32", 4, 4),  # the sum of two products of 16 bits, and of what is there
}
_DOTS = {16: "llvm.x86.sse2.pmadd.wd", 32: "llvm.x86.avx2.pmadd.wd", 64: "llvm.x86.avx512.pmaddw.d.512"}
_SECONDS, _LOOPS = 2e-3, 6
#: Bytes that a thread takes at a time; the least and the most that an array has, which else has those of the caches.
_CHUNK_BYTES, _LEAST_BYTES, _MOST_BYTES = 1 << 18, 1 << 24, 1 << 28
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS = {"K": 1 << 10, "M": 1 << 20}


def machine_peak(threads: int) -> MachinePeak:
    """What so many threads of this machine reach: one core's arithmetic as often, and the memory that they share."""
    cores = min(threads, len(os.sched_getaffinity(0)))

    def operations(kind: ElementType) -> float:
        return cores * peak_operations(kind)

    return MachinePeak(operations, functools.partial(peak_bandwidths, threads), last_cache_bytes())


@functools.cache
def peak_operations(kind: ElementType) -> float:
    """The operations of one thread in a second, in f64, f32, i32 or i8, a multiply-add being two.

    Raises:
        TinycError: `UnsupportedTarget`: code is made for no CPU like this machine's.
    """
    register_bytes = vector_unit_of(machine_level() or DEFAULT_CPU).register_bytes
    call, steps = _loaded(_arithmetic_ir(kind, register_bytes), 1), 1000
    while call(steps) < _SECONDS:
        steps *= 2
    _, size_bytes, on_each = _NUMBERS[kind]
    operations = register_bytes // size_bytes * on_each * _SUMS * steps
    return operations / min(call(steps) for _ in range(_LOOPS))


@functools.cache
def peak_bandwidths(threads: int) -> tuple[float, float]:
    """The bytes a second of copying arrays that no cache holds, what is read and what is written, and of reading one.

    Raises:
        TinycError: `OutOfMemory`; `UnsupportedTarget`, as `peak_operations`.
    """
    size = max(_LEAST_BYTES, min(last_cache_bytes(), _MOST_BYTES))
    source, target = (allocate_array((size,), np.dtype(np.uint8), "measuring the memory") for _ in range(2))
    source[...] = 1  # pages that nobody has written are all the same one
    places = source.ctypes.data, target.ctypes.data, size // _CHUNK_BYTES
    copying, reading = (_loaded(_memory_ir(work), threads) for work in (_COPY, _READ))
    copying(*places, 0)  # gives the target its pages
    found = [min(call(*places, 0) for _ in range(_LOOPS)) for call in (copying, reading)]
    moved = size // _CHUNK_BYTES * _CHUNK_BYTES
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


def _arithmetic_ir(kind: ElementType, register_bytes: int) -> str:
    """A loop of so many steps as its job says, each of which is one of every sum."""
    scalar, size_bytes, _ = _NUMBERS[kind]
    lanes = register_bytes // size_bytes
    vector, halves = f"<{lanes} x {scalar}>", f"<{2 * lanes} x i16>"
    multiply_add, dot = f"@llvm.fmuladd.v{lanes}f{8 * size_bytes}", f"@{_DOTS[register_bytes]}"
    sums, steps = range(_SUMS), list[str]()
    for at in sums:
        if kind.is_float:
            half, one = f"{vector} splat ({scalar} 0.5)", f"{vector} splat ({scalar} 1.0)"
            steps.append(f"%s{at} = call {vector} {multiply_add}({vector} %a{at}, {half}, {one})")
        elif kind is ElementType.I32:
            steps.append(f"%m{at} = mul {vector} %a{at}, %a{at}")  # of a constant, LLVM would make one step of several
            steps.append(f"%s{at} = add {vector} %m{at}, splat (i32 1)")
        else:
            steps.append(f"%h{at} = bitcast {vector} %a{at} to {halves}")
            steps.append(f"%m{at} = call {vector} {dot}({halves} %h{at}, {halves} splat (i16 77))")
            steps.append(f"%s{at} = add {vector} %m{at}, %a{at}")
    firsts = [f"{at}.25" if kind.is_float else f"{at}" for at in sums]  # none stays as it is
    phis = [f"%a{at} = phi {vector} [splat ({scalar} {firsts[at]}), %entry], [%s{at}, %again]" for at in sums]
    declared = f"{multiply_add}({vector}, {vector}, {vector})" if kind.is_float else f"{dot}({halves}, {halves})"
    body = "\n  ".join(phis + steps)
    kept = "\n  ".join(f"store volatile {vector} %s{at}, ptr %kept" for at in sums)
    return f"""
declare {vector} {declared}
define void @loop(ptr %job) {{
entry:
  %kept = alloca {vector}
  %steps = load i64, ptr %job
  br label %again
again:
  %step = phi i64 [0, %entry], [%next, %again]
  {body}
  %next = add i64 %step, 1
  %more = icmp ult i64 %next, %steps
  br i1 %more, label %again, label %done
done:
  {kept}
  ret void
}}"""


#: What is done with a chunk at `%from`, `%to`.
_COPY = f"""
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 {_CHUNK_BYTES}, i1 false)
  br label %again"""
_READ = f"""
  br label %line
line:
  %at = phi i64 [0, %work], [%next, %line]
  %sum = phi <16 x i32> [zeroinitializer, %work], [%more, %line]
  %place = getelementptr i8, ptr %from, i64 %at
  %read = load <16 x i32>, ptr %place, align 16
  %more = add <16 x i32> %sum, %read
  %next = add i64 %at, 64
  %inside = icmp ult i64 %next, {_CHUNK_BYTES}
  br i1 %inside, label %line, label %end
end:
  store volatile <16 x i32> %more, ptr %kept
  br label %again"""


def _memory_ir(work: str) -> str:
    """A loop over the chunks of a source and a target, of which its threads take one after the other."""
    return f"""
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @loop(ptr %job) {{
  %kept = alloca <16 x i32>
  %job.target = getelementptr i64, ptr %job, i64 1
  %job.chunks = getelementptr i64, ptr %job, i64 2
  %job.taken = getelementptr i64, ptr %job, i64 3
  %source = load ptr, ptr %job
  %target = load ptr, ptr %job.target
  %chunks = load i64, ptr %job.chunks
  br label %again
again:
  %chunk = atomicrmw add ptr %job.taken, i64 1 monotonic
  %is.there = icmp ult i64 %chunk, %chunks
  br i1 %is.there, label %work, label %done
work:
  %offset = mul i64 %chunk, {_CHUNK_BYTES}
  %from = getelementptr i8, ptr %source, i64 %offset
  %to = getelementptr i8, ptr %target, i64 %offset
{work}
done:
  ret void
}}"""
