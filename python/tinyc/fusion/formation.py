"""The formation of regions: backwards from the outputs, each node joins the kernels that read it where that pays.

First sweep, backwards: a node joins the group of its readers, or makes one group of all of them, or starts its own; a
reduction behind its epilogue comes to its group in this way. Where the last node to join a group keeps its producer
out, the step is taken back if the two together are better (one-step rollback). Second sweep, over the groups that only
compute element by element: they are computed where they are read, as a prologue, or again by each reader, where that
pays. Third: groups that read the same tensors become one. Source: specification 000 §4.
"""

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tinyc.diagnostics import TinycError, Where
from tinyc.fusion.exact import MAX_CANDIDATES, MAX_WINDOW, exact_choice, is_better
from tinyc.fusion.graph import FusionGraph, Node, NodeKind, fusion_graph
from tinyc.fusion.group import Group, group_of_node, united, with_producer
from tinyc.fusion.ledger import RULES, Decision, Ledger, RegionEntry
from tinyc.fusion.pricing import Priced, Pricing, rounded
from tinyc.fusion.request import FusionRequest, RequestedEdges, requested_edges
from tinyc.mlir import func
from tinyc.target import Machine
from tinyc.target.target import Target

#: The part of a CTA's shared memory that a kernel may take (000 §4.2).
SHARED_MEMORY_PART = 0.8
#: How much longer than their bound groups may take before the choice is made exactly.
_MISSED = 1.05
#: Groups that are looked at for a way around a group; where there are more, nodes stay apart.
_MAX_VISITED = 64


@dataclass(frozen=True)
class Region:
    """One kernel: its nodes in program order, the tensors that it writes, and those that it reads from memory."""

    members: tuple[str, ...]
    results: tuple[str, ...]
    reads: tuple[str, ...]
    priced: Priced


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


@dataclass(frozen=True)
class Verdict:
    """The answer to a proposed step: whether it is taken, by which rule, why, and what would turn it."""

    fused: bool
    rule: str
    reason: str
    flip: str
    evidence: Mapping[str, object]


def form_regions(
    function: func.FuncOp, machine: Machine, request: FusionRequest | None = None, pricing: Pricing | None = None
) -> Formation:
    """Form the regions of a function that is a Tiny graph, for a machine, as far as possible as `request` asks.

    Raises:
        TinycError: `UnknownName`, `IllegalFusion`: what is asked for is not in the graph, or cannot be.
    """
    graph = fusion_graph(function)
    asked = requested_edges(request or FusionRequest(), graph)
    former = _Former(graph, pricing or Pricing(machine), asked)
    former.sweep_backwards()
    former.sweep_element_wise()
    former.sweep_pairs()
    former.choose_exactly()
    return former.formation()


