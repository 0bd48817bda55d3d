"""The judgement of a proposed kernel: whether it takes the place of several ones, by which rule, on what evidence.

A kernel is taken where it is asked for; else it has to keep to the limits of 000 §4.2, by the resources that its scheme
estimates, and to take less time than its parts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tinyc.fusion.graph import FusionGraph
from tinyc.fusion.group import Group
from tinyc.fusion.pricing import Priced, Pricing, four_digits
from tinyc.fusion.request import RequestedEdges
from tinyc.target.target import Target

#: The part of a CTA's shared memory that a kernel may take (000 §4.2).
SHARED_MEMORY_PART = 0.8


@dataclass(frozen=True)
class Verdict:
    """The answer to a proposed kernel: whether it is taken, by which rule, why, and what would turn it."""

    fused: bool
    rule: str
    reason: str
    flip: str
    evidence: Mapping[str, object]


KEPT_AS_ASKED = Verdict(False, "user", "asked to be kept", "not asking", {})
CYCLE = Verdict(False, "cycle", "something outside of the kernel needs it and is needed by it", "fusing that, too", {})


def no_group(reason: str) -> Verdict:
    """The verdict on what is no group, for a reason."""
    rule = "limit" if "limit" in reason else "data" if "indices" in reason else "scheme"
    return Verdict(False, rule, reason, "a smaller kernel", {})


class Judge:
    """Judges proposals for a graph by the prices of a machine and what is asked for."""

    def __init__(self, graph: FusionGraph, pricing: Pricing, asked: RequestedEdges) -> None:
        self.graph, self.pricing, self.asked = graph, pricing, asked

    def fused(self, groups: Sequence[Group], proposals: Sequence[Group], rule: str) -> Verdict:
        """Whether `proposals` take the place of `groups`; `rule` is that of the edges between, if they do."""
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
        if any(self._is_asked(groups, each) for each in proposals):
            return Verdict(True, "user", f"asked for: {numbers}", "not asking", evidence)
        stop = next((found for each in after if (found := self.limit(before, each)) is not None), None)
        if stop is not None:
            return stop
        distance = f"{four_digits(abs(times[0] - times[1]) * 1e6)} us"
        if times[1] < times[0]:
            return Verdict(True, rule, numbers, f"{distance} more {as_one}", evidence)
        return Verdict(False, "cost", numbers, f"{distance} less {as_one}", evidence)

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

    def limit(self, parts: Sequence[Priced], together: Priced) -> Verdict | None:
        """The limit of 000 §4.2 that one kernel breaks and its parts keep, if there is one."""
        machine = self.pricing.machine
        repeats = together.cost.repeats
        fallback = self.pricing.kinds[-1].name
        if together.scheme == fallback and any(part.scheme != fallback and _reduces(part) for part in parts):
            names = ", ".join(dict.fromkeys(part.scheme for part in parts))
            sentence = f"no scheme builds it but {fallback}, element by element; apart they are {names}"
            return Verdict(False, "scheme", sentence, "a scheme for it", {"apart": names, "fused": fallback})
        if repeats > max(part.cost.repeats for part in parts):
            often = four_digits(repeats)
            sentence = f"no scheme builds it but element by element, where a reduction is computed {often} times"
            return Verdict(False, "scheme", sentence, "a scheme for it", {"repeats": often})
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


def _reduces(priced: Priced) -> bool:
    loops = priced.candidate.loops
    return not isinstance(loops, str) and bool(loops.reductions)


def _moved_bytes(priced: Priced) -> float:
    return priced.cost.read_bytes + priced.cost.written_bytes
