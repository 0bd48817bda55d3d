"""The outcome of a formation: the regions in the order in which they run, and the ledger of all decisions."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tinyc.analysis.local_edges import local_edges
from tinyc.diagnostics import InternalError, TinycError, Where
from tinyc.fusion.graph import FusionGraph, FusionNode, NodeKind
from tinyc.fusion.group import Group, results_of
from tinyc.fusion.ledger import FUSION_RULES, Decision, Ledger, RegionEntry, Siblings, Verdict
from tinyc.fusion.partition import Partition
from tinyc.fusion.pricing import Priced, Pricing
from tinyc.plan.fields import Plan


@dataclass(frozen=True)
class Region:
    """One kernel: its nodes in program order, the tensors that it writes, and those that it reads from memory.

    `plan` has what its formation decides of one: where its local edges live.
    """

    members: tuple[str, ...]
    results: tuple[str, ...]
    reads: tuple[str, ...]
    priced: Priced
    plan: Plan


@dataclass(frozen=True)
class Formation:
    """The regions of a function, in an order in which they can run, and the ledger of how they came about."""

    graph: FusionGraph
    regions: tuple[Region, ...]
    ledger: Ledger

    def place(self, decision: Decision) -> Where:
        """The place of the op that a decision is about: what makes the value."""
        return self._places[decision.source]

    @functools.cached_property
    def _places(self) -> Mapping[str, Where]:
        return {node.label: node.where for node in self.graph.nodes.values()}


def outcome_of(
    partition: Partition,
    pricing: Pricing,
    verdicts: Mapping[tuple[str, str], Verdict],
    siblings: Iterable[tuple[Group, Group, Verdict]],
) -> Formation:
    """The regions that the groups of a partition are, and the ledger; edges without a verdict have a plain reason.

    `siblings` are groups that became one without an edge between them.
    """
    graph = partition.graph
    groups = partition.in_order()
    _require_written(graph, groups)
    regions = tuple(_region(group, pricing) for group in groups)
    inside: dict[str, list[Group]] = {}
    for group in groups:
        for name in group.sequence:
            inside.setdefault(name, []).append(group)
    edges = [(node, graph.nodes[reader]) for node in graph.nodes.values() for reader in node.readers]
    decisions = tuple(
        _decision(node, reader, inside.get(reader.name, ()), verdicts.get((node.name, reader.name)))
        for node, reader in edges
    )
    # Where exact windows parted two and they became one again, the last word counts.
    merged = {(one.results, other.results): _siblings(one, other, why) for one, other, why in siblings}
    entries = tuple(_entry(number, region, graph.labels, merged) for number, region in enumerate(regions))
    return Formation(graph, regions, Ledger(graph.function, pricing.machine.name, entries, decisions))


def _require_written(graph: FusionGraph, groups: Sequence[Group]) -> None:
    """Check that what each kernel reads is an input or is written by one: all that follows builds upon it.

    Raises:
        InternalError: it is not.
    """
    written = results_of(groups)
    for group in groups:
        for name in group.reads:
            if name in graph.nodes and name not in written and graph.nodes[name].kind is not NodeKind.VIEW:
                raise InternalError(f"no region writes '{graph.labels[name]}', which a region reads")


def _region(group: Group, pricing: Pricing) -> Region:
    results = sorted(group.results, key=group.graph.position.__getitem__)
    priced = pricing.of(group)
    return Region(group.sequence, tuple(results), group.reads, priced, _plan(group))


def _plan(group: Group) -> Plan:
    """What its formation decides of a region's plan (000 §4.1)."""
    if group.ordered:
        return Plan()
    values = group.graph.values
    edges = local_edges(group.loops, lambda phase: values[phase.block.name])
    return Plan(local_edges=tuple(edge.values for edge in edges) or None)


def _siblings(one: Group, other: Group, why: Verdict) -> Siblings:
    """Why two groups became one without an edge between them."""
    graph = one.graph
    results = (sorted(each.results, key=graph.position.__getitem__) for each in (one, other))
    first, second = (tuple(graph.labels[name] for name in names) for names in results)
    read = tuple(graph.labels[name] for name in one.reads if name in other.reads)
    return Siblings(first, second, read, why.reason, dict(why.evidence))


