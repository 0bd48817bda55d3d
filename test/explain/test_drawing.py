"""Graphs with groups as SVG: boxes do not touch, frames hold what is in them, lines lead from value to value."""

import hashlib
import os
import random
import subprocess
import sys
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest

from tinyc.explain.drawing import Drawing, DrawnEdge, DrawnValue, picture_of
from tinyc.explain.layered import Link, layered
from tinyc.explain.svg import svg_text


def random_links(seed, count=40):
    """Return a graph of boxes of several sizes; each but the first few reads some before it."""
    draw = random.Random(seed)
    sizes = {f"v{k}": (draw.choice((20, 60, 150)), draw.choice((10, 40))) for k in range(count)}
    pairs = {(draw.randrange(max(0, k - 12), k), k) for k in range(3, count) for _ in range(draw.randint(1, 3))}
    return sizes, [Link(f"v{source}", f"v{target}", f"v{source}") for source, target in sorted(pairs)]


def touch(one, other):
    (x, y, width, height), (u, v, across, down) = one, other
    return x < u + across and u < x + width and y < v + down and v < y + height


@pytest.mark.parametrize("seed", range(20))
def test_boxes_do_not_touch_and_links_lead_down_from_one_to_the_other(seed):
    sizes, links = random_links(seed)
    layout = layered(sizes, links)
    boxes = {name: (*layout.places[name], *size) for name, size in sizes.items()}
    assert not any(touch(one, other) for one, other in combinations(boxes.values(), 2))
    for x, y, width, height in boxes.values():
        assert -0.01 <= x <= layout.width - width + 0.01
        assert -0.01 <= y <= layout.height - height + 0.01
    for link in links:
        first, *_, last = layout.routes[link]
        x, y, width, height = boxes[link.source]
        assert first == pytest.approx((x + width / 2, y + height))
        assert last == pytest.approx((boxes[link.target][0] + boxes[link.target][2] / 2, boxes[link.target][1]))
        heights = [point.y for point in layout.routes[link]]
        assert heights == sorted(heights)


@pytest.mark.parametrize("seed", range(20))
def test_no_link_goes_through_a_box(seed):
    sizes, links = random_links(seed)
    layout = layered(sizes, links)
    for link in links:
        points = layout.routes[link]
        for start, end in pairwise(points):
            if start.x == end.x:  # a bend lies between two layers
                column = (start.x, start.y + 0.1, 0.0, end.y - start.y - 0.2)
                others = (name for name in sizes if name not in (link.source, link.target))
                assert not any(touch(column, (*layout.places[name], *sizes[name])) for name in others)


def test_a_link_without_a_crossing_is_straight():
    links = [Link(f"v{k}", f"v{k + 1}", f"v{k}") for k in range(3)]
    layout = layered({f"v{k}": (10.0 * (k + 1), 10.0) for k in range(4)}, links)
    assert len({point.x for link in links for point in layout.routes[link]}) == 1


def test_what_nothing_leads_to_stands_above_what_reads_it_unless_it_is_among_the_first():
    sizes = dict.fromkeys(("a", "b", "c", "late"), (10.0, 10.0))
    links = [Link("a", "b", "a"), Link("b", "c", "b"), Link("late", "c", "late")]
    assert layered(sizes, links).places["late"].y == layered(sizes, links).places["b"].y
    first = layered(sizes, links, first=["late"], last=["c"]).places
    assert first["late"].y < first["a"].y < first["b"].y < first["c"].y


def softmax():
    """Return a drawing of two regions, one of which reads the other's result, and an input of both."""
    read = [("x", "max"), ("x", "sub"), ("max", "sub"), ("sub", "exp"), ("exp", "sum"), ("exp", "div"), ("sum", "div")]
    read += [("div", "product"), ("w", "product"), ("product", "add"), ("x", "add"), ("add", "y")]
    groups = {
        **dict.fromkeys(("max", "sub", "exp", "sum", "div"), "softmax"),
        **dict.fromkeys(("product", "add"), "gemm"),
    }
    kinds = {"x": "input", "w": "input", "y": "output"}
    values = [
        DrawnValue(name, (name, "<&>"), kinds.get(name, "box"), groups.get(name)) for name in ("x", "w", *groups, "y")
    ]
    edges = [
        DrawnEdge(*each, "fused" if groups.get(each[0]) == groups.get(each[1]) else "kept", "-> ".join(each))
        for each in read
    ]
    return Drawing(values, edges, {"softmax": ("softmax, 1 region", "more"), "gemm": ("gemm", "")})


def test_a_frame_holds_the_values_of_its_group_with_tabs_for_what_enters_and_leaves():
    picture = picture_of(softmax())
    frames = {box.lines[0]: (*box.corner, box.width, box.height) for box in picture.frames}
    inside = {title: [] for title in frames}
    for box in picture.boxes:
        for title, frame in frames.items():
            if touch((*box.corner, box.width, box.height), frame):
                inside[title].append((box.kind, box.lines[0]))
    assert sorted(inside["softmax, 1 region"]) == [
        *(("box", name) for name in ("div", "exp", "max", "sub", "sum")),
        *(("tab", name) for name in ("div", "x")),
    ]
    tabs = [name for kind, name in inside["gemm"] if kind == "tab"]
    assert sorted(tabs) == ["add", "div", "w", "x"]
    assert not touch(*frames.values())


def test_a_line_between_groups_leads_from_tab_to_tab():
    picture = picture_of(softmax())
    (line,) = [line for line in picture.lines if line.more == "div-> product" and len(line.points) > 3]
    tabs = [box for box in picture.boxes if box.kind == "tab" and box.lines == ("div",)]
    upper, lower = sorted(tabs, key=lambda box: box.corner.y)
    assert line.kind == "kept"
    assert line.points[0] == pytest.approx((upper.corner.x + upper.width / 2, upper.corner.y + upper.height))
    assert line.points[-1] == pytest.approx((lower.corner.x + lower.width / 2, lower.corner.y))


def test_the_svg_is_read_by_a_parser_and_says_more_under_the_pointer():
    root = ElementTree.fromstring(svg_text(picture_of(softmax())))
    name = "{http://www.w3.org/2000/svg}"
    assert [each.text for each in root.iter(f"{name}text")].count("<&>") == 10
    assert "exp-> sum" in {each.text for each in root.iter(f"{name}title")}
    (x, y, width, height) = map(float, root.attrib["viewBox"].split())
    for each in root.iter(f"{name}rect"):
        assert x <= float(each.attrib["x"]) <= x + width - float(each.attrib["width"])
        assert y <= float(each.attrib["y"]) <= y + height - float(each.attrib["height"])


def test_the_bytes_are_the_same_for_every_hash_seed():
    code = "from explain import test_drawing as t; print(t.svg_text(t.picture_of(t.softmax())), end='')"
    path = os.pathsep.join([os.path.dirname(os.path.dirname(__file__)), *sys.path])
    found = set()
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        text = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True).stdout
        found.add(hashlib.sha256(text).hexdigest())
    assert len(found) == 1


def test_names_that_are_alike_for_values_groups_and_tabs_are_told_apart():
    values = [DrawnValue("entry a", ("1",)), DrawnValue("a", ("2",)), DrawnValue("frame", ("3",), group="a")]
    edges = [DrawnEdge("a", "frame", "kept"), DrawnEdge("entry a", "frame", "kept")]
    picture = picture_of(Drawing(values, edges, {"a": ("a", "")}))
    assert sorted(box.lines[0] for box in picture.boxes) == ["1", "1", "2", "2", "3"]
