"""Symbols: bound, solved from the shape equations, taken from the inputs at run time, or missing."""

import itertools

import numpy as np
import pytest

from importers.documents import assumptions, error_of, errors_of, load, node, output, program, signature, tensor
from programs.example_bindings import CONV as CONV_SIZES
from programs.example_bindings import EXAMPLES
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
    assert inputs == {"X": "fp16 [N, G*Cin, 9, 8]", "W": "fp16 [G*Rcout, Cin, 3, 3]", "bias": "fp16 [G*Rcout]"}
    assert outputs == {"y": "fp16 [N, G*Rcout, 5, 4]"}
    assert assumptions(module) == []


def test_the_convolution_of_001_is_solved_where_the_inputs_are_bound():
    sizes = {"N": 2, "Cin_total": 8, "Cin": 4, "Cout": 6}
    assert output(tiny_json.import_program(CONV, {**CONV_SIZES, **sizes})) == "fp16 [2, 6, 5, 4]"


def test_channels_that_no_group_divides_are_refused():
    sizes = {"Cin_total": 9, "Cin": 4}
    assert ("AxisSizeMismatch", "x1") in errors_of(CONV, {**CONV_SIZES, **sizes, "N": 1})


def test_solved_symbols_are_remarked():
    with collect_remarks() as remarks:
        tiny_json.import_program(CONV, CONV_SIZES)
    solved = {r.evidence["symbol"]: r.evidence["extent"] for r in remarks if r.code == "symbol-solved"}
    assert solved == {"Cin_total": "G*Cin", "Cout": "G*Rcout"}


def test_sizes_that_must_be_numbers_are_all_asked_for():
    with pytest.raises(TinycError) as caught:
        tiny_json.import_program(CONV)
    assert [(error.name, error.where.node) for error in caught.value.errors] == [
        ("UnboundSymbol", "xp"),
        ("UnboundSymbol", "xw"),
    ]
    for name in ("Kh", "Kw", "Sh", "Sw", "Dh", "Dw", "pt", "pb", "pl", "pr"):
        assert f"'{name}'" in str(caught.value)


def test_axes_are_not_paired_by_their_position():
    """The products of [N, Ct, 5, 4, 3, 3] and [N, G, Cin, Oy, Ox, 3, 3] do not tell Oy and Ox."""
    sizes = {name: size for name, size in CONV_SIZES.items() if name not in ("Oy", "Ox")}
    with pytest.raises(TinycError) as caught:
        tiny_json.import_program(CONV, sizes)
    (error,) = caught.value.errors
    assert (error.name, error.where.node) == ("UnboundSymbol", "x1")
    why = "follow neither from the inputs nor from the shape equations; bind G=…, Oy=…, and the others follow"
    assert f"the symbols 'G', 'Oy', 'Ox' {why}" in error.message


@pytest.mark.parametrize("bind", [{"Q": 3}, {"R": 8}, {"Q": 3, "R": 8}])
def test_a_reshape_says_that_the_products_are_equal(bind):
    nodes = [tensor("x", 4, 6), node("y", "RESHAPE", "x", result_shape=["Q", "R"])]
    assert output(load(*nodes, bind=bind)) == "fp32 [3, 8]"
    assert "'Q', 'R' follow neither" in error_of(*nodes).message
    assert error_of(*nodes, bind={**bind, "Q": 5, "R": 5}).name == "AxisSizeMismatch"


def test_a_bound_size_of_1_is_broadcast_like_a_written_one():
    nodes = [
        tensor("x", 2, 9),
        node("r", "RESHAPE", "x", result_shape=["S2", "M1", 9]),
        node("y", "EXPAND", "r", result_shape=["S2", "S2", 9]),
    ]
    assert output(load(*nodes, bind={"S2": 2, "M1": 1})) == "fp32 [2, 2, 9]"


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


def test_a_factor_that_is_bound_to_0_leaves_the_other_open():
    nodes = [tensor("x", 12), tensor("c", "C"), node("y", "RESHAPE", "x", result_shape=["G", "C"])]
    assert errors_of(program(*nodes), {"C": 0})[0][0] == "UnboundSymbol"
    assert errors_of(program(*nodes), {"C": 0, "G": 1})[0][0] == "AxisSizeMismatch"


def test_bound_sizes_that_make_a_window_too_large_are_refused():
    nodes = [tensor("x", "N"), node("y", "POOL", "x", kernel=["K"])]
    assert error_of(*nodes, bind={"N": 3, "K": 4}).name == "WindowTooLarge"


# --- binding what the equations tell anyway ---------------------------------------------------------------------------

#: Sizes of 001 §5.2 that fit each other.
CONSISTENT = {"G": 2, "Rcout": 2, "Cin_total": 6, "Cout": 4, "Cin": 3, "N": 2}
SUBSETS = [names for count in range(3) for names in itertools.combinations(("G", "Rcout"), count)]


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
@pytest.mark.parametrize("sizes", [("Cin_total",), ("Cout",), ("Cin", "N"), ("Cin_total", "Cout", "Cin")])
def test_sizes_of_inputs_may_be_bound_beside_them(names, sizes):
    bind = {name: CONSISTENT[name] for name in (*names, *sizes)}
    module = tiny_json.import_program(CONV, {**CONV_SIZES, **bind})
    assert signature(module)[1]["y"].count(",") == 3


@pytest.mark.parametrize(("names", "wrong"), [(names, wrong) for names in SUBSETS for wrong in names])
def test_sizes_that_do_not_fit_are_refused(names, wrong):
    with pytest.raises(TinycError):
        convolve({**{name: CONSISTENT[name] for name in names}, wrong: CONSISTENT[wrong] + 1})


def test_a_bound_size_that_the_inputs_tell_is_a_condition_on_them():
    module = load(
        tensor("x", "H"),
        node("p", "POOL", "x", kernel=[3]),
        node("y", "RESHAPE", "p", result_shape=["O", 3]),
        bind={"O": 5},
    )
    assert signature(module) == [{"x": "fp32 [H]"}, {"y": "fp32 [5, 3]"}]
    assert "3*H - 6 eq 15" in assumptions(module)
