"""The edges of a graph that a user asks to be fused, or to be kept.

In: a `FusionRequest`, by the names of values. Out: the same by the names of nodes, or what is wrong with it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tinyc.analysis.tiny_ops import is_stored
from tinyc.diagnostics import TinycError, suggest
from tinyc.fusion.graph import FusionGraph, NodeKind
from tinyc.fusion.request import FusionRequest, Pair


@dataclass(frozen=True)
class RequestedEdges:
    """The edges of a request by the names of their nodes."""

    fuse: frozenset[Pair]
    keep: frozenset[Pair]
    none: bool


def requested_edges(request: FusionRequest, graph: FusionGraph) -> RequestedEdges:
    """The edges of `graph` that are asked for.

    Raises:
        TinycError: `UnknownName`: there is no such value; `IllegalFusion`: none reads the other, or the edge is asked
            for twice, or cannot be kept.
    """
    names = {label: name for name, label in graph.labels.items()}
    found = {
        which: frozenset(_edge(pair, names, graph) for pair in getattr(request, which)) for which in ("fuse", "keep")
    }
    both = sorted(found["fuse"] & found["keep"])
    if both:
        source, target = (graph.labels[name] for name in both[0])
        raise TinycError(
            "IllegalFusion", f"'{source}' and '{target}' are to be fused and to be kept apart; ask for one"
        )
    for source, target in sorted(found["keep"]):
        node = graph.nodes.get(source)
        if node is not None and (node.bound == target or node.kind is NodeKind.LEAF):
            why = "is made where it is read" if node.kind is NodeKind.LEAF else "is a product that the sum forms"
            edge = f"'{node.label}' cannot be kept from '{graph.labels[target]}'"
            message = f"{edge}: it {why}; leave this edge out of 'no-fuse'"
            raise TinycError("IllegalFusion", message, node.where)
    return RequestedEdges(found["fuse"], found["keep"], request.none)


def _edge(pair: Pair, names: Mapping[str, str], graph: FusionGraph) -> Pair:
    for label in pair:
        if label not in names:
            message = f"there is no value '{label}' that a kernel could compute or read{suggest(label, names)}"
            raise TinycError("UnknownName", message)
    source, target = (names[label] for label in pair)
    node = graph.nodes.get(target)
    if node is None or (source not in node.reads and source not in _leaves(node.name, graph)):
        readers = [each.label for each in graph.nodes.values() if source in each.reads]
        hint = (
            f"; name what reads it: {', '.join(readers[:8])}"
            if readers
            else ", which nothing reads; leave this edge out"
        )
        raise TinycError("IllegalFusion", f"'{pair[1]}' does not read '{pair[0]}'{hint}")
    if source not in graph.nodes:
        what = "a constant in memory" if is_stored(graph.values[source]) else "an input"
        message = f"'{pair[0]}', which '{pair[1]}' reads, is {what}: there is nothing to fuse; leave this edge out"
        raise TinycError("IllegalFusion", message)
    return source, target


def _leaves(target: str, graph: FusionGraph) -> Iterable[str]:
    return (name for name, node in graph.nodes.items() if node.kind is NodeKind.LEAF and target in node.readers)
