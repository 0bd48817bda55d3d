"""The judgement of a proposed kernel: whether it takes the place of several ones, by which rule, on what evidence.

A kernel is taken where it is asked for; else no rule of `stops` may speak against it, and it has to take less time than
its parts.
"""

import dataclasses
from collections.abc import Sequence

from tinyc.fusion.graph import FusionGraph
from tinyc.fusion.group import Group
from tinyc.fusion.ledger import Verdict
from tinyc.fusion.pricing import Priced, Pricing, four_digits
from tinyc.fusion.requested_edges import RequestedEdges
from tinyc.fusion.stops import Stops

KEPT_AS_ASKED = Verdict(False, "user", "asked to be kept", "not asking", {})


def along_with_asked(verdict: Verdict) -> Verdict:
    """The verdict on an edge that is in a kernel which was asked for, by another edge."""
    reason = f"its kernel has an edge that was asked for: {verdict.reason.removeprefix('asked for: ')}"
    return dataclasses.replace(verdict, rule="loops", reason=reason)


class Judge:
    """Judges proposals for a graph by the prices of a machine and what is asked for."""

    def __init__(self, graph: FusionGraph, pricing: Pricing, asked: RequestedEdges) -> None:
        self.graph, self.pricing, self.asked = graph, pricing, asked
        self.stops = Stops(pricing)

    def fused(self, groups: Sequence[Group], proposals: Sequence[Group], rule: str, forced: bool = True) -> Verdict:
        """Whether `proposals` take the place of `groups`; `rule` is that of the edges between, if they do.

        Where that is asked for and `forced`, they do even if it does not pay.
        """
        before, after = ([self.pricing.of(each) for each in side] for side in (groups, proposals))
        if any(map(self.is_kept, proposals)):
            return KEPT_AS_ASKED
        times = [sum(each.cost.seconds for each in side) for side in (before, after)]
        evidence = {
            "apart_us": four_digits(times[0] * 1e6),
            "fused_us": four_digits(times[1] * 1e6),
            "saved_bytes": round(sum(map(_moved_bytes, before)) - sum(map(_moved_bytes, after))),
            "added_flops": round(sum(each.cost.flops for each in after) - sum(each.cost.flops for each in before)),
            "scheme": ", ".join(dict.fromkeys(each.scheme for each in after)),
        }
        as_one = "as one kernel" if len(after) == 1 else "computed by each reader"
        numbers = f"{evidence['apart_us']} us apart, {evidence['fused_us']} us {as_one} ({evidence['scheme']})"
        stop = self.stops.of(groups, before, after, evidence)
        distance = f"{four_digits(abs(times[0] - times[1]) * 1e6)} us"
        if stop is None and times[1] < times[0]:
            return Verdict(True, rule, numbers, f"{distance} more {as_one}", evidence)
        if forced and any(self._is_asked(groups, each) for each in proposals):
            return Verdict(True, "user", f"asked for: {numbers}", "not asking", evidence)
        if stop is not None:
            return self.stops.why(stop, groups)
        return self.stops.why(Verdict(False, "cost", numbers, f"{distance} less {as_one}", evidence), groups)

    def allows(self, groups: Sequence[Group], proposal: Group) -> bool:
        """Whether no rule but that of the time speaks against one kernel in the place of several."""
        before, after = [self.pricing.of(each) for each in groups], [self.pricing.of(proposal)]
        return len(groups) < 2 or self.stops.of(groups, before, after, {}) is None

    def is_kept(self, proposal: Group) -> bool:
        """Whether a group has an edge that is asked to be kept."""
        if self.asked.none:
            return not all(self.graph.nodes[name].bound in proposal.members for name in proposal.sequence[:-1])
        return any(source in proposal.members and target in proposal.members for source, target in self.asked.keep)

    def _is_asked(self, groups: Sequence[Group], proposal: Group) -> bool:
        """Whether a group has an edge that is asked to be fused, and its parts do not."""
        return any(
            {source, target} <= proposal.members and not any({source, target} <= each.members for each in groups)
            for source, target in self.asked.fuse
        )


def _moved_bytes(priced: Priced) -> float:
    return priced.cost.read_bytes + priced.cost.written_bytes
