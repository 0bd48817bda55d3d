"""The nodes of a graph that its outputs need, each behind those that it reads."""

import heapq
from collections.abc import Collection, Iterator, Sequence

import onnx

from tinyc.diagnostics import TinycError, Where


def node_name(node: onnx.NodeProto) -> str:
    """What a node is called: its name, or its first output."""
    return node.name or next((name for name in node.output if name), node.op_type)


def names_read(node: onnx.NodeProto) -> Iterator[str]:
    """The names that a node reads; its branches read names of the graph around them, too."""
    yield from filter(None, node.input)
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs):
            own = {each.name for each in (*graph.input, *graph.initializer)}
            own.update(name for inner in graph.node for name in inner.output)
            read = [name for inner in graph.node for name in names_read(inner)]
            yield from (name for name in (*read, *(each.name for each in graph.output)) if name and name not in own)


def ordered(
    nodes: Sequence[onnx.NodeProto], outputs: Sequence[str], given: Collection[str] = ()
) -> list[onnx.NodeProto]:
    """The nodes that outputs need, in their order as far as each then stands behind those that it reads.

    `given` are the names that no node computes.

    Raises:
        TinycError: `DuplicateId`: two nodes compute one name; `CyclicGraph`.
    """
    makers: dict[str, int] = {}
    for at, node in enumerate(nodes):
        for name in filter(None, node.output):
            if name in makers or name in given:
                other = "an input or initialiser" if name in given else f"the node '{node_name(nodes[makers[name]])}'"
                message = f"'{name}' is what {other} is called, too; rename one of them"
                raise TinycError("DuplicateId", message, Where(node=node_name(node)))
            makers[name] = at
    before = _needed(nodes, [makers[name] for name in outputs if name in makers], makers)
    return [nodes[at] for at in _sorted(nodes, before)]


def _needed(nodes: Sequence[onnx.NodeProto], wanted: list[int], makers: dict[str, int]) -> dict[int, set[int]]:
    """For each node that is needed, the nodes that it reads."""
    before: dict[int, set[int]] = {}
    while wanted:
        at = wanted.pop()
        if at not in before:
            before[at] = {makers[name] for name in names_read(nodes[at]) if name in makers}
            wanted += before[at]
    return before


def _sorted(nodes: Sequence[onnx.NodeProto], before: dict[int, set[int]]) -> list[int]:
    waits = {at: len(sources) for at, sources in before.items()}
    readers: dict[int, list[int]] = {at: [] for at in before}
    for at, sources in before.items():
        for source in sources:
            readers[source].append(at)
    ready = [at for at, count in waits.items() if not count]
    heapq.heapify(ready)
    found: list[int] = []
    while ready:
        at = heapq.heappop(ready)
        found.append(at)
        for reader in readers[at]:
            waits[reader] -= 1
            if not waits[reader]:
                heapq.heappush(ready, reader)
    if len(found) < len(before):
        raise _cycle(nodes, before, set(before) - set(found))
    return found


def _cycle(nodes: Sequence[onnx.NodeProto], before: dict[int, set[int]], left: set[int]) -> TinycError:
    """The error for nodes of which each reads another one that is left."""
    path = [min(left)]
    while path[-1] not in path[:-1]:
        path.append(min(before[path[-1]] & left))
    cycle = path[path.index(path[-1]) :]
    shown = " reads ".join(f"'{node_name(nodes[at])}'" for at in cycle[:12])
    return TinycError("CyclicGraph", f"there is a cycle: {shown}", Where(node=node_name(nodes[cycle[0]])))
