"""Which registers may ever hold an undefined value: definite assignment, and what its exceptions can reach.

In: the sites of all instructions. Out: the registers to track while the kernel runs. Mostly there are none, and the
check costs nothing. A register is tracked if a read may find that nobody has written it (a forward analysis over the
control flow), or if a tracked one, or memory that a tracked one was stored to, flows into it (over all instructions,
in whatever order).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ptxsim.machine.flow import Flow, slot_of
from ptxsim.machine.site import Site

#: A register's number, or the name of a state space for its bytes.
Node = int | str


@dataclass(frozen=True)
class Assignment:
    """`unsure` are registers that may be read before they are written, `tracked` all that they may reach.

    `origins` has for each register or state space that is reached the tracked ones that flow into it.
    """

    unsure: frozenset[int]
    tracked: frozenset[int]
    origins: dict[Node, frozenset[Node]]

    def unsure_origins(self, slot: int) -> list[int]:
        """The registers, in order, that may be unwritten and flow into register `slot`."""
        seen: set[Node] = {slot}
        work: list[Node] = [slot]
        while work:
            for source in self.origins.get(work.pop(), frozenset()) - seen:
                seen.add(source)
                work.append(source)
        return sorted(self.unsure & seen)


def analyse(sites: list[Site], start: int) -> Assignment:
    """The registers that must be tracked; `start` is the first instruction of the kernel."""
    unsure: set[Node] = set()
    for site, assigned in zip(sites, _solve(sites, start), strict=True):
        if assigned is not None:
            missing = _bits(site.reads) & ~assigned
            if missing:
                unsure.update(slot for slot in site.reads if missing >> slot & 1)
    seeds = unsure.union(*(site.copies_unwritten for site in sites))
    reached, origins = _closure(sites, seeds) if seeds else (set(), {})
    tracked = frozenset(node for node in reached if isinstance(node, int))
    return Assignment(
        frozenset(node for node in unsure if isinstance(node, int)),
        tracked,
        {node: frozenset(those) for node, those in origins.items()},
    )


def _solve(sites: list[Site], start: int) -> list[int | None]:
    """The registers (a bit set) that are written whenever an instruction is reached; None: it never is."""
    before: list[int | None] = [None] * len(sites)
    work = [(start, 0)]
    while work:
        index, assigned = work.pop()
        while index < len(sites):
            known = before[index]
            merged = assigned if known is None else known & assigned
            if merged == known:
                break
            before[index] = merged
            site = sites[index]
            assigned = merged if site.instruction.guard is not None else merged | _bits(site.writes)
            work.extend((target, assigned) for target in site.targets)
            if not site.falls_through:
                break
            index += 1
    return before


def _bits(slots: Iterable[int]) -> int:
    result = 0
    for slot in slots:
        result |= 1 << slot
    return result


def _closure(sites: list[Site], seeds: set[Node]) -> tuple[set[Node], dict[Node, set[Node]]]:
    """The places that undefined values of `seeds` can reach, with the flows into each."""
    flows_from: dict[Node, list[Flow]] = {}
    for site in sites:
        for flow in (*site.flows, *site.return_flows):
            for source in _nodes(flow.sources):
                flows_from.setdefault(source, []).append(flow)
    reached: set[Node] = set(seeds)
    origins: dict[Node, set[Node]] = {seed: set() for seed in seeds if isinstance(seed, str)}
    work: list[Node] = list(seeds)
    while work:
        source = work.pop()
        for flow in flows_from.get(source, ()):
            for target in _nodes(flow.targets):
                origins.setdefault(target, set()).add(source)
                if target not in reached:
                    reached.add(target)
                    work.append(target)
    return reached, origins


def _nodes(operands: tuple[object, ...]) -> list[Node]:
    found = (operand if isinstance(operand, str) else slot_of(operand) for operand in operands)
    return [node for node in found if node is not None]
