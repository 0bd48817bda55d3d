"""A directed graph in layers: where its boxes stand, and which way its links take. Links lead downwards.

In: the sizes of boxes, and links between them without a cycle. Out: places and routes, the same for the same input. The
steps are Sugiyama's: layers by the longest path, a slot in each layer that a link passes, orders with few crossings by
the mean of neighbours, and places as near to the neighbours as the order allows. Links of one value share slots, so
that a value with many readers is one line that branches.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import NamedTuple

#: Between boxes beside each other, and between layers, in pixels.
_GAP, _LAYER_GAP = 16.0, 28.0
#: The width of a slot that a link passes through.
_SLOT = 6.0
#: How often each layer is ordered, and placed, by its neighbours above and below.
_ROUNDS = 4


class Point(NamedTuple):
    """A place in pixels, from the top left."""

    x: float
    y: float


class Link(NamedTuple):
    """A value that goes from a box to a box below."""

    source: str
    target: str
    value: str


@dataclass(frozen=True)
class Layout:
    """The top left corner of each box, the points that each link passes, and the size of all."""

    places: Mapping[str, Point]
    routes: Mapping[Link, Sequence[Point]]
    width: float
    height: float


#: A box by name, or the slot of a value in a layer: (source, value, layer).
_Item = Hashable


@dataclass
class _Layers:
    """The items of each layer from left to right, with their widths, and their neighbours above and below."""

    rows: list[list[_Item]]
    widths: dict[_Item, float]
    above: dict[_Item, list[_Item]] = field(default_factory=dict[_Item, list[_Item]])
    below: dict[_Item, list[_Item]] = field(default_factory=dict[_Item, list[_Item]])

    def join(self, upper: _Item, lower: _Item) -> None:
        """Make two items of neighbouring layers neighbours."""
        if upper not in self.above.setdefault(lower, []):
            self.above[lower].append(upper)
            self.below.setdefault(upper, []).append(lower)

    def sweeps(self) -> Iterable[tuple[list[_Item], Mapping[_Item, list[_Item]]]]:
        """Each layer with its neighbours above, downwards, and then with those below, upwards; some rounds of that."""
        for _ in range(_ROUNDS):
            yield from ((row, self.above) for row in self.rows[1:])
            yield from ((row, self.below) for row in reversed(self.rows[:-1]))


def layered(
    sizes: Mapping[str, tuple[float, float]],
    links: Sequence[Link],
    first: Iterable[str] = (),
    last: Iterable[str] = (),
    anchors: Mapping[Link, tuple[float, float]] | None = None,
) -> Layout:
    """The layout of boxes by name, (width, height) each; those in `first` and `last` stand in the outermost layers.

    A link goes from the middle of a box's lower side to the middle of another's upper side; or to the right of these
    middles, as far as `anchors` says.
    """
    layer_of = _layers_of(sizes, links, set(first), set(last))
    layers = _with_slots(sizes, links, layer_of)
    _order(layers)
    centres = _centres(layers)
    left = min((centres[item] - layers.widths[item] / 2 for item in centres), default=0.0)
    right = max((centres[item] + layers.widths[item] / 2 for item in centres), default=0.0)
    heights = [max((sizes[item][1] for item in row if isinstance(item, str)), default=0.0) for row in layers.rows]
    tops = [sum(heights[:number]) + number * _LAYER_GAP for number in range(len(heights))]
    places = {
        name: Point(centres[name] - width / 2 - left, tops[layer_of[name]] + (heights[layer_of[name]] - height) / 2)
        for name, (width, height) in sizes.items()
    }

    def route(link: Link) -> list[Point]:
        upper, lower = layer_of[link.source], layer_of[link.target]
        leaves, arrives = (anchors or {}).get(link, (0.0, 0.0))
        start, end = centres[link.source] - left + leaves, centres[link.target] - left + arrives
        points = [
            Point(start, places[link.source].y + sizes[link.source][1]),
            Point(start, tops[upper] + heights[upper]),
        ]
        for layer in range(upper + 1, lower):
            x = centres[link.source, link.value, layer] - left
            points += [Point(x, tops[layer]), Point(x, tops[layer] + heights[layer])]
        points += [Point(end, tops[lower]), Point(end, places[link.target].y)]
        return _bends(points)

    height = tops[-1] + heights[-1] if tops else 0.0
    return Layout(places, {link: route(link) for link in links}, right - left, height)


def _bends(points: Sequence[Point]) -> list[Point]:
    """The ends of a way down, and the points where it leaves a vertical line or comes to one."""
    inner = zip(points, points[1:], points[2:], strict=False)
    bends = [point for before, point, after in inner if not before.x == point.x == after.x]
    return list(dict.fromkeys([points[0], *bends, points[-1]]))


def _layers_of(sizes: Mapping[str, object], links: Sequence[Link], first: set[str], last: set[str]) -> dict[str, int]:
    """The layer of each box: below all that lead to it, and what nothing leads to above the first that it leads to."""
    sources: dict[str, list[str]] = {name: [] for name in sizes}
    targets: dict[str, list[str]] = {name: [] for name in sizes}
    for link in links:
        sources[link.target].append(link.source)
        targets[link.source].append(link.target)
    layer_of: dict[str, int] = {}
    lowest = 1 if first else 0
    for name in TopologicalSorter(sources).static_order():
        layer_of[name] = max((layer_of[each] + 1 for each in sources[name]), default=0 if name in first else lowest)
    for name in sizes:
        if not sources[name] and targets[name] and name not in first:
            layer_of[name] = min(layer_of[each] for each in targets[name]) - 1
    end = max(layer_of.values(), default=0)
    if last:
        end = max(end, max((layer_of[name] for name in sizes if name not in last), default=-1) + 1)
    return {**{name: layer_of[name] for name in sizes}, **dict.fromkeys((name for name in sizes if name in last), end)}


def _with_slots(
    sizes: Mapping[str, tuple[float, float]], links: Sequence[Link], layer_of: Mapping[str, int]
) -> _Layers:
    """The layers with their boxes and slots."""
    rows: list[list[_Item]] = [[] for _ in range(max(layer_of.values(), default=-1) + 1)]
    for name in sizes:
        rows[layer_of[name]].append(name)
    layers = _Layers(rows, {name: width for name, (width, _) in sizes.items()})
    for link in links:
        way: list[_Item] = [link.source]
        for layer in range(layer_of[link.source] + 1, layer_of[link.target]):
            slot = (link.source, link.value, layer)
            if slot not in layers.widths:
                layers.widths[slot] = _SLOT
                rows[layer].append(slot)
            way.append(slot)
        for upper, lower in pairwise([*way, link.target]):
            layers.join(upper, lower)
    return layers


def _order(layers: _Layers) -> None:
    """Sort each layer by the mean place of its items' neighbours; an item without any keeps its place."""
    place = {item: number for row in layers.rows for number, item in enumerate(row)}
    for row, neighbours in layers.sweeps():
        row.sort(key=_mean_of(place, neighbours))
        place.update((item, number) for number, item in enumerate(row))


