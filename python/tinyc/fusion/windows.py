"""Windows: where greedy kept an edge by its price or a limit, the kernels around it are chosen exactly.

Only where the kernels take longer than a bound that no choice goes below, and as long as the windows together stay
small, so that the time for a graph stays linear in its nodes. Source: specification 000 §4.1, step 5.
"""

import functools
from collections.abc import Iterable, Mapping, MutableMapping, Sequence

from tinyc.fusion.exact import MAX_CANDIDATES, MAX_WINDOW, exact_choice, is_better
from tinyc.fusion.group import Group, group_of_node, members_of
from tinyc.fusion.judge import Judge
from tinyc.fusion.ledger import Verdict
from tinyc.fusion.partition import Partition
from tinyc.fusion.pricing import four_digits

#: How much longer than their bound groups may take before the choice is made exactly.
_MISSED = 1.05
#: Nodes of a window that takes in more than the two sides of an edge, at the most.
_FEW_NODES = 12
#: Rules of edges that were kept in view of the kernels of that moment: others may fuse them.
_OF_THE_MOMENT = ("cost", "legality", "scheme", "data", "cycle", "vector-width", "occupancy", "shared-memory", "tile")

Verdicts = MutableMapping[tuple[str, str], Verdict]
_Kernel = tuple[frozenset[str], frozenset[str]]  # its nodes and its results


class Windows:
    """The windows of a partition: choices of kernels that may take the place of greedy's."""

    def __init__(self, partition: Partition, judge: Judge, verdicts: Verdicts) -> None:
        self._partition, self._judge, self._verdicts = partition, judge, verdicts

    def choose(self) -> None:
        """Choose the kernels of windows exactly where an edge is kept that need not be, and their bound is missed."""
        budget, tried = max(len(self._partition.graph.nodes) // 2, MAX_CANDIDATES), set[frozenset[_Kernel]]()
        for (name, reader), verdict in list(self._verdicts.items()):
            if verdict.fused or verdict.rule not in _OF_THE_MOMENT or budget <= 0:
                continue
            groups = self._window(name, reader)
            window = members_of(groups)
            asked = any({*edge} <= window for edge in self._judge.asked.fuse)
            kernels = frozenset((group.members, group.results) for group in groups)
            if len(groups) < 2 or len(window) > MAX_WINDOW or asked or kernels in tried:
                continue
            tried.add(kernels)
            seconds = sum(self._judge.pricing.of(each).cost.seconds for each in groups)
            if seconds > _MISSED * self._judge.pricing.least_seconds(groups):
                budget -= self._chosen(groups, window)

    def _window(self, name: str, reader: str) -> list[Group]:
        """The groups on both sides of an edge, and what is near them while that is few nodes; none in an order."""
        found = {id(each): each for end in (name, reader) for each in self._partition.of(end)}
        pending, room = list(found.values()), _FEW_NODES - sum(len(each.members) for each in found.values())
        if any(each.ordered for each in pending):
            return []
        while pending and room > 0:
            for near in self._near(pending.pop(0)):
                if id(near) not in found and not near.ordered and len(near.members) <= room:
                    found[id(near)] = near
                    pending.append(near)
                    room -= len(near.members)
        return list(found.values())

    def _near(self, group: Group) -> Iterable[Group]:
        """The groups that write, or read, what a group reads or writes; of what many read, its writer alone."""
        for tensor in (*group.reads, *sorted(group.results)):
            writer = self._partition.writer(tensor)
            if writer is not None:
                yield writer
            readers = self._readers.get(tensor, ())
            for reader in readers if len(readers) <= _FEW_NODES else ():
                yield from self._partition.of(reader)

    @functools.cached_property
    def _readers(self) -> Mapping[str, Sequence[str]]:
        """The nodes that read each tensor."""
        found: dict[str, list[str]] = {}
        for node in self._partition.graph.nodes.values():
            for tensor in node.reads:
                found.setdefault(tensor, []).append(node.name)
        return found

    def _chosen(self, groups: Sequence[Group], window: frozenset[str]) -> int:
        """Put the exact choice in the place of groups, if it is better; return how many candidates were looked at."""
        graph, pricing = self._partition.graph, self._judge.pricing
        alone = {name: group_of_node(graph, graph.nodes[name]) for name in window}
        looked = 0

        def price(group: Group) -> float | None:
            nonlocal looked
            looked += 1
            allowed = not self._judge.is_kept(group) and self._judge.allows(
                [alone[name] for name in group.sequence], group
            )
            return pricing.of(group).cost.seconds if allowed else None

        nodes = sorted(window, key=graph.position.__getitem__)
        wanted = [name for name in nodes if self._partition.is_read_elsewhere(graph.nodes[name], groups)]
        chosen = exact_choice(graph, nodes, wanted, price)
        before = sum(pricing.of(each).cost.seconds for each in groups)
        if chosen is None or not is_better(after := sum(pricing.of(each).cost.seconds for each in chosen), before):
            return looked
        self._replace(groups, chosen)
        if any(map(self._partition.needs_itself, chosen)):
            self._replace(chosen, groups)
            return looked
        evidence = {"greedy_us": four_digits(before * 1e6), "exact_us": four_digits(after * 1e6), "candidates": looked}
        times = f"{evidence['exact_us']} us by the exact choice, {evidence['greedy_us']} us by greedy"
        numbers = f"{times}, among {looked} kernels"
        for name in window:
            for reader in graph.nodes[name].readers:
                if reader in window and name not in graph.nodes[reader].wholes:
                    together = any({name, reader} <= each.members for each in chosen)
                    self._verdicts[name, reader] = Verdict(together, "exact", numbers, "other prices", evidence)
        return looked

    def _replace(self, old: Sequence[Group], new: Sequence[Group]) -> None:
        for each in old:
            self._partition.drop(each)
        for each in new:
            self._partition.add(each)
