"""Threads that share the turns of kernels: a team of the OpenMP runtime that the process has, or else the system.

Two runtimes whose threads wait for work would take the CPUs from each other: torch brings one, for example. A team
takes over turns a few at a time, until there are none left; which thread computes a turn makes no difference to its
numbers. Between two launches its threads spin for a short while, and then sleep. After a fork the child's runs have
one thread: the runtime's do not survive it.
"""

import ctypes
import functools
import os
import re
from collections.abc import Callable
from pathlib import Path

from tinyc.diagnostics import TinycError
from tinyc.expr.extents import natural

#: Says how many threads a model's runs have, where the model does not, and how many processes compile it.
THREADS_VARIABLE = "TINYC_THREADS"
#: More than any machine has, and fewer than would end the process where the system makes no more.
MAX_THREADS = 512
#: GNU's runtime, and those that have its interface: LLVM's and Intel's.
_LIBRARIES = ("libgomp.so.1", "libomp.so.5", "libiomp5.so")
#: What their files are called, also in a wheel, which puts a sum of the content into the name.
_RUNTIME = re.compile(r"lib(gomp|omp|iomp5)\b[^/]*\.so")
#: ``team(function, argument, threads)`` calls a function of one argument, both addresses, in as many threads.
TeamCall = Callable[[int, int, int], None]

_forked = False


def _note_fork() -> None:
    global _forked
    _forked = True


os.register_at_fork(after_in_child=_note_fork)


def is_forked() -> bool:
    """Whether this process is the child of one that may have had threads of its own."""
    return _forked


def thread_count(asked: object = None) -> int:
    """How many threads runs have: as many as are asked for, else what the environment says, else one for each CPU.

    Raises:
        TinycError: `InvalidOption`: it is no number of threads, or there is no runtime for several.
    """
    what, count = ("threads", _number("threads", asked)) if asked is not None else (THREADS_VARIABLE, _number_said())
    if count is None:
        return cpu_count() if team() is not None else 1
    if count > 1 and team() is None:
        message = f"{what} is {count}, and several threads need an OpenMP runtime, which this system does not have"
        raise TinycError("InvalidOption", f"{message}; install libgomp1, or give 1")
    return count


def cpu_count() -> int:
    """How many CPUs tinyc takes at a time: as many as the environment says, else all that this process may use.

    Raises:
        TinycError: `InvalidOption`: what the environment says is no number of threads.
    """
    return _number_said() or len(os.sched_getaffinity(0))


def _number_said() -> int | None:
    """How many threads the environment says, if it does."""
    value = os.environ.get(THREADS_VARIABLE)
    return _number(THREADS_VARIABLE, value) if value else None


def _number(what: str, value: object) -> int:
    count = natural(int(value) if isinstance(value, str) and value.isdecimal() else value, MAX_THREADS)
    if not count:
        raise TinycError("InvalidOption", f"{what} is {value!r}; give a number of threads, 1 … {MAX_THREADS}")
    return count


def require_no_threads(target: str, threads: object) -> None:
    """Check that nobody asks for threads of a target that has none to choose.

    Raises:
        TinycError: `InvalidOption`.
    """
    if threads is not None:
        message = f"threads is {threads!r}, and on target '{target}' there is no such choice; leave it out"
        raise TinycError("InvalidOption", f"{message}, or use target 'cpu'")


@functools.cache
def team() -> TeamCall | None:
    """What runs a function in several threads, and returns when all have; None where the system has no runtime."""
    for name in (*_loaded_runtimes(), *_LIBRARIES):
        try:
            parallel = ctypes.CDLL(name).GOMP_parallel
        except (OSError, AttributeError):
            continue
        parallel.argtypes, parallel.restype = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint), None
        return lambda function, argument, threads: parallel(function, argument, threads, 0)
    return None


def _loaded_runtimes() -> list[str]:
    """The files of the OpenMP runtimes that this process has loaded, as Linux tells them."""
    maps = Path("/proc/self/maps")
    lines = maps.read_text(errors="replace").splitlines() if maps.exists() else []
    files = dict.fromkeys(line.split(maxsplit=5)[5] for line in lines if line.count("/"))
    return [file for file in files if _RUNTIME.match(Path(file).name)]