class _Former:
    def __init__(self, graph: FusionGraph, pricing: Pricing, asked: RequestedEdges) -> None:
        self.graph, self.pricing, self.asked = graph, pricing, asked
        #: Node → the groups that compute it, the one that writes it first.
        self.groups: dict[str, list[Group]] = {}
        self.verdicts: dict[tuple[str, str], Verdict] = {}
        #: Group → what its last node to join was, and the group before.
        self._before: dict[int, tuple[Node, Group]] = {}

    # --- the first sweep ----------------------------------------------------------------------------------------------

    def sweep_backwards(self) -> None:
        """Place every node, readers first."""
        for node in reversed(list(self.graph.nodes.values())):
            is_viewed = any(self.graph.nodes[reader].kind is NodeKind.VIEW for reader in node.readers)
            if node.kind is NodeKind.LEAF and (node.is_output or is_viewed):
                self._replace([], group_of_node(self.graph, node))
            elif node.kind not in (NodeKind.LEAF, NodeKind.VIEW) and node.bound is None:
                self._place(node)

    def _place(self, node: Node) -> None:
        """Let a node join its readers' groups, or start its own."""
        alone = self._with_siblings(node)
        readers = self._reader_groups(node)
        wanted = any((node.name, reader) in self.asked.fuse for reader in node.readers)
        is_operand = any(_is_operand(node, group) for group in readers)
        if node.is_inline and is_operand and not wanted:
            self._replace([], alone)  # an epilogue first; what is left when all are placed may be a prologue
            return
        choices = [readers] if len(readers) <= 1 else [readers, *([each] for each in readers)]
        for chosen in choices if readers else []:
            proposal = self._joined(node, chosen)
            verdict = self._judge(node, chosen, proposal, alone)
            self._note(node, chosen, verdict)
            if verdict.fused:
                assert isinstance(proposal, Group)
                if len(chosen) == 1:
                    self._before[id(proposal)] = (node, chosen[0])
                self._replace(chosen, proposal)
                return
        if not self._rolled_back(node, readers, alone):
            self._replace([], alone)

    def _with_siblings(self, node: Node) -> Group:
        """The group of a node by itself; the results of one op are in one group."""
        alone = group_of_node(self.graph, node)
        sibling = next((each for name in self._results_of(node) for each in self.groups.get(name, ())), None)
        if sibling is None:
            return alone
        joined = Group(
            self.graph,
            alone.members | sibling.members,
            alone.results | sibling.results,
            (),
            (*alone.ordered, *sibling.ordered),
        )
        self._replace([sibling], joined)
        return joined

    def _results_of(self, node: Node) -> list[str]:
        if node.kind is not NodeKind.ORDERED or len(node.op.results) < 2:
            return []
        return [name for name, other in self.graph.nodes.items() if other.op == node.op and name != node.name]

    def _reader_groups(self, node: Node) -> list[Group]:
        """The groups that read a node as a statement does, each once, in program order."""
        found: dict[int, Group] = {}
        for reader in node.readers:
            if node.name not in self.graph.nodes[reader].wholes:
                found |= {id(each): each for each in self.groups.get(reader, ())}
        return sorted(found.values(), key=lambda group: group.first)

    def _is_read_elsewhere(self, node: Node, groups: Sequence[Group]) -> bool:
        """Whether a node is returned, or read by something else than some groups."""
        inside = frozenset[str]().union(*(group.members for group in groups))
        if node.is_output:
            return True
        return any(reader not in inside or node.name in self.graph.nodes[reader].wholes for reader in node.readers)

    def _joined(self, node: Node, chosen: Sequence[Group]) -> Group | str:
        """The groups as one, with the node."""
        union = chosen[0] if len(chosen) == 1 else united(chosen)
        if isinstance(union, str):
            return union
        return with_producer(union, node, self._is_read_elsewhere(node, chosen))

    def _judge(self, node: Node, chosen: Sequence[Group], proposal: Group | str, alone: Group) -> Verdict:
        """Whether groups become one with a node."""
        if isinstance(proposal, str):
            return _refused(proposal)
        if self._is_entered_again([*chosen, alone], proposal):
            return Verdict(False, "cycle", _CYCLE, "fusing that, too", {})
        return self._priced_verdict([*chosen, alone], proposal, "inline" if node.is_inline else "loops")

    def _priced_verdict(self, groups: Sequence[Group], proposal: Group, rule: str) -> Verdict:
        """Whether a kernel in the place of several ones is as asked for, keeps to the limits, and pays."""
        parts, together = [self.pricing.of(each) for each in groups], self.pricing.of(proposal)
        if self._is_kept(proposal):
            return _KEPT
        if self._is_asked(groups, proposal):
            return self._as_asked(parts, [together])
        stop = self._stop(parts, together)
        if stop is not None:
            return stop
        before = sum(part.cost.seconds for part in parts)
        gain = before - together.cost.seconds
        evidence = {
            "apart_us": rounded(before * 1e6),
            "fused_us": rounded(together.cost.seconds * 1e6),
            "saved_bytes": round(sum(map(_moved, parts)) - _moved(together)),
            "added_flops": round(together.cost.flops - sum(part.cost.flops for part in parts)),
            "scheme": together.scheme,
        }
        numbers = f"{evidence['apart_us']} us apart, {evidence['fused_us']} us as one kernel ({together.scheme})"
        if gain > 0:
            return Verdict(True, rule, numbers, f"{rounded(gain * 1e6)} us more for the one kernel", evidence)
        return Verdict(False, "cost", numbers, f"{rounded(-gain * 1e6)} us less for the one kernel", evidence)

    def _is_kept(self, proposal: Group) -> bool:
        """Whether a group has an edge that is asked to be kept."""
        if self.asked.none:
            return not all(self.graph.nodes[name].bound in proposal.members for name in self._roots(proposal))
        return any(source in proposal.members and target in proposal.members for source, target in self.asked.keep)

    def _roots(self, proposal: Group) -> list[str]:
        """The members but the last one."""
        return list(proposal.sequence[:-1])

    def _is_asked(self, groups: Sequence[Group], proposal: Group) -> bool:
        """Whether a group has an edge that is asked to be fused, and its parts do not."""
        return any(
            {source, target} <= proposal.members and not any({source, target} <= each.members for each in groups)
            for source, target in self.asked.fuse
        )

    def _as_asked(self, before: Sequence[Priced], after: Sequence[Priced]) -> Verdict:
        """The verdict on what is asked for, with the predicted difference."""
        times = [rounded(sum(each.cost.seconds for each in side) * 1e6) for side in (before, after)]
        evidence = {"apart_us": times[0], "fused_us": times[1]}
        return Verdict(
            True, "user", f"asked for: {times[0]} us apart, {times[1]} us as one kernel", "not asking", evidence
        )

    def _stop(self, parts: Sequence[Priced], together: Priced) -> Verdict | None:
        """The limit of 000 §4.2 that one kernel breaks and its parts keep, if there is one."""
        machine = self.pricing.machine
        repeats = together.cost.repeats
        fallback = self.pricing.kinds[-1].name
        if together.scheme == fallback and any(part.scheme != fallback and _reduces(part) for part in parts):
            names = ", ".join(dict.fromkeys(part.scheme for part in parts))
            sentence = f"no scheme builds it but {fallback}, element by element; apart they are {names}"
            return Verdict(False, "scheme", sentence, "a scheme for it", {"apart": names, "fused": fallback})
        if repeats > max(part.cost.repeats for part in parts):
            sentence = (
                f"no scheme builds it but element by element, where a reduction is computed {rounded(repeats)} times"
            )
            return Verdict(False, "scheme", sentence, "a scheme for it", {"repeats": rounded(repeats)})
        if not isinstance(machine, Target):
            return None
        room = int(machine.shared_bytes_per_cta_optin * SHARED_MEMORY_PART)
        shared = together.resources.shared_bytes
        if shared > max(room, max(part.resources.shared_bytes for part in parts)):
            sentence = f"a CTA would take {shared} bytes of shared memory, and {room} are 80% of what it may have"
            return Verdict(False, "shared-memory", sentence, f"{shared - room} bytes less", {"shared_bytes": shared})
        resident, best = together.cost.ctas_per_sm, min(part.cost.ctas_per_sm for part in parts)
        if resident <= 1 < best:
            sentence = f"{resident} CTA would be resident on a multiprocessor, where {best} are"
            return Verdict(
                False, "occupancy", sentence, "fewer registers or less shared memory", {"ctas_per_sm": resident}
            )
        tile = together.resources.leaves_tiles
        if tile and not any(part.resources.leaves_tiles for part in parts):
            sentence = f"it would have {tile}, which the tensor cores of {machine.name} do not take"
            return Verdict(False, "tile", sentence, "a tile that they take", {"tile": tile})
        wide, narrow = min(part.resources.vector_bytes for part in parts), together.resources.vector_bytes
        if narrow < wide:
            sentence = f"accesses would be {narrow} bytes wide, and are {wide}"
            return Verdict(
                False, "vector-width", sentence, "the same order of axes on both sides", {"vector_bytes": narrow}
            )
        return None

    def _rolled_back(self, node: Node, readers: Sequence[Group], alone: Group) -> bool:
        """Take the last step of the one reader's group back, if its node does better with this one (one-step rollback)."""
        if len(readers) != 1 or id(readers[0]) not in self._before or node.is_inline:
            return False
        group = readers[0]
        last, before = self._before[id(group)]
        if node.readers != (last.name,):
            return False
        pair = with_producer(group_of_node(self.graph, last), node, False)
        edges = {(last.name, reader) for reader in last.readers}
        if isinstance(pair, str) or edges & self.asked.fuse or self._is_kept(pair):
            return False
        if self._is_entered_again([group, alone], pair):
            return False
        now = [self.pricing.of(group), self.pricing.of(alone)]
        then = [self.pricing.of(before), self.pricing.of(pair)]
        times = [sum(each.cost.seconds for each in side) for side in (now, then)]
        if times[1] >= times[0] or self._stop(now, then[1]) is not None:
            return False
        numbers = f"{rounded(times[1] * 1e6)} us with '{last.label}' here, {rounded(times[0] * 1e6)} us with its reader"
        evidence = {"here_us": rounded(times[1] * 1e6), "with_reader_us": rounded(times[0] * 1e6)}
        self._replace([group], before)
        self._replace([], pair)
        for reader in last.readers:
            self.verdicts[last.name, reader] = Verdict(False, "cost", numbers, "a cheaper prologue", evidence)
        self.verdicts[node.name, last.name] = Verdict(True, "loops", numbers, "a cheaper prologue", evidence)
        return True

    # --- the second sweep ---------------------------------------------------------------------------------------------

    def sweep_element_wise(self) -> None:
        """Compute groups that only work element by element where they are read, if that pays: last ones first."""
        groups = {id(each): each for found in self.groups.values() for each in found if each.is_inline}
        for group in sorted(groups.values(), key=lambda each: -each.first):
            self._dissolve(group)

    def _dissolve(self, group: Group) -> None:
        """Let every reader of an element-wise group compute it, if that is legal and pays."""
        (result, *others) = sorted(group.results)
        node = self.graph.nodes[result]
        readers = self._reader_groups(node)
        if others or not readers or self._is_read_elsewhere(node, readers):
            return
        proposals: list[Group] = []
        for reader in readers:
            grown: Group | str = reader
            for name in reversed(group.sequence):
                if isinstance(grown, Group):
                    grown = with_producer(grown, self.graph.nodes[name], False)
            if isinstance(grown, str):
                self._note(node, readers, Verdict(False, "limit", grown, "a smaller kernel", {}))
                return
            proposals.append(grown)
        verdict = self._dissolved_verdict(group, readers, proposals)
        self._note(node, readers, verdict)
        if verdict.fused:
            self._drop(group)
            for reader, grown in zip(readers, proposals, strict=True):
                self._replace([reader], grown)

    def _dissolved_verdict(self, group: Group, readers: Sequence[Group], proposals: Sequence[Group]) -> Verdict:
        """Whether readers that compute an element-wise group themselves keep to the limits, and pay."""
        before, after = (
            [self.pricing.of(each) for each in (group, *readers)],
            [self.pricing.of(each) for each in proposals],
        )
        if any(map(self._is_kept, proposals)):
            return _KEPT
        if any(self._is_asked([group, *readers], each) for each in proposals):
            return self._as_asked(before, after)
        for reader, grown in zip(before[1:], after, strict=True):
            stop = self._stop([reader], grown)
            if stop is not None:
                return stop
        times = [sum(each.cost.seconds for each in side) for side in (before, after)]
        evidence = {
            "apart_us": rounded(times[0] * 1e6),
            "fused_us": rounded(times[1] * 1e6),
            "saved_bytes": round(sum(map(_moved, before)) - sum(map(_moved, after))),
            "added_flops": round(sum(e.cost.flops for e in after) - sum(e.cost.flops for e in before)),
            "readers": len(readers),
        }
        numbers = f"{evidence['apart_us']} us in memory, {evidence['fused_us']} us computed by each reader"
        flip = f"{rounded(abs(times[0] - times[1]) * 1e6)} us"
        if times[1] < times[0]:
            return Verdict(
                True, "recompute" if len(readers) > 1 else "inline", numbers, f"{flip} more to compute it", evidence
            )
        return Verdict(False, "cost", numbers, f"{flip} less to compute it", evidence)

    # --- the third sweep ----------------------------------------------------------------------------------------------

    def sweep_pairs(self) -> None:
        """Make one kernel of two that a tensor passes between, if that is legal and pays: last ones first."""
        for node in reversed(list(self.graph.nodes.values())):
            for reader in node.readers:
                if (node.name, reader) not in self.verdicts and node.name not in self.graph.nodes[reader].wholes:
                    self._pair(node, reader)

    def _pair(self, node: Node, reader: str) -> None:
        """Fuse the group that writes a node with the one group of a reader, if that pays."""
        writers = [each for each in self.groups.get(node.name, ()) if node.name in each.results]
        targets = self.groups.get(reader, ())
        if len(writers) != 1 or len(targets) != 1 or writers[0] is targets[0]:
            return
        (writer,), (target,) = writers, targets
        merged: Group | str = target
        for name in reversed(writer.sequence):
            if isinstance(merged, Group):
                kept = name in writer.results and self._is_read_elsewhere(self.graph.nodes[name], [target, writer])
                merged = with_producer(merged, self.graph.nodes[name], kept)
        if isinstance(merged, Group) and self._is_entered_again([writer, target], merged):
            verdict = Verdict(False, "cycle", _CYCLE, "fusing that, too", {})
        elif isinstance(merged, Group):
            verdict = self._priced_verdict([writer, target], merged, "loops")
        else:
            verdict = _refused(merged)
        self._note(node, [target], verdict)
        if verdict.fused and isinstance(merged, Group):
            self._replace([writer, target], merged)

    # --- the exact choice ---------------------------------------------------------------------------------------------

    def choose_exactly(self) -> None:
        """Choose the kernels of windows exactly where the price kept an edge and the bound of the window is missed."""
        budget = max(2 * len(self.graph.nodes), MAX_CANDIDATES)
        for (name, reader), verdict in list(self.verdicts.items()):
            if verdict.fused or verdict.rule != "cost" or budget <= 0:
                continue
            groups = self._window(name, reader)
            window = frozenset[str]().union(*(group.members for group in groups))
            if len(groups) < 2 or len(window) > MAX_WINDOW:
                continue
            seconds = sum(self.pricing.of(each).cost.seconds for each in groups)
            if seconds > _MISSED * self.pricing.least_seconds(groups):
                budget -= self._choose(groups, window)

    def _window(self, name: str, reader: str) -> list[Group]:
        """The groups on both sides of an edge, each once."""
        return list({id(each): each for end in (name, reader) for each in self.groups.get(end, ())}.values())

    def _choose(self, groups: Sequence[Group], window: frozenset[str]) -> int:
        """Put the exact choice in the place of groups, if it is better; return how many candidates were looked at."""
        parts = [self.pricing.of(each) for each in groups]
        looked = 0

        def price(group: Group) -> float | None:
            nonlocal looked
            looked += 1
            priced = self.pricing.of(group)
            if self._is_kept(group) or (len(group.members) > 1 and self._stop(parts, priced) is not None):
                return None
            return priced.cost.seconds

        chosen = exact_choice(self.graph, sorted(window, key=self.graph.position.__getitem__), price)
        before = sum(part.cost.seconds for part in parts)
        if chosen is None or not is_better(after := sum(self.pricing.of(each).cost.seconds for each in chosen), before):
            return looked
        if any(self._is_entered_again(groups, each) for each in chosen):
            return looked
        for each in groups:
            self._drop(each)
        for each in chosen:
            self._replace([], each)
        evidence = {"greedy_us": rounded(before * 1e6), "exact_us": rounded(after * 1e6), "candidates": looked}
        numbers = f"{evidence['exact_us']} us by the exact choice among {looked} kernels, {evidence['greedy_us']} us by greedy"
        for name in window:
            for reader in self.graph.nodes[name].readers:
                if reader in window:
                    together = any({name, reader} <= each.members for each in chosen)
                    self.verdicts[name, reader] = Verdict(together, "exact", numbers, "other prices", evidence)
        return looked

    # --- groups -------------------------------------------------------------------------------------------------------

    def _replace(self, old: Sequence[Group], new: Group) -> None:
        """Put one group in the place of others."""
        for each in old:
            self._drop(each)
        for name in new.members:
            self.groups.setdefault(name, []).append(new)

    def _drop(self, group: Group) -> None:
        for name in group.members:
            self.groups[name] = [each for each in self.groups[name] if each is not group]

    def _note(self, node: Node, chosen: Sequence[Group], verdict: Verdict) -> None:
        """Note a verdict for the edges from a node into groups."""
        inside = frozenset[str]().union(*(group.members for group in chosen))
        for reader in node.readers:
            if reader in inside and node.name not in self.graph.nodes[reader].wholes:
                self.verdicts[node.name, reader] = verdict

    def _is_entered_again(self, parts: Sequence[Group], proposal: Group) -> bool:
        """Whether something outside of a proposed group needs a part of it and is needed by one (True: not known)."""
        inside = proposal.members
        start = min(part.first for part in parts)
        pending = [tensor for tensor in proposal.reads if tensor not in inside]
        seen: set[str] = set()
        while pending:
            tensor = pending.pop()
            node = self.graph.nodes.get(tensor)
            if node is None or tensor in seen:
                continue
            seen.add(tensor)
            for name in self._made_with(tensor):
                if name in inside:
                    return True
                seen.add(name)
                pending += [each for each in self._needs(name) if each not in seen]
            if len(seen) > _MAX_VISITED and any(
                self.graph.position[each] > start for each in pending if each in self.graph.nodes
            ):
                return True
            pending = [each for each in pending if self._may_reach(each, start)]
        return False

    def _made_with(self, tensor: str) -> Iterable[str]:
        """The nodes that are computed with a tensor: those of the group that writes it."""
        groups = [each for each in self.groups.get(tensor, ()) if tensor in each.results]
        return groups[0].members if groups else [tensor]

    def _needs(self, name: str) -> Iterable[str]:
        return self.graph.nodes[name].reads

    def _may_reach(self, tensor: str, start: int) -> bool:
        """Whether what makes a tensor may need a node from position `start` on."""
        node = self.graph.nodes.get(tensor)
        if node is None:
            return False
        last = max(self.graph.position[name] for name in self._made_with(tensor))
        return last >= start

    # --- the outcome --------------------------------------------------------------------------------------------------

    def formation(self) -> Formation:
        """The regions and the ledger.

        Raises:
            TinycError: `IllegalFusion`: an edge that is asked to be fused could not be.
        """
        groups = {id(each): each for found in self.groups.values() for each in found}
        regions = tuple(self._region(group) for group in self._in_order(list(groups.values())))
        ledger = self._ledger(regions)
        self._require_asked(ledger)
        return Formation(self.graph, regions, ledger)

    def _require_asked(self, ledger: Ledger) -> None:
        labels = self.graph.labels
        asked = {(labels[source], labels[target]) for source, target in self.asked.fuse}
        kept = [each for each in ledger.decisions if each.verdict == "kept" and (each.source, each.target) in asked]
        if kept:
            message = "'{}' cannot be fused into '{}': {} ({})"
            raise TinycError.several(
                [TinycError("IllegalFusion", message.format(e.source, e.target, e.reason, RULES[e.rule])) for e in kept]
            )

    def _in_order(self, groups: Sequence[Group]) -> list[Group]:
        """Groups, each behind those that it needs."""
        from graphlib import TopologicalSorter

        by_result = {name: number for number, group in enumerate(groups) for name in group.results}
        ranked = sorted(range(len(groups)), key=lambda k: max(self.graph.position[name] for name in groups[k].members))
        needed = {k: [by_result[t] for t in self._memory(groups[k].reads) if by_result.get(t, k) != k] for k in ranked}
        return [groups[k] for k in TopologicalSorter(needed).static_order()]

    def _memory(self, tensors: Iterable[str]) -> Iterable[str]:
        """Tensors, and below views the tensors that are renamed."""
        for tensor in tensors:
            node = self.graph.nodes.get(tensor)
            if node is not None and node.kind is NodeKind.VIEW:
                yield from self._memory(node.reads)
            else:
                yield tensor

    def _region(self, group: Group) -> Region:
        results = tuple(sorted(group.results, key=self.graph.position.__getitem__))
        return Region(group.sequence, results, group.reads, self.pricing.of(group))

    def _ledger(self, regions: Sequence[Region]) -> Ledger:
        labels = self.graph.labels
        entries = tuple(
            RegionEntry(
                name=f"r{number}",
                ops=tuple(labels[name] for name in region.members),
                reads=tuple(labels[name] for name in region.reads),
                writes=tuple(labels[name] for name in region.results),
                scheme=region.priced.scheme,
                loops=_loops_text(region.priced),
                cost=region.priced.cost.terms,
            )
            for number, region in enumerate(regions)
        )
        inside = [frozenset(region.members) for region in regions]
        decisions = [
            self._decision(node, reader, _is_fused(node, reader, inside))
            for node in self.graph.nodes.values()
            for reader in node.readers
        ]
        return Ledger(self.graph.function, self.pricing.machine.name, entries, tuple(decisions))

    def _decision(self, node: Node, reader: str, fused: bool) -> Decision:
        verdict = self.verdicts.get((node.name, reader))
        if verdict is None or verdict.fused != fused:
            verdict = self._plain_verdict(node, self.graph.nodes[reader], fused)
        label = self.graph.labels[reader]
        state = "fused" if fused else "kept"
        return Decision(node.label, label, state, verdict.rule, verdict.reason, verdict.flip, dict(verdict.evidence))

    def _plain_verdict(self, node: Node, reader: Node, fused: bool) -> Verdict:
        """The verdict on an edge that no step was proposed for."""
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
        if fused:
            return Verdict(True, "loops", "both are in the kernel already", "nothing", {})
        return Verdict(False, "cost", "another kernel has it", "nothing", {})


