"""The loops that threads spin in: what their way on depends on.

In: the instructions that threads have executed for a while. Out: a `SpinLoop`: all instructions that they may execute
without an effect in between, and the registers that decide whether they ever leave, or what they do to others. Such a
loop goes on for ever if these registers come back to what they were, while memory stays the same; all others (a count
of the rounds, the time of a `nanosleep`) may change. This is the program slice of the loop's exits and effects, where
every loop within is taken to be able to go on for ever.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from ptxsim.engine.handlers import HANDLERS
from ptxsim.machine.site import Site
from ptxsim.parsing.syntax import Special

#: Instructions that change no state but their results, beside the arithmetic ones.
_SILENT = frozenset(
    {"mov", "cvta", "isspacep", "mapa", "getctarank", "ld", "ldu", "prefetch", "prefetchu", "applypriority"}
    | {"shfl", "vote", "match", "redux", "activemask", "elect", "ldmatrix", "movmatrix", "mma", "createpolicy"}
    | {"bra", "brx", "call", "ret", "nanosleep", "fence", "membar", "pmevent"}
)
_SILENT_MBARRIER = frozenset({"test_wait", "try_wait"})
#: Instructions whose results, or whose end, depend on other threads' registers or places.
_EXCHANGES = frozenset({"shfl", "vote", "match", "redux", "activemask", "elect", "movmatrix", "mma", "bar", "barrier"})
_BRANCHES = frozenset({"bra", "brx"})
_CLOCKS = ("%clock", "%globaltimer")
_POLLED_ORDERS = frozenset({"volatile", "relaxed", "acquire", "mmio"})
#: Instructions between a branch and where its ways converge, if it is to be found that they do.
_LONGEST_DETOUR = 64
#: Where threads go that leave the loop.
_OUTSIDE = -1


@dataclass(frozen=True)
class SpinLoop:
    """A loop (or several) that threads are in.

    `places` are its instructions, `registers` those that decide, `timed` those of them that come from a clock.
    `polls` says that every round looks at memory that others may change, `exchanges` that its threads act on each
    other.
    """

    places: frozenset[int]
    registers: frozenset[int]
    timed: frozenset[int]
    polls: bool
    exchanges: bool


class ControlGraph:
    """The instructions of a kernel and where threads go from each."""

    def __init__(self, sites: list[Site]) -> None:
        self._sites = sites
        self._returns: dict[int, list[int]] = {}
        self._next = [self._successors(site) for site in sites]

    def _successors(self, site: Site) -> frozenset[int]:
        opcode = site.instruction.opcode
        following = {site.index + 1} if site.falls_through and opcode != "call" else set()
        if opcode == "call" and site.instruction.guard is not None:
            following.add(site.index + 1)
        if opcode == "ret":
            following.update(self._return_places(site))
        return frozenset(site.targets | following)

    def _return_places(self, site: Site) -> list[int]:
        """The instructions after the calls of the function that `site` is in."""
        routines = site.code.routines.values()
        start = next((each.start for each in routines if each.start <= site.index < each.end), -1)
        if start not in self._returns:
            self._returns[start] = [
                each.index + 1 for each in self._sites if each.instruction.opcode == "call" and start in each.targets
            ]
        return self._returns[start]

    def spin(self, visited: Iterable[int]) -> SpinLoop:
        """The loops that threads are in which have executed `visited`."""
        places = self._closed({at for at in visited if at < len(self._sites)})
        inside = {at: self._inside(at, places) for at in places}
        deciding = {at for at in places if _has_effect(self._sites[at]) or self._leaves(at, inside)}
        registers: set[int] = set()
        while True:
            registers = self._slice(places, deciding)
            more = {at for at in places - deciding if self._decides(at, inside, deciding)}
            if not more:
                break
            deciding |= more
        return SpinLoop(
            frozenset(places),
            frozenset(registers),
            frozenset(self._timed(places) & registers),
            self._always_polls(places, inside),
            any(self._sites[at].instruction.opcode in _EXCHANGES for at in places),
        )

    def _closed(self, visited: set[int]) -> set[int]:
        """`visited` and all ways without an effect that lead from there back to it."""
        ahead = self._reach(visited, self._next)
        before: list[set[int]] = [set() for _ in self._sites]
        for at in ahead:
            for target in self._next[at]:
                if target < len(before):
                    before[target].add(at)
        return ahead & self._reach(visited, before)

    def _reach(self, start: set[int], edges: "list[frozenset[int]] | list[set[int]]") -> set[int]:
        seen, work = set(start), list(start)
        while work:
            for target in edges[work.pop()]:
                if target < len(self._sites) and target not in seen and not _has_effect(self._sites[target]):
                    seen.add(target)
                    work.append(target)
        return seen

    def _inside(self, at: int, places: set[int]) -> frozenset[int]:
        """The successors of an instruction: in the loop, or `_OUTSIDE`; a call comes back to the loop."""
        targets = self._next[at]
        if self._sites[at].instruction.opcode == "ret" and targets & places:
            return targets & places
        return frozenset(target if target in places else _OUTSIDE for target in targets)

    def _leaves(self, at: int, inside: dict[int, frozenset[int]]) -> bool:
        return _OUTSIDE in inside[at] or not inside[at]

    def _slice(self, places: set[int], deciding: set[int]) -> set[int]:
        """Add to `deciding` what computes the registers that decide, and return these."""
        registers = {slot for at in deciding for slot in self._sites[at].reads}
        changed = True
        while changed:
            more = {at for at in places - deciding if self._sites[at].writes & registers}
            registers.update(slot for at in more for slot in self._sites[at].reads)
            deciding |= more
            changed = bool(more)
        return registers

    def _decides(self, at: int, inside: dict[int, frozenset[int]], deciding: set[int]) -> bool:
        """Whether it matters where threads go from an instruction: not where all ways converge without a loop."""
        if len(inside[at]) < 2 or self._sites[at].instruction.opcode not in _BRANCHES | {"call"}:
            return False
        return not any(self._meet(at, place, inside, deciding) for place in _ahead(at, inside))

    def _meet(self, at: int, place: int, inside: dict[int, frozenset[int]], deciding: set[int]) -> bool:
        """Whether all ways from `at` lead to `place`, with no loop and nothing that decides before it."""
        done: set[int] = set()
        under_way: set[int] = {at}

        def ends(node: int) -> bool:
            if node == place or node in done:
                return True
            if node == _OUTSIDE or node in under_way or node in deciding or not inside[node]:
                return False
            if len(done) + len(under_way) > _LONGEST_DETOUR:
                return False
            under_way.add(node)
            fine = all(ends(target) for target in inside[node])
            under_way.discard(node)
            done.add(node)
            return fine

        return all(ends(target) for target in inside[at])

    def _always_polls(self, places: set[int], inside: dict[int, frozenset[int]]) -> bool:
        """Whether there is no way round that looks at no memory of others."""
        rest = {at for at in places if not _polls(self._sites[at])}
        ends = True
        while ends:
            ends = {at for at in rest if rest.isdisjoint(inside[at])}
            rest -= ends
        return not rest

    def _timed(self, places: set[int]) -> set[int]:
        """The registers that a clock flows into."""
        found = {slot for at in places if _reads_clock(self._sites[at]) for slot in self._sites[at].writes}
        changed = True
        while changed:
            more = {s for at in places if self._sites[at].reads & found for s in self._sites[at].writes} - found
            found |= more
            changed = bool(more)
        return found


def _ahead(at: int, inside: dict[int, frozenset[int]]) -> list[int]:
    """The instructions ahead of one, the nearest first, as far as its ways may converge."""
    found: list[int] = []
    work = deque([at])
    while work and len(found) < _LONGEST_DETOUR:
        for target in sorted(inside[work.popleft()]):
            if target != _OUTSIDE and target not in found:
                found.append(target)
                work.append(target)
    return found


def _has_effect(site: Site) -> bool:
    opcode, modifiers = site.instruction.opcode, site.instruction.modifiers
    if opcode == "mbarrier":
        return modifiers[0] not in _SILENT_MBARRIER
    return opcode in HANDLERS and opcode not in _SILENT


def _polls(site: Site) -> bool:
    opcode, modifiers = site.instruction.opcode, site.instruction.modifiers
    if opcode == "mbarrier":
        return modifiers[0] in _SILENT_MBARRIER
    return opcode == "atom" or (opcode == "ld" and not _POLLED_ORDERS.isdisjoint(modifiers))


def _reads_clock(site: Site) -> bool:
    operands = site.instruction.operands
    return any(isinstance(operand, Special) and operand.name.startswith(_CLOCKS) for operand in operands)
