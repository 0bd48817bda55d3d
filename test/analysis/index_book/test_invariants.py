"""The invariants of an IndexBook: each entry that breaks one is found."""

from dataclasses import replace

import pytest

from analysis_programs.tiny_programs import Program, gemm_bias_relu
from tinyc.analysis.index_book.book import AxisVar, Entry, IndexBook, InputAccess, NonScopEntry, index_book
from tinyc.analysis.index_book.invariants import broken_invariants
from tinyc.analysis.movement import Guard
from tinyc.dialects.registry import context
from tinyc.expr import axes, extents
from tinyc.expr.assumption import Assumption
from tinyc.expr.axes import Axis, AxisExpr, FloorDiv

I0, I1 = (AxisExpr(0, ((Axis(position), 1),)) for position in range(2))


def leaf(value: str, *sizes: extents.Dim) -> Entry:
    return Entry(value, tuple(AxisVar(size, "broadcast" if size == 1 else "iter") for size in sizes), (1,) * len(sizes))


def messages(*entries: Entry | NonScopEntry) -> list[str]:
    return [each.message for each in broken_invariants(IndexBook("main", entries))]


def of_y(
    source: Entry, *rows: AxisExpr, sizes: tuple[extents.Dim, ...] = (6,), guards: tuple[Guard, ...] = ()
) -> list[str]:
    """Return what is wrong with `y`, of these sizes, that reads `source` at `rows`."""
    entry = replace(leaf("y", *sizes), inputs=(InputAccess(source.value, rows),), guards=guards)
    return messages(source, entry)


def test_the_running_example_breaks_none():
    with context():
        assert list(broken_invariants(index_book(gemm_bias_relu().function))) == []


def test_a_map_has_a_row_for_each_axis_of_the_operand():
    assert of_y(leaf("x", 6, 6), I0) == ["the map to x has 1 rows, and the operand 2 axes"]


def test_a_map_is_over_the_axes_of_its_entry():
    (*_, message) = of_y(leaf("x", 6), I1)
    assert message == "row i1 of the map to x has the axis i1, and there are 1"


@pytest.mark.parametrize("divisor", [1, 0, -3])
def test_a_division_is_by_a_number_above_one(divisor):
    row = AxisExpr(0, ((FloorDiv(I0, divisor), 1),))
    assert "is not affine with floor divisions by numbers" in of_y(leaf("x", 6), row)[0]


def test_an_axis_of_size_one_is_read_at_zero():
    assert of_y(leaf("x", 1), I0) == ["axis 0 of x is repeated, and read at i0, not at 0"]


def test_a_digit_without_its_remainder_is_found():
    # [6] -> [2, 3] reversed: i0 must be i0 mod 3.
    assert of_y(leaf("x", 2, 3), axes.floordiv_within(I0, 3, (6,)), I0) == [
        "row i0 of the map to x is not proved to be in [0, 3), and has no guard"
    ]
    assert of_y(leaf("x", 2, 3), axes.floordiv_within(I0, 3, (6,)), axes.mod(I0, 3, (6,))) == []


def test_a_pad_without_its_guard_is_found():
    guard = Guard(I0 - 1, 5, 0.0)
    assert of_y(leaf("x", 5), I0 - 1, guards=(guard,)) == []
    assert "is not proved to be in [0, 5)" in of_y(leaf("x", 5), I0 - 1)[0]


def test_a_guard_that_lets_too_much_pass_is_found():
    guards = (Guard(I0 - 1, 6, 0.0),)
    unguarded, foreign = of_y(leaf("x", 5), I0 - 1, sizes=(8,), guards=guards)
    assert "is not proved to be in [0, 5)" in unguarded
    assert "are not about rows of the map" in foreign


def test_guards_are_in_the_order_of_the_rows_and_of_one_value():
    x, rows = leaf("x", 4, 4), (I0 - 1, I1 - 1)
    first, second = (Guard(row, 4, 0.0) for row in rows)
    assert of_y(x, *rows, sizes=(6, 6), guards=(first, second)) == []
    assert "are not about rows of the map, in their order" in of_y(x, *rows, sizes=(6, 6), guards=(second, first))[0]
    different = (first, replace(second, value=1.0))
    assert of_y(x, *rows, sizes=(6, 6), guards=different) == ["the guards of one pad have different values"]


