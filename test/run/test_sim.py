"""The emitted PTX on the simulator, with all checks on: the same numbers as the reference, and no finding.

`--random-examples N` runs more than the 15 random programs of CI for each architecture, new ones each time.
"""

import json

import numpy as np
import pytest

import tinyc
from parameters import pairwise
from programs.agreement import assert_agree
from programs.example_bindings import BIND, EXAMPLES, SIZES
from programs.strategies import programs
from tinyc.executors import reference
from tinyc.executors.compare import compare_all
from tinyc.executors.random_inputs import random_inputs
from tinyc.executors.rounding import output_tolerances
from tinyc.vocabulary.element_type import BY_JSON_NAME

each_architecture = pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])


@each_architecture
@pytest.mark.parametrize("name", BIND)
def test_an_example_agrees_with_the_reference(name, arch):
    model = tinyc.compile(EXAMPLES / f"{name}.json", target="sim", arch=arch, bind=BIND[name])
    module = model.lowering.module("tiny")
    inputs = random_inputs(module, seed=0)
    expected, tolerances = reference.evaluate_module(module, inputs), output_tolerances(module, inputs)
    for comparison in compare_all(model.run(**inputs), expected, tolerances):
        assert comparison.ok, str(comparison)


@each_architecture
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_running_example_is_right_at_odd_sizes(size, arch):
    m, n, k = size
    rng = np.random.default_rng(0)
    x, w, bias = (rng.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n), (n,)))
    model = tinyc.compile(EXAMPLES / "gemm_bias_relu.json", target="sim", arch=arch)
    exact = np.maximum(x.astype(np.float64) @ w.astype(np.float64) + bias, 0)
    np.testing.assert_allclose(model(x, w, bias), exact, rtol=1e-3, atol=1e-3)


@each_architecture
def test_random_programs_agree_with_the_reference(random_examples, arch):
    @random_examples(programs(), 15)
    def check(program):
        model = tinyc.compile(json.dumps(program.document), target="sim", arch=arch, bind=program.bind)
        module = model.lowering.module("tiny")
        expected = reference.evaluate_module(module, program.inputs)
        assert_agree(program, model.run(**program.inputs), expected, module)

    check()


@pairwise(arch=["sm_80", "sm_90a"], dtype=["i8", "u8", "fp16", "bf16"], size=[1, 2, 5, 7])
def test_the_last_element_of_a_narrow_type_is_added_to(arch, dtype, size):
    """The word around it, which an atomic compares and swaps, ends behind the tensor."""
    declared = [("x", dtype, [size]), ("i", "i32", [2]), ("updates", dtype, [2])]
    uops = [
        {"id": name, "uop": "INPUT", "src": [], "arg": {"tensor_id": name, "dtype": kind, "shape": shape}}
        for name, kind, shape in declared
    ]
    uops.append({"id": "y", "uop": "SCATTER", "src": [name for name, *_ in declared], "arg": {"axis": 0, "op": "ADD"}})
    model = tinyc.compile(json.dumps({"uops": uops}), target="sim", arch=arch)
    storage = BY_JSON_NAME[dtype].dtype
    y = model(np.ones(size, storage), np.full(2, size - 1, np.int32), np.array([2, 3], storage))
    np.testing.assert_array_equal(y.astype(np.int64), [1] * (size - 1) + [6])


def test_an_index_out_of_range_is_reported():
    model = tinyc.compile(EXAMPLES / "gather.json", target="sim", bind=BIND["gather"])
    inputs = random_inputs(model.lowering.module("tiny"), seed=0)
    (name,) = (name for name, array in inputs.items() if array.dtype.kind == "i")
    inputs[name].reshape(-1)[3] = BIND["gather"]["V"]
    with pytest.raises(tinyc.TinycError) as caught:
        model.run(**inputs)
    assert caught.value.name == "IndexOutOfRange"


@each_architecture
def test_rows_share_operands_of_several_types(arch):
    text = """
      func.func @main(%x: tensor<40x6xf32> {tiny.name = "x"}, %g: tensor<6xf32> {tiny.name = "g"},
                      %h: tensor<6xi32> {tiny.name = "h"}) -> (tensor<40xf32> {tiny.name = "y"}) {
        %0 = "tiny.cast"(%h) : (tensor<6xi32>) -> tensor<6xf32>
        %1 = "tiny.add"(%g, %0) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
        %2 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 1>} : (tensor<6xf32>) -> tensor<40x6xf32>
        %3 = "tiny.max"(%x, %2) : (tensor<40x6xf32>, tensor<40x6xf32>) -> tensor<40x6xf32>
        %4 = "tiny.reduce"(%3) {op = "sum", axes = array<i64: 1>} : (tensor<40x6xf32>) -> tensor<40xf32>
        return %4 : tensor<40xf32>
      }"""
    model = tinyc.compile(text, target="sim", arch=arch)
    assert model.text("gpu").count('"tgpu.share"') == 2
    x, g, h = np.arange(240, dtype=np.float32).reshape(40, 6), np.arange(6, dtype=np.float32), np.arange(20, 26)
    expected = np.maximum(x, g + h).sum(1)
    np.testing.assert_array_equal(model(x, g, h.astype(np.int32)), expected)


@each_architecture
def test_an_index_is_not_reported_where_a_thread_has_no_element(arch):
    """Threads behind the end of a row compute an index, too: of a place that there is not."""
    text = """
      func.func @main(%x: tensor<540xf32> {tiny.name = "x"}, %i: tensor<3x36xi64> {tiny.name = "i"})
          -> (tensor<f32> {tiny.name = "y"}) {
        %0 = "tiny.iota"() {axis = 0 : i64} : () -> tensor<3x36xi64>
        %1 = "tiny.const"() {value = 180 : i64} : () -> tensor<3x36xi64>
        %2 = "tiny.mul"(%0, %1) : (tensor<3x36xi64>, tensor<3x36xi64>) -> tensor<3x36xi64>
        %3 = "tiny.add"(%i, %2) : (tensor<3x36xi64>, tensor<3x36xi64>) -> tensor<3x36xi64>
        %4 = "tiny.gather"(%x, %3) {axis = 0 : i64} : (tensor<540xf32>, tensor<3x36xi64>) -> tensor<3x36xf32>
        %5 = "tiny.reduce"(%4) {op = "sum", axes = array<i64: 0, 1>} : (tensor<3x36xf32>) -> tensor<f32>
        return %5 : tensor<f32>
      }"""
    model = tinyc.compile(text, target="sim", arch=arch)
    x, i = np.arange(540, dtype=np.float32), np.random.default_rng(0).integers(0, 180, (3, 36))
    assert model(x, i) == x.reshape(3, 180)[np.arange(3)[:, None], i].sum()
    i[2, 35] = 180
    with pytest.raises(tinyc.TinycError, match=r"index 540 at \[2, 35\] is outside") as caught:
        model(x, i)
    assert caught.value.name == "IndexOutOfRange"
