"""`tinyc explain --fusion`: which ops share a kernel, and why, as tables; and what differs between two ledgers.

In: ledgers. Out: tables; nothing is decided here.
"""

import re
from collections.abc import Iterator, Sequence

from tinyc.diagnostics import counted
from tinyc.fusion.ledger import FUSION_RULES, Decision, Ledger, RegionEntry, Siblings
from tinyc.text.table import Table

#: The terms of a region's cost that a table has, by what its head calls them.
_TERMS = {
    "us": "us",
    "us memory": "memory_us",
    "us compute": "compute_us",
    "us launch": "launch_us",
    "read bytes": "read_bytes",
    "written bytes": "written_bytes",
    "flops": "flops",
}


def fusion_tables(ledger: Ledger) -> tuple[Table, ...]:
    """What a ledger says: what its regions cost and hold, its edges, and what the rules mean that decided them."""
    came = [_siblings(ledger.regions)] if any(each.siblings for each in ledger.regions) else []
    return _costs(ledger), _contents(ledger.regions), *came, _edges(ledger), _rules(ledger)


def _costs(ledger: Ledger) -> Table:
    count = counted(len(ledger.regions), "region")
    title = f"{count} of @{ledger.function} for {ledger.target}, predicted to take {ledger.microseconds} us"
    rows = (
        (each.name, *(each.cost.get(term, 0) for term in _TERMS.values()), each.scheme, " × ".join(each.loops))
        for each in ledger.regions
    )
    return Table(title, ("region", *_TERMS, "scheme", "loops"), tuple(rows))


def _contents(regions: Sequence[RegionEntry]) -> Table:
    lists = ((each.name, (each.reads, each.writes, each.ops)) for each in regions)
    rows = ((name, *(", ".join(values) for values in listed)) for name, listed in lists)
    return Table("what they hold", ("region", "reads", "writes", "ops"), tuple(rows))


def _siblings(regions: Sequence[RegionEntry]) -> Table:
    rows = (
        (region.name, ", ".join(each.one), ", ".join(each.other), ", ".join(each.read), evidence_text(each))
        for region in regions
        for each in region.siblings
    )
    title = "kernels that became one without an edge between them (siblings)"
    return Table(title, ("region", "one wrote", "the other", "both read", "evidence"), tuple(rows))


def _edges(ledger: Ledger) -> Table:
    fused = sum(each.verdict == "fused" for each in ledger.decisions)
    title = f"{counted(len(ledger.decisions), 'edge')}: {fused} fused, {len(ledger.decisions) - fused} kept"
    rows = ((_edge(each), each.verdict, each.rule, evidence_text(each), each.flip) for each in ledger.decisions)
    return Table(title, ("edge", "verdict", "rule", "evidence", "what would flip it"), tuple(rows))


def _rules(ledger: Ledger) -> Table:
    used = {each.rule for each in ledger.decisions}
    if any(each.siblings for each in ledger.regions):
        used.add("siblings")
    return Table(
        "rules", ("rule", "meaning"), tuple((rule, text) for rule, text in FUSION_RULES.items() if rule in used)
    )


def evidence_text(decision: Decision | Siblings) -> str:
    """Why a decision was made, or two kernels became one: the reason, and those numbers that the reason leaves out."""
    told = set(re.split(r"[^\w.-]+", decision.reason))
    left_out = [f"{key} {value}" for key, value in decision.evidence.items() if str(value) not in told]
    return "; ".join([decision.reason, *([", ".join(left_out)] if left_out else [])])


def fusion_differences(one: Ledger, other: Ledger, names: tuple[str, str]) -> tuple[Table, ...]:
    """Where two ledgers differ: in numbers, and edge by edge; `names` are those of what they are of."""
    summary = tuple(
        (name, each.target, len(each.regions), _moved(each), each.microseconds)
        for name, each in zip(names, (one, other), strict=True)
    )
    columns = ("of", "target", "regions", "bytes moved", "us predicted")
    rows = tuple(_differing(one, other, names))
    shared = {_edge(each) for each in one.decisions} & {_edge(each) for each in other.decisions}
    title = f"{counted(len(rows), 'decision')} that {'differs' if len(rows) == 1 else 'differ'}"
    return (
        Table("ledgers", columns, summary),
        Table(f"{title}, {counted(len(shared), 'edge')} in both", ("edge", *names, "why"), rows),
    )


def _differing(one: Ledger, other: Ledger, names: tuple[str, str]) -> Iterator[tuple[object, ...]]:
    """A row for each edge that is decided in two ways, or is in one ledger only."""
    ledgers = [{_edge(each): each for each in ledger.decisions} for ledger in (one, other)]
    for edge in dict.fromkeys([*ledgers[0], *ledgers[1]]):
        found = [ledger.get(edge) for ledger in ledgers]
        ways = [f"{each.verdict} ({each.rule})" if each else "no such edge" for each in found]
        if ways[0] != ways[1]:
            why = (f"{name}: {evidence_text(each)}" for name, each in zip(names, found, strict=True) if each)
            yield edge, *ways, "\n".join(why)


def _edge(decision: Decision) -> str:
    return f"{decision.source} -> {decision.target}"


def _moved(ledger: Ledger) -> int:
    return round(sum(each.cost.get("read_bytes", 0) + each.cost.get("written_bytes", 0) for each in ledger.regions))
