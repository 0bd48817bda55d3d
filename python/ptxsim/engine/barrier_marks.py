"""The marks by which it is seen whether threads come to an aligned barrier together: loops around it, and ways past it.

In: the compiled instructions and where their straight runs end. Out: instruction → the marks on it (`machine.rounds`).
For a barrier there is a mark at the head of each loop around it, and one wherever the ways of a branch before it, with
the barrier on some of them only, come together again. Ways that lead to the end of the thread come together with none:
who skips a barrier by them has returned, and the ISA lets barriers go on without threads that have exited. PTX does not
say what was a `return`: `if (c) { … __syncthreads(); … }` with nothing behind it, and `if (!c) return;`, are one code.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Set

from ptxsim.linking.code import Routine
from ptxsim.machine.rounds import Mark
from ptxsim.machine.site import Site

_END = -1


def barrier_marks(sites: list[Site], run_end: list[int]) -> dict[int, list[Mark]]:
    """The marks on each instruction that has any."""
    marks: dict[int, list[Mark]] = defaultdict(list)
    for routine in sites[0].code.routines.values() if sites else ():
        here = [site for site in sites[routine.start : routine.end] if _is_aligned(site)]
        if routine.start >= 0 and here:
            graph = _Blocks(sites, run_end, routine)
            alike: dict[tuple[tuple[int, int, bool], ...], list[int]] = defaultdict(list)
            for site in here:
                alike[tuple(graph.marks_of(site))].append(site.index)
            for found, barriers in alike.items():
                size = 1 + max((row for _, row, _ in found), default=0)
                for at, row, counts in found:
                    marks[at].append(Mark(tuple(barriers), size, row, counts))
    return marks


def _is_aligned(site: Site) -> bool:
    opcode, words = site.instruction.opcode, site.instruction.modifiers
    return "aligned" in words if opcode == "barrier" else opcode == "bar" and words[:1] != ("warp",)


class _Blocks:
    """The straight runs of a routine, by their first instruction: where threads go from each, `_END` among that."""

    def __init__(self, sites: list[Site], run_end: list[int], routine: Routine) -> None:
        self._start = routine.start
        self._next: dict[int, set[int]] = {}
        #: The blocks by their last instruction.
        self._ending: dict[int, int] = {}
        work = [routine.start]
        while work:
            block = work.pop()
            if block not in self._next and block != _END:
                last = run_end[block] - 1
                self._ending[last] = block
                self._next[block] = _ways(sites[last]) if last < len(sites) else {_END}
                work += self._next[block]
        #: Blocks that only end the thread.
        self._ends = self._drop_returns(sites) if routine.start == sites[0].code.kernel.start else {_END}
        self._before: dict[int, set[int]] = defaultdict(set)
        for block, ways in self._next.items():
            for way in ways:
                self._before[way].add(block)
        self._end_loops()
        self._meetings = self._find_meetings()

    def _drop_returns(self, sites: list[Site]) -> set[int]:
        """Take the ways to the end of the thread off branches; returns the blocks that do nothing but end it."""
        idle = {at for at in self._next if at == len(sites) or sites[at].instruction.opcode in ("bra", "ret", "exit")}
        ends, traps = self._leading_to({_END}, idle), self._leading_to(set(), self._next.keys())
        for ways in self._next.values():
            if ways - ends - traps:
                ways -= ends
        return ends

    def _leading_to(self, places: set[int], blocks: Set[int]) -> set[int]:
        """`places`, and those of `blocks` from which threads come to nothing else."""
        found = set(places)
        while more := {block for block in blocks - found if self._next[block] <= found}:
            found |= more
        return found

    def _end_loops(self) -> None:
        """Let loops that are only left to the end of the thread come to it from their last block, too."""
        blocks = self._next.keys()
        while endless := {
            block
            for block in blocks - self._reach({_END}, self._before, {_END, *blocks})
            if block in self._reach(self._next[block], self._next, blocks)
        }:
            self._before[_END].add(max(endless))
            self._next[max(endless)].add(_END)

    def _find_meetings(self) -> list[tuple[int, set[int]]]:
        """For each branch where its ways come together again, and the blocks on these ways.

        That is the first block behind the branch that no way to the end of the routine leaves out.
        """
        order = sorted(self._reach({_END}, self._before, {_END, *self._next}))
        every = (1 << len(order)) - 1
        behind = dict.fromkeys(order, every)
        bit = {block: 1 << number for number, block in enumerate(order)}
        behind[_END] = bit[_END]
        changed = True
        while changed:
            changed = False
            for block in reversed(order[1:]):
                common = every
                for way in self._next[block] & bit.keys():
                    common &= behind[way]
                changed |= behind[block] != common | bit[block]
                behind[block] = common | bit[block]
        blocks = {behind[block]: block for block in order}
        found = []
        for block in order:
            meeting = blocks.get(behind[block] & ~bit[block])
            if len(self._next.get(block, ())) > 1 and meeting is not None and meeting not in self._ends:
                found.append((meeting, self._reach({block}, self._next, self._next.keys() - {meeting})))
        return found

    @staticmethod
    def _reach(start: Iterable[int], edges: dict[int, set[int]], inside: Set[int]) -> set[int]:
        """The blocks `inside` that threads come to from `start`, itself among them."""
        seen = set(start) & inside
        work = list(seen)
        while work:
            fresh = edges.get(work.pop(), set()) & inside - seen
            seen |= fresh
            work += fresh
        return seen

    def marks_of(self, site: Site) -> Iterator[tuple[int, int, bool]]:
        """The marks of an aligned barrier: instruction, number of the row, whether it counts."""
        block = self._ending.get(site.index)
        if block is None:
            return
        meetings = {meeting for meeting, ways in self._meetings if block in ways}
        inside, level = set(self._next), 0
        while True:
            leads = self._reach({block}, self._before, inside)
            yield from ((at, level, False) for at in sorted(meetings & inside - leads))
            loop = leads & self._reach(self._next[block], self._next, inside)
            if block not in loop:
                break
            entries = {each for each in loop if each == self._start or self._before[each] - loop}
            head = min(entries or loop)
            yield head, level + 1, True
            inside, level = loop - {head}, level + 2
        if site.instruction.guard is not None and site.index + 1 not in meetings:
            # Whoever has the guard off skips it, whatever follows.
            yield site.index + 1, level, False


def _ways(site: Site) -> set[int]:
    """Where threads go from an instruction; calls come back."""
    opcode = site.instruction.opcode
    ways = {site.index + 1} if site.falls_through or opcode == "call" else set()
    if opcode in ("bra", "brx"):
        ways |= site.targets
    return ways | {_END} if opcode in ("ret", "exit") else ways
