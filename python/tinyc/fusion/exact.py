"""The exact choice of kernels for a window of nodes: an integer program over all the groups that the nodes can form.

A candidate is a group with the results that it writes; it is chosen or not. Every tensor that something outside needs
is written once, and every tensor that a chosen group reads is written by a chosen one; several may compute a node.
Chosen groups that need each other in a circle are forbidden, one circle after the other. HiGHS solves the program; it
is loaded here and nowhere else. Source: specification 000 §4.1, step 5.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

from tinyc.fusion.graph import FusionGraph, NodeKind
from tinyc.fusion.group import Group, group_of_node, united, with_producer

#: Nodes of a window, at the most (000 §4.1), and candidates that are looked at.
MAX_WINDOW, MAX_CANDIDATES = 30, 400
#: Circles that are forbidden before a choice is given up.
_MAX_CIRCLES = 8
#: A time that is less by no more than this is no better choice.
_TOLERANCE_SECONDS = 1e-12

Price = Callable[[Group], float | None]


def exact_choice(
    graph: FusionGraph, window: Collection[str], wanted: Collection[str], price: Price
) -> list[Group] | None:
    """The groups of least predicted time that compute a window; None where there are too many candidates.

    `price` is the time of a group, or None for one that shall not be; `wanted` are the nodes of the window that are
    returned or read outside of it, and so are written.
    """
    candidates = _candidates(graph, window, wanted, price)
    return None if candidates is None else best_choice(window, wanted, candidates)


def best_choice(
    window: Collection[str], wanted: Collection[str], candidates: Mapping[Group, float]
) -> list[Group] | None:
    """The groups of least time, among candidates with their times, that compute a window; None where none do."""
    groups, prices = list(candidates), list(candidates.values())
    circles: list[list[int]] = []
    while len(circles) < _MAX_CIRCLES:
        chosen = _solved(groups, prices, wanted, window, circles)
        if chosen is None:
            return None
        circle = _circle([groups[number] for number in chosen])
        if circle is None:
            return [groups[number] for number in chosen]
        circles.append([chosen[place] for place in circle])
    return None


def _candidates(
    graph: FusionGraph, window: Collection[str], wanted: Collection[str], price: Price
) -> Mapping[Group, float] | None:
    """The groups of nodes of a window with their prices, each once; None where there are too many."""
    found: dict[tuple[frozenset[str], ...], tuple[Group, float | None]] = {}
    singles = [group_of_node(graph, graph.nodes[name]) for name in window if _is_computed(graph, name)]
    pending = list(singles)
    while pending:
        group = pending.pop()
        key = (group.members, group.results, frozenset(group.reads))
        if key in found:
            continue
        found[key] = (group, price(group))
        if len(found) > MAX_CANDIDATES:
            return None
        pending += _grown(graph, group, window, wanted)
        pending += _with_sibling(group, singles)
    return {group: seconds for group, seconds in found.values() if seconds is not None}


def _is_computed(graph: FusionGraph, name: str) -> bool:
    node = graph.nodes[name]
    return node.kind is not NodeKind.VIEW and (node.kind is not NodeKind.LEAF or node.is_output)


def _with_sibling(group: Group, singles: Iterable[Group]) -> Iterable[Group]:
    """The groups that have one more node, which reads what a group reads and not what it makes, nor is read by it."""
    for single in singles:
        near = not single.members & group.members and {*single.reads} & {*group.reads}
        if near and not ({*single.reads} & group.members or {*group.reads} & single.members):
            found = united([group, single])
            if isinstance(found, Group):
                yield found


def _grown(graph: FusionGraph, group: Group, window: Collection[str], wanted: Collection[str]) -> Iterable[Group]:
    """The groups that have one more of the nodes that a group reads, with it as a result and without."""
    for tensor in group.reads:
        if tensor not in window or not _is_computed(graph, tensor) or group.ordered:
            continue
        node = graph.nodes[tensor]
        readers = {reader for reader in node.readers if tensor not in graph.nodes[reader].wholes}
        if not readers & group.members:
            continue  # indices are applied to it: it has to be in memory
        if readers <= group.members and tensor not in wanted:
            variants = (False,)
        else:  # others need it: they read it, or compute what is cheap again
            variants = (True, False) if node.is_inline else (True,)
        for is_result in variants:
            grown = with_producer(group, node, is_result)
            if isinstance(grown, Group):
                yield grown


def _solved(
    groups: Sequence[Group],
    prices: Sequence[float],
    wanted: Collection[str],
    window: Collection[str],
    circles: Sequence[Sequence[int]],
) -> list[int] | None:
    """The numbers of the groups of the cheapest choice, or None where there is no choice."""
    import highspy  # a solver is for what greedy leaves open

    model: Any = highspy.Highs()  # its stubs take an equation for a bool
    model.silent()
    model.setOptionValue("mip_rel_gap", 0.0)
    least = min(prices, default=1.0)
    chosen = [model.addBinary(obj=price / least) for price in prices]
    writers: dict[str, list[int]] = {}
    readers: dict[str, list[int]] = {}
    for number, group in enumerate(groups):
        for name in group.results:
            writers.setdefault(name, []).append(number)
        for name in group.reads:
            readers.setdefault(name, []).append(number)
    for name, numbers in writers.items():
        total = sum(chosen[number] for number in numbers)
        model.addConstr(total == 1 if name in wanted else total <= 1)
    for number, group in enumerate(groups):
        for tensor in group.reads:
            if tensor in window:
                model.addConstr(sum(chosen[each] for each in writers.get(tensor, ())) >= chosen[number])
        for name in group.results.difference(wanted):  # nothing is written that nobody reads
            model.addConstr(sum(chosen[each] for each in readers.get(name, ())) >= chosen[number])
    for circle in circles:
        model.addConstr(sum(chosen[number] for number in circle) <= len(circle) - 1)
    if any(name not in writers for name in wanted):
        return None
    model.minimize()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    values = model.getSolution().col_value
    return [number for number in range(len(groups)) if values[number] > 0.5]


def _circle(groups: Sequence[Group]) -> list[int] | None:
    """The places of groups that need each other in a circle, or None."""
    writer = {name: place for place, group in enumerate(groups) for name in group.results}
    needed = {place: {writer[t] for t in group.reads if t in writer} - {place} for place, group in enumerate(groups)}
    try:
        list(TopologicalSorter(needed).static_order())
    except CycleError as error:
        return sorted(set(error.args[1]))
    return None


def is_better(seconds: float, than: float) -> bool:
    """Whether a predicted time is less than another one."""
    return seconds < than - _TOLERANCE_SECONDS
