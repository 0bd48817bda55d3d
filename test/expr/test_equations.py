"""Symbols from shape equations (compile time)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyc.expr import equations, extents
from tinyc.expr.shape_equation import Equation, cancel_ends


def shape(*written):
    return [extents.parse_extent(dim) if isinstance(dim, str) else dim for dim in written]


def equation(left, right):
    return Equation.between(shape(*left), shape(*right))


def solved(pairs, unknown, inputs=()):
    """Return the solution of equations between shapes, as text."""
    solution = equations.solve_shapes([equation(*pair) for pair in pairs], unknown, inputs)
    return {name: str(value) for name, value in solution.items()}


# --- one equation -----------------------------------------------------------------------------------------------------


def test_common_ends_and_unit_axes_cancel():
    assert cancel_ends(shape("N", 1, "A", "K"), shape("N", "B", 1, "K", 1)) == (
        tuple(shape("A")),
        tuple(shape("B")),
    )


def test_a_single_unknown_is_solved_exactly():
    assert solved([(["M", "K"], ["K", "P"])], ["P"]) == {"P": "M"}


def test_a_factor_divides_out():
    assert solved([(["6*M"], [2, "P"])], ["P"]) == {"P": "3*M"}


def test_the_unknown_may_stand_on_the_left():
    assert solved([(["P", 3], [6])], ["P"]) == {"P": "2"}


def test_an_unknown_in_a_sum_is_solved():
    assert solved([(["P + 1"], ["M"])], ["P"]) == {"P": "M - 1"}


def test_a_symbol_of_an_input_is_redefined_rather_than_divided():
    assert solved([(["S"], ["G", "C"])], ["G"], ["S", "C"]) == {"S": "C*G"}


def test_what_is_no_symbol_of_an_input_is_divided():
    assert solved([(["S"], ["G", "C"])], ["G"], ["C"]) == {"G": "S floordiv C"}


def test_a_square_is_left_open():
    assert solved([(["M", "N"], ["P", "P"])], ["P"], ["M", "N"]) == {}


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (["M", "N"], ["P", "Q"]),
        ([4, 6], ["P", "Q"]),
        (["M", 64, "N"], ["P", 8, 8, "Q"]),
        (["H + 2", "W + 2"], ["P", "Q"]),
    ],
)
def test_no_axes_are_paired_by_their_position(left, right):
    assert solved([(left, right)], ["P", "Q"], ["M", "N", "H", "W"]) == {}


# --- several equations ------------------------------------------------------------------------------------------------

CONV = [
    (["N", "Ct", 5, 4, 3, 3], ["N", "G", "Cin", 1, 5, 4, 3, 3]),
    (["Cout", "Cin", 3, 3], ["G", "Rcout", "Cin", 3, 3]),
    (["N", "G", "Rcout", 5, 4], ["N", "Cout", 5, 4]),
]


def test_the_channels_of_the_grouped_convolution_of_001():
    assert solved(CONV, ["G", "Rcout"], ["N", "Ct", "Cout", "Cin"]) == {"Ct": "G*Cin", "Cout": "G*Rcout"}


def test_the_grouped_convolution_with_channels_that_may_not_be_redefined():
    assert solved(CONV, ["G", "Rcout"], ["N"]) == {"G": "Ct floordiv Cin", "Rcout": "Cout floordiv (Ct floordiv Cin)"}


def test_no_factor_is_cancelled_to_define_an_input():
    # B may be 1, or S may be A*(M + 1): what remains of both sides, S == A*B, says nothing of the axes
    assert solved([(["S", "M + 1"], ["A", "M + 1", "B"])], ["A", "B"], ["S", "M"]) == {}


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_equations_does_not_matter(order):
    pairs = [(["S"], ["A", "B"]), (["S"], ["A", 4])][::order]
    assert solved(pairs, ["A", "B"], ["S"]) == {"B": "4", "S": "4*A"}


def test_a_long_chain_is_solved():
    pairs = [([f"A{k}", 2], [f"A{k + 1}"]) for k in range(50)]
    solution = solved(pairs, [f"A{k}" for k in range(1, 51)], ["A0"])
    assert solution["A50"] == f"{2**50}*A0"


@given(st.lists(st.integers(1, 6), min_size=3, max_size=3), st.data())
def test_solutions_satisfy_their_equations(sizes, data):
    actual = dict(zip("ABC", sizes, strict=True))
    left = data.draw(st.permutations(["A", "B", "C"]))
    right = ["P", *data.draw(st.permutations(left))[1:]]
    solution = equations.solve_shapes([equation(left, right)], ["P"], ["A", "B", "C"])
    sides = [
        extents.evaluate(extents.substitute(extents.product(shape(*side)), solution), actual) for side in (left, right)
    ]
    assert sides[0] == sides[1]
