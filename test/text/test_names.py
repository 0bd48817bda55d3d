"""The names that a text has for its values: locations that every printer uses."""

import pytest

from tinyc import text

TEXT = """
func.func @main(%X: tensor<4xf32>, %0: tensor<4xf32>) -> tensor<4xf32> {
  %P = "tiny.mul"(%X, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %P.lhs = "tiny.neg"(%P) : (tensor<4xf32>) -> tensor<4xf32> loc("given"("elsewhere":7:8))
  %1 = "tiny.add"(%P, %P.lhs) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""


def ops(module):
    return list(module.body.operations[0].regions[0].blocks[0].operations)


@pytest.mark.parametrize("head", ["", "func.func private @other()\n"], ids=["one op", "several ops"])
def test_a_value_is_located_by_its_name_and_place(head):
    module = text.parse(head + TEXT, "p.mlir")
    line = 3 + len(head.splitlines())
    function = module.body.operations[len(head.splitlines())]
    block = function.regions[0].blocks[0]
    assert str(block.operations[0].location) == f'loc("P"("p.mlir":{line}:8))'
    assert str(block.arguments[0].location) == f'loc("X"("p.mlir":{line - 1}:17))'
    assert str(block.operations[2].location) == f'loc("p.mlir":{line + 2}:8)'  # %1 is no name


def test_a_name_location_that_the_text_gives_stays():
    assert str(ops(text.parse(TEXT))[1].location) == 'loc("given"("elsewhere":7:8))'


def test_names_survive_printing_and_parsing():
    once = text.print_ir(text.parse(TEXT))
    assert '%P = "tiny.mul"(%X, %arg1)' in once
    assert text.print_ir(text.parse(once)) == once


def test_loops_name_their_arguments_and_results():
    source = """
func.func @f(%n: index, %start: f32) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %total, %other = scf.for %row = %zero to %n step %one iter_args(%so_far = %start, %copy = %start) -> (f32, f32) {
    scf.yield %so_far, %copy : f32, f32
  }
  return %total : f32
}
"""
    printed = text.print_ir(text.parse(source))
    assert "%total:2 = scf.for %row = %zero to %n step %one iter_args(%so_far = %start, %copy = %start)" in printed


def test_a_name_in_a_string_or_a_comment_is_none():
    module = text.parse('// %P = "x"\nfunc.func @f() attributes {note = "%P = "} {\n  return\n}\n')
    assert "%P" not in text.print_ir(module).replace('note = "%P = "', "")
