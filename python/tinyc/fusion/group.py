"""A group: the nodes that one kernel computes, as the anchors that are left when the others are composed away.

Frozen data that grows node by node, backwards from what is written; nothing of it is asked again when it grows. What a
kernel of the group would cost is for `pricing`.
"""

import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tinyc.analysis.poly.block import PolyAccess, PolyBlock, access_excess
from tinyc.analysis.poly_core.coverage import reads_all
from tinyc.analysis.poly_core.fused_loops import FusedLoops, composed_read, loops_of_anchors
from tinyc.analysis.poly_core.inlining import MAX_ACCESSES
from tinyc.analysis.product_accesses import exact_elements
from tinyc.expr import axes
from tinyc.fusion.graph import FusionGraph, FusionNode, NodeKind
from tinyc.fusion.ledger import Verdict, refusal
from tinyc.vocabulary.element_type import ElementType

#: Parameters of a kernel that fit into the parameters of a launch on every target, sizes among them.
MAX_TENSORS = 128
#: Nodes of a group: what one kernel is made of compiles in a moment.
MAX_NODES = 512


@dataclass(frozen=True)
class Inlined:
    """Nodes that an anchor computes where it reads them, once for each instance along its axes `moved`."""

    is_special: bool
    moved: frozenset[int]


@dataclass(frozen=True)
class Anchor:
    """A reduction or a result: what it reads of memory and of other anchors, and how much it computes on the way."""

    node: FusionNode
    block: PolyBlock
    inlined: Mapping[Inlined, int] = field(default_factory=dict[Inlined, int])


@dataclass(frozen=True, eq=False)
class Group:
    """Nodes of one kernel; `results` are those that it writes to memory, `first` is the position of its first member.

    `ordered` are the nodes of an op that is a kernel of its own; its anchors are what it reads element by element.
    """

    graph: FusionGraph
    members: frozenset[str]
    results: frozenset[str]
    first: int
    anchors: tuple[Anchor, ...]
    ordered: tuple[FusionNode, ...] = ()

    @functools.cached_property
    def loops(self) -> FusedLoops:
        """The fused loops of the anchors."""
        return loops_of_anchors([anchor.block for anchor in self.anchors], self.results)

    @functools.cached_property
    def reads(self) -> tuple[str, ...]:
        """The tensors that it reads from memory, each once."""
        own = {anchor.node.name for anchor in self.anchors}
        tensors = [read.tensor for anchor in self.anchors for read in anchor.block.accesses if read.tensor not in own]
        wholes = [each for node in self.ordered for each in node.wholes]
        gathers = self.members & self.graph.gathers
        gathered = [each for name in sorted(gathers) for each in self.graph.nodes[name].wholes]
        return tuple(dict.fromkeys([*tensors, *wholes, *gathered]))

    def exact_elements(self, name: str) -> tuple[ElementType, ...]:
        """The element types that hold each element of a tensor: its own, and those that the group widens to it."""
        graph = self.graph
        if name not in self.members:
            return (graph.types[name].element,)
        # What is no node is a movement that is read through.
        return exact_elements(graph.values[name], lambda value: graph.name_of.get(value) in {None, *self.members})

    @functools.cached_property
    def last(self) -> int:
        """The position of its last member, which is a result: nobody else would read it."""
        return max(self.graph.position[name] for name in self.results)

    @property
    def is_inline(self) -> bool:
        """Whether it reduces nothing: each reader could compute it again."""
        return not self.ordered and all(anchor.node.is_inline for anchor in self.anchors)

    @functools.cached_property
    def sequence(self) -> tuple[str, ...]:
        """The members in program order."""
        return tuple(sorted(self.members, key=self.graph.position.__getitem__))


def members_of(groups: Iterable[Group]) -> frozenset[str]:
    """The members of some groups: for one, its own."""
    found = [group.members for group in groups]
    return found[0] if len(found) == 1 else frozenset[str]().union(*found)


def results_of(groups: Iterable[Group]) -> frozenset[str]:
    """What some groups write to memory."""
    return frozenset[str]().union(*(group.results for group in groups))


def group_of_node(graph: FusionGraph, node: FusionNode) -> Group:
    """The group of one node, which it writes to memory, and of the products that a sum forms."""
    if node.block is None:
        taken = tuple(Anchor(node, copy) for copy in node.copies)
        return Group(graph, frozenset([node.name]), frozenset([node.name]), graph.position[node.name], taken, (node,))
    anchor, bound = _with_bound(graph, node, node.block)
    members = frozenset([node.name, *bound])
    return Group(graph, members, frozenset([node.name]), _first(graph, members), (anchor,))


def _first(graph: FusionGraph, names: Iterable[str]) -> int:
    return min(graph.position[name] for name in names)


