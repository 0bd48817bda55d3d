"""The rules by which a proposed kernel is stopped (000 §4.1, §4.2), before its time is looked at.

Poly Core says whether some tile of a consumer holds all that its producer is made of, and how much beyond its own share
a tile reads; the schemes estimate what a kernel takes of the machine. In: groups and the kernels proposed in their
place, with their prices. Out: the verdict that stops them, or None.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tinyc.analysis.poly.block import PolyBlock
from tinyc.analysis.poly_core.compute_at import ComputeAt, can_compute_at
from tinyc.analysis.poly_core.legality import legality_at
from tinyc.analysis.poly_core.tile import kept_axes
from tinyc.expr import axes
from tinyc.fusion.group import Anchor, Group
from tinyc.fusion.ledger import Verdict
from tinyc.fusion.pricing import Priced, Pricing, four_digits, nominal
from tinyc.target.target import Target

#: The part of a CTA's shared memory that a kernel may take (000 §4.2).
SHARED_MEMORY_PART = 0.8
#: Reductions inside of each other in code that computes them where they are read: each is there as often as it is read.
MAX_NESTED_REDUCTIONS = 3


class Stops:
    """The rules for a machine, at the prices of its kernels."""

    def __init__(self, pricing: Pricing) -> None:
        self._pricing = pricing
        self._asked: dict[tuple[int, int, tuple[tuple[str, int], ...]], tuple[PolyBlock, PolyBlock, ComputeAt]] = {}

    def of(
        self, groups: Sequence[Group], before: Sequence[Priced], after: Sequence[Priced], evidence: dict[str, Any]
    ) -> Verdict | None:
        """What stops the kernels `after` in place of `groups`; a halo that they have goes to `evidence`."""
        for producer, consumer in _edges(groups):
            stop = self._halo(producer, consumer, evidence) if producer.node.is_inline else None
            if stop is not None:
                return stop
        parts = _Parts(before)
        return next((found for each in after if (found := self._limit(parts, each)) is not None), None)

    def why(self, kept: Verdict, groups: Sequence[Group]) -> Verdict:
        """The verdict that keeps groups apart; by legality where one CTA alone could compute them as one kernel."""
        if kept.rule in ("scheme", "cost"):
            illegal = (self._legality(kept, *edge) for edge in _edges(groups) if not edge[0].node.is_inline)
            return next((each for each in illegal if each is not None), kept)
        return kept

    # --- what Poly Core says ------------------------------------------------------------------------------------------

    def _halo(self, producer: Anchor, consumer: Anchor, evidence: dict[str, Any]) -> Verdict | None:
        """Whether tiles compute too much again of what they read in windows that overlap."""
        rows = (row for read in consumer.block.accesses if read.tensor == producer.node.name for row in read.index)
        if not any(len(axes.positions(row)) > 1 for row in rows):
            return None
        at = self._at(producer, consumer, None)
        if not at.ok:
            return None
        room, size = self._room, nominal(at.halo.bytes)
        evidence["halo_bytes"] = max(size, evidence.get("halo_bytes", 0))
        if size <= room:
            return None
        along = {name: nominal(extra) for name, extra in at.halo.per_axis.items()}
        sentence = f"{at.reason}: a halo of {size} bytes, where a tile may have {room}"
        return Verdict(False, "halo", sentence, f"{size - room} bytes less", {"halo_bytes": size, "halo": along})

    @property
    def _room(self) -> int:
        """The bytes that a tile may have at hand."""
        machine = self._pricing.machine
        if isinstance(machine, Target):
            return int(machine.shared_bytes_per_cta_optin * SHARED_MEMORY_PART)
        return machine.step_bytes

    def _legality(self, kept: Verdict, producer: Anchor, consumer: Anchor) -> Verdict | None:
        """Whether every tile of a consumer, however it is cut, lacks something that its producer is made of."""
        reads = tuple(read for read in consumer.block.accesses if read.tensor == producer.node.name)
        names, shape = consumer.block.statement.axes, consumer.block.statement.shape
        cuts = [{names[k]: 1} for k in sorted(kept_axes(consumer.block)) if shape[k] != 1]
        verdicts = (legality_at(producer.block, consumer.block, reads, cut, quick=True).verdict for cut in cuts)
        if not cuts or any(verdict != "illegal" for verdict in verdicts):
            return None
        at = self._at(producer, consumer, cuts[0])
        if at.ok:
            return None
        evidence = {**kept.evidence, "tile": cuts[0], "witness": None if at.witness is None else at.witness.text}
        sentence = f"{at.reason}; otherwise, {kept.reason}"
        return Verdict(False, "legality", sentence, kept.flip, evidence)

    def _at(self, producer: Anchor, consumer: Anchor, tile: Mapping[str, int] | None) -> ComputeAt:
        blocks = producer.block, consumer.block
        key = id(blocks[0]), id(blocks[1]), tuple((tile or {}).items())
        if key not in self._asked:
            self._asked[key] = (
                *blocks,
                can_compute_at(*blocks, tile),
            )  # with the blocks, so that their ids stay theirs
        return self._asked[key][-1]

    # --- what the schemes estimate ------------------------------------------------------------------------------------

    def _limit(self, parts: "_Parts", together: Priced) -> Verdict | None:
        """The limit of 000 §4.2 that one kernel breaks and its parts keep, if there is one."""
        machine = self._pricing.machine
        repeats = together.cost.repeats
        fallback = self._pricing.kinds[-1].name
        if together.scheme == fallback and parts.reduction_schemes - {fallback}:
            names = ", ".join(dict.fromkeys(part.scheme for part in parts.priced))
            sentence = f"no scheme builds it but {fallback}, element by element; apart they are {names}"
            return Verdict(False, "scheme", sentence, "a scheme for it", {"apart": names, "fused": fallback})
        if repeats > parts.most_repeats:
            often = four_digits(repeats)
            sentence = f"no scheme builds it but element by element, where a reduction is computed {often} times"
            return Verdict(False, "scheme", sentence, "a scheme for it", {"repeats": often})
        nested = _nested_reductions(together)
        if nested > max(parts.most_nested_reductions, MAX_NESTED_REDUCTIONS):
            sentence = f"no scheme builds it but element by element, with {nested} reductions inside of each other"
            return Verdict(False, "scheme", sentence, "a scheme for it", {"nested": nested})
        tile = together.resources.leaves_tiles
        if tile and not parts.leave_tiles:
            sentence = f"it would have {tile}, and not the tiles that products are fast in on {machine.name}"
            return Verdict(False, "tile", sentence, "a kernel that has these tiles", {"tile": tile})
        return self._limit_of_gpu(parts, together, machine) if isinstance(machine, Target) else None

    def _limit_of_gpu(self, parts: "_Parts", together: Priced, target: Target) -> Verdict | None:
        room = int(target.shared_bytes_per_cta_optin * SHARED_MEMORY_PART)
        shared = together.resources.shared_bytes
        if shared > max(room, parts.most_shared_bytes):
            sentence = f"a CTA would take {shared} bytes of shared memory, and {room} are 80% of what it may have"
            return Verdict(False, "shared-memory", sentence, f"{shared - room} bytes less", {"shared_bytes": shared})
        resident, best = together.cost.ctas_per_sm, parts.least_ctas_per_sm
        threads = resident * together.resources.threads_per_cta
        if together.resources.product_seconds is not None:
            return None  # how many CTAs its products need is in the time that its scheme predicts
        if resident <= 1 < best and 2 * threads < target.threads_per_sm:
            sentence = f"{resident} CTA of {together.resources.threads_per_cta} threads would be resident"
            sentence = f"{sentence} on a multiprocessor, where {best} are, which has room for {target.threads_per_sm}"
            evidence = {"ctas_per_sm": resident, "threads_per_sm": threads}
            return Verdict(False, "occupancy", sentence, "fewer registers or less shared memory", evidence)
        wide, narrow = parts.least_vector_bytes, together.resources.vector_bytes
        if narrow < wide and together.cost.memory_seconds > together.cost.launch_seconds:
            sentence = f"accesses would be {narrow} bytes wide, and are {wide}"
            flip = f"rows that {wide} bytes divide, in the same order of axes on both sides"
            return Verdict(False, "vector-width", sentence, flip, {"vector_bytes": narrow})
        return None


class _Parts:
    """The kernels in whose place others are proposed, by what of a machine they take: each is looked at once."""

    def __init__(self, priced: Sequence[Priced]) -> None:
        self.priced = priced
        resources = [part.resources for part in priced]
        self.reduction_schemes = {part.scheme for part in priced if _reduces(part)}
        self.most_repeats = max(part.cost.repeats for part in priced)
        self.most_nested_reductions = max(map(_nested_reductions, priced))
        self.most_shared_bytes = max(each.shared_bytes for each in resources)
        self.least_ctas_per_sm = min(part.cost.ctas_per_sm for part in priced)
        self.leave_tiles = any(each.leaves_tiles for each in resources)
        self.least_vector_bytes = min(each.vector_bytes for each in resources)


def _edges(groups: Sequence[Group]) -> Iterator[tuple[Anchor, Anchor]]:
    """The edges between groups, from what one writes to what another computes of it."""
    written = {anchor.node.name: (anchor, group) for group in groups for anchor in group.anchors}
    for group in groups:
        for consumer in group.anchors:
            for tensor in dict.fromkeys(read.tensor for read in consumer.block.accesses):
                producer, source = written.get(tensor, (consumer, group))
                if source is not group:
                    yield producer, consumer


def _reduces(priced: Priced) -> bool:
    loops = priced.candidate.loops
    return not isinstance(loops, str) and bool(loops.reductions)


def _nested_reductions(priced: Priced) -> int:
    """How many reductions the code of a kernel has inside of each other; 0 where each is computed before it is read."""
    loops = priced.candidate.loops
    return loops.nested_reductions if priced.resources.inlines_reductions and not isinstance(loops, str) else 0
