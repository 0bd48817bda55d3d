"""Sets and maps in isl's notation are read back exactly; what is said in another way is refused with the reason."""

import islpy as isl
import pytest

from tinyc.analysis.isl.notation import Bound, NotReadable, read_relation
from tinyc.analysis.isl.statement import Statement
from tinyc.expr import axes, extents
from tinyc.expr.axes import Axis, AxisExpr

I0, I1 = (AxisExpr(0, ((Axis(position), 1),)) for position in range(2))


def test_a_map_has_parameters_tuples_rows_and_bounds():
    found = read_relation(
        "[M, G_C] -> { S[m, i] -> T[2*i + m - 3, 0] : 0 <= m - 1 < M + 2*G_C }", {"G_C": extents.parse_extent("G*C")}
    )
    assert (found.parameters, found.name, found.axes, found.tensor) == (("M", "G_C"), "S", ("m", "i"), "T")
    assert found.index == (I1 * 2 + I0 - 3, axes.constant(0))
    assert found.bounds == (Bound(I0 - 1, axes.constant(extents.parse_extent("M + 2*G*C"))),)


def test_spaces_brackets_and_the_order_of_terms_are_free():
    assert read_relation("{S[i]->T[-(3-i)*2]}", {}).index == (I0 * 2 - 6,)


def test_floor_divisions_are_read_as_written_and_counted_inner_ones_first():
    found = read_relation("[M] -> { S[i] -> T[floor((i + floor(i/2))/3) + floor((M + 1)/2)] }", {})
    assert [str(expression) for expression in found.floors] == [
        "M - 2*((M - 1) floordiv 2) - 1",  # an extent has a normal form
        "i0 - 2*(i0 floordiv 2)",
        "i0 + i0 floordiv 2 - 3*((i0 + i0 floordiv 2) floordiv 3)",
    ]
    assert list(found.floors.values()) == [2, 2, 3]


REFUSED = [
    ("{ S[i] -> T[j] : i = j }", "there is no axis or parameter 'j'"),
    ("{ S[i] -> T[i mod 3] }", "'mod' is not expanded"),
    ("{ S[i, k] -> T[i*k] }", "a product of two names is not affine"),
    ("{ S[i] -> T[floor(i/1)] }", "by a number greater than 1"),
    ("{ S[i] : 1 <= i < 3 }", "a condition must be 0 <= e < size"),
    ("{ S[i] : i < 3 }", "'<=' is missing before '<'"),
    ("[i] -> { S[i] }", "a name stands for two things"),
    ("{ S[i] } and", "unexpected 'and' behind the set"),
    ("{ S[i] -> T[" + "(" * 60 + "i" + ")" * 60 + "] }", "more than 50 nested brackets"),
    ("{ S[i] -> T[" + "9" * 50 + "] }", "a number of 50 digits"),
    ("{ S[i] -> T[i ; 1] }", "unexpected '; 1] }'"),
    ("{ S[i" + " " * 20_000 + "] }", "characters (limit 20000)"),
    ("", "'{' is missing"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_what_is_not_of_the_notation_is_refused(text, reason):
    with pytest.raises(NotReadable) as raised:
        read_relation(text, {})
    assert reason in str(raised.value)


def test_the_guard_of_a_division_holds_everywhere():
    statement = Statement.over("S", (extents.symbol("M"),), ["m"])
    guarded = statement.domain_where({I0 - axes.floordiv_within(I0, 3, (extents.symbol("M"),)) * 3: 3})
    assert "0 <= m - 3*floor(m/3) < 3" in guarded
    assert isl.Set(guarded).is_equal(isl.Set(statement.domain_text))
