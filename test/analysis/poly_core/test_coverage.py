"""Whether the steps of a group compute all its results together."""

import pytest

from analysis_programs.poly_blocks import axes_of, read
from analysis_programs.tiny_programs import Program
from tinyc.analysis.movement import Guard
from tinyc.analysis.poly.block import PolyAccess
from tinyc.analysis.poly.view import poly_view
from tinyc.analysis.poly_core import make_fusable_groups, why_not_fusable
from tinyc.analysis.poly_core.coverage import reads_all
from tinyc.dialects.registry import context
from tinyc.expr import extents


def view_of(program):
    with context():
        return poly_view(program.function)


def groups_of(program):
    return make_fusable_groups(view_of(program))


def part_of_a_result(lo, hi, step=1, returned=True):
    """Return sums, and what reads some of them."""
    p = Program(x="f32 64 32")
    total = p.sum(p["x"], 1, name="p")
    c = p.neg(p.shrink(total, lo=(lo,), hi=(hi,), step=(step,)), name="c")
    return p.result(*((total, c) if returned else (c,)))


@pytest.mark.parametrize("part", [(0, 3, 1), (3, 64, 1), (0, 64, 2), (1, 64, 1), (0, 63, 1)])
def test_a_result_that_is_read_in_part_is_apart(part):
    view = view_of(part_of_a_result(*part))
    assert make_fusable_groups(view) == [["p"], ["c"]]
    reason = why_not_fusable(view.blocks, frozenset({"p", "c"}))
    assert reason is not None
    assert "'p' is read outside" in reason


def test_a_result_that_is_read_as_a_whole_is_not_apart():
    assert groups_of(part_of_a_result(0, 64)) == [["p", "c"]]


def test_what_only_the_group_reads_may_be_read_in_part():
    assert groups_of(part_of_a_result(0, 3, returned=False)) == [["p", "c"]]


def test_a_result_is_read_as_a_whole_beside_pads_and_not_within():
    for lo, size, expected in ((100, 64, [["p", "c"]]), (2, 32, [["p"], ["c"]])):
        p = Program(x="f32 64 32")
        total = p.sum(p["x"], 1, name="p")
        wide = p.pad(total, lo=(lo,), hi=(0,), value=0.0)
        c = p.neg(p.shrink(wide, lo=(0,), hi=(lo + size,), step=(1,)), name="c")
        assert groups_of(p.result(total, c)) == expected


def test_a_result_has_to_be_read_as_a_whole_by_what_is_computed_itself():
    # `b` reads all of `p`, and the steps compute the half of `b` that `c` reads.
    for high, expected in (("8", [["p", "b", "c"]]), ("4", [["p", "b"], ["c"]])):
        p = Program(x="f32 8 32")
        total = p.sum(p["x"], 1, name="p")
        b = p.relu(total, name="b")
        c = p.neg(p.shrink(b, lo=(0,), hi=(int(high),), step=(1,)), name="c")
        assert groups_of(p.result(total, c)) == expected


def test_blocks_that_nothing_reads_have_as_many_steps_each():
    p = Program(x="f32 64 32")
    total = p.sum(p["x"], 1, name="p")
    first = p.neg(p.shrink(total, lo=(0,), hi=(3,), step=(1,)), name="c")
    view = view_of(p.result(first, p.relu(total, name="d")))
    reason = why_not_fusable(view.blocks, frozenset({"c", "d"}))
    assert reason == "a step along i0 (3) of 'c' is not one along i0 (64) of 'd': the steps are not equally many"


def test_which_reads_are_of_all_elements():
    i, j = axes_of((8, 4))
    shape = (8, 4)
    assert reads_all(read("a", i), shape, (8,))
    assert reads_all(read("a", j, i), shape, (4, 8))
    assert reads_all(read("a", i * 4 + j), shape, (32,))
    assert reads_all(read("a", i * -1 + 7), shape, (8,))
    assert reads_all(read("a", i * 2 + j - 1, within=[(0, 16)]), shape, (16,))
    assert reads_all(read("a", 0), shape, (1,))
    assert not reads_all(read("a", i), shape, (9,))
    assert not reads_all(read("a", i + 1), shape, (9,))
    assert not reads_all(read("a", i * 5 + j), shape, (39,))  # 4 is between
    assert not reads_all(read("a", i * -1 + 6, within=[(0, 7)]), (7, 4), (8,))
    assert not reads_all(read("a", i, i), shape, (8, 8))  # the diagonal
    assert not reads_all(read("a", i, within=[(0, 7)]), shape, (8,))
    assert not reads_all(read("a", i), (8, 0), (8,))  # there are no instances
    assert not reads_all(PolyAccess("a", (i,), (Guard(i - 1, 8, 0.0),)), shape, (8,))  # all but the first
    assert not reads_all(PolyAccess("a", (i,), (Guard(j * 3, 8, 0.0),)), shape, (8,))  # a bound on something else


def test_which_reads_of_symbolic_sizes_are_of_all_elements():
    n = extents.symbol("N")
    i, j = axes_of((n, 4))
    assert reads_all(read("a", i * 4 + j), (n, 4), (n * 4,))
    assert not reads_all(read("a", i + j * 2), (n, 4), (n + 6,))  # with N = 1, 1 is left out
