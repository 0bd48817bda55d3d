"""Fusable groups: blocks that one kernel can compute, each tile of it holding what passes between them on chip.

A group has loops that all its reductions and results share, or all are computed in one step; at the smallest tile of
the loops, every producer is legal inside of its consumer, the tiles together compute all results, and the elements that
are not recomputed at will fit in shared memory together. Whether fusing pays is for a cost model.
Specification 000 §1.6, §4.1.
"""

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter

from tinyc.analysis.poly.block import NonScopTensor, PolyBlock, PolyItem
from tinyc.analysis.poly.view import PolyView
from tinyc.analysis.poly_core.buffer import circular_buffer_bytes
from tinyc.analysis.poly_core.compute_at import ComputeAt, can_compute_at, element_bytes
from tinyc.analysis.poly_core.coverage import why_not_covered
from tinyc.analysis.poly_core.inlining import INLINE
from tinyc.analysis.poly_core.live_in import live_in_elements
from tinyc.analysis.poly_core.loops import Loop, common_loops, have_single_step, sinks
from tinyc.expr import extents
from tinyc.target import SM80
from tinyc.target.target import Target

#: Blocks of a group: what one kernel is made of stays small, and so does the work of forming it.
MAX_BLOCKS = 32
#: Groups that are looked at for a way around a group; where there are more, blocks stay apart.
_MAX_VISITED = 64


def make_fusable_groups(view: PolyView, target: Target = SM80) -> list[list[str]]:
    """The names of the blocks that can share a kernel, each block in one group.

    Names are in program order, groups in an order in which they can run. What is not quasi-affine is in no group, and
    no group reaches around it. Blocks of which one overwrites what another has read or written are in different groups.
    """
    former = _Former(view, target)
    for block in view.blocks:
        former.place(block)
    return former.groups()


def why_not_fusable(
    blocks: Sequence[PolyBlock],
    results: frozenset[str],
    target: Target = SM80,
    known: dict[tuple[str, ...], ComputeAt] | None = None,
) -> str | None:
    """Why blocks, in program order, cannot share a kernel, or None.

    `results` are the names of those that are read outside or by nobody; `known` remembers answers between calls.
    """
    known = {} if known is None else known
    if len(blocks) > MAX_BLOCKS:
        return f"{len(blocks)} blocks (limit {MAX_BLOCKS})"
    written = results.union(block.name for block in sinks(blocks))
    anchors = {block.name for block in blocks if block.kind not in INLINE or block.name in written}
    loops = common_loops(blocks, anchors)
    if not loops and not have_single_step(blocks, anchors):
        return "no outer loop runs over all reductions and results"
    try:
        reason = why_not_covered(blocks, written, loops) or _why_illegal(blocks, loops, known)
        return reason or _why_too_large(blocks, anchors, loops, circular_buffer_bytes(target))
    except extents.ExtentError as error:
        return f"how much the blocks read of each other is not known: {error}"


def _why_illegal(
    blocks: Sequence[PolyBlock], loops: Sequence[Loop], known: dict[tuple[str, ...], ComputeAt]
) -> str | None:
    """Why a producer is not legal in the smallest tile of a consumer, which it then is in larger ones, too."""
    for producer, consumer in _pairs(blocks):
        places = [loop.axis_of(consumer.name) for loop in loops]
        tile = {consumer.statement.axes[place]: 1 for place in places if place is not None}
        key = (producer.name, consumer.name, *tile)
        at = known[key] = known.get(key) or can_compute_at(producer, consumer, tile)
        if not at.ok:
            return at.reason
    return None


def _why_too_large(blocks: Sequence[PolyBlock], anchors: set[str], loops: Sequence[Loop], room: int) -> str | None:
    """Why what one step holds does not fit in `room` bytes, or None."""
    elements = live_in_elements(blocks, loops)
    held = sum((elements[block.name] * element_bytes(block) for block in blocks if block.name in anchors), start=0)
    if extents.is_nonnegative(room - held):
        return None
    return f"what the blocks hold for each other is {held} bytes, and {room} bytes fit in shared memory"


def _pairs(blocks: Sequence[PolyBlock]) -> Iterator[tuple[PolyBlock, PolyBlock]]:
    by_name = {block.name: block for block in blocks}
    for consumer in blocks:
        for tensor in dict.fromkeys(read.tensor for read in consumer.accesses):
            if tensor in by_name:
                yield by_name[tensor], consumer


@dataclass(eq=False)
class _Group:
    """Positions of items in program order."""

    members: list[int] = field(default_factory=list[int])


