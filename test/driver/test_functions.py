"""Programs of several functions: calls between them are inlined before anything else."""

import numpy as np
import pytest

import tinyc
from tinyc.diagnostics import TinycError

LAYERS = """
!v = tensor<?xf32, #tiny.dims<["N"]>>
func.func @main(%x: !v {tiny.name = "x"}, %w: !v {tiny.name = "w"}) -> (!v {tiny.name = "y"}) {
  %first = call @layer(%x, %w) : (!v, !v) -> !v
  %second = call @layer(%first, %w) : (!v, !v) -> !v
  return %second : !v
}
func.func private @layer(%x: !v, %w: !v) -> !v {
  %0 = call @scaled(%x) : (!v) -> !v
  %1 = "tiny.add"(%0, %w) : (!v, !v) -> !v
  return %1 : !v
}
func.func private @scaled(%x: !v) -> !v {
  %0 = "tiny.mul"(%x, %x) : (!v, !v) -> !v
  return %0 : !v
}
func.func private @forgotten(%x: !v) -> !v {
  return %x : !v
}
"""


@pytest.mark.parametrize("target", ["cpu", "sim", "reference"])
@pytest.mark.parametrize("bind", [None, {"N": 3}])
def test_functions_that_call_each_other_are_one_program(target, bind):
    model = tinyc.compile(LAYERS, target=target, bind=bind)
    x, w = np.array([1, 2, 3], np.float32), np.array([4, 5, -6], np.float32)
    np.testing.assert_array_equal(model(x, w), (x * x + w) ** 2 + w)
    assert model.inputs == ("x", "w")
    assert model.text("tiny").count("func.func") == 1


def test_what_no_function_calls_is_a_remark():
    (found,) = [each for each in tinyc.compile(LAYERS).remarks if each.code == "unused-function"]
    assert found.message == "@forgotten is called by no other function and is left out"


def test_a_module_of_one_function_is_left_as_it_is():
    one = tinyc.compile(LAYERS).text("tiny")
    model = tinyc.compile(one)
    assert model.text("tiny").count("tiny.add") == 2
    assert not [each for each in model.remarks if each.code == "unused-function"]


def test_recursion_names_its_cycle_and_its_file(tmp_path):
    file = tmp_path / "endless.mlir"
    file.write_text(
        LAYERS.replace("call @scaled", "call @layer").replace("@layer(%x) : (!v)", "@layer(%x, %w) : (!v, !v)")
    )
    with pytest.raises(TinycError, match=r"@layer calls @layer; a program is a graph without recursion") as caught:
        tinyc.compile(file)
    assert caught.value.name == "CyclicGraph"
    assert (caught.value.where.file, caught.value.where.line) == (str(file), 9)


def test_functions_that_double_with_each_call_are_refused_before_they_are_inlined():
    functions = ["func.func private @f0(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }"]
    for number in range(1, 60):
        calls = "".join(f"  %{k + 1} = call @f{number - 1}(%{k}) : (tensor<f32>) -> tensor<f32>\n" for k in range(2))
        functions.append(
            f"func.func @f{number}(%0: tensor<f32>) -> tensor<f32> {{\n{calls}  return %2 : tensor<f32>\n}}"
        )
    with pytest.raises(TinycError, match=r"ops once its calls are inlined, and 1000000 is the limit") as caught:
        tinyc.compile("\n".join(functions))
    assert caught.value.name == "InvalidIr"
