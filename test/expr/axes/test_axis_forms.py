"""Axis expressions in their other forms: substituted, over numpy grids, as MLIR's affine maps, as isl's functions."""

import itertools
import random

import islpy as isl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinyc.dialects.registry import context
from tinyc.expr import axes, extents
from tinyc.expr.affine_map import NotQuasiAffine, from_map, from_set, map_symbols, to_affine, to_map, to_set
from tinyc.expr.axes.evaluation import evaluate_at, evaluate_on_grid
from tinyc.expr.isl.functions import AffineFunctions
from tinyc.mlir import ir

M, N = map(extents.symbol, "MN")
EXAMPLES = settings(max_examples=200, derandomize=True, deadline=None)


def random_expression(rng: random.Random, shape: tuple[int, ...], depth: int = 4) -> axes.AxisExpr:
    """Return an expression over `shape` with the symbols M and N in its constants."""
    if depth == 0 or rng.random() < 0.2:
        constants = [rng.randint(-9, 9), M, M * 2 - 1, M * N]
        return (
            axes.axis(rng.randrange(len(shape)), shape) if rng.random() < 0.8 else axes.constant(rng.choice(constants))
        )
    inner = random_expression(rng, shape, depth - 1)
    choice, number = rng.randrange(4), rng.randint(1, 6)
    if choice == 0:
        return inner + random_expression(rng, shape, depth - 1) * number
    if choice == 1:
        return inner * -number
    return axes.floordiv_within(inner, number, shape) if choice == 2 else axes.mod(inner, number, shape)