def _with_bound(graph: FusionGraph, node: FusionNode, block: PolyBlock) -> tuple[Anchor, tuple[str, ...]]:
    """A node as an anchor, the products that it forms composed away, and their names."""
    anchor, bound = Anchor(node, block), tuple(name for name in node.reads if _is_bound(graph, name, node))
    for name in bound:
        product = graph.nodes[name]
        assert product.block is not None  # it is element-wise
        composed = _composed(anchor, product, product.block)
        assert isinstance(composed, Anchor)  # it reads what its two operands read
        anchor = composed
    return anchor, bound


def _is_bound(graph: FusionGraph, name: str, node: FusionNode) -> bool:
    return name in graph.nodes and graph.nodes[name].bound == node.name


def united(groups: Iterable[Group]) -> Group | Verdict:
    """One group of all nodes of groups, or why there is none; what reads an element-wise result of another computes it.

    It is what the loops of the kernel are made of: in them, an element-wise result is written, and read by none.
    """
    found = list(groups)
    first = found[0]
    if any(each.ordered for each in found) and len(found) > 1:
        sentence = "an op that walks an axis in order, or writes where its data says, is a kernel of its own"
        return refusal("scheme", sentence, "a scheme for it")
    results = results_of(found)
    named = {anchor.node.name: anchor for each in found for anchor in each.anchors}
    anchors: Sequence[Anchor] | Verdict = _in_order(first.graph, named.values())
    if not all(results.isdisjoint(each.reads) for each in found):
        anchors = _computing_results(anchors)
    if isinstance(anchors, Verdict):
        return anchors
    start = min(each.first for each in found)
    return _checked(Group(first.graph, members_of(found), results, start, tuple(anchors), first.ordered))


def _computing_results(anchors: Sequence[Anchor]) -> list[Anchor] | Verdict:
    """Anchors in program order, each of which computes what it reads of element-wise ones; or why one cannot."""
    found = {anchor.node.name: anchor for anchor in anchors}
    for name in [each.node.name for each in reversed(anchors) if each.node.is_inline]:
        for reader in [each for each in found.values() if any(read.tensor == name for read in each.block.accesses)]:
            composed = _computing(reader, found[name])
            if isinstance(composed, Verdict):
                return composed
            found[reader.node.name] = composed
    return list(found.values())


def _computing(anchor: Anchor, producer: Anchor) -> Anchor | Verdict:
    """An anchor that computes an element-wise anchor where it reads it, or why that is too complicated."""
    composed = _composed(anchor, producer.node, producer.block)
    if isinstance(composed, Verdict):
        return composed
    computed = dict(composed.inlined)
    for read in anchor.block.accesses if producer.inlined else ():
        if read.tensor == producer.node.name:
            rows = dict(zip(map(axes.plain_axis, producer.block.write), map(axes.positions, read.index), strict=True))
            for each, count in producer.inlined.items():
                moved = frozenset[int]().union(*(rows.get(axis, frozenset()) for axis in each.moved))
                again = Inlined(each.is_special, moved)
                computed[again] = computed.get(again, 0) + count
    return replace(composed, inlined=computed)


def with_producer(group: Group, node: FusionNode, is_result: bool) -> Group | Verdict:
    """A group with a node that it reads, written to memory as well if `is_result`; or why that is no group."""
    if group.ordered and (is_result or not node.is_inline or not group.anchors):
        sentence = (
            f"'{group.ordered[0].label}' takes what is computed element by element into its kernel, and nothing else"
        )
        return refusal("scheme", sentence, "a scheme for it")
    if node.block is None:
        return refusal("scheme", f"'{node.label}' is no loop nest", "a scheme for it")
    anchors = list(group.anchors)
    if node.wholes and not is_result and not _is_read_whole(node, node.block, anchors):
        sentence = f"indices of '{node.label}' whose elements nothing reads would not be checked"
        return refusal("data", sentence, "reading all of its elements")
    if node.is_inline:
        found: list[Anchor] = []
        for anchor in anchors:
            composed = _composed(anchor, node, node.block)
            if isinstance(composed, Verdict):
                return composed
            found.append(composed)
        anchors = found
    bound: tuple[str, ...] = ()
    if is_result or not node.is_inline:
        anchor, bound = _with_bound(group.graph, node, node.block)
        anchors = list(_in_order(group.graph, [*anchors, anchor]))
    graph, new = group.graph, {node.name, *bound}
    results = group.results | {node.name} if is_result else group.results
    first = min(group.first, _first(graph, new))
    return _checked(Group(graph, group.members | new, results, first, tuple(anchors), group.ordered))


def with_group(group: Group, producer: Group, kept: Callable[[FusionNode], bool]) -> Group | Verdict:
    """A group with all of a group that it reads, of whose nodes those that are `kept` are written to memory as well."""
    grown: Group | Verdict = group
    for name in reversed(producer.sequence):
        node = group.graph.nodes[name]
        grown = with_producer(grown, node, kept(node))
        if isinstance(grown, Verdict):
            return grown
    return grown


def with_other_result(group: Group, other: Group) -> Group:
    """The group of two results of one op that is a kernel of its own."""
    members, results = group.members | other.members, group.results | other.results
    ordered = (*group.ordered, *other.ordered)
    return Group(group.graph, members, results, min(group.first, other.first), (), ordered)