class _Former:
    def __init__(self, view: PolyView, target: Target) -> None:
        self._items, self._outputs, self._target = view.items, frozenset(view.outputs), target
        self._position = {item.name: position for position, item in enumerate(view.items)}
        self._group: dict[int, _Group] = {}
        self._known: dict[tuple[str, ...], ComputeAt] = {}
        #: The first and the last position of what groups reach over, in order and apart from each other.
        self._spans: list[tuple[int, int]] = []
        self._readers: dict[int, set[int]] = {position: set() for position in range(len(view.items))}
        self._before: dict[int, dict[int, None]] = {position: {} for position in self._readers}
        self._reused: set[tuple[int, int]] = set()
        for edge in view.edges:
            pair = (self._position[edge.source.name], self._position[edge.target.name])
            if not edge.in_place:
                self._before[pair[1]][pair[0]] = None
            if edge.of("anti") or edge.of("output"):
                self._reused.add(pair)
        for position, item in enumerate(view.items):
            self._note_reads(position, item)

    def groups(self) -> list[list[str]]:
        """The groups so far, each behind those that it needs, also by way of what is in none."""
        needed: dict[int, dict[int, None]] = {}
        for position in self._before:
            found = needed.setdefault(self._together(position)[0], {})
            found.update((self._together(source)[0], None) for source in self._sources(position))
        for first, sources in needed.items():
            sources.pop(first, None)
        ordered = (position for position in TopologicalSorter(needed).static_order() if position in self._group)
        return [[self._items[member].name for member in self._together(first)] for first in ordered]

    def _together(self, position: int) -> list[int]:
        """The positions of the group that an item is in; its own where it is in none."""
        return self._group[position].members if position in self._group else [position]

    def place(self, block: PolyBlock) -> None:
        """Put a block together with all its producers, with some, or by itself; what it reads is placed before."""
        position = self._position[block.name]
        near = {id(self._group[p]): self._group[p] for p in self._sources(position) if p in self._group}
        choices = sorted(near.values(), key=lambda group: -group.members[-1])
        for chosen in [choices, *([group] for group in choices)] if len(choices) > 1 else [choices]:
            members = sorted({position, *(member for group in chosen for member in group.members)})
            if chosen and self._is_fusable(members):
                self._put(members)
                return
        self._put([position])

    def _put(self, members: list[int]) -> None:
        group = _Group(members)
        self._group |= dict.fromkeys(members, group)
        first, last = members[0], members[-1]
        while self._spans and self._spans[-1][1] >= first:
            first = min(first, self._spans.pop()[0])
        self._spans.append((first, last))

    def _note_reads(self, position: int, item: PolyItem) -> None:
        tensors = item.reads if isinstance(item, NonScopTensor) else [read.tensor for read in item.accesses]
        for tensor in tensors:
            source = self._position.get(tensor, position)
            if source != position:
                self._before[position][source] = None
                self._readers[source].add(position)

    def _sources(self, position: int) -> list[int]:
        """The items that come before an item because of what they touch."""
        return list(self._before[position])

    def _is_fusable(self, members: list[int]) -> bool:
        blocks = [item for item in (self._items[member] for member in members) if isinstance(item, PolyBlock)]
        inside = set(members)
        if len(blocks) > MAX_BLOCKS or self._is_entered_again(members):
            return False
        if any(source in inside and target in inside for source, target in self._reused):
            return False  # memory that tensors share is ordered between kernels
        results = frozenset(self._items[member].name for member in members if self._is_result(member, inside))
        return why_not_fusable(blocks, results, self._target, self._known) is None

    def _is_result(self, member: int, inside: set[int]) -> bool:
        """Whether an item is returned, or read by something else than the blocks inside."""
        return self._items[member].name in self._outputs or not self._readers[member] <= inside

    def _is_entered_again(self, members: list[int]) -> bool:
        """Whether something outside needs a member and is needed by one (True: not known)."""
        inside = set(members)
        pending = [source for member in members for source in self._sources(member) if source not in inside]
        settled = self._settled(members[0]) if pending else 0
        seen: set[int] = set()
        while pending:
            position = pending.pop()
            together = self._together(position)
            if position in seen or position < settled:
                continue
            seen |= set(together)
            sources = [source for member in together for source in self._sources(member)]
            if inside.intersection(sources) or len(seen) > _MAX_VISITED:
                return True
            pending += [source for source in sources if source not in seen]
        return False

    def _settled(self, first: int) -> int:
        """A position up to `first` that no group reaches over: what is before it needs nothing from there on."""
        before = bisect.bisect_left(self._spans, (first,)) - 1
        reached = before >= 0 and self._spans[before][1] >= first
        return self._spans[before][0] if reached else first
