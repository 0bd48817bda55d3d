"""The stamp of an access: when it was, by which thread, and how strong, in one int64; 0 is no access.

bits 32–62  time: the number of the event, counted over the launch
bits  3–31  thread: its number in the launch, CTA after CTA, warps whole
bit   2     whether it was the asynchronous proxy's, on behalf of the thread
bits  0–1   strength: 0 weak, else strong in scope 1 "cta", 2 "cluster", 3 "gpu" or "sys"
"""

import numpy as np

from tinyc.simulator.engine.access import Access

TIME_SHIFT = 32
THREAD_SHIFT = 3
ASYNCHRONOUS = 4
STRENGTH = 3
_THREAD_MASK = (1 << TIME_SHIFT - THREAD_SHIFT) - 1
_SCOPES = {"cta": 1, "cluster": 2, "gpu": 3, "sys": 3}


def strength_of(access: Access) -> int:
    """Return how strong an access is; volatile ones are relaxed ones of the system."""
    return 0 if access.order == "weak" else _SCOPES[access.scope]


def scope_of(name: str) -> int:
    """Return the strength of a scope's name, the widest for others (`gl`)."""
    return _SCOPES.get(name, STRENGTH)


def stamps(time: int, threads: np.ndarray, flags: int) -> np.ndarray:
    """Return the stamps of accesses by `threads` (int64) at one time; `flags` are the strength, and `ASYNCHRONOUS`."""
    return (threads << THREAD_SHIFT) + ((time << TIME_SHIFT) + flags)


def times_of(stamp: np.ndarray) -> np.ndarray:
    """Return the times of stamps."""
    return stamp >> TIME_SHIFT


def threads_of(stamp: np.ndarray) -> np.ndarray:
    """Return the threads of stamps."""
    return stamp >> THREAD_SHIFT & _THREAD_MASK