@st.composite
def cases(draw):
    """Return a source of choices and a shape."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    return rng, tuple(rng.randint(1, 6) for _ in range(rng.randint(1, 3)))


def same(left, right) -> None:
    np.testing.assert_array_equal(*np.broadcast_arrays(left, right))


# --- substitution and evaluation --------------------------------------------------------------------------------------


@EXAMPLES
@given(cases())
def test_a_substituted_expression_is_the_composed_function(case):
    rng, shape = case
    inner = tuple(axes.mod(random_expression(rng, shape), rng.randint(1, 5), shape) for _ in range(2))
    outer = random_expression(rng, (5, 5))
    symbols = {"M": rng.randint(0, 4), "N": rng.randint(0, 4)}
    grid = np.indices(shape)
    at = [evaluate_at(row, grid, symbols) for row in inner]
    same(evaluate_at(axes.substitute_axes(outer, inner, shape), grid, symbols), evaluate_at(outer, at, symbols))


def test_a_composed_map_is_substituted_row_by_row():
    shape = (4, 3)
    flat = (axes.axis(0, shape) * 3 + axes.axis(1, shape),)
    split = (axes.floordiv_within(axes.axis(0, (12,)), 3, (12,)), axes.mod(axes.axis(0, (12,)), 3, (12,)))
    assert axes.compose(split, flat, shape) == axes.identity(shape)
    assert axes.compose(flat, split, (12,)) == axes.identity((12,))


def test_a_division_is_substituted_once(monkeypatch):
    # A chain of 40 expressions, each with the one before twice: 2^40 without a memo.
    shape, calls = (1000,), []
    row = axes.axis(0, shape)
    for k in range(40):
        row = axes.floordiv_within(row * 2 + k, 3, shape) + axes.floordiv_within(row * 2 + k, 3, shape)
    monkeypatch.setattr(
        "tinyc.expr.axes.substitution.floordiv_within", lambda *each: calls.append(each) or axes.floordiv_within(*each)
    )
    found = axes.substitute_axes(row, (axes.axis(0, shape) + 1,), shape)
    assert len(calls) == len(axes.divisions(row))
    same(evaluate_at(found, [np.arange(1000)], {}), evaluate_at(row, [np.arange(1, 1001)], {}))


def test_a_grid_has_every_point_of_the_box():
    index = (axes.constant(M), axes.axis(1, (2, 3)))
    rows = evaluate_on_grid(index, (2, 3), {"M": 7})
    assert [row.tolist() for row in rows] == [[[7] * 3] * 2, [[0, 1, 2]] * 2]


def test_a_symbol_needs_a_value():
    with pytest.raises(extents.ExtentError, match="symbol 'M' has no value"):
        evaluate_at(axes.constant(M), [], {})


# --- MLIR -------------------------------------------------------------------------------------------------------------


@EXAMPLES
@given(cases())
def test_an_affine_map_reads_back_as_the_expression(case):
    rng, shape = case
    index = tuple(random_expression(rng, shape) for _ in range(2))
    symbols = map_symbols(shape, index)
    with context():
        found = from_map(to_map(index, len(shape), symbols), shape, symbols)
        attribute = ir.IntegerSetAttr.get(to_set(index, len(shape), symbols))
        conditions = from_set(attribute, shape, symbols)
    values = {"M": rng.randint(0, 4), "N": rng.randint(0, 4)}
    # By their values: from the text of a set, MLIR drops whole multiples inside what it sees to be a `mod`.
    for row, back, condition in zip(index, found, conditions, strict=True):
        same(evaluate_at(row, np.indices(shape), values), evaluate_at(back, np.indices(shape), values))
        same(evaluate_at(row, np.indices(shape), values), evaluate_at(condition, np.indices(shape), values))


def test_mod_and_ceildiv_are_expanded():
    with context():
        read = ir.AffineMapAttr(ir.Attribute.parse("affine_map<(d0) -> (d0 mod 3, d0 ceildiv 4)>")).value
        remainder, quotient = from_map(read, (9,), ())
    assert str(remainder) == "i0 - 3*(i0 floordiv 3)"
    assert str(quotient) == "(i0 + 3) floordiv 4"


def test_a_division_prints_as_mlir_writes_it():
    with context():
        assert str(to_affine(axes.mod(axes.axis(0, (9,)), 3, (9,)) + M, ("M",))) == "d0 mod 3 + s0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(d0, d1) -> (d0)", "is not over 1 axes and 1 symbols"),
        ("(d0)[s0] -> (d0 * s0)", "is not affine"),
        ("(d0)[s0] -> (d0 floordiv s0)", "is not affine"),
    ],
)
def test_what_is_no_axis_expression_is_not_read(text, message):
    with context():
        attribute = ir.AffineMapAttr(ir.Attribute.parse(f"affine_map<{text}>"))
        with pytest.raises(NotQuasiAffine, match=message):
            from_map(attribute.value, (9,), ("M",))


def test_a_set_with_an_equality_is_not_read():
    with context(), pytest.raises(NotQuasiAffine, match="has an equality"):
        from_set(ir.Attribute.parse("affine_set<(d0) : (d0 == 0)>"), (9,), ())


# --- isl --------------------------------------------------------------------------------------------------------------


def isl_value(function, point, symbols) -> int:
    """Return the value of an `isl.Aff` over the parameters M and M*N."""
    space = function.get_domain_space()
    at = isl.Point.zero(space)
    for position, value in enumerate((symbols["M"], symbols["M"] * symbols["N"])):
        at = at.set_coordinate_val(isl.dim_type.param, position, isl.Val(value))
    for position, value in enumerate(point):
        at = at.set_coordinate_val(isl.dim_type.set, position, isl.Val(int(value)))
    return function.eval(at).to_python()


def space_of(rank: int):
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 2, rank)
    for position, name in enumerate(("M", "M_N")):
        space = space.set_dim_name(isl.dim_type.param, position, name)
    return space


@settings(max_examples=100, derandomize=True, deadline=None)
@given(cases())
def test_an_isl_function_has_the_same_values(case):
    rng, shape = case
    index = (random_expression(rng, shape), random_expression(rng, shape))
    built = AffineFunctions(space_of(len(shape)), ["M", "M*N"]).multi_affine(index, "x")
    assert (built.dim(isl.dim_type.out), built.get_tuple_name(isl.dim_type.out)) == (2, "x")
    symbols = {"M": rng.randint(0, 4), "N": rng.randint(0, 4)}
    for _ in range(3):
        point = [rng.randrange(extent) for extent in shape]
        expected = [evaluate_at(row, point, symbols) for row in index]
        assert [isl_value(built.get_aff(k), point, symbols) for k in range(2)] == expected


def test_numbers_beyond_64_bits_reach_isl():
    functions = AffineFunctions(space_of(1), ["M", "M*N"])
    row = axes.axis(0, (4,)) * 2**70 + 2**80
    assert isl_value(functions.of(row), (3,), {"M": 0, "N": 0}) == 3 * 2**70 + 2**80


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(1, 4)), min_size=1, max_size=3))
def test_the_text_says_what_mlir_and_python_read(steps):
    shape = (9, 7)
    first, second = axes.identity(shape)
    expression = axes.constant(0)
    for outer, offset, divisor in steps:
        expression = axes.floordiv_within(expression + first * 2 + offset, divisor, shape) * outer + second
    python = str(expression).replace("floordiv", "//")
    text = f"affine_map<(i0, i1) -> ({expression})>"
    with context():
        (row,) = from_map(ir.AffineMapAttr(ir.Attribute.parse(text)).value, shape, ())
    for place in itertools.product(*map(range, shape)):
        expected = evaluate_at(expression, place, {})
        assert eval(python, {"i0": place[0], "i1": place[1]}) == evaluate_at(row, place, {}) == expected