def _mean_of(place: Mapping[_Item, float], neighbours: Mapping[_Item, Sequence[_Item]]) -> Callable[[_Item], float]:
    def mean(item: _Item) -> float:
        near = neighbours.get(item)
        return sum(place[each] for each in near) / len(near) if near else float(place[item])

    return mean


def _centres(layers: _Layers) -> dict[_Item, float]:
    """Where each item's middle stands along its layer."""
    centres: dict[_Item, float] = {}
    for row in layers.rows:
        edge = 0.0
        for item in row:
            centres[item] = edge + layers.widths[item] / 2
            edge += layers.widths[item] + _GAP
    for row, neighbours in layers.sweeps():
        mean = _mean_of(centres, neighbours)
        centres.update(
            zip(row, _apart([mean(item) for item in row], [layers.widths[item] for item in row]), strict=True)
        )
    return centres


def _apart(wanted: Sequence[float], widths: Sequence[float]) -> list[float]:
    """The centres nearest to the wanted ones, by least squares, at which boxes in a row do not touch.

    With the distances that the widths need taken off, that is isotonic regression: neighbours out of order are pooled.
    """
    offsets = [0.0]
    for left, right in pairwise(widths):
        offsets.append(offsets[-1] + (left + right) / 2 + _GAP)
    pools: list[tuple[float, int]] = []  # (sum of what is wanted, number of boxes)
    for centre, offset in zip(wanted, offsets, strict=False):
        pools.append((centre - offset, 1))
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
            total, count = pools.pop()
            pools[-1] = (pools[-1][0] + total, pools[-1][1] + count)
    means = [total / count for total, count in pools for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=False)]
