"""In which order the instructions of a straight run issue, and how long fixed latencies make it: a compiler's schedule.

In: what each instruction of a run needs, and how long its result takes. Out: an order in which nothing comes before
what it needs and the longest way to the end goes first, as a compiler's list scheduler has it; the cycles of an order.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ScheduledInstruction:
    """An instruction of a run: registers, what it is to memory, and cycles.

    `memory` is "" for what does not touch it, "load", "store", or "fence" for what keeps its place among all that does;
    `space` is what it touches, "generic" for any. `slots` are the issue slots that it takes, `latency` the cycles
    until its result can be used and `is_fixed` whether stalls keep to these: else a scoreboard does. `interval` are the
    cycles of the tensor pipe that it takes, in which others issue; 0 for what does not go there.
    """

    reads: frozenset[int]
    writes: frozenset[int]
    memory: str
    space: str
    slots: float
    latency: float
    is_fixed: bool
    interval: float = 0.0


def needs_of(run: Sequence[ScheduledInstruction]) -> list[dict[int, bool]]:
    """For each instruction those of the run that come before it; True for those whose result it uses."""
    found: list[dict[int, bool]] = []
    writer: dict[int, int] = {}
    readers: dict[int, list[int]] = {}
    touching: list[int] = []  # since the last fence, which is the first of them
    for at, each in enumerate(run):
        needs: dict[int, bool] = {}
        for register in each.writes:
            needs.update(dict.fromkeys(readers.pop(register, ()), False))
            if register in writer:
                needs[writer[register]] = False
        needs.update((writer[register], True) for register in each.reads if register in writer)
        if each.memory:
            for earlier in touching:
                if _stay_in_order(run[earlier], each):
                    needs.setdefault(earlier, False)
            touching = [at] if each.memory == "fence" else [*touching, at]
        needs.pop(at, None)
        for register in each.reads:
            readers.setdefault(register, []).append(at)
        writer.update(dict.fromkeys(each.writes, at))
        found.append(needs)
    return found


def _stay_in_order(one: ScheduledInstruction, other: ScheduledInstruction) -> bool:
    if "fence" in (one.memory, other.memory):
        return True
    meet = one.space == other.space or "generic" in (one.space, other.space)
    return meet and "store" in (one.memory, other.memory)


def compiled_order(run: Sequence[ScheduledInstruction], ends_with_jump: bool) -> list[int]:
    """The order of a list scheduler; a jump stays the last."""
    needs = needs_of(run)
    if ends_with_jump and run:
        needs[-1].update(dict.fromkeys(set(range(len(run) - 1)) - needs[-1].keys(), False))
    followers: list[list[tuple[int, bool]]] = [[] for _ in run]
    for at, those in enumerate(needs):
        for earlier, is_result in those.items():
            followers[earlier].append((at, is_result))
    way = [0.0] * len(run)
    for at in range(len(run) - 1, -1, -1):
        behind = (way[later] + (run[at].latency if is_result else 0) for later, is_result in followers[at])
        way[at] = run[at].slots + max(behind, default=0.0 if run[at].is_fixed else run[at].latency)
    missing = [len(those) for those in needs]
    ready_at = [0.0] * len(run)
    waiting = [(0.0, at) for at, count in enumerate(missing) if not count]
    heapq.heapify(waiting)
    ready: tuple[list[tuple[float, int]], list[tuple[float, int]]] = [], []  # of the tensor pipe, and others
    order: list[int] = []
    now = pipe = 0.0
    while waiting or any(ready):
        products, others = ready
        if not others:
            now = max(now, min([each[0][0] for each in (waiting,) if each] + ([pipe] if products else [])))
        while waiting and waiting[0][0] <= now:
            at = heapq.heappop(waiting)[1]
            heapq.heappush(products if run[at].interval else others, (-way[at], at))
        is_free = bool(products) and pipe <= now
        if not is_free and not others:
            continue
        at = heapq.heappop(products if is_free and (not others or products[0] < others[0]) else others)[1]
        order.append(at)
        pipe = now + run[at].interval if run[at].interval else pipe
        for later, is_result in followers[at]:
            ready_at[later] = max(ready_at[later], now + (run[at].latency if is_result else 0.0))
            missing[later] -= 1
            if not missing[later]:
                heapq.heappush(waiting, (ready_at[later], later))
        now += run[at].slots
    return order


def fixed_cycles(run: Sequence[ScheduledInstruction], order: Sequence[int]) -> float:
    """The cycles of a run in an order, when each instruction waits for its operands of fixed latency, and no others.

    What it reads first and writes later counts as a loop's: the next round waits for it.
    """
    needs, there = needs_of(run), [0.0] * len(run)
    brought: dict[int, float] = {}  # register → when what the run was begun with is used
    now = round_cycles = 0.0
    for at in order:
        each = run[at]
        results = (there[earlier] for earlier, is_result in needs[at].items() if is_result)
        now = max(now, max(results, default=0.0))
        there[at] = now + each.latency if each.is_fixed and each.slots else now
        for register in each.reads:
            brought.setdefault(register, now)
        for register in each.writes:
            round_cycles = max(round_cycles, there[at] - brought.setdefault(register, there[at]))
        now += each.slots
    return max(now, round_cycles)
