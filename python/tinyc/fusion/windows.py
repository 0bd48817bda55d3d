"""Windows: where greedy kept an edge by its price, the kernels around it are chosen exactly.

Only where the kernels take longer than a bound that no choice goes below, and as long as the windows together stay
small, so that the time for a graph stays linear in its nodes. Source: specification 000 §4.1, step 5.
"""

from collections.abc import MutableMapping, Sequence

from tinyc.fusion.exact import MAX_CANDIDATES, MAX_WINDOW, exact_choice, is_better
from tinyc.fusion.group import Group, members_of
from tinyc.fusion.judge import Judge
from tinyc.fusion.ledger import Verdict
from tinyc.fusion.partition import Partition
from tinyc.fusion.pricing import four_digits

#: How much longer than their bound groups may take before the choice is made exactly.
_MISSED = 1.05

Verdicts = MutableMapping[tuple[str, str], Verdict]


class Windows:
    """The windows of a partition: choices of kernels that may take the place of greedy's."""

    def __init__(self, partition: Partition, judge: Judge, verdicts: Verdicts) -> None:
        self._partition, self._judge, self._verdicts = partition, judge, verdicts

    def choose(self) -> None:
        """Choose the kernels of windows exactly where the price kept an edge and the bound of the window is missed."""
        budget = max(2 * len(self._partition.graph.nodes), MAX_CANDIDATES)
        for (name, reader), verdict in list(self._verdicts.items()):
            if verdict.fused or verdict.rule not in ("cost", "legality") or budget <= 0:
                continue
            groups = self._window(name, reader)
            window = members_of(groups)
            asked = any({*edge} <= window for edge in self._judge.asked.fuse)
            if len(groups) < 2 or len(window) > MAX_WINDOW or asked:
                continue
            seconds = sum(self._judge.pricing.of(each).cost.seconds for each in groups)
            if seconds > _MISSED * self._judge.pricing.least_seconds(groups):
                budget -= self._chosen(groups, window)

    def _window(self, name: str, reader: str) -> list[Group]:
        """The groups on both sides of an edge, each once."""
        return list({id(each): each for end in (name, reader) for each in self._partition.of(end)}.values())

    def _chosen(self, groups: Sequence[Group], window: frozenset[str]) -> int:
        """Put the exact choice in the place of groups, if it is better; return how many candidates were looked at."""
        graph, pricing = self._partition.graph, self._judge.pricing
        parts = [pricing.of(each) for each in groups]
        looked = 0

        def price(group: Group) -> float | None:
            nonlocal looked
            looked += 1
            priced = pricing.of(group)
            if self._judge.is_kept(group) or (
                len(group.members) > 1 and self._judge.stops.limit(parts, priced) is not None
            ):
                return None
            return priced.cost.seconds

        chosen = exact_choice(graph, sorted(window, key=graph.position.__getitem__), price)
        before = sum(part.cost.seconds for part in parts)
        if chosen is None or not is_better(after := sum(pricing.of(each).cost.seconds for each in chosen), before):
            return looked
        if any(self._partition.is_entered_again(groups, each) for each in chosen):
            return looked
        for each in groups:
            self._partition.drop(each)
        for each in chosen:
            self._partition.replace([], each)
        evidence = {"greedy_us": four_digits(before * 1e6), "exact_us": four_digits(after * 1e6), "candidates": looked}
        times = f"{evidence['exact_us']} us by the exact choice, {evidence['greedy_us']} us by greedy"
        numbers = f"{times}, among {looked} kernels"
        for name in window:
            for reader in graph.nodes[name].readers:
                if reader in window:
                    together = any({name, reader} <= each.members for each in chosen)
                    self._verdicts[name, reader] = Verdict(together, "exact", numbers, "other prices", evidence)
        return looked
