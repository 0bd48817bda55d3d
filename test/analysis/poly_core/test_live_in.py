"""What one step of the loops of a group holds."""

import pytest

from analysis_oracles.group_oracle import loops_of
from analysis_programs.poly_blocks import axes_of, block, copy_of, read
from analysis_programs.tiny_programs import Program
from tinyc.analysis.poly.view import poly_view
from tinyc.analysis.poly_core import make_fusable_groups, why_not_fusable
from tinyc.analysis.poly_core.live_in import live_in_elements
from tinyc.dialects.registry import context
from tinyc.expr import extents


def view_of(program):
    with context():
        return poly_view(program.function)


def held(view):
    """Return the elements that a step holds of each block, all blocks of a view in one kernel."""
    return live_in_elements(view.blocks, loops_of(view.blocks, view.outputs))


def sums_of_windows(length, size, kernel):
    """Return sums over windows of sums over windows, and so on, the first of a sum."""
    p = Program(x=f"f32 2 {size} {size}")
    value = p.sum(p["x"], 0, name="s0")
    for number in range(length):
        windows = p.pool(value, kernel=(kernel, kernel), stride=(1, 1), dilation=(1, 1))
        value = p.sum(windows, 2, 3, name=f"s{number + 1}")
    return p.result(value)


def test_windows_of_windows_hold_wider_ones():
    assert held(view_of(sums_of_windows(3, 100, 31))) == {"s0": 91**2, "s1": 61**2, "s2": 31**2, "s3": 0}


def test_a_group_ends_where_the_windows_no_longer_fit():
    # 4 bytes times 31² + 61² + 91² + 121² fit in shared memory, and with 151² no more.
    view = view_of(sums_of_windows(5, 400, 31))
    assert make_fusable_groups(view) == [["s0", "s1", "s2", "s3", "s4"], ["s5"]]
    room = 4 * sum(size**2 for size in (31, 61, 91, 121, 151))
    reason = why_not_fusable(view.blocks, frozenset({"s5"}))
    assert reason is not None
    assert f"{room} bytes, and" in reason


def test_what_is_read_through_an_element_wise_block_is_held():
    # `e` is computed where it is read; the 40000 elements of `p` for it are not.
    p = Program(x="f32 3 60000")
    e = p.relu(p.sum(p["x"], 0, name="p"), name="e")
    c = p.sum(p.pool(e, kernel=(40000,), stride=(1,), dilation=(1,)), 1, name="c")
    view = view_of(p.result(c))
    assert held(view) == {"p": 40000, "e": 40000, "c": 0}
    assert make_fusable_groups(view) == [["p", "e"], ["c"]]


def test_what_several_blocks_read_at_one_place_is_held_once():
    p = Program(x="f32 64 32")
    total = p.sum(p["x"], 1, name="total")
    silu = p.mul(total, p.recip(p.exp2(p.neg(total, name="n"), name="e"), name="r"), name="silu")
    assert held(view_of(p.result(silu)))["total"] == 1


def test_places_that_move_in_other_ways_are_held_each():
    p = Program(x="f32 N 32")
    total = p.sum(p["x"], 1, name="total")
    view = view_of(p.result(p.add(p.relu(total, name="a"), p.flip(total, axes=(0,)), name="y")))
    assert held(view)["total"] == 2
    assert make_fusable_groups(view) == [["total", "a", "y"]]


def test_places_a_changing_distance_apart_are_held_each():
    p = Program(x="f32 64 32")
    total = p.sum(p["x"], 1, name="total")
    second = p.shrink(total, lo=(0,), hi=(64,), step=(2,))
    assert held(view_of(p.result(p.add(p.shrink(total, lo=(0,), hi=(32,), step=(1,)), second))))["total"] == 2


