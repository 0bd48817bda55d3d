"""The formation of regions: backwards from the outputs, each node joins the kernels that read it where that pays.

First sweep, backwards: a node joins the group of its readers, or makes one group of all of them, or starts its own; a
reduction behind its epilogue comes to its group in this way. Where the last node to join a group keeps its producer
out, the step is taken back if the two together are better (one-step rollback). Second sweep, over the groups that only
compute element by element: they are computed where they are read, as a prologue, or again by each reader, where that
pays. Third: two groups that a tensor passes between become one, then two products with the rows between them, then two
that read one tensor. Last, windows are chosen exactly. Source: specification 000 §4.
"""

from collections.abc import Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

from tinyc.diagnostics import progress
from tinyc.fusion.chains import Chains
from tinyc.fusion.graph import FusionGraph, FusionNode, NodeKind, fusion_graph
from tinyc.fusion.group import (
    Group,
    group_of_node,
    members_of,
    united,
    with_group,
    with_other_result,
    with_producer,
    with_results,
)
from tinyc.fusion.judge import Judge, along_with_asked
from tinyc.fusion.ledger import Verdict
from tinyc.fusion.partition import Partition
from tinyc.fusion.pricing import Pricing, four_digits
from tinyc.fusion.regions import Formation, kept_of, outcome_of, require_fused
from tinyc.fusion.request import FusionRequest
from tinyc.fusion.requested_edges import RequestedEdges, requested_edges
from tinyc.fusion.windows import Windows
from tinyc.mlir import func
from tinyc.target import Machine

#: How many kernels before it that read the same tensor a kernel may become one with.
_NEAR = 4


def form_regions(
    function: func.FuncOp, machine: Machine, request: FusionRequest | None = None, pricing: Pricing | None = None
) -> Formation:
    """Form the regions of a function that is a Tiny graph, for a machine, as `request` asks.

    What is asked for and comes about anyway changes nothing.

    Raises:
        TinycError: `UnknownName`, `IllegalFusion`: what is asked for is not in the graph, or cannot be.
    """
    graph, prices = fusion_graph(function), pricing or Pricing(machine)
    asked = requested_edges(request or FusionRequest(), graph)
    formation = _formed(graph, prices, replace(asked, fuse=frozenset()))
    if not kept_of(formation, asked.fuse):
        return formation
    formation = _formed(graph, prices, asked)
    require_fused(formation, asked.fuse)
    return formation


def _formed(graph: FusionGraph, pricing: Pricing, asked: RequestedEdges) -> Formation:
    judge = Judge(graph, pricing, asked)
    former = _Former(Partition(graph), judge)
    former.sweep_backwards()
    former.sweep_element_wise()
    former.sweep_chains()
    former.sweep_pairs()
    former.sweep_chains()
    former.sweep_siblings()
    Windows(former.partition, judge, former.verdicts).choose()
    former.sweep_siblings()
    former.sweep_outdated()
    former.sweep_unread()
    return outcome_of(former.partition, pricing, former.verdicts, former.siblings)


