"""Symbols: bound, solved from the shape equations, taken from the inputs at run time, or missing."""

import itertools

import numpy as np
import pytest

from importers.documents import (
    CONV_SIZES,
    EXAMPLES,
    assumptions,
    error_of,
    errors_of,
    load,
    node,
    output,
    program,
    signature,
    tensor,
)
from tinyc.diagnostics import TinycError, collect_remarks
from tinyc.executors import reference
from tinyc.importers import tiny_json

CONV = EXAMPLES / "conv2d.json"


def test_a_bound_symbol_is_a_number_everywhere():
    module = load(tensor("x", "M", "K"), node("y", "RESHAPE", "x", result_shape=["K", "M"][::-1]), bind={"M": 3})
    assert signature(module)[0] == {"x": "fp32 [3, K]"}


def test_the_convolution_of_001_is_solved():
    module = tiny_json.import_program(CONV, CONV_SIZES)
    inputs, outputs = signature(module)
    assert inputs == {"X": "fp16 [N, G*Cin, H, W]", "W": "fp16 [G*Rcout, Cin, 3, 3]", "bias": "fp16 [G*Rcout]"}
    assert outputs == {"y": "fp16 [N, G*Rcout, (H - 1) floordiv 2 + 1, (W - 1) floordiv 2 + 1]"}
    assert assumptions(module) == ["3 le H + 2", "3 le W + 2"]


def test_the_convolution_of_001_is_solved_where_the_inputs_are_bound():
    sizes = {"N": 2, "Cin_total": 8, "Cin": 4, "H": 9, "W": 10, "Cout": 6}
    assert output(tiny_json.import_program(CONV, {**CONV_SIZES, **sizes})) == "fp16 [2, 6, 5, 5]"


def test_channels_that_no_group_divides_are_refused():
    sizes = {"Cin_total": 9, "Cin": 4}
    assert ("AxisSizeMismatch", "x1") in errors_of(CONV, {**CONV_SIZES, **sizes, "N": 1, "H": 9, "W": 9})


def test_solved_symbols_are_remarked():
    with collect_remarks() as remarks:
        tiny_json.import_program(CONV, CONV_SIZES)
    solved = {r.evidence["symbol"]: r.evidence["extent"] for r in remarks if r.code == "symbol-solved"}
    assert (solved["Cin_total"], solved["Ox"]) == ("G*Cin", "(W - 1) floordiv 2 + 1")


def test_sizes_that_must_be_numbers_are_all_asked_for():
    with pytest.raises(TinycError) as caught:
        tiny_json.import_program(CONV)
    assert [(error.name, error.where.node) for error in caught.value.errors] == [
        ("UnboundSymbol", "xp"),
        ("UnboundSymbol", "xw"),
    ]
    for name in CONV_SIZES:
        assert f"'{name}'" in str(caught.value)


def test_a_window_may_be_solved_to_a_number():
    module = load(
        tensor("w", 3),
        tensor("x", "N"),
        node("v", "RESHAPE", "w", result_shape=["K"]),
        node("y", "POOL", "x", kernel=["K"]),
    )
    assert signature(module)[1]["y"] == "fp32 [N - 2, 3]"


def test_an_equation_that_need_not_hold_is_assumed():
    module = load(tensor("x", "S"), node("y", "RESHAPE", "x", result_shape=["G", 4]), bind={"S": 12})
    assert (output(module), assumptions(module)) == ("fp32 [3, 4]", [])
    module = load(tensor("x", 12), tensor("c", "C"), node("y", "RESHAPE", "x", result_shape=["G", "C"]))
    assert signature(module)[1]["y"] == "fp32 [12 floordiv C, C]"
    assert assumptions(module) == ["12 eq C*(12 floordiv C)"]


def test_an_equation_that_cannot_hold_is_refused():
    error = error_of(tensor("x", "B", "S", 65), node("y", "RESHAPE", "x", result_shape=["B", "S", 4, "D"]))
    assert (error.name, error.where.node) == ("AxisSizeMismatch", "y")


def test_expand_and_elementwise_uops_tell_symbols_too():
    module = load(
        tensor("x", "M"),
        tensor("z", 1),
        node("e", "EXPAND", "z", result_shape=["P"]),
        node("y", "ADD", "x", "e"),
    )
    assert output(module) == "fp32 [M]"


def test_a_symbol_that_nothing_tells_is_missing():
    error = error_of(tensor("x", 1), node("y", "EXPAND", "x", result_shape=["P"]), node("z", "NEG", "y"))
    assert (error.name, error.where.node) == ("UnboundSymbol", "y")
    assert "'P'" in error.message


def test_symbols_that_the_inputs_tell_only_together_are_missing():
    error = error_of(tensor("x", "A*B"), node("y", "NEG", "x"))
    assert error.name == "UnboundSymbol"
    assert "'A', 'B'" in error.message


def test_symbols_that_an_equation_tells_only_together_are_missing():
    error = error_of(tensor("x", "S"), node("y", "RESHAPE", "x", result_shape=["A", "B"]))
    assert (error.name, error.where.node) == ("UnboundSymbol", "y")
    assert "'A', 'B'" in error.message


def test_a_missing_symbol_is_asked_for_once():
    nodes = [node(f"c{k}", "CONST", value=0, dtype="i8", shape=["P"]) for k in range(3)]
    assert errors_of(program(*nodes, node("y", "ADD", "c0", "c1"))) == [("UnboundSymbol", "c0")]