def test_places_in_a_reversed_window_are_held_once():
    # A step reads the elements 7 - t, 6 - t and 5 - t, the last one twice.
    p = Program(x="f32 8 32")
    total = p.sum(p["x"], 1, name="total")
    windows = p.sum(p.pool(p.flip(total, axes=(0,)), kernel=(3,), stride=(1,), dilation=(1,)), 1, name="windows")
    near = p.flip(p.shrink(total, lo=(0,), hi=(6,), step=(1,)), axes=(0,))
    assert held(view_of(p.result(p.add(windows, near, name="y"))))["total"] == 3


def test_what_is_read_as_a_whole_holds_its_parts():
    p = Program(x="f32 3 M N")
    total = p.sum(p["x"], 0, name="total")
    part = p.shrink(total, lo=(0, 0), hi=(extents.symbol("M"), 4), step=(1, 1))
    view = view_of(p.result(p.add(p.sum(total, 1, name="a"), p.sum(part, 1, name="b"), name="y")))
    assert held(view)["total"] == extents.symbol("N")


def test_pads_are_not_held():
    p = Program(x="f32 4 2 32")
    total = p.sum(p["x"], 2, name="total")
    windows = p.pool(p.pad(total, lo=(0, 1), hi=(0, 1), value=0.0), kernel=(1, 3), stride=(1, 1), dilation=(1, 1))
    assert held(view_of(p.result(p.sum(windows, 1, 2, 3, name="y"))))["total"] == 2
    p = Program(x="f32 4 2 32")
    total = p.sum(p["x"], 2, name="total")
    assert held(view_of(p.result(p.sum(p.pad(total, lo=(0, 0), hi=(0, 5), value=0.0), 1, name="y"))))["total"] == 2


def test_blocks_without_instances_hold_nothing():
    i, k = axes_of((0, 3))
    a = copy_of("x", "a", "r", (8,))
    assert live_in_elements([a, block("s", "i k", (0, 3), read("a", i + k), reduced="k")], ()) == {"a": 0, "s": 0}


@pytest.mark.parametrize(
    ("places", "elements"), [((0, 10, 20, 30), 4), ((0, 10, 20, 30, 40), 64), ((0, 1, 2), 3), ((0, 2, 1), 3)]
)
def test_places_are_kept_apart_as_long_as_they_are_few(places, elements):
    p = Program(x="f32 64 32")
    total = p.sum(p["x"], 1, name="total")
    first, *others = (p.shrink(total, lo=(at,), hi=(at + 4,), step=(1,)) for at in places)
    for other in others:
        first = p.add(first, other)
    assert held(view_of(p.result(first)))["total"] == elements


def test_boxes_with_a_floor_division_between_are_bounds():
    # Three neighbours of 24 elements are in one or two of the groups of 4 that they are means of.
    for low in (0, 2):
        p = Program(x="f32 8 24")
        mean = p.sum(p.reshape(p["x"], shape="8 6 4"), 2, name="mean")
        wide = p.expand(p.reshape(mean, shape="8 6 1"), shape="8 6 4", broadcast_dimensions=(0, 1, 2))
        y = p.relu(p.reshape(wide, shape="8 24"), name="y")
        z = p.neg(p.shrink(y, lo=(0, low), hi=(8, low + 3), step=(1, 1)), name="z")
        assert held(view_of(p.result(z))) == {"mean": 2, "y": 3, "z": 0}


def test_sizes_that_no_extent_can_be_are_a_reason():
    # The product of ten extents of the form N + 1 has more terms than an extent may.
    rest = " ".join(f"N{number}" for number in range(10))
    p = Program(x=f"f32 3 64 {rest}")
    padded = p.pad(p["x"], lo=(0, 0, *(1,) * 10), hi=(0,) * 12, value=0.0)
    e = p.relu(p.sum(padded, 0, name="p"), name="e")
    view = view_of(p.result(p.sum(e, *range(1, 11), name="c")))
    reason = why_not_fusable(view.blocks, frozenset({"c"}))
    assert reason is not None
    assert "512 terms" in reason
    assert make_fusable_groups(view) == [["p", "e"], ["c"]]
