"""The way out: the 001 spelling with every default spelled out, which reads back to the same program."""

import json

import pytest
from hypothesis import HealthCheck, given, settings

from importers.documents import load, node, tensor
from programs.strategies import programs
from tinyc.diagnostics import TinycError
from tinyc.dialects.registry import context
from tinyc.importers import tiny_json
from tinyc.mlir import ir

X = tensor("x", "M", 6)


def dumped(module):
    document = json.loads(tiny_json.dump(module))
    return {entry["id"]: (entry["uop"], entry["src"], entry["arg"]) for entry in document["uops"]}


def parsed(text):
    with context():
        return ir.Module.parse(text)


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(programs())
def test_a_program_reads_back_as_it_was(program):
    module = tiny_json.import_program(program.document, program.bind)
    again = tiny_json.import_program(tiny_json.dump(module))
    assert str(again) == str(module)
    assert tiny_json.dump(again) == tiny_json.dump(module)


@pytest.mark.parametrize(
    ("written", "out"),
    [
        (node("y", "EXPAND", "c", result_shape=[4, 3]), {"result_shape": [4, 3], "broadcast_dimensions": [1]}),
        (node("y", "EXPAND", "r", result_shape=[4, 3]), {"result_shape": [4, 3], "broadcast_dimensions": [1]}),
        (node("y", "PAD", "c", pad=[[1, 0]]), {"pad": [[1, 0]], "value": 0.0}),
        (node("y", "SHRINK", "x", lo=[0, 1], hi=["M", 3]), {"lo": [0, 1], "hi": ["M", 3], "step": [1, 1]}),
        (node("y", "POOL", "x", kernel=[2]), {"kernel": [2], "stride": [1], "dilation": [1]}),
        (node("y", "TOPK", "x", k=1, axis=-1), {"k": 1, "axis": 1, "largest": True}),
        (node("y", "VIEW", "x"), {"result_shape": ["M", 6], "index_map": {"map": ["i0", "i1"]}}),
        (
            node("y", "REDUCE", "x", op="MAX", axes=["M"], acc_dtype="fp32"),
            {"op": "MAX", "axes": [0], "dtype": "fp32"},
        ),
        (
            node("y", "RAND", shape=[2], dtype="fp16", distribution="uniform", seed=5),
            {"distribution": "uniform", "seed": 5, "stream": 0, "dtype": "fp16", "shape": [2]},
        ),
    ],
)
def test_defaults_are_spelled_out(written, out):
    module = load(X, tensor("c", 3), tensor("r", 1, 3), written)
    assert dumped(module)["y"][2] == out


def test_inserted_steps_become_nodes():
    module = load(X, node("y", "ADD", "x", float("-inf")))
    assert dumped(module)["y.const"] == ("CONST", [], {"value": float("-inf"), "dtype": "fp32", "shape": ["M", 6]})
    assert "-Infinity" in tiny_json.dump(module)


def test_outputs_are_always_named():
    module = load(X, node("a", "NEG", "x"), node("b", "NEG", "a"), outputs=["a", "x"])
    assert json.loads(tiny_json.dump(module))["outputs"] == ["a", "x"]


def test_ids_are_made_up_where_there_are_none():
    module = parsed("""
      func.func @main(%a: tensor<2xf32> {tiny.name = "n1"}) -> (tensor<2xf32> {tiny.name = "y"}) {
        %0 = "tiny.neg"(%a) : (tensor<2xf32>) -> tensor<2xf32>
        %1 = "tiny.neg"(%0) : (tensor<2xf32>) -> tensor<2xf32>
        return %1 : tensor<2xf32>
      }""")
    assert [(name, *entry[:2]) for name, entry in dumped(module).items()] == [
        ("n0", "INPUT", []),
        ("n1", "NEG", ["n0"]),
        ("y", "NEG", ["n1"]),
    ]
    assert dumped(module)["n0"][2]["tensor_id"] == "n1"


def test_a_value_with_two_names_gets_an_identity():
    module = parsed("""
      func.func @main(%a: tensor<2xf32> {tiny.name = "a"})
          -> (tensor<2xf32> {tiny.name = "y"}, tensor<2xf32> {tiny.name = "z"}) {
        %0 = "tiny.neg"(%a) : (tensor<2xf32>) -> tensor<2xf32>
        return %0, %0 : tensor<2xf32>, tensor<2xf32>
      }""")
    assert dumped(module)["z"][:2] == ("VIEW", ["y"])
    assert json.loads(tiny_json.dump(module))["outputs"] == ["y", "z"]


def test_an_expand_that_exchanges_axes_gets_a_permute():
    module = parsed("""
      func.func @main(%a: tensor<3x1xf32> {tiny.name = "a"}) -> (tensor<4x3xf32> {tiny.name = "y"}) {
        %0 = "tiny.expand"(%a) {broadcast_dimensions = array<i64: 1, 0>} : (tensor<3x1xf32>) -> tensor<4x3xf32>
        return %0 : tensor<4x3xf32>
      }""")
    assert dumped(module)["y.permute"] == ("PERMUTE", ["n0"], {"perm": [1, 0]})
    assert dumped(module)["y"][1:] == (["y.permute"], {"result_shape": [4, 3], "broadcast_dimensions": [1]})


@pytest.mark.parametrize(
    "text",
    [
        "module {}",
        """func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
          %0 = arith.negf %a : tensor<2xf32>
          return %0 : tensor<2xf32>
        }""",
    ],
)
def test_what_is_no_tiny_program_has_no_json(text):
    with pytest.raises(TinycError) as caught:
        tiny_json.dump(parsed(text))
    assert caught.value.name == "InvalidIr"
