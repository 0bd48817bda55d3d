"""What the targets agree on before they compute anything: names, the function that is the program, sizes."""

import numpy as np
import pytest

import tinyc
from tinyc.diagnostics import TinycError

TARGETS = pytest.mark.parametrize("target", ["cpu", "reference"])
X, Y = np.array([1, 2], np.float32), np.array([10, 20], np.float32)


def addition(name="main", first="", second=""):
    return f"""func.func @{name}(%x: tensor<2xf32>{first}, %y: tensor<2xf32>{second}) -> tensor<2xf32> {{
      %0 = "tiny.add"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }}
    """


NEGATION = """func.func @other(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = "tiny.neg"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
"""


def counting(extent):
    """Return a program that sums 0 … extent - 1: no input and no output has that extent."""
    tensor = f'tensor<?xi64, #tiny.dims<["{extent}"]>>'
    return f"""func.func @main(%x: tensor<?x?xf32, #tiny.dims<["M", "N"]>> {{tiny.name = "x"}}) -> tensor<i64> {{
      %0 = "tiny.iota"() {{axis = 0}} : () -> {tensor}
      %1 = "tiny.reduce"(%0) {{op = "sum", axes = array<i64: 0>}} : ({tensor}) -> tensor<i64>
      return %1 : tensor<i64>
    }}"""


@TARGETS
@pytest.mark.parametrize(
    ("second", "names"),
    [
        ("", ("arg0", "arg1")),
        (' {tiny.name = "input_0"}', ("arg0", "input_0")),
        (' {tiny.name = "arg0"}', ("arg0_1", "arg0")),
    ],
)
def test_what_has_no_name_is_called_by_its_position(target, second, names):
    model = tinyc.compile(addition(second=second), target=target)
    assert (model.inputs, model.outputs) == (names, ("result0",))
    np.testing.assert_array_equal(model(X, Y), X + Y)


@TARGETS
@pytest.mark.parametrize("source", [addition() + NEGATION, NEGATION + addition(), addition("only")])
def test_the_program_is_main_or_the_only_function(target, source):
    np.testing.assert_array_equal(tinyc.compile(source, target=target)(X, Y), X + Y)


@TARGETS
def test_several_functions_without_main_are_no_program(target):
    with pytest.raises(TinycError, match="called @main; it has @other, @add") as caught:
        tinyc.compile(NEGATION + addition("add"), target=target)
    assert caught.value.name == "InvalidIr"


@TARGETS
@pytest.mark.parametrize(
    ("extent", "shape", "relation"),
    [("M floordiv N", (3, 0), "1 <= N, and that is 1 and 0"), ("M - 5", (3, 1), "0 <= M - 5, and that is 0 and -2")],
)
def test_sizes_that_there_cannot_be_are_refused_before_anything_runs(target, extent, shape, relation):
    model = tinyc.compile(counting(extent), target=target)
    assert model(np.zeros((7, 2), np.float32)) in (3, 1)
    with pytest.raises(TinycError, match=relation) as caught:
        model(np.zeros(shape, np.float32))
    assert caught.value.name == "AssumptionViolated"


@pytest.mark.parametrize("target", ["cpu", "sim", "reference"])
def test_sizes_that_a_node_does_not_admit_are_refused_at_that_node(target):
    source = {
        "uops": [
            {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "X", "dtype": "fp32", "shape": ["M", 6]}},
            {"id": "fours", "uop": "RESHAPE", "src": ["x"], "arg": {"result_shape": ["Q", 4]}},
            {"id": "again", "uop": "RESHAPE", "src": ["x"], "arg": {"result_shape": ["Q", 4]}},
            {"id": "y", "uop": "ADD", "src": ["fours", "again"]},
        ]
    }
    model = tinyc.compile(source, target=target)
    assert model(np.ones((2, 6), np.float32)).shape == (3, 4)
    with pytest.raises(TinycError, match="and that is 18 and 16 with M = 3") as caught:
        model(np.ones((3, 6), np.float32))
    assert [(error.name, error.where.node) for error in caught.value.errors] == [("AssumptionViolated", "fours")]


@TARGETS
def test_a_symbol_that_no_input_tells_has_to_be_bound(target):
    model = tinyc.compile(counting("P"), target=target)
    with pytest.raises(TinycError, match="do not tell 'P'") as caught:
        model(np.zeros((1, 1), np.float32))
    assert caught.value.name == "UnboundSymbol"
    assert tinyc.compile(counting("P"), target=target, bind={"P": 3})(np.zeros((1, 1), np.float32)) == 3


@pytest.mark.parametrize(
    ("extent", "bind", "message"),
    [("M floordiv N", {"N": 0}, "M floordiv N with N = 0"), ("M - 5", {"M": 3}, "extent -2 of")],
)
def test_a_bind_that_makes_no_size_is_refused(extent, bind, message):
    with pytest.raises(TinycError, match=message) as caught:
        tinyc.compile(counting(extent), bind=bind)
    assert caught.value.name == "InvalidExtent"


def program(uop, shapes, arg):
    """Return a program of one op on inputs of these element types and shapes."""
    inputs = [
        {"id": name, "uop": "INPUT", "arg": {"tensor_id": name, "dtype": dtype, "shape": shape}}
        for name, (dtype, shape) in shapes.items()
    ]
    return {"uops": [*inputs, {"id": "y", "uop": uop, "src": list(shapes), "arg": arg}]}