def test_what_is_read_along_is_no_broadcast_axis():
    entry = replace(leaf("y", 6), axes=(AxisVar(6, "broadcast"),), inputs=(InputAccess("x", (I0,)),))
    assert messages(leaf("x", 6), entry) == ["i0 is a broadcast axis, and an operand is read along it"]


def test_what_is_not_read_along_is_a_broadcast_axis():
    assert of_y(leaf("x", 1), axes.constant(0)) == ["i0 is not a broadcast axis, and no operand is read along it"]


def total() -> tuple[Entry, Entry]:
    """Return x[i0, i1] and its sum over i0."""
    found = (AxisVar(3, "iter"), AxisVar(4, "reduce"))
    return leaf("x", 4, 3), Entry("y", found, (1,), (InputAccess("x", (I1, I0)),), reduce_axes=(0,))


def test_the_reduced_axes_are_recorded():
    x, entry = total()
    assert messages(x, entry) == []
    assert messages(x, replace(entry, reduce_axes=())) == ["1 axes are summed up, and 0 are recorded"]
    assert messages(x, replace(entry, reduce_axes=(7,))) == ["the operand has no axes [7]"]
    (message,) = messages(x, replace(entry, reduce_axes=(1,)))
    assert message == "the operand's axes [1] are not read along the axes that are summed up"


def test_the_reduced_axes_come_last():
    x, entry = total()
    turned = replace(entry, axes=entry.axes[::-1], inputs=(InputAccess("x", (I0, I1)),))
    assert messages(x, turned)[0] == "the axes are reduce, iter: those that are summed up come last"


def test_the_kept_axes_make_up_the_dimensions():
    assert messages(replace(leaf("x", 4, 3), dims=(1,))) == ["dimensions of [1] axes, and 2 kept axes"]
    assert messages(replace(leaf("x", 4, 3), dims=(2,))) == []


def test_a_value_has_one_entry_and_reads_earlier_ones():
    assert messages(leaf("x", 4), leaf("x", 4)) == ["the value has two entries"]
    entry = replace(leaf("y", 4), inputs=(InputAccess("x", (I0,)),))
    assert messages(entry, leaf("x", 4)) == ["the inputs x have no entry before it"]


def test_what_is_no_map_has_a_reason():
    assert messages(leaf("x", 4), NonScopEntry("y", (4,), (1,), ("x",), "")) == ["Non-SCoP without a reason"]


def test_an_assumption_is_known():
    m, n = map(extents.symbol, "MN")
    entry = replace(leaf("y", m), inputs=(InputAccess("x", (I0,)),))
    book = IndexBook("main", (leaf("x", n), entry))
    assert [each.value for each in broken_invariants(book)] == ["y"]
    assert list(broken_invariants(book, [Assumption(m, "le", n)])) == []
    assert list(broken_invariants(book, [Assumption(m, "eq", n)])) == []


def half_of(h):
    """Return a book in which y reads the first half of x; no closed form knows that half is no more than all."""
    half = replace(leaf("y", extents.floordiv(h, 2)), inputs=(InputAccess("x", (I0,)),))
    return IndexBook("main", (leaf("x", h), half))


def test_a_half_is_within_its_whole_by_isl():
    assert list(broken_invariants(half_of(extents.symbol("H")))) == []


def test_a_window_is_within_its_axis_by_its_closed_form(monkeypatch):
    p = Program(x="f32 H")
    p.pool(p["x"], kernel=(3,), stride=(2,), dilation=(1,))
    monkeypatch.setattr("tinyc.expr.isl.functions.MAX_OPERATIONS", 1)
    with context():
        assert list(broken_invariants(index_book(p.function))) == []


def test_what_isl_does_not_get_to_is_a_violation(monkeypatch):
    monkeypatch.setattr("tinyc.expr.isl.functions.MAX_OPERATIONS", 1)
    (found,) = broken_invariants(half_of(extents.symbol("H")))
    assert found.message == "row i0 of the map to x is not proved to be in [0, H), and has no guard"
