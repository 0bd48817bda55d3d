"""Symbols from actual extents (run time)."""

import pytest

from tinyc.expr import extents
from tinyc.expr.extents import ExtentError
from tinyc.expr.size_equations import linear_in, solve_sizes, undetermined


def shape(*written):
    return [extents.parse_extent(dim) if isinstance(dim, str) else dim for dim in written]


@pytest.mark.parametrize(
    ("dim", "parts"),
    [("3*M*N - N + 2", ("3*M - 1", "2")), ("M", None), ("N*N", None), ("N floordiv 2", None), ("7", None)],
)
def test_linear_in_n(dim, parts):
    found = linear_in(extents.parse_extent(dim), "N")
    assert (found and tuple(map(str, found))) == parts


@pytest.mark.parametrize(
    ("dims", "missing"),
    [
        (["M", "N"], ()),
        (["G*C", "C"], ()),
        (["2*M + 1"], ()),
        (["A*B"], ("A", "B")),
        (["A*B", "A", "H // 2"], ("H",)),
    ],
)
def test_undetermined(dims, missing):
    assert undetermined(shape(*dims)) == missing


def test_actual_sizes_are_solved_in_any_order():
    pairs = [("G*C*R", 24, "w"), ("G*C", 12, "x"), ("C + 1", 5, "b"), (7, 7, "k"), ("H // 2", 3, "y"), ("H", 7, "h")]
    assert solve_sizes([(shape(dim)[0], size, where) for dim, size, where in pairs]) == {
        "C": 4,
        "G": 3,
        "R": 2,
        "H": 7,
    }


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("M", 4, "axis 0 of 'X'"), ("M", 5, "axis 0 of 'Y'")], r"axis 0 of 'Y' has 5 .*M = 4 from axis 0 of 'X'"),
        ([(3, 4, "axis 0 of 'X'")], "axis 0 of 'X' has 4 elements, but the program says 3"),
        ([("G*C", 13, "x"), ("C", 4, "w")], r"x has 13 elements, but its extent C\*G .C = 4 from w. is that for no G"),
        ([("M + 5", 4, "x")], "for no M"),
        ([("A*B", 4, "x")], r"leave 'A', 'B' open \(x has the extent A\*B\); bind them"),
    ],
)
def test_sizes_that_do_not_fit(pairs, message):
    triples = [(shape(dim)[0], size, where) for dim, size, where in pairs]
    with pytest.raises(ExtentError, match=message):
        solve_sizes(triples)


def test_an_empty_axis_leaves_its_other_factor_open():
    # 0 = G*0 holds for every G
    with pytest.raises(ExtentError, match="leave 'G' open"):
        solve_sizes([(shape("G*C")[0], 0, "x"), (shape("C")[0], 0, "w")])
