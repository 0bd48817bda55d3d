"""What `bench/cpu.py` does without torch: its cases, the sides that compute them, and what is said of those missing."""

from dataclasses import replace

import numpy as np
import onnx.numpy_helper
import pytest

import cpu
from cpu_cases import convolution, groups

SMALL = convolution(2, 6, 8, 3, 2, 7)


def case_named(group_name, case_name):
    (group,) = (each for each in groups() if each.name == group_name)
    return next(case for case in group.cases() if case.name == case_name)


def test_products_of_bf16_are_those_of_f32():
    names = {group.name: [case.name for case in group.cases()] for group in groups() if "products" in group.name}
    assert names["bf16 products"] == names["f32 products"]
    assert len(names["f32 products"]) == 4 * 4 + 3 + 1


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(SMALL, id="convolution"),
        pytest.param(convolution(1, 5, 5, 3, 1, 9, groups=5), id="depthwise"),
        pytest.param(case_named("int8 products", "256 × 256 × 256"), id="int8"),
    ],
)
def test_onnxruntime_is_a_side_of_convolutions_and_products_of_bytes(case):
    found = cpu.measured(case, rounds=1)
    assert {"tinyc", "onnxruntime", "ratio"} <= {*found}
    assert min(found.values()) > 0


def test_other_numbers_of_a_side_end_the_bench():
    other = convolution(2, 6, 8, 3, 2, 7).in_onnxruntime
    other.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(-SMALL.arrays["w"], "w"))
    with pytest.raises(SystemExit, match=r"2 of 6 × 7², 3 × 3, to 8, stride 2: \w+'s numbers are off by"):
        cpu.measured(replace(SMALL, in_onnxruntime=other), rounds=1)


def test_a_library_that_is_not_installed_is_named_and_left_out(monkeypatch):
    monkeypatch.setattr(cpu, "INSTALLED", ("numpy",))
    assert cpu.heading().endswith(f"numpy {np.__version__}, torch not installed, onnxruntime not installed")
    assert cpu.libraries_of(SMALL) == []
    assert cpu.libraries_of(case_named("f32 products", "256 × 256 × 256, nn")) == ["numpy"]
