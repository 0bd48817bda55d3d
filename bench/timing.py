"""How long work takes: the clock that the benches share."""

import time
from collections.abc import Callable
from typing import Any

#: How long a bench rests before it measures another library: threads of OpenMP spin as long at the most after
#: their work, by the defaults of its libraries.
IDLE_SECONDS = 0.2


def seconds(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the time that `work` takes by a clock."""
    start = clock()
    work()
    return clock() - start


def repeated(work: Callable[[], Any], count: int) -> None:
    """Do work that is too short for the clock as many times."""
    for _ in range(count):
        work()


def least_seconds(work: Callable[[], Any], runs: int = 5, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the least time that `work` takes in some runs: other work on the machine only ever adds to it."""
    return min(seconds(work, clock) for _ in range(runs))
