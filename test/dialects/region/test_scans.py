"""Scans on the CPU: the reference's numbers, whatever the axis, the direction, the op and the types are."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import tinyc
from analysis_programs.region_kernels import formed_kernels, one_kernel
from analysis_programs.scan_programs import running
from analysis_programs.tiny_programs import Program
from frontend_modules import module_of
from parameters import pairwise
from tinyc.analysis.loop_nest import ScanNest
from tinyc.executors.compare import compare_all
from tinyc.executors.random_inputs import random_inputs
from tinyc.executors.rounding import output_tolerances
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.reductions import REDUCTIONS
from tinyc.vocabulary.types import TensorType


def agrees(p: Program, total) -> bool:
    """Compare the CPU with the reference on random inputs."""
    module = p.result(total).module
    inputs = random_inputs(module, 0)
    expected = tinyc.compile(module, target="reference").run(**inputs)
    found = tinyc.compile(module).run(**inputs)
    return all(each.ok for each in compare_all(found, expected, output_tolerances(module, inputs)))


def scans(p: Program) -> list[bool]:
    """Return for each kernel of a program that has a result whether it is a scan."""
    return [isinstance(kernel.nest, ScanNest) for kernel in formed_kernels(p).values()]


WAYS = [*itertools.product((False, True), repeat=2)]


SHAPES = ["9", "3 9", "9 3", "2 9 3", "2 3 150 2", "5 130"]


@pairwise(op=REDUCTIONS, way=WAYS, place=[(shape, axis) for shape in SHAPES for axis in range(len(shape.split()))])
def test_any_axis_direction_and_op(op, way, place):
    (reverse, exclusive), (shape, axis) = way, place
    p = Program(x=f"f32 {shape}")
    assert agrees(p, running(p, p["x"], axis, op, "f32", reverse, exclusive))
    assert scans(p) == [True]


@pytest.mark.parametrize(("reverse", "exclusive"), WAYS)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_cumulative_sums_of_the_frontend_are_scans(axis, reverse, exclusive):
    x = {"x": TensorType(ElementType.F32, (4, 9, 5))}
    model = tinyc.compile(module_of("cumulative sum", x, axis=axis, reverse=reverse, exclusive=exclusive))
    assert re.findall('scheme = "(.*?)"', model.text("plan")) == ["scan"]


@pytest.mark.parametrize(
    ("element", "result"),
    [("f16", "f32"), ("bf16", "bf16"), ("f64", "f64"), ("i8", "i32"), ("i32", "i64"), ("ui8", "ui8"), ("i64", "i64")],
)
@pytest.mark.parametrize("op", REDUCTIONS)
def test_any_type(element, result, op):
    p = Program(x=f"{element} 3 40")
    assert agrees(p, running(p, p["x"], 1, op, result))
    assert scans(p) == [True]


def test_what_is_read_through_movements_and_behind_a_mask():
    p = Program(x="f32 9 4")
    x = p.pad(p.flip(p.permute(p["x"], perm=(1, 0)), axes=(1,)), lo=(1, 2), hi=(0, 0), value=2.0)
    assert agrees(p, running(p, x, 1, "sum", "f32"))
    assert scans(p) == [True]


@pytest.mark.parametrize("extents", [{"M": 3, "K": 1000}, {"M": 1, "K": 1}, {"M": 0, "K": 4}])
def test_symbolic_extents(extents):
    example = Path(__file__).parents[3] / "examples" / "cumulative_sum.json"
    model = tinyc.compile(example, bind={"K": extents["K"]})
    x = np.random.default_rng(0).standard_normal((extents["M"], extents["K"])).astype(np.float32)
    np.testing.assert_allclose(model(x), np.cumsum(x, axis=1), rtol=1e-3, atol=1e-3)


def test_an_epilogue_reads_what_there_is_so_far():
    p = Program(x="f32 4 9")
    total = p.relu(running(p, p["x"], 1, "sum", "f32"))
    kernel = one_kernel(p.result(total))
    assert isinstance(kernel.nest, ScanNest)
    assert kernel.nest.parallel == (4,)


def test_nan_and_infinity_reach_what_comes_after_them():
    p = Program(x="f32 8")
    module = p.result(running(p, p["x"], 0, "max", "f32")).module
    x = np.array([-np.inf, 1, np.inf, 0, np.nan, 2, -np.inf, 3], np.float32)
    np.testing.assert_array_equal(tinyc.compile(module)(x), np.maximum.accumulate(x))


def _sliding(p):
    padded = p.pad(p["x"], lo=(0, 2), hi=(0, 2), value=0.0)
    return p.sum(p.pool(padded, kernel=(5,), stride=(1,), dilation=(1,)), 2)


def _not_neutral(p):
    padded = p.pad(p["x"], lo=(0, 8), hi=(0, 0), value=0.0)
    return p.op("reduce", p.pool(padded, kernel=(9,), stride=(1,), dilation=(1,)), op="max", axes=(2,), element="f32")


def _read_elsewhere(p):
    return p.flip(running(p, p["x"], 1, "sum", "f32"), axes=(1,))


@pytest.mark.parametrize("make", [_sliding, _not_neutral])
def test_windows_that_are_no_scan_are_reduced_each(make):
    p = Program(x="f32 3 9")
    assert agrees(p, make(p))
    assert scans(p) == [False]


def test_a_scan_that_its_kernel_reads_elsewhere_is_reduced_there():
    p = Program(x="f32 3 9")
    kernel = one_kernel(p.result(_read_elsewhere(p)))
    assert not isinstance(kernel.nest, ScanNest)