def _entry(
    number: int,
    region: Region,
    labels: Mapping[str, str],
    siblings: Mapping[tuple[frozenset[str], frozenset[str]], Siblings],
) -> RegionEntry:
    loops = region.priced.candidate.loops
    return RegionEntry(
        name=f"r{number}",
        ops=tuple(labels[name] for name in region.members),
        reads=tuple(labels[name] for name in region.reads),
        writes=tuple(labels[name] for name in region.results),
        scheme=region.priced.scheme,
        loops=() if isinstance(loops, str) else tuple(map(str, loops.extents)),
        cost=region.priced.cost.terms,
        siblings=tuple(each for (one, other), each in siblings.items() if (one | other) <= set(region.members)),
    )


def _is_fused(node: FusionNode, reader: FusionNode, groups: Sequence[Group]) -> bool:
    """Whether a reader takes a node from a register: every kernel of the reader computes it, too; a leaf always is.

    A kernel may compute a node for one reader and have another apply indices to what a kernel before it has written.
    """
    if node.kind is NodeKind.LEAF:
        return True
    return node.name not in reader.wholes and bool(groups) and all(node.name in each.members for each in groups)


def _decision(node: FusionNode, reader: FusionNode, groups: Sequence[Group], verdict: Verdict | None) -> Decision:
    fused = _is_fused(node, reader, groups)
    if verdict is None or verdict.fused != fused:
        verdict = _plain_verdict(node, reader, groups)
    state = "fused" if fused else "kept"
    return Decision(node.label, reader.label, state, verdict.rule, verdict.reason, verdict.flip, dict(verdict.evidence))


def _plain_verdict(node: FusionNode, reader: FusionNode, groups: Sequence[Group]) -> Verdict:
    """The verdict on an edge that no step was proposed for; `groups` are the kernels that compute its reader."""
    if node.kind is NodeKind.LEAF:
        return Verdict(True, "leaf", "it reads nothing, and is made where it is read", "nothing", {})
    if node.bound is not None:
        sentence = "the sum forms these products in its accumulator's type"
        return Verdict(True, "product", sentence, "nothing: it would be another number", {})
    if NodeKind.VIEW in (node.kind, reader.kind):
        return Verdict(
            False, "view", "a reshape that is no affine map reads the buffer as it lies", "numbers for symbols", {}
        )
    if node.name in reader.wholes:
        sentence = f"'{reader.label}' reads it where its data says, or walks it in order"
        return Verdict(False, "data", sentence, "nothing", {})
    if _is_fused(node, reader, groups):
        return Verdict(True, "loops", "both are in the kernel already", "nothing", {})
    both = sum(node.name in each.members for each in groups)
    sentence = f"{both} of {len(groups)} kernels with '{reader.label}' have '{node.label}', too; else it is in memory"
    return Verdict(False, "cost", sentence, "a kernel that has both", {"kernels": len(groups), "with_both": both})


def kept_of(formation: Formation, edges: Iterable[tuple[str, str]]) -> list[Decision]:
    """Those of some edges, by the names of their nodes, that are kept."""
    labels = formation.graph.labels
    found = {(labels[source], labels[target]) for source, target in edges}
    decisions = formation.ledger.decisions if found else ()
    return [each for each in decisions if each.verdict == "kept" and (each.source, each.target) in found]


def require_fused(formation: Formation, edges: Iterable[tuple[str, str]]) -> None:
    """Check that edges which are asked to be fused are.

    Raises:
        TinycError: `IllegalFusion`: one is not.
    """
    kept = kept_of(formation, edges)
    if kept:
        raise TinycError.several([TinycError("IllegalFusion", _not_fused(each)) for each in kept])


def _not_fused(decision: Decision) -> str:
    """Why an edge that is asked to be fused is not, and what to do."""
    why = f"{decision.reason} ({decision.rule}: {FUSION_RULES[decision.rule]})"
    flip = "" if decision.flip == "nothing" else f"; what would flip it: {decision.flip}"
    edge = f"'{decision.source}' cannot be fused into '{decision.target}'"
    return f"{edge}: {why}; leave this edge out of 'fuse'{flip}"
