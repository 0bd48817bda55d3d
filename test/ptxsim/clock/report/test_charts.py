"""The charts: they are XML, points and bars are where their numbers are, and the same drawing is the same text."""

from xml.etree import ElementTree

import pytest

from ptxsim.clock.report.roofline import roofline_svg
from ptxsim.clock.report.stalls import stalls_svg
from ptxsim_cases.estimates import LINES, made_up

SVG = "{http://www.w3.org/2000/svg}"


def drawn(svg, tag):
    return [each.attrib for each in ElementTree.fromstring(svg).iter(f"{SVG}{tag}")]


def words(svg):
    return [each.text for each in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_the_point_of_a_kernel_is_at_its_intensity_and_its_rate():
    # 200 FLOPs of a byte on five decades from 0.1 on; 2e14 FLOP/s on four from 1e11 on
    svg = roofline_svg({"k": made_up()})
    (point,) = drawn(svg, "circle")
    assert float(point["cx"]) == pytest.approx(110 + 640 * (2.30103 + 1) / 5, abs=0.1)
    assert float(point["cy"]) == pytest.approx(40 + 400 * (1 - (14.30103 - 11) / 4), abs=0.1)
    assert {"tensor f16 989 TFLOP/s", "f32 66.9 TFLOP/s", "HBM 3.35 TB/s"} <= set(words(svg))
    assert "k: 200 TFLOP/s, 1.00 TB/s; 4.50 us ± 10.0 %" in words(svg)


def test_a_kernel_without_flops_has_no_point_and_is_told():
    svg = roofline_svg({"k": made_up(tensor_flops=0.0), "l": made_up(memory_bytes=0.0)})
    assert drawn(svg, "circle") == []
    assert "k: no FLOPs, and so no point; 4.50 us ± 10.0 %, 1.00 TB/s" in words(svg)
    assert any(each.startswith("l: no bytes of HBM, and so no point") for each in words(svg))


def test_two_kernels_are_two_points_and_uncertainty_is_a_bar():
    svg = roofline_svg({"a": made_up(), "b": made_up(memory_bytes=45e6)})
    assert [each["class"] for each in drawn(svg, "circle")] == ["first", "second"]
    assert [each["class"] for each in drawn(svg, "path") if each["class"] in ("first", "second")] == ["first", "second"]


def test_bars_are_as_long_as_the_waits():
    svg = stalls_svg({"k": made_up()}, {"k": LINES})
    bars = [float(each["width"]) for each in drawn(svg, "rect") if each.get("height") == "14"]
    assert bars == [320, 160, 1, 320, 160]  # by cause, by line; none is invisible
    assert "2: fma.rn.f32 %f2, %f1, %f1, %f1; (results of earlier instructions)" in words(svg)


def test_two_kernels_stand_beside_each_other():
    svg = stalls_svg({"a": made_up(), "b": made_up(waits={("barrier", 4): 0.125})}, {"a": LINES, "b": LINES})
    classes = [each["class"] for each in drawn(svg, "rect") if each.get("height") == "14"]
    assert classes == ["first", "second"] * 4 + ["first", "first", "second"]
    assert "b: by line of the PTX" in words(svg)


def test_the_same_drawing_is_the_same_text():
    assert roofline_svg({"k": made_up()}) == roofline_svg({"k": made_up()})
    assert stalls_svg({"k": made_up(waits={})}, {}) == stalls_svg({"k": made_up(waits={})}, {})
