"""Every kernel that there could be for a small graph: every set of nodes that hang together, with all results.

Without the steps in which formation and the exact choice let groups grow.
"""

import itertools

from tinyc.fusion.graph import NodeKind
from tinyc.fusion.group import Group, group_of_node, united, with_producer
from tinyc.fusion.ledger import Verdict

#: Nodes of a graph, at the most: there are about two to the power of that many kernels.
MOST_NODES = 9


def all_kernels(graph):
    """Yield every group of the nodes of a graph."""
    nodes = [node for node in graph.nodes.values() if node.kind not in (NodeKind.LEAF, NodeKind.VIEW)]
    assert len(nodes) <= MOST_NODES, len(nodes)
    for size in range(1, len(nodes) + 1):
        for chosen in itertools.combinations(nodes, size):
            names = {node.name for node in chosen}
            if all(node.bound is None or node.bound in names for node in chosen) and _hangs_together(chosen):
                yield from _kernels_of(graph, chosen, names)


def _hangs_together(nodes):
    """Whether each node reads another one, is read by it, or reads what it reads, directly or on a way."""
    reached, pending = {nodes[0].name}, [nodes[0]]
    while pending:
        node = pending.pop()
        for other in nodes:
            near = other.name in node.reads or node.name in other.reads or {*node.reads} & {*other.reads}
            if near and other.name not in reached:
                reached.add(other.name)
                pending.append(other)
    return len(reached) == len(nodes)


def _kernels_of(graph, nodes, names):
    """Yield the groups of these nodes, by what they write: what nothing in them reads, and some of what others need."""

    def is_elsewhere(reader):
        return reader not in names or graph.nodes[reader].is_inline

    last = [node.name for node in nodes if not names & {*node.readers}]
    inside = [node for node in nodes if node.bound is None and node.name not in last]
    others = [node.name for node in inside if node.is_output or any(map(is_elsewhere, node.readers))]
    for count in range(len(others) + 1):
        for more in itertools.combinations(others, count):
            group = _group(graph, nodes, {*last, *more})
            if isinstance(group, Group):
                yield group


def _group(graph, nodes, results):
    """The group of nodes that writes these results, made readers first; or why there is none."""
    group = None
    for node in reversed(nodes):
        if node.bound is not None:
            continue  # it comes with its sum
        if node.name in results and not (group and {node.name} & {*group.reads}):
            alone = group_of_node(graph, node)
            group = alone if group is None else united([group, alone])
        else:
            group = with_producer(group, node, node.name in results)
        if isinstance(group, Verdict):
            return group
    return group