_KEPT = Verdict(False, "user", "asked to be kept", "not asking", {})
_CYCLE = "something outside of the kernel needs it and is needed by it"


def _refused(reason: str) -> Verdict:
    """The verdict on what is no group."""
    return Verdict(False, "limit" if "limit" in reason else "scheme", reason, "a smaller kernel", {})


def _is_operand(node: Node, group: Group) -> bool:
    """Whether a contraction of a group reads a node, or something made of it, as an operand."""
    contractions = (each for each in group.anchors if each.node.kind is NodeKind.CONTRACTION)
    return any(read.tensor == node.name for each in contractions for read in each.block.accesses)


def _is_fused(node: Node, reader: str, regions: Sequence[frozenset[str]]) -> bool:
    """Whether every kernel that computes a reader computes the node, too: a leaf always is."""
    with_reader = [each for each in regions if reader in each]
    return node.kind is NodeKind.LEAF or (all(node.name in each for each in with_reader) and bool(with_reader))


def _reduces(priced: Priced) -> bool:
    loops = priced.candidate.loops
    return not isinstance(loops, str) and bool(loops.reductions)


def _moved(priced: Priced) -> float:
    return priced.cost.read_bytes + priced.cost.written_bytes


def _loops_text(priced: Priced) -> tuple[str, ...]:
    loops = priced.candidate.loops
    return () if isinstance(loops, str) else tuple(map(str, loops.extents))