@TARGETS
def test_an_index_with_which_nothing_is_read_or_written_is_not_checked(target):
    data, index = np.zeros((3, 0), np.float32), np.array([7])
    shapes = {"x": ("fp32", ["M", "N"]), "i": ("i64", ["K"])}
    gather = tinyc.compile(program("GATHER", shapes, {"axis": 0}), target=target)
    assert gather(data, index).shape == (1, 0)
    shapes["u"] = ("fp32", ["K", "N"])
    for op in ("SET", "ADD"):
        scatter = tinyc.compile(program("SCATTER", shapes, {"axis": 0, "op": op}), target=target)
        assert scatter(data, index, np.zeros((1, 0), np.float32)).shape == (3, 0)
        with pytest.raises(TinycError) as caught:  # an update that has no place to go to
            scatter(np.zeros((0, 2), np.float32), index, np.zeros((1, 2), np.float32))
        assert caught.value.name == "IndexOutOfRange"


@TARGETS
@pytest.mark.parametrize(
    ("uop", "arg", "more"),
    [
        ("GATHER", {"axis": 1}, {}),
        ("SCATTER", {"axis": 1, "op": "SET"}, {"u": ("fp32", ["M", 2, 3])}),
        ("SCATTER", {"axis": 1, "op": "ADD"}, {"u": ("fp32", ["M", 2, 3])}),
    ],
)
@pytest.mark.parametrize("wrong", [-1, 4])
def test_an_index_out_of_range_is_named_with_its_place_and_what_it_indexes(target, uop, arg, more, wrong):
    shapes = {"x": ("fp32", ["M", "N"]), "i": ("i32", [2, 3]), **more}
    model = tinyc.compile(program(uop, shapes, arg), target=target)
    data, updates = np.ones((1, 4), np.float32), [np.ones((1, 2, 3), np.float32)] * len(more)
    index = np.array([[0, 1, 2], [3, wrong, 0]], np.int32)
    with pytest.raises(TinycError) as caught:
        model(data, index, *updates)
    assert caught.value.name == "IndexOutOfRange"
    assert f"index {wrong} at [1, 1] is outside axis 1 of extent 4" in caught.value.message
    assert caught.value.message.endswith("; an index is one of 0 … 3")


def test_the_remarks_of_runs_are_kept_once():
    model = tinyc.compile(addition())
    for _ in range(2):
        model(np.zeros(4, np.float32)[::2], Y)
    assert [remark.code for remark in model.remarks].count("strided-copy") == 1


@TARGETS
def test_a_missing_input_is_described_in_the_words_of_tiny_json(target):
    model = tinyc.compile(program("NEG", {"x": ("fp16", ["M", "K"])}, {}), target=target)
    with pytest.raises(TinycError) as caught:
        model.run()
    assert caught.value.message == "input 'x' is missing; give an array of fp16 [M, K]"


@TARGETS
def test_an_index_out_of_range_names_the_node_and_the_index(target):
    document = program("GATHER", {"x": ("fp32", ["N"]), "i": ("i64", ["K"])}, {"axis": 0})
    document["uops"] += [{"id": "z", "uop": "GATHER", "src": ["x", "y2"], "arg": {"axis": 0}}]
    document["uops"] += [{"id": "r", "uop": "ADD", "src": ["y", "z"]}]
    document["uops"].insert(2, {"id": "y2", "uop": "INPUT", "arg": {"tensor_id": "j", "dtype": "i64", "shape": ["K"]}})
    model = tinyc.compile(document, target=target)
    for data, bad in ((np.ones(3, np.float32), 3), (np.ones(3, np.float32), -1)):
        with pytest.raises(TinycError) as caught:
            model(data, np.array([0]), np.array([bad]))
        assert caught.value.where.node == "z"
        assert f"index {bad} " in caught.value.message
    with pytest.raises(TinycError, match="an axis of extent 0 has no index"):
        model(np.ones(0, np.float32), np.array([0]), np.array([0]))


def test_windows_of_unknown_sizes_have_places_in_the_arena():
    """At small sizes the windows would be fewer than none; no run has those."""
    document = program("POOL", {"x": ("fp32", ["H", "W"])}, {"kernel": [5]})
    document["uops"].append({"id": "s", "uop": "REDUCE", "src": ["y"], "arg": {"op": "SUM", "axes": [-1]}})
    document["uops"][-1]["arg"]["dtype"] = "fp32"
    document["uops"] += [{"id": "e", "uop": "EXP2", "src": ["s"]}, {"id": "n", "uop": "NEG", "src": ["e"]}]
    assert (tinyc.compile(document)(np.zeros((2, 6), np.float32)) == -1).all()


def test_the_arena_of_a_compiled_program_is_proved_and_not_sampled(monkeypatch):
    monkeypatch.setattr("tinyc.dialects.exec.verify_arena._arena_at", lambda *_: pytest.fail("sampled"))
    document = program("EXP2", {"x": ("fp32", ["H", "W"])}, {})
    document["uops"] += [{"id": each, "uop": "NEG", "src": [source]} for each, source in (("a", "y"), ("b", "a"))]
    assert "exec.buffer" in tinyc.compile(document).text("exec")
