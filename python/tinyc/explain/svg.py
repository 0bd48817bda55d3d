"""A picture as SVG: the same bytes for the same picture."""

from collections.abc import Sequence
from itertools import pairwise
from xml.etree import ElementTree

from tinyc.diagnostics import LINES, printable
from tinyc.explain.drawing import LINE, PADDING, Box, Picture
from tinyc.explain.layered import Point

#: Pixels around a picture.
_BORDER = 10.0
_STYLE = """
text { font: 12px monospace; fill: #222 }
.frame text { font-weight: bold }
rect { fill: #fff; stroke: #888 }
.frame rect { fill: #eef4fc; stroke: #4a7ab5 }
.input rect, .output rect { fill: #e6e6e6 }
.tab rect { fill: #ffe3c2; stroke: #c77700 }
path { fill: none; stroke: #4a7ab5 }
.kept path { stroke: #c77700; stroke-width: 2 }
"""


def svg_text(picture: Picture) -> str:
    """The text of an SVG file."""
    width, height = _number(picture.width + 2 * _BORDER), _number(picture.height + 2 * _BORDER)
    root = ElementTree.Element("svg", xmlns="http://www.w3.org/2000/svg", width=width, height=height)
    root.set("viewBox", f"{_number(-_BORDER)} {_number(-_BORDER)} {width} {height}")
    ElementTree.SubElement(root, "style").text = _STYLE
    for box in picture.frames:
        _add_box(root, box)
    for line in picture.lines:
        group = _group(root, line.kind, line.more)
        ElementTree.SubElement(group, "path", d=_curve(line.points))
    for box in picture.boxes:
        _add_box(root, box)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _group(parent: ElementTree.Element, kind: str, more: str) -> ElementTree.Element:
    """An element that browsers show `more` of under the pointer."""
    group = ElementTree.SubElement(parent, "g", {"class": kind})
    if more:
        ElementTree.SubElement(group, "title").text = printable(more, LINES)
    return group


def _add_box(parent: ElementTree.Element, box: Box) -> None:
    group = _group(parent, box.kind, box.more)
    x, y = box.corner
    place = {"x": _number(x), "y": _number(y), "width": _number(box.width), "height": _number(box.height)}
    ElementTree.SubElement(group, "rect", place, rx="4")
    for number, line in enumerate(box.lines, 1):
        baseline = {"x": _number(x + PADDING), "y": _number(y + number * LINE)}
        ElementTree.SubElement(group, "text", baseline).text = printable(line)


def _curve(points: Sequence[Point]) -> str:
    """A line through points that leaves each downwards."""
    parts = [f"M{_number(points[0].x)},{_number(points[0].y)}"]
    for start, end in pairwise(points):
        middle, x, y = _number((start.y + end.y) / 2), _number(end.x), _number(end.y)
        straight = _number(start.x) == x
        parts.append(f"V{y}" if straight else f"C{_number(start.x)},{middle} {x},{middle} {x},{y}")
    return " ".join(parts)


def _number(value: float) -> str:
    """A coordinate, with one digit where it has a fraction; never -0."""
    rounded = round(value, 1) + 0.0
    return f"{rounded:.0f}" if rounded.is_integer() else f"{rounded:.1f}"
