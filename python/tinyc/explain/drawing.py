"""A graph with groups of its values, placed on a plane.

In: a `Drawing`. Out: a `Picture`, boxes and lines with their places, for `svg` to write. A group is laid out by itself,
with a tab on its border for each value that enters or leaves it; then the groups' frames, and the values in none, are
laid out among each other.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tinyc.explain.layered import Layout, Link, Point, layered

#: Pixels: the width of a character, the height of a line of text, and the space around it.
CHARACTER, LINE, PADDING = 7.2, 15.0, 6.0
#: Pixels: the space inside of a frame, and of its title.
_MARGIN, _TITLE = 12.0, 20.0


@dataclass(frozen=True)
class DrawnValue:
    """A box: the lines in it, its kind (`box`, `input` or `output`), and its group; `more` is for who points at it.

    Where it leaves its group, or enters one, the first of its lines stands on the border.
    """

    name: str
    lines: tuple[str, ...]
    kind: str = "box"
    group: str | None = None
    more: str = ""


@dataclass(frozen=True)
class DrawnEdge:
    """A line from a value to one that reads it, of a kind: `fused` or `kept`."""

    source: str
    target: str
    kind: str
    more: str = ""


@dataclass(frozen=True)
class Drawing:
    """Values, edges between them without a cycle, nor one of groups, and the title of each group with more."""

    values: Sequence[DrawnValue]
    edges: Sequence[DrawnEdge]
    groups: Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class Box:
    """A rectangle with lines of text, of a kind: that of its value, `frame` or `tab`."""

    kind: str
    corner: Point
    width: float
    height: float
    lines: tuple[str, ...]
    more: str = ""


@dataclass(frozen=True)
class Polyline:
    """A line through points, of the kind of its edge."""

    kind: str
    points: tuple[Point, ...]
    more: str


@dataclass(frozen=True)
class Picture:
    """What is drawn, in this order: frames, lines, and the boxes on them."""

    frames: tuple[Box, ...]
    lines: tuple[Polyline, ...]
    boxes: tuple[Box, ...]
    width: float
    height: float


def picture_of(drawing: Drawing) -> Picture:
    """The picture of a drawing."""
    return _Placing(drawing).picture()


# Names of boxes while they are placed: those of values and of frames, and of the tabs of a frame.


def _value(name: str) -> str:
    return f"value {name}"


def _frame(group: str) -> str:
    return f"frame {group}"


def _entry(name: str) -> str:
    return f"entry {name}"


def _exit(name: str) -> str:
    return f"exit {name}"


def _size(lines: Sequence[str]) -> tuple[float, float]:
    return max(map(len, lines), default=0) * CHARACTER + 2 * PADDING, len(lines) * LINE + PADDING


@dataclass(frozen=True)
class _Group:
    """A group laid out by itself; `entries` and `exits` have the values of its tabs, by the names of the tabs."""

    entries: Mapping[str, str]
    exits: Mapping[str, str]
    layout: Layout
    width: float

    @property
    def height(self) -> float:
        """The height of its frame."""
        return self.layout.height + 2 * _MARGIN + _TITLE


class _Placing:
    """A drawing whose groups, and then all, are laid out."""

    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing
        self.group_of = {value.name: value.group for value in drawing.values}
        self.values = {_value(value.name): value for value in drawing.values}
        #: The edges that each link is part of: the links inside of groups by group, those between groups under None.
        self.links: dict[str | None, dict[Link, list[DrawnEdge]]] = {None: {}, **{each: {} for each in drawing.groups}}
        for edge in drawing.edges:
            for group, link in self._links(edge):
                self.links[group].setdefault(link, []).append(edge)
        self.groups = {group: self._group(group, title) for group, (title, _) in drawing.groups.items()}
        sizes = {name: _size(value.lines) for name, value in self.values.items() if value.group is None}
        sizes |= {_frame(name): (group.width, group.height) for name, group in self.groups.items()}
        anchors = {link: self._anchors(edges[0]) for link, edges in self.links[None].items()}
        self.outer = layered(sizes, list(anchors), anchors=anchors)

    def _links(self, edge: DrawnEdge) -> Iterator[tuple[str | None, Link]]:
        """The links of an edge, each with the group that it is in."""
        source, target = self.group_of[edge.source], self.group_of[edge.target]
        start, end = _value(edge.source), _value(edge.target)
        if source == target:
            yield source, Link(start, end, edge.source)
            return
        if source is not None:
            yield source, Link(start, _exit(edge.source), edge.source)
            start = _frame(source)
        if target is not None:
            yield target, Link(_entry(edge.source), end, edge.source)
            end = _frame(target)
        yield None, Link(start, end, edge.source)

    def _group(self, name: str, title: str) -> _Group:
        links = list(self.links[name])
        entries = {link.source: link.value for link in links if link.source == _entry(link.value)}
        exits = {link.target: link.value for link in links if link.target == _exit(link.value)}
        sizes = {each: _size(value.lines) for each, value in self.values.items() if value.group == name}
        sizes |= {tab: _size(self._tab_lines(value)) for tab, value in (*entries.items(), *exits.items())}
        layout = layered(sizes, links, entries, exits)
        return _Group(entries, exits, layout, max(layout.width, len(title) * CHARACTER) + 2 * _MARGIN)

    def _tab_lines(self, value: str) -> tuple[str, ...]:
        """What stands on the tabs of a value: the first of its lines."""
        return self.values[_value(value)].lines[:1]

    def picture(self) -> Picture:
        """All that is drawn."""
        frames = tuple(
            Box("frame", self.outer.places[_frame(name)], group.width, group.height, (title,), more)
            for (name, group), (title, more) in zip(self.groups.items(), self.drawing.groups.values(), strict=True)
        )
        lines = tuple(line for group in self.links for line in self._lines(group))
        boxes = tuple(self._boxes())
        return Picture(frames, lines, boxes, self.outer.width, self.outer.height)

    def _place(self, group: str | None, name: str) -> Point:
        """The corner of what is called `name` in a group."""
        if group is None:
            return self.outer.places[name]
        frame, place = self.outer.places[_frame(group)], self.groups[group].layout.places[name]
        return Point(frame.x + _MARGIN + place.x, frame.y + _MARGIN + _TITLE + place.y)

    def _boxes(self) -> Iterator[Box]:
        for name, value in self.values.items():
            yield Box(value.kind, self._place(value.group, name), *_size(value.lines), value.lines, value.more)
        for name, group in self.groups.items():
            for tab, value in (*group.entries.items(), *group.exits.items()):
                lines = self._tab_lines(value)
                yield Box("tab", self._place(name, tab), *_size(lines), lines)

    def _lines(self, group: str | None) -> Iterator[Polyline]:
        """The links of a group, or those between groups, as lines; a line is `kept` if one of its edges is."""
        for link, edges in self.links[group].items():
            kind = "kept" if any(edge.kind == "kept" for edge in edges) else edges[0].kind
            more = "\n".join(dict.fromkeys(edge.more for edge in edges if edge.more))
            points = self._between(link, edges[0]) if group is None else self._within(group, link)
            yield Polyline(kind, tuple(points), more)

    def _within(self, group: str, link: Link) -> Iterator[Point]:
        """The points of a link in a group."""
        corner, layout = self._place(group, link.source), self.groups[group].layout
        start = layout.places[link.source]
        return (Point(corner.x + each.x - start.x, corner.y + each.y - start.y) for each in layout.routes[link])

    def _between(self, link: Link, edge: DrawnEdge) -> list[Point]:
        """The points of a link between groups, from tab to tab where an end is in one."""
        points = list(self.outer.routes[link])
        source, target = self.group_of[edge.source], self.group_of[edge.target]
        if source is not None:
            bottom = self._place(source, _exit(edge.source)).y + _size(self._tab_lines(edge.source))[1]
            points = [Point(points[0].x, bottom), *points]
        if target is not None:
            points = [*points, Point(points[-1].x, self._place(target, _entry(edge.source)).y)]
        return points

    def _anchors(self, edge: DrawnEdge) -> tuple[float, float]:
        """How far the tabs of an edge between groups stand to the right of the middles of their frames."""

        def anchor(group: str | None, tab: str) -> float:
            if group is None:
                return 0.0
            laid = self.groups[group]
            return _MARGIN + laid.layout.places[tab].x + _size(self._tab_lines(edge.source))[0] / 2 - laid.width / 2

        source, target = self.group_of[edge.source], self.group_of[edge.target]
        return anchor(source, _exit(edge.source)), anchor(target, _entry(edge.source))