@pytest.mark.parametrize(
    ("bind", "name"),
    [
        ({"Q": 3}, "UnboundSymbol"),
        ({"M": -1}, "InvalidExtent"),
        ({"M": 2**63}, "InvalidExtent"),
        ({"M": 2.0}, "InvalidExtent"),
        ({"M": True}, "InvalidExtent"),
        ({"M": "3"}, "InvalidExtent"),
    ],
)
def test_what_cannot_be_bound(bind, name):
    error = error_of(tensor("x", "M"), node("y", "NEG", "x"), bind=bind)
    assert error.name == name
    assert next(iter(bind)) in error.message


def test_a_bind_of_an_unknown_name_lists_the_symbols():
    assert "M, N" in error_of(tensor("x", "M", "N"), node("y", "NEG", "x"), bind={"m": 3}).message


def test_a_division_by_a_bound_zero_is_an_error():
    nodes = [tensor("x", 12), tensor("c", "C"), node("y", "RESHAPE", "x", result_shape=["G", "C"])]
    assert errors_of(program(*nodes), {"C": 0})[0][0] == "InvalidExtent"


def test_bound_sizes_that_make_a_window_too_large_are_refused():
    nodes = [tensor("x", "N"), node("y", "POOL", "x", kernel=["K"])]
    assert error_of(*nodes, bind={"N": 3, "K": 4}).name == "WindowTooLarge"


# --- binding what the equations tell anyway ---------------------------------------------------------------------------

#: Sizes of 001 §5.2 that fit each other.
CONSISTENT = {"G": 2, "Rcout": 2, "Oy": 5, "Ox": 4, "Cin_total": 6, "Cout": 4, "Cin": 3, "N": 2, "H": 9, "W": 8}
SUBSETS = [names for count in range(5) for names in itertools.combinations(("G", "Rcout", "Oy", "Ox"), count)]


def convolve(bind):
    """Return the result of 001 §5.2 at the sizes of `CONSISTENT`, and what numpy says it is."""
    generator = np.random.default_rng(0)
    shapes = {"X": (2, 6, 9, 8), "W": (4, 3, 3, 3), "bias": (4,)}
    x, w, bias = arrays = [(generator.random(shape) - 0.5).astype(np.float16) for shape in shapes.values()]
    found = reference.evaluate_module(
        tiny_json.import_program(CONV, {**CONV_SIZES, **bind}), dict(zip(shapes, arrays, strict=True))
    )
    padded = np.pad(x.astype(float), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
    groups = windows.reshape(2, 2, 3, *windows.shape[2:])
    expected = np.einsum("ngcyxkl,grckl->ngryx", groups, w.reshape(2, 2, 3, 3, 3).astype(float))
    return found["y"], expected.reshape(2, 4, 5, 4) + bias.astype(float)[:, None, None]


@pytest.mark.parametrize("names", SUBSETS)
def test_sizes_that_fit_may_be_bound_or_not(names):
    found, expected = convolve({name: CONSISTENT[name] for name in names})
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("names", SUBSETS)
@pytest.mark.parametrize("sizes", [("Cin_total",), ("Cout", "H", "W"), ("Cin", "N"), ("Cin_total", "Cout", "Cin", "H")])
def test_sizes_of_inputs_may_be_bound_beside_them(names, sizes):
    bind = {name: CONSISTENT[name] for name in (*names, *sizes)}
    module = tiny_json.import_program(CONV, {**CONV_SIZES, **bind})
    assert signature(module)[1]["y"].count(",") == 3


@pytest.mark.parametrize(("names", "wrong"), [(names, wrong) for names in SUBSETS for wrong in names])
def test_sizes_that_do_not_fit_are_refused(names, wrong):
    with pytest.raises(TinycError):
        convolve({**{name: CONSISTENT[name] for name in names}, wrong: CONSISTENT[wrong] + 1})


@pytest.mark.parametrize("inputs", [{}, {"H": 9, "W": 8}])
def test_exchanged_sizes_are_refused_though_their_product_fits(inputs):
    with pytest.raises(TinycError):
        convolve({"Oy": 4, "Ox": 5, **inputs})


def test_a_bound_size_that_the_inputs_tell_is_a_condition_on_them():
    module = tiny_json.import_program(CONV, {**CONV_SIZES, "Oy": 5})
    assert "5 eq (H - 1) floordiv 2 + 1" in assumptions(module)
    assert signature(module)[0]["X"] == "fp16 [N, G*Cin, H, W]"


def test_bound_sizes_that_contradict_the_equations_are_named():
    with pytest.raises(TinycError) as caught:
        tiny_json.import_program(CONV, {**CONV_SIZES, "Oy": 4, "Ox": 5, "H": 9, "W": 8})
    assert "bind makes that 4 == 5" in str(caught.value)


def test_a_number_takes_part_like_a_bound_symbol():
    module = load(
        tensor("x", "Ct", "H"),
        tensor("w", "Cin"),
        node("p", "PAD", "x", pad=[[0, 0], [1, 1]]),
        node("y", "RESHAPE", "p", result_shape=[2, "Cin", "Oy"]),
    )
    assert signature(module)[0]["x"] == "fp32 [2*Cin, H]"
    assert signature(module)[1]["y"] == "fp32 [2, Cin, H + 2]"
