"""The graph of a Tiny JSON program: which source is which node's result, and an order that respects the sources.

In: a `spellings.TinyJsonProgram`. Out: a `Graph` with the nodes in an order in which sources come first (and otherwise
in file order), and the names of the program's outputs. Duplicate ids, unknown sources and cycles are appended to
`errors`; the nodes that have one are `broken`.
"""

import heapq
from collections import Counter
from dataclasses import dataclass, field

from tinyc.diagnostics import TinycError, Where
from tinyc.importers.spellings import Node, TinyJsonProgram, result_names


@dataclass
class Graph:
    """`results` maps every name that a source may have to (node id, result number)."""

    nodes: list[Node] = field(default_factory=list)
    results: dict[str, tuple[str, int]] = field(default_factory=dict)
    outputs: list[str] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)


def order(program: TinyJsonProgram, where: Where, errors: list[TinycError]) -> Graph:
    """The graph of a program; `where` is its file."""
    graph = Graph()
    nodes: dict[str, Node] = {}
    for node in program.nodes:
        if any(name in graph.results for name in result_names(node)):
            errors.append(TinycError("DuplicateId", f"there is a second node with the id '{node.id}'", node.where))
            continue
        nodes[node.id] = node
        graph.results.update({name: (node.id, number) for number, name in enumerate(result_names(node))})
    for node in nodes.values():
        _check_sources(node, graph, program.faulty, errors)
    _sort(nodes, graph, errors)
    graph.outputs = _outputs(program, nodes, graph, where, errors)
    return graph


def _sources(node: Node, graph: Graph) -> list[str]:
    """The ids of the nodes that `node` reads."""
    return [graph.results[source][0] for source in node.src if isinstance(source, str) and source in graph.results]


def _check_sources(node: Node, graph: Graph, faulty: set[str], errors: list[TinycError]) -> None:
    missing = [source for source in node.src if isinstance(source, str) and source not in graph.results]
    unknown = [source for source in missing if source not in faulty]
    if missing:
        graph.broken.add(node.id)
    if unknown:
        names = ", ".join(f"'{name}'" for name in dict.fromkeys(unknown))
        errors.append(
            TinycError(
                "UnknownSource",
                f"no node produces {names}, and 'values' declares no such input; correct 'src' or add an INPUT",
                node.where,
            )
        )


def _sort(nodes: dict[str, Node], graph: Graph, errors: list[TinycError]) -> None:
    """Take the first node in file order whose sources have all been taken, until none is left or all are in cycles."""
    sources = {name: set(_sources(node, graph)) for name, node in nodes.items()}
    readers: dict[str, list[str]] = {name: [] for name in nodes}
    for name, read in sources.items():
        for source in read:
            readers[source].append(name)
    position = {name: at for at, name in enumerate(nodes)}
    missing = {name: len(read) for name, read in sources.items()}
    ready = [position[name] for name in nodes if not missing[name]]
    in_file_order = list(nodes.values())
    while ready:
        node = in_file_order[heapq.heappop(ready)]
        graph.nodes.append(node)
        del missing[node.id]
        for reader in readers[node.id]:
            missing[reader] -= 1
            if not missing[reader]:
                heapq.heappush(ready, position[reader])
    _report_cycles(
        {name: min(sources[name] & missing.keys(), key=position.__getitem__) for name in missing}, nodes, errors
    )
    graph.broken.update(missing)


def _report_cycles(source_of: dict[str, str], nodes: dict[str, Node], errors: list[TinycError]) -> None:
    """Report the cycles that one meets by following one source of each node that is left."""
    seen: set[str] = set()
    for name in source_of:
        path: dict[str, None] = {}
        while name not in seen:
            seen.add(name)
            path[name] = None
            name = source_of[name]
        if name in path:
            cycle = [*path][[*path].index(name) :]
            shown = [*cycle[:8], "…"] if len(cycle) > 8 else cycle
            errors.append(
                TinycError(
                    "CyclicGraph",
                    f"the node depends on itself: {' <- '.join([*shown, name])}; a program must have no cycles",
                    nodes[name].where,
                )
            )


def _outputs(
    program: TinyJsonProgram, nodes: dict[str, Node], graph: Graph, where: Where, errors: list[TinycError]
) -> list[str]:
    if program.outputs is None:
        read = {source for node in nodes.values() for source in _sources(node, graph)}
        kept = [node for node in nodes.values() if node.id not in read and node.uop not in ("INPUT", "CONST")]
        outputs = [name for node in kept for name in result_names(node)]
    else:
        outputs = program.outputs
    for name, times in Counter(outputs).items():
        if name not in graph.results and name not in program.faulty:
            errors.append(TinycError("UnknownSource", f"'outputs' names '{name}', which no node produces", where))
        elif times > 1:
            errors.append(TinycError("DuplicateId", f"'outputs' names '{name}' more than once", where))
    return [name for name in dict.fromkeys(outputs) if name in graph.results]