class _Former:
    def __init__(self, partition: Partition, judge: Judge) -> None:
        self.partition, self.judge, self.graph = partition, judge, partition.graph
        self.verdicts: dict[tuple[str, str], Verdict] = {}
        #: Two groups that became one since they read the same tensor, and why.
        self.siblings: list[tuple[Group, Group, Verdict]] = []
        #: Group → what its last node to join was, and the group before.
        self._before = WeakKeyDictionary[Group, tuple[FusionNode, Group]]()

    # --- the first sweep ----------------------------------------------------------------------------------------------

    def sweep_backwards(self) -> None:
        """Place every node, readers first."""
        for number, node in enumerate(reversed(list(self.graph.nodes.values())), 1):
            progress("regions, node", number, len(self.graph.nodes))
            is_viewed = any(self.graph.nodes[reader].kind is NodeKind.VIEW for reader in node.readers)
            if node.kind is NodeKind.LEAF and (node.is_output or is_viewed):
                self.partition.add(group_of_node(self.graph, node))
            elif node.kind not in (NodeKind.LEAF, NodeKind.VIEW) and node.bound is None:
                self._place(node)

    def _place(self, node: FusionNode) -> None:
        """Let a node join its readers' groups, or start its own."""
        alone = self._with_siblings(node)
        readers = self.partition.readers(node)
        wanted = any((node.name, reader) in self.judge.asked.fuse for reader in node.readers)
        is_operand = any(_is_operand(node, group) for group in readers)
        if node.is_inline and is_operand and not wanted:
            self.partition.add(alone)  # an epilogue first; what is left when all are placed may be a prologue
            return
        single = [[each] for each in readers] if len(readers) > 1 else []
        # What is asked for is done as it pays, if it does at all; else with as few readers as possible.
        rounds = [(False, [readers, *single]), (True, [*single, readers])] if wanted else [(False, [readers, *single])]
        for forced, choices in rounds if readers else []:
            for chosen in choices:
                if (not wanted or self._has_asked(node, chosen)) and self._joins(node, chosen, readers, alone, forced):
                    return
        if wanted and self._computed_as_asked(node, readers, alone):
            return
        if not self._rolled_back(node, readers, alone):
            self.partition.add(alone)

    def _has_asked(self, node: FusionNode, chosen: Sequence[Group]) -> bool:
        """Whether groups have all readers that a node is asked to be fused into."""
        inside = members_of(chosen)
        return all(target in inside for source, target in self.judge.asked.fuse if source == node.name)

    def _computed_as_asked(self, node: FusionNode, readers: Sequence[Group], alone: Group) -> bool:
        """Let the readers that a node is asked to be fused into compute it, beside the kernel that writes it."""
        asked = {target for source, target in self.judge.asked.fuse if source == node.name}
        chosen = [each for each in readers if each.members & asked]
        by_each = self._by_each(alone, chosen) if alone.is_inline else None
        if by_each is None or isinstance(by_each, Verdict):
            return False
        verdict = self.judge.fused([alone, *chosen], [alone, *by_each], "recompute")
        if verdict.fused:
            self.partition.add(alone)
            self._compute_by_each(node, chosen, by_each, verdict)
        return verdict.fused

    def _joins(
        self, node: FusionNode, chosen: Sequence[Group], readers: Sequence[Group], alone: Group, forced: bool
    ) -> bool:
        """Let a node join some of its readers' groups as one, if that pays or, where it is `forced`, is legal."""
        proposal = self._joined(node, chosen)
        verdict = self._judge(node, chosen, proposal, alone, forced)
        self._note(node, chosen, verdict)
        if not verdict.fused or isinstance(proposal, Verdict):
            return False
        if len(chosen) < len(readers) and self._recomputed_where_cheaper(node, readers, alone, proposal):
            return True
        if len(chosen) == 1:
            self._before.pop(chosen[0], None)  # only one step is taken back
            self._before[proposal] = (node, chosen[0])
        self.partition.replace(chosen, proposal)
        return True

    def _recomputed_where_cheaper(
        self, node: FusionNode, readers: Sequence[Group], alone: Group, proposal: Group
    ) -> bool:
        """Let every reader compute a node, if that takes less time than one that writes it for the others."""
        if not alone.is_inline or self.partition.is_read_elsewhere(node, readers):
            return False
        by_each = self._by_each(alone, readers)
        if isinstance(by_each, Verdict):
            return False
        others = [each for each in readers if not each.members <= proposal.members]
        times = [
            sum(self.judge.pricing.of(each).cost.seconds for each in side) for side in (by_each, [proposal, *others])
        ]
        verdict = self.judge.fused([alone, *readers], by_each, "recompute")
        if times[0] >= times[1] or not verdict.fused:
            return False
        self._compute_by_each(node, readers, by_each, verdict)
        return True

    def _with_siblings(self, node: FusionNode) -> Group:
        """The group of a node by itself, which nothing has yet; the results of one op are in one group."""
        alone = group_of_node(self.graph, node)
        sibling = next((each for name in self._results_of(node) for each in self.partition.of(name)), None)
        if sibling is None:
            return alone
        self.partition.drop(sibling)
        return with_other_result(alone, sibling)

    def _results_of(self, node: FusionNode) -> list[str]:
        if node.kind is not NodeKind.ORDERED or len(node.op.results) < 2:
            return []
        return [name for name, other in self.graph.nodes.items() if other.op == node.op and name != node.name]

    def _joined(self, node: FusionNode, chosen: Sequence[Group]) -> Group | Verdict:
        """The groups as one, with the node."""
        union = chosen[0] if len(chosen) == 1 else united(chosen)
        if isinstance(union, Verdict):
            return union
        return with_producer(union, node, self.partition.is_read_elsewhere(node, chosen))

    def _judge(
        self, node: FusionNode, chosen: Sequence[Group], proposal: Group | Verdict, alone: Group, forced: bool
    ) -> Verdict:
        """Whether groups become one with a node."""
        if isinstance(proposal, Verdict):
            return proposal
        cycle = self.partition.entered_again([*chosen, alone], proposal)
        if cycle is not None:
            return cycle
        return self.judge.fused([*chosen, alone], [proposal], "inline" if node.is_inline else "loops", forced)

    def _rolled_back(self, node: FusionNode, readers: Sequence[Group], alone: Group) -> bool:
        """Take the last step of the reader's group back, if its node does better with this one (one-step rollback)."""
        if len(readers) != 1 or readers[0] not in self._before or node.is_inline:
            return False
        group = readers[0]
        last, before = self._before[group]
        if node.readers != (last.name,) or node.is_output:
            return False
        pair = with_producer(group_of_node(self.graph, last), node, False)
        edges = {(last.name, reader) for reader in last.readers}
        if isinstance(pair, Verdict) or edges & self.judge.asked.fuse or self.judge.is_kept(pair):
            return False
        if self.partition.entered_again([group, alone], pair) is not None:
            return False
        now = [self.judge.pricing.of(group), self.judge.pricing.of(alone)]
        then = [self.judge.pricing.of(before), self.judge.pricing.of(pair)]
        times = [sum(each.cost.seconds for each in side) for side in (now, then)]
        if times[1] >= times[0] or not self.judge.allows([group_of_node(self.graph, last), alone], pair):
            return False
        evidence = {"here_us": four_digits(times[1] * 1e6), "with_reader_us": four_digits(times[0] * 1e6)}
        numbers = f"{evidence['here_us']} us with '{last.label}' here, {evidence['with_reader_us']} us with its reader"
        self.partition.replace([group], before)
        self.partition.add(pair)
        for reader in last.readers:
            self.verdicts[last.name, reader] = Verdict(False, "cost", numbers, "a cheaper prologue", evidence)
        self.verdicts[node.name, last.name] = Verdict(True, "loops", numbers, "a cheaper prologue", evidence)
        return True

    # --- the second sweep ---------------------------------------------------------------------------------------------

    def sweep_element_wise(self) -> None:
        """Compute groups that only work element by element where they are read, if that pays: last ones first."""
        for name in reversed(list(self.graph.nodes)):
            group = self.partition.writer(name)  # as it is now: it may have taken in what it reads
            if group is not None and group.is_inline:
                self._dissolve(group)

    def _dissolve(self, group: Group) -> None:
        """Let every reader of an element-wise group compute it, if that is legal and pays."""
        (result, *others) = sorted(group.results)
        node = self.graph.nodes[result]
        readers = self.partition.readers(node)
        if others or not readers or self.partition.is_read_elsewhere(node, readers):
            return
        by_each = self._by_each(group, readers)
        if isinstance(by_each, Verdict):
            self._note(node, readers, by_each)
            return
        verdict = self.judge.fused([group, *readers], by_each, "recompute" if len(readers) > 1 else "inline")
        if verdict.fused:
            self.partition.drop(group)
            self._compute_by_each(node, readers, by_each, verdict)
        else:
            self._note(node, readers, verdict)

    def _by_each(self, group: Group, readers: Sequence[Group]) -> list[Group] | Verdict:
        """The readers of an element-wise group, each of which computes it; or why one cannot."""
        found: list[Group] = []
        for reader in readers:
            grown = with_group(reader, group, lambda _: False)
            if isinstance(grown, Verdict):
                return grown
            found.append(grown)
        return found

    def _compute_by_each(
        self, node: FusionNode, readers: Sequence[Group], grown: Sequence[Group], why: Verdict
    ) -> None:
        self._note(node, readers, why)
        for reader, each in zip(readers, grown, strict=True):
            self.partition.replace([reader], each)

    # --- the third sweep ----------------------------------------------------------------------------------------------

    def sweep_pairs(self) -> None:
        """Make one kernel of two that a tensor passes between, if that is legal and pays: last ones first."""
        for node in reversed(list(self.graph.nodes.values())):
            for reader in node.readers:
                if (node.name, reader) not in self.verdicts and node.name not in self.graph.nodes[reader].wholes:
                    self._pair(node, reader)

    def _pair(self, node: FusionNode, reader: str) -> None:
        """Fuse the group that writes a node with the one group of a reader, if that pays."""
        writer, targets = self.partition.writer(node.name), self.partition.of(reader)
        if writer is None or len(targets) != 1 or writer is targets[0]:
            return
        (target,) = targets
        both = [target, writer]
        merged = with_group(
            target, writer, lambda each: each.name in writer.results and self.partition.is_read_elsewhere(each, both)
        )
        if isinstance(merged, Verdict):
            verdict = merged
        else:
            cycle = self.partition.entered_again([writer, target], merged)
            verdict = cycle or self.judge.fused([writer, target], [merged], "loops")
        self._note(node, [target], verdict)
        if verdict.fused and isinstance(merged, Group):
            self.partition.replace([writer, target], merged)

    def sweep_chains(self) -> None:
        """Make one kernel of two products and the rows between, if a scheme has tiles of these: last ones first."""
        Chains(self.partition, self.judge, self._note).fuse()

    def sweep_outdated(self) -> None:
        """Judge the edges anew whose verdict is that they are fused, in kernels that others have taken the place of."""
        for (name, reader), verdict in list(self.verdicts.items()):
            targets = self.partition.of(reader)
            if verdict.fused and not (targets and all(name in each.members for each in targets)):
                del self.verdicts[name, reader]
        self.sweep_pairs()

    def sweep_unread(self) -> None:
        """Let kernels write what is returned and what others read: readers of a result may be in its kernel by now."""
        for group in self.partition.groups:
            nodes = [self.graph.nodes[name] for name in group.results]
            read = [node.name for node in nodes if self.partition.is_read_elsewhere(node, self.partition.of(node.name))]
            if not group.ordered and 0 < len(read) < len(group.results):
                fewer, seconds = with_results(group, read), self.judge.pricing.of(group).cost.seconds
                if isinstance(fewer, Group) and self.judge.pricing.of(fewer).cost.seconds <= seconds:
                    self.partition.replace([group], fewer)

    def sweep_siblings(self) -> None:
        """Make one kernel of near ones that read the same tensor, if that is legal and pays."""
        readers: dict[str, list[str]] = {}
        for group in self.partition.in_order():
            for tensor in group.reads if not group.ordered else ():
                readers.setdefault(tensor, []).append(min(group.results))
        for results in readers.values():
            for place, result in enumerate(results):
                for before in reversed(results[max(place - _NEAR, 0) : place]):
                    one, other = self.partition.writer(before), self.partition.writer(result)  # as they are now
                    if one is not None and other is not None:
                        self._siblings(one, other)

    def _siblings(self, one: Group, other: Group) -> None:
        """Fuse two groups neither of which reads the other, if that pays."""
        if one is other or {*one.reads} & other.results or {*other.reads} & one.results:
            return
        union = united([one, other])
        if isinstance(union, Verdict) or self.partition.entered_again([one, other], union):
            return
        verdict = self.judge.fused([one, other], [union], "siblings")
        if verdict.fused:
            self.siblings.append((one, other, verdict))
            self.partition.replace([one, other], union)

    def _note(self, node: FusionNode, chosen: Sequence[Group], verdict: Verdict) -> None:
        """Note a verdict for the edges from a node into groups."""
        inside = members_of(chosen)
        for reader in node.readers:
            if reader in inside and node.name not in self.graph.nodes[reader].wholes:
                is_along = verdict.fused and verdict.rule == "user" and (node.name, reader) not in self.judge.asked.fuse
                self.verdicts[node.name, reader] = along_with_asked(verdict) if is_along else verdict


def _is_operand(node: FusionNode, group: Group) -> bool:
    """Whether a contraction of a group reads a node, or something made of it, as an operand."""
    contractions = (each for each in group.anchors if each.node.kind is NodeKind.CONTRACTION)
    return any(read.tensor == node.name for each in contractions for read in each.block.accesses)
