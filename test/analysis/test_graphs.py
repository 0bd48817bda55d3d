"""What values and functions are called: as the user calls them, each once."""

from tinyc import text
from tinyc.analysis.graphs import functions_of, input_names, output_names
from tinyc.mlir.names import DistinctNames, declared_symbols


def test_new_names_are_numbered_where_they_are_taken():
    module = text.parse("func.func private @f()\nfunc.func private @f_1()")
    names = DistinctNames(declared_symbols(module.body))
    found = [names.new(stem) for stem in ("f", "g", "g", "f_1", "g", "g_1")]
    assert found == ["f_2", "g", "g_1", "f_1_1", "g_2", "g_1_1"]


def test_arguments_and_results_without_a_name_make_way_for_those_that_have_one():
    module = text.parse("""
    func.func @f(%a: i32, %b: i32 {tiny.name = "arg0"}, %c: i32 {tiny.name = "x"}, %d: i32 {tiny.name = "x"})
        -> (i32 {tiny.name = "result1"}, i32) {
      return %a, %b : i32, i32
    }""")
    (function,) = functions_of(module)
    assert input_names(function) == ["arg0_1", "arg0", "x", "x_1"]
    assert output_names(function) == ["result1", "result1_1"]
