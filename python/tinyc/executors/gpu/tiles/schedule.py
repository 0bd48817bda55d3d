"""Coroutines side by side: each runs until it waits, and goes on when what it waits for has come."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from tinyc.executors.gpu.memory import KernelFault


@dataclass(frozen=True)
class Waiting:
    """What a coroutine waits for: whether it is there, and what it is."""

    is_over: Callable[[], bool]
    what: Callable[[], str]


#: The steps of a coroutine, which yield where it waits; they return what it was asked for.
CoroutineSteps: TypeAlias = Generator[Waiting, None, Sequence[Any]]


class Running(Protocol):
    """What runs: its name, and its steps, which yield where it waits."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    @property
    def steps(self) -> CoroutineSteps:
        """What it does."""
        ...


def run_together(running: list[Running]) -> None:
    """Run until all have ended; others may be added to the list meanwhile, and what has ended is taken from it.

    Raises:
        KernelFault: all wait (a deadlock: the text says who waits for what), or what one of them raises.
    """
    waiting: dict[int, Waiting] = {}
    while running:
        all_wait = True
        for each in list(running):
            wait = waiting.get(id(each))
            if wait is not None and not wait.is_over():
                continue
            all_wait = False
            try:
                waiting[id(each)] = next(each.steps)
            except StopIteration:
                running.remove(each)
                waiting.pop(id(each), None)
        if all_wait:
            reasons = "; ".join(f"{each.name} waits {waiting[id(each)].what()}" for each in running)
            raise KernelFault(f"a deadlock: {reasons}")
