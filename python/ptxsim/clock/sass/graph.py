"""Control flow of basic blocks: which dominates which, the loops around each, and which are executed equally often.

In: for each block those that follow it. Out: `FlowGraph`. Sets of blocks are bits of an int.
"""

from collections.abc import Sequence
from functools import cached_property


class FlowGraph:
    """Blocks 0 … n - 1, of which `entries` are where threads start; `successors` as `SassFunction` has them."""

    def __init__(self, successors: Sequence[Sequence[int]], entries: Sequence[int] = (0,)) -> None:
        self.successors = tuple(tuple(ways) for ways in successors)
        self.entries = tuple(entries)
        self.reached = self._reach()

    def _reach(self) -> frozenset[int]:
        seen, work = set(self.entries), list(self.entries)
        while work:
            fresh = set(self.successors[work.pop()]) - seen
            seen |= fresh
            work += fresh
        return frozenset(seen)

    @cached_property
    def predecessors(self) -> tuple[tuple[int, ...], ...]:
        """The blocks before each, of those that are reached."""
        found: list[list[int]] = [[] for _ in self.successors]
        for block in sorted(self.reached):
            for way in self.successors[block]:
                found[way].append(block)
        return tuple(map(tuple, found))

    @cached_property
    def dominators(self) -> tuple[int, ...]:
        """For each block the blocks on every way to it, itself among them."""
        return _on_every_way(len(self.successors), sorted(self.reached), self.predecessors, set(self.entries))

    @cached_property
    def postdominators(self) -> tuple[int, ...]:
        """For each block the blocks on every way from it to the end; loops without an end leave out none."""
        order = sorted(self.reached, reverse=True)
        ends = {block for block in order if not self.successors[block]}
        return _on_every_way(len(self.successors), order, self.successors, ends)

    @cached_property
    def loops(self) -> tuple[frozenset[int], ...]:
        """For each block the heads of the loops that it is in."""
        heads: list[set[int]] = [set() for _ in self.successors]
        for tail in sorted(self.reached):
            for head in self.successors[tail]:
                if self.dominators[tail] >> head & 1:
                    body, work = {head, tail}, [tail] if tail != head else []
                    while work:
                        fresh = set(self.predecessors[work.pop()]) - body
                        body |= fresh
                        work += fresh
                    for each in body:
                        heads[each].add(head)
        return tuple(map(frozenset, heads))

    def depth(self, block: int) -> int:
        """How many loops are around a block."""
        return len(self.loops[block])

    def innermost(self, block: int) -> int | None:
        """The head of the innermost loop around a block, None outside of loops."""
        return max(self.loops[block], key=lambda head: (len(self.loops[head]), head), default=None)

    def chain(self, block: int, *, forward: bool = False) -> tuple[int, ...]:
        """The dominators of a block, nearest first, without itself; its postdominators with `forward`."""
        sets = self.postdominators if forward else self.dominators
        others = [each for each in range(len(sets)) if sets[block] >> each & 1 and each != block]
        return tuple(sorted(others, key=lambda each: -sets[each].bit_count()))

    @cached_property
    def equals(self) -> tuple[int, ...]:
        """For each block the first of those that are executed exactly as often as it."""
        found: list[int] = []
        for block in range(len(self.successors)):
            alike = (
                first
                for first in range(block)
                if found[first] == first and self.loops[first] == self.loops[block] and self._meet(first, block)
            )
            found.append(next(alike, block))
        return tuple(found)

    def _meet(self, one: int, other: int) -> bool:
        return any(
            self.dominators[late] >> early & 1 and self.postdominators[early] >> late & 1
            for early, late in ((one, other), (other, one))
        )


def _on_every_way(size: int, order: list[int], before: Sequence[Sequence[int]], starts: set[int]) -> tuple[int, ...]:
    """The blocks on every way to each from `starts`, where `before` leads a step back; a fixed point over bits."""
    every = (1 << size) - 1
    found = [every if block in order else 1 << block for block in range(size)]
    for block in starts:
        found[block] = 1 << block
    changed = True
    while changed:
        changed = False
        for block in order:
            common = every if before[block] and block not in starts else 0
            for each in before[block]:
                common &= found[each] if block not in starts else 0
            if found[block] != common | 1 << block:
                found[block], changed = common | 1 << block, True
    return tuple(found)
