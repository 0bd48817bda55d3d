"""Runs in which each buffer lies between two pages that nobody may touch: who leaves one ends a child process.

In: a program as `CpuExecutable` takes it. Out: its outputs, or an `AssertionError` that names the kernel. The inputs,
the outputs, the buffers of the arena and those of the ConstPool each have pages of their own; what is only read cannot
be written. Code needs no more alignment than that of an element, so a buffer may end where its last page does.
"""

import ctypes
import faulthandler
import mmap
import os
import signal
import warnings
from dataclasses import replace

import numpy as np

from tinyc.runtime.const_pool import pool_bytes_of
from tinyc.runtime.cpu import CpuExecutable
from tinyc.runtime.cpu_frame import CpuFrames

PAGE = mmap.PAGESIZE
_NOTHING = 0  # PROT_NONE
#: What lies beside a buffer: in every float type it is not a number.
_POISON = 0xFF


class GuardedBuffer:
    """The memory of one buffer, at the start of its pages or `at_end`; a child process writes to the same."""

    def __init__(self, size, at_end):
        held = -(-size // PAGE) * PAGE
        mapping = mmap.mmap(-1, held + 2 * PAGE)
        self._start = ctypes.addressof(ctypes.c_char.from_buffer(mapping)) + PAGE
        self._pages = np.frombuffer(mapping, np.uint8)[PAGE : PAGE + held]
        self._pages[...] = _POISON
        first = held - size if at_end else 0
        self.address, self.bytes = self._start + first, self._pages[first : first + size]
        self._beside = np.ones(held, bool)
        self._beside[first : first + size] = False
        for guard in (self._start - PAGE, self._start + held):
            self._protect(guard, PAGE, _NOTHING)

    def array(self, like):
        """Return the buffer as an array of the type and shape of another one."""
        return self.bytes.view(like.dtype).reshape(like.shape)

    def forbid_writes(self):
        """Let it only be read from now on."""
        self._protect(self._start, self._pages.size, mmap.PROT_READ)

    @property
    def is_clean(self):
        """Whether nobody has written beside the buffer."""
        return bool((self._pages[self._beside] == _POISON).all())

    @staticmethod
    def _protect(address, size, protection):
        system = ctypes.CDLL(None, use_errno=True)
        if size and system.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), protection):
            raise OSError(ctypes.get_errno(), "mprotect")


class GuardedExecutable(CpuExecutable):
    """What runs a program between guard pages, in one thread of a child process."""

    at_end = False
    reads_in_place = False  # the pool has all constants

    def _execute(self, run, prepared):
        held = self._buffers(run)
        places = [{name: held[name].address for name in each} for each in (run.bound.offsets, run.bound.pool_offsets)]
        moved = replace(run.bound, offsets=places[0], pool_offsets=places[1])  # in an arena that begins at address 0
        frame = CpuFrames(moved, self._kernels).take()
        given = [held[f"input_{k}"].array(array) for k, array in enumerate(run.inputs)]
        made = [held[f"output_{k}"].array(array) for k, array in enumerate(run.outputs)]
        frame.fill(given, made, 0, run.key)
        frame.fill_pool(0)
        launch_in_a_child(frame.every_call if run.prepares else frame.calls)
        dirty = [name for name, each in held.items() if not each.is_clean]
        assert not dirty, f"a kernel wrote beside {', '.join(dirty)}"
        for array, found in zip(run.outputs, made, strict=True):
            array[...] = found
        for buffer in self.program.pool:
            pool_bytes_of(run.pool.memory, buffer)[...] = held[buffer.name].bytes

    def _buffers(self, run):
        """Return memory for each buffer by its name, filled: one that is written over another is in the same."""
        sizes, held = run.bound.sizes, {}
        over = {written: read for launch in run.bound.launches for read, written in launch.kernel.in_place}
        for name, size in sizes.items():
            first = name
            while first in over and sizes[over[first]] == size:
                first = over[first]
            held[name] = held.get(first) or held.setdefault(first, GuardedBuffer(size, self.at_end))
        for number, array in enumerate(run.inputs):
            held[f"input_{number}"].array(array)[...] = array
            held[f"input_{number}"].forbid_writes()
        for buffer in self.program.pool:
            held[buffer.name].bytes[...] = pool_bytes_of(run.pool.memory, buffer)
            if buffer.kind != "prepared" or not run.prepares:
                held[buffer.name].forbid_writes()
        return held


class EndGuardedExecutable(GuardedExecutable):
    """The same with each buffer at the end of its pages."""

    at_end = True


def launch_in_a_child(calls):
    """Make launches one after the other in a child process.

    Raises:
        AssertionError: one ends it; the message says which.
    """
    at = mmap.mmap(-1, PAGE)  # the number of the launch, which both processes see
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the child of a process with threads runs kernels alone
        child = os.fork()
    if child == 0:
        _launch_and_exit(calls, at)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        kernel = calls[int.from_bytes(at[:8], "little")].launch.kernel.symbol
        ended = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
        raise AssertionError(
            f"kernel '{kernel}' {ended}: it reads or writes outside of a buffer, or writes to an input"
        )


def _launch_and_exit(calls, at):
    """Make launches, the number of each in `at`, and end the process."""
    status = 1
    try:
        faulthandler.disable()  # what it would tell is Python's, not the kernel's
        for number, call in enumerate(calls):
            at[:8] = number.to_bytes(8, "little")
            call.work(0, call.turns)
        status = 0
    finally:
        os._exit(status)
