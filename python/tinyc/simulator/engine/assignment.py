"""Which reads of registers may find a register that nobody has written: definite assignment over the control flow.

In: the sites of all instructions. Out: for each instruction the registers that must be checked while it runs, and the
registers whose writes are recorded for that. Mostly both are empty, and the check costs nothing.
"""

from dataclasses import dataclass

from tinyc.simulator.engine.site import Site


@dataclass(frozen=True)
class Assignment:
    """`unsure` is instruction → registers to check before it, `tracked` the registers whose writes are recorded."""

    unsure: dict[int, frozenset[int]]
    tracked: frozenset[int]


def analyse(sites: list[Site], start: int) -> Assignment:
    """Return what must be checked; `start` is the first instruction of the kernel."""
    before = _solve(sites, start)
    unsure = {}
    for site in sites:
        assigned = before[site.index]
        if assigned is None or not site.reads:
            continue
        open_reads = frozenset(slot for slot in site.reads if not assigned >> slot & 1)
        if open_reads:
            unsure[site.index] = open_reads
    tracked = {slot for slots in unsure.values() for slot in slots}
    return Assignment(unsure, frozenset(_with_sources(sites, tracked)))


def _solve(sites: list[Site], start: int) -> list[int | None]:
    """Return the registers (a bit set) that are written whenever an instruction is reached; None: it never is."""
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
            assigned = _after(site, merged)
            work.extend((target, assigned) for target in site.targets)
            if not site.falls_through:
                break
            index += 1
    return before


def _after(site: Site, assigned: int) -> int:
    if site.instruction.guard is not None:
        return assigned
    for slot in site.writes:
        sources = site.copies.get(slot)
        if sources is None or any(assigned >> source & 1 for source in sources):
            assigned |= 1 << slot
        else:
            assigned &= ~(1 << slot)
    return assigned


def _with_sources(sites: list[Site], tracked: set[int]) -> set[int]:
    """Return `tracked` and every register that is copied into one of them, and so on."""
    work = list(tracked)
    copied: dict[int, set[int]] = {}
    for site in sites:
        for slot, sources in site.copies.items():
            copied.setdefault(slot, set()).update(sources)
    while work:
        for source in copied.get(work.pop(), ()):
            if source not in tracked:
                tracked.add(source)
                work.append(source)
    return tracked