def with_results(group: Group, results: Collection[str]) -> Group | Verdict:
    """A group that writes some of its results only, with what they are made of; or why that is no group."""
    return group_of_nodes(group.graph, group.sequence, results)


def group_of_nodes(graph: FusionGraph, names: Sequence[str], results: Collection[str]) -> Group | Verdict:
    """The group that writes `results`, of the nodes called `names`, in program order; or why that is no group."""
    grown: Group | Verdict | None = None
    for name in reversed(names):
        node, is_result = graph.nodes[name], name in results
        if node.bound is not None:
            continue  # it comes with its sum
        if grown is not None and name in grown.reads:
            grown = with_producer(grown, node, is_result)
        elif is_result:
            alone = group_of_node(graph, node)
            if grown is None:
                grown = alone
            elif grown.ordered and node.op == grown.ordered[0].op:
                grown = with_other_result(alone, grown)
            else:
                grown = united([grown, alone])
        if isinstance(grown, Verdict):
            return grown
    assert grown is not None  # it has results
    return grown


def _is_read_whole(node: FusionNode, block: PolyBlock, anchors: Iterable[Anchor]) -> bool:
    """Whether some anchor reads every element of a node."""
    return any(
        reads_all(read, anchor.block.statement.shape, block.written_shape)
        for anchor in anchors
        for read in anchor.block.accesses
        if read.tensor == node.name
    )


def _in_order(graph: FusionGraph, anchors: Iterable[Anchor]) -> tuple[Anchor, ...]:
    return tuple(sorted(anchors, key=lambda anchor: graph.position[anchor.node.name]))


def _composed(anchor: Anchor, node: FusionNode, block: PolyBlock) -> Anchor | Verdict:
    """An anchor that computes an element-wise node where it reads it, or why that is too complicated."""
    shape = anchor.block.statement.shape
    found: dict[PolyAccess, None] = {}
    times: set[Inlined] = set()
    for read in anchor.block.accesses:
        if read.tensor != node.name:
            found[read] = None
            continue
        times.add(Inlined(node.is_special, moved_axes(read)))
        for inner in block.accesses:
            through = composed_read(read, block, inner, shape)
            excess = access_excess(through, shape)
            if excess is not None:
                return refusal("limit", excess, "fewer movements between the two")
            found[through] = None
    if not times:
        return anchor
    if len(found) > MAX_ACCESSES:
        sentence = f"'{anchor.node.label}' would read {len(found)} elements (limit {MAX_ACCESSES})"
        return refusal("limit", sentence, f"{len(found) - MAX_ACCESSES} elements fewer", elements=len(found))
    computed = dict(anchor.inlined)
    if node.kind is not NodeKind.LEAF and block.kind != "movement_affine":
        computed.update((each, computed.get(each, 0) + 1) for each in times)
    return Anchor(anchor.node, replace(anchor.block, accesses=tuple(found)), computed)


def moved_axes(read: PolyAccess) -> frozenset[int]:
    """The axes that decide which element an access reads."""
    return frozenset[int]().union(*(axes.positions(row) for row in (*read.index, *(g.expression for g in read.guards))))


def _checked(group: Group) -> Group | Verdict:
    """A group that is small enough, and of whose indices an error says whose they are; or why it is none."""
    ops, tensors = len(group.members), len(group.reads) + len(group.results)
    if ops > MAX_NODES:
        return refusal("limit", f"{ops} ops (limit {MAX_NODES})", f"{ops - MAX_NODES} ops fewer", ops=ops)
    scatters = {node.name for node in group.ordered if node.copies}
    if len(group.members & (group.graph.gathers | scatters)) > 1:
        sentence = "indices of several ops, of which an error would not say whose are out of range"
        return refusal("data", sentence, "one op with indices")
    for name in sorted(group.members & group.graph.gathers):
        reduced = _reduced_below(group, name)
        if reduced is not None:
            labels = group.graph.labels
            sentence = f"indices of '{labels[name]}' are made of '{labels[reduced]}', which has to be in memory before"
            return refusal("data", sentence, "nothing")
    own = next((name for name in group.reads if name in group.results), None)
    if own is not None:
        sentence = f"indices are applied to '{group.graph.labels[own]}', which has to be in memory before"
        return refusal("data", sentence, "nothing")
    if tensors > MAX_TENSORS:
        sentence, fewer = f"{tensors} tensors (limit {MAX_TENSORS})", f"{tensors - MAX_TENSORS} tensors fewer"
        return refusal("limit", sentence, fewer, tensors=tensors)
    return group


def _reduced_below(group: Group, name: str) -> str | None:
    """What a member is made of in its group that no kernel computes where it is read, such as a sum."""
    pending = list(group.graph.nodes[name].reads)
    while pending:
        below = pending.pop()
        if below in group.members:
            if not group.graph.nodes[below].is_inline:
                return below
            pending += group.graph.nodes[below].reads
    return None
