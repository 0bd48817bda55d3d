"""Lines, boxes, points and words as SVG: the same bytes for the same drawing.

In: what is to be drawn, in pixels from the corner at the top left. Out: the text of an SVG file.
"""

from collections.abc import Sequence
from xml.etree import ElementTree

from ptxsim.errors import printable

#: Pixels: the width of a character and the height of a line of 12 px monospace.
CHARACTER_WIDTH, LINE_HEIGHT = 7.3, 18.0
_STYLE = """
text { font: 12px monospace; fill: #222 }
.title { font-weight: bold }
.axis { stroke: #888; fill: none }
.grid { stroke: #e6e6e6; fill: none }
.ceiling { stroke: #4a7ab5; stroke-width: 2; fill: none }
.first { stroke: #c77700; fill: #ffb454 }
.second { stroke: #4a7ab5; fill: #9cc0ea }
.third { stroke: #3b8a3e; fill: #9fd3a1 }
.predicted { stroke: #888; fill: none }
"""


class Canvas:
    """A drawing of a width and a height, in pixels."""

    def __init__(self, width: float, height: float) -> None:
        size = _number(width), _number(height)
        namespace = "http://www.w3.org/2000/svg"
        self._root = ElementTree.Element("svg", xmlns=namespace, width=size[0], height=size[1])
        self._root.set("viewBox", f"0 0 {size[0]} {size[1]}")
        ElementTree.SubElement(self._root, "style").text = _STYLE
        ElementTree.SubElement(self._root, "rect", width=size[0], height=size[1], fill="#fff")

    def words(self, x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> None:
        """Words whose line ends at `y`; `x` is their "start", "middle" or "end"."""
        place = {"x": _number(x), "y": _number(y), "text-anchor": anchor} | ({"class": kind} if kind else {})
        ElementTree.SubElement(self._root, "text", place).text = printable(text)

    def line(self, points: Sequence[tuple[float, float]], kind: str) -> None:
        """A line through points."""
        path = "M" + " L".join(f"{_number(x)},{_number(y)}" for x, y in points)
        ElementTree.SubElement(self._root, "path", {"class": kind, "d": path})

    def box(self, x: float, y: float, width: float, height: float, kind: str, more: str = "") -> None:
        """A box; browsers show `more` under the pointer."""
        place = {"class": kind, "x": _number(x), "y": _number(y), "width": _number(width), "height": _number(height)}
        self._titled(ElementTree.SubElement(self._root, "rect", place), more)

    def point(self, x: float, y: float, kind: str, more: str = "") -> None:
        """A point; browsers show `more` under the pointer."""
        place = {"class": kind, "cx": _number(x), "cy": _number(y), "r": "5"}
        self._titled(ElementTree.SubElement(self._root, "circle", place), more)

    def svg(self) -> str:
        """The text of the file."""
        ElementTree.indent(self._root)
        return ElementTree.tostring(self._root, encoding="unicode") + "\n"

    def _titled(self, element: ElementTree.Element, more: str) -> None:
        if more:
            ElementTree.SubElement(element, "title").text = printable(more)


def _number(value: float) -> str:
    """A coordinate, with one digit where it has a fraction; never -0."""
    rounded = round(value, 1) + 0.0
    return f"{rounded:.0f}" if rounded.is_integer() else f"{rounded:.1f}"
