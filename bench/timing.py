"""How long work takes: the clock that the benches share."""

import time
from collections.abc import Callable
from typing import Any


def seconds(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the time that `work` takes by a clock."""
    start = clock()
    work()
    return clock() - start


def least_seconds(work: Callable[[], Any], runs: int = 5, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the least time that `work` takes in some runs: other work on the machine only ever adds to it."""
    return min(seconds(work, clock) for _ in range(runs))
