"""The stamp of an access: when it was, by which thread, and how strong, in one int64; 0 means none.

bits 34–62  time: the number of the event, counted over the launch
bits 29–33  how many lanes further another lane of the warp is that did the same then, modulo 32; 0 for none
bits  3–28  thread: its number in the launch, CTA after CTA, warps whole
bit   2     whether it was the asynchronous proxy's, on behalf of the thread
bits  0–1   strength: 0 weak, else strong in scope 1 "cta", 2 "cluster", 3 "gpu" or "sys"
"""

import numpy as np

from ptxsim.machine.observer import AccessFacts
from ptxsim.machine.warp import WARP

TIME_SHIFT = 34
THREAD_SHIFT = 3
_OTHER_SHIFT = 29
OTHER = WARP - 1 << _OTHER_SHIFT
ASYNCHRONOUS = 4
STRENGTH = 3
_THREAD_MASK = (1 << _OTHER_SHIFT - THREAD_SHIFT) - 1
#: The strength of what is strong in the scope of the CTA, and in that of the GPU, or wider.
CTA, GPU = 1, 3
_SCOPES = {"cta": 1, "cluster": 2, "gpu": 3, "sys": 3}


def strength_of(access: AccessFacts) -> int:
    """The strength of an access; volatile ones are relaxed ones of the system."""
    return 0 if access.order == "weak" else _SCOPES[access.scope]


def scope_of(name: str) -> int:
    """The strength of a scope's name, the widest for others (`gl`)."""
    return _SCOPES.get(name, STRENGTH)


def stamps(time: int, threads: np.ndarray, flags: int) -> np.ndarray:
    """The stamps of accesses by `threads` (int64) at one time; `flags` are the strength, and `ASYNCHRONOUS`."""
    return (threads << THREAD_SHIFT) + ((time << TIME_SHIFT) + flags)


def times_of(stamp: np.ndarray) -> np.ndarray:
    """The times of stamps."""
    return stamp >> TIME_SHIFT


def threads_of(stamp: np.ndarray) -> np.ndarray:
    """The threads of stamps."""
    return stamp >> THREAD_SHIFT & _THREAD_MASK


def with_other(stamp: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Stamps that name, beside their own, the threads of `others`, stamps of other lanes of the same warps."""
    further = threads_of(others) - threads_of(stamp) & WARP - 1
    return stamp & ~OTHER | further << _OTHER_SHIFT


def of_other(stamp: np.ndarray) -> np.ndarray:
    """The stamps as the other lane's that they name, and 0 for those that name none."""
    thread, further = threads_of(stamp), (stamp & OTHER) >> _OTHER_SHIFT
    other = thread & ~(WARP - 1) | thread + further & WARP - 1
    return np.where(further != 0, stamp & ~(_THREAD_MASK << THREAD_SHIFT | OTHER) | other << THREAD_SHIFT, 0)
