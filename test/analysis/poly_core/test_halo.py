"""Halos: what a tile reads beyond its own share; the closed forms against isl and against counting."""

import itertools
import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from analysis_programs.poly_blocks import axes_of, block, conv, copy_of, read
from analysis_programs.tiny_programs import Program
from tinyc.analysis.poly.view import poly_view
from tinyc.analysis.poly_core import can_compute_at, enumeration, min_buffer_for_edge, proof
from tinyc.analysis.poly_core.footprint import along, footprints
from tinyc.analysis.poly_core.subscript import subscript_of
from tinyc.analysis.poly_core.tile import tile_of
from tinyc.dialects.registry import context
from tinyc.expr import axes
from tinyc.expr.axes.evaluation import evaluate_at
from tinyc.expr.extents import symbol
from tinyc.expr.isl import functions

M, N, K = symbol("M"), symbol("N"), symbol("K")


#: Kernel, stride and dilation; the elements that a tile of 8×16 reads along h and w, and its halo; the elements of the
#: halo's slabs along h and w, and of the halo as a whole (recipe on polyhedral analysis, §3).
WINDOWS = [
    ((3, 1, 1), (10, 18), (2, 2), (2 * 18, 2 * 10), 10 * 18 - 8 * 16),
    ((3, 2, 1), (17, 33), (1, 1), (33, 17), 17 * 33 - 16 * 32),
    ((3, 1, 2), (12, 20), (4, 4), (4 * 20, 4 * 12), 12 * 20 - 8 * 16),
    ((3, 2, 2), (19, 35), (3, 3), (3 * 35, 3 * 19), 19 * 35 - 16 * 32),
    ((7, 2, 1), (21, 37), (5, 5), (5 * 37, 5 * 21), 21 * 37 - 16 * 32),
    ((1, 2, 1), (15, 31), (0, 0), (0, 0), 0),
]


@pytest.mark.parametrize(("window", "widths", "halos", "slabs", "extra"), WINDOWS)
def test_windows_at_a_tile_of_8_by_16(window, widths, halos, slabs, extra):
    x, y = conv(*window)
    halo = can_compute_at(x, y, {"oh": 8, "ow": 16}).halo
    assert (halo.widths["h"], halo.widths["w"]) == widths
    assert (halo.per_axis["h"], halo.per_axis["w"]) == halos
    assert (halo.bytes_along["h"], halo.bytes_along["w"]) == tuple(4 * slab for slab in slabs)
    assert halo.bytes == 4 * extra


@pytest.mark.parametrize("pad", [0, 1])
@pytest.mark.parametrize(("window", "widths", "halos", "slabs", "extra"), WINDOWS)
def test_windows_of_a_program_with_symbolic_sizes(window, widths, halos, slabs, extra, pad):
    kernel, stride, dilation = window
    p = Program(x="f32 H W")
    padded = p.pad(p.relu(p["x"], name="x1"), lo=(pad, pad), hi=(pad, pad), value=0.0)
    windows = p.pool(padded, kernel=(kernel,) * 2, stride=(stride,) * 2, dilation=(dilation,) * 2)
    p.result(p.op("reduce", windows, op="max", axes=(2, 3), element="f32", name="y"))
    with context():
        x, y = poly_view(p.function).items
    oh, ow, *_ = y.statement.axes
    halo = can_compute_at(x, y, {oh: 8, ow: 16}).halo
    assert (halo.widths, halo.per_axis) == (dict(zip("hw", widths, strict=True)), dict(zip("hw", halos, strict=True)))
    assert halo.bytes_along == {"h": 4 * slabs[0], "w": 4 * slabs[1]}
    assert halo.bytes == 4 * extra


def test_all_channels_of_a_tile_are_in_its_bytes():
    x, y = conv(3, 1, 1, channels=16)
    assert can_compute_at(x, y, {"oh": 8, "ow": 16}).halo.bytes == 16 * (10 * 18 - 8 * 16) * 4


def same(labels, shape, index, reduced="", producer=None):
    """Return the widths and the halo of a read of `x` at a tile of 128 by 64."""
    consumer = block("y", labels, shape, read("x", *index), reduced=reduced)
    x = producer or copy_of("input", "x", "a b", (1024, 512))
    found = can_compute_at(x, consumer, {labels.split()[0]: 128, labels.split()[1]: 64})
    return tuple(found.halo.widths.values()), sum(found.halo.per_axis.values())


def test_what_is_read_as_it_is_has_no_halo():
    m, n = axes_of((1024, 512))
    assert same("m n", (1024, 512), (m, n)) == ((128, 64), 0)


def test_a_transposed_read_has_no_halo():
    m, n = axes_of((512, 1024))
    assert same("m n", (512, 1024), (n, m)) == ((64, 128), 0)


def test_a_summed_axis_has_no_halo():
    m, _, k = axes_of((1024, 512, 512))
    assert same("m n k", (1024, 512, 512), (m, k), "k") == ((128, 512), 0)


def test_a_row_maximum_has_no_halo():
    m, n = axes_of((1024, 512))
    row = block("x", "m n", (1024, 512), read("s", m, n), reduced="n")
    consumer = block("y", "m n", (1024, 512), read("x", m))
    assert can_compute_at(row, consumer, {"m": 128}).halo.widths == {"m": 128}


def test_probabilities_times_values_read_whole_rows_of_a_head():
    shape = (2, 8, 1024, 64, 1024)
    b, h, m, _, n = axes_of(shape)
    p = copy_of("s", "p", "b h m n", (2, 8, 1024, 1024))
    o = block("o", "b h m d n", shape, read("p", b, h, m, n), reduced="n", kind="contraction_pattern")
    halo = can_compute_at(p, o, {"b": 1, "h": 1, "m": 64}).halo
    assert tuple(halo.widths.values()) == (1, 1, 64, 1024)
    assert halo.bytes == 0


def test_merged_axes_read_a_box_larger_than_what_they_need():
    # i → (i/14, i%14) with a tile of 64: the box is 6×14. A tile of whole digits has no more than its own.
    i = axes_of((196,))[0]
    digits = (axes.floordiv_within(i, 14, (196,)), axes.mod(i, 14, (196,)))
    x, y = copy_of("input", "x", "a b", (14, 14)), block("y", "i", (196,), read("x", *digits))
    found = can_compute_at(x, y, {"i": 64})
    assert found.halo.widths == {"a": 6, "b": 14}
    assert found.halo.bytes == 0
    assert "84 elements for at most 64" in found.reason
    assert can_compute_at(x, y, {"i": 28}).halo.widths == {"a": 2, "b": 14}
    assert can_compute_at(x, y, {"i": 7}).halo.widths == {"a": 1, "b": 7}


def test_a_broadcast_reads_one_element_along_the_axis():
    _, n = axes_of((M, N))
    bias = copy_of("b", "x", "n", (N,))
    assert can_compute_at(bias, block("y", "m n", (M, N), read("x", n)), {"m": 128, "n": 64}).halo.widths == {"n": 64}


def test_symbolic_sizes_have_the_width_of_a_tile_inside():
    shape = (M, 3)
    o, k = axes_of(shape)
    x = copy_of("input", "x", "i", (M,))
    y = block("y", "o k", shape, read("x", o + k - 1, within=((0, M),)), reduced="k")
    assert can_compute_at(x, y, {"o": 8}).halo.per_axis == {"i": 2}
    assert can_compute_at(x, y, {}).halo.widths == {"i": M}


def test_an_axis_that_is_whole_has_its_symbolic_width():
    m, n = axes_of((M, N))
    found = can_compute_at(copy_of("s", "x", "m n", (M, N)), block("y", "m n", (M, N), read("x", m, n)), {"m": 16})
    assert found.halo.widths == {"m": 16, "n": N}


def test_operands_of_a_stencil_have_one_halo():
    i = axes_of((1000,))[0]
    x = copy_of("input", "x", "i", (1002,))
    y = block("y", "i", (1000,), read("x", i), read("x", i + 1), read("x", i + 2))
    found = can_compute_at(x, y, {"i": 100})
    assert found.halo.per_axis == {"i": 2}
    assert len(found.footprints) == 1


def test_reads_that_move_apart_are_separate():
    i, j = axes_of((64, 64))
    x, y = copy_of("s", "x", "a b", (64, 64)), block("y", "i j", (64, 64), read("x", i, j), read("x", j, i))
    found = can_compute_at(x, y, {"i": 8, "j": 16})
    assert [each.widths for each in found.footprints] == [(8, 16), (16, 8)]
    assert found.halo.bytes == 8 * 16 * 4
    assert found.recompute == 2


def test_recompute_of_a_convolution_before_another():
    # Recipe: 56×56, a tile of 8×8, 3×3: 1.47449 with the halo clipped at the edges, (10/8)² inside.
    first, second = conv(3, 1, 1, size=56)
    found = can_compute_at(first, second, {"oh": 8, "ow": 8})
    assert found.recompute == pytest.approx(1.47449, abs=1e-5)


def test_a_tile_that_does_not_move_the_producer_computes_it_again():
    x, y = conv(3, 1, 1, size=56)
    assert can_compute_at(x, y, {"oc": 4}).recompute == 2


# --- The closed forms are what isl says, and what counting says -------------------------------------------------------


def isl_widths(consumer, tile):
    """Return the widths of the rows that a block reads, by isl alone."""
    rows = range(len(consumer.accesses[0].index))
    return [proof.width(*along(consumer, consumer.accesses, tile, row)) for row in rows]


def counted(consumer, reads, tile):
    """Return the widest range of each row over the tiles, by looking at every instance."""
    shape = consumer.statement.shape
    found = {}
    for instance in itertools.product(*map(range, shape)):
        number = tuple(instance[k] // tile.sizes[k] for k in sorted(tile.cut))
        for each in reads:
            inside = [0 <= evaluate_at(g.expression, instance, {}) < g.size for g in each.guards]
            if all(inside):
                found.setdefault(number, []).append([evaluate_at(row, instance, {}) for row in each.index])
    widths = [[max(c) - min(c) + 1 for c in zip(*rows, strict=True)] for rows in found.values()]
    return [max(column) for column in zip(*widths, strict=True)] if widths else [0] * len(reads[0].index)


@st.composite
def windows(draw):
    shape = tuple(draw(st.lists(st.integers(1, 9), min_size=3, max_size=3)))
    o, p, k = axes_of(shape)
    numbers = st.integers(-3, 3)
    rows = [
        o * draw(numbers) + k * draw(numbers) + draw(numbers),
        p * draw(st.integers(1, 2)) + draw(st.integers(-2, 0)),
    ]
    within = [(row, draw(st.integers(1, 12))) for row in (0, 1) if draw(st.booleans())]
    consumer = block("y", "o p k", shape, read("x", *rows, within=within), reduced="k")
    names = draw(st.sets(st.sampled_from(["o", "p"])))
    return consumer, {name: draw(st.integers(1, 5)) for name in sorted(names)}


@settings(max_examples=200, derandomize=True, deadline=None)
@given(windows())
def test_the_closed_form_of_a_window_is_isl_s_and_the_count(case):
    consumer, sizes = case
    tile, reads = tile_of(consumer, sizes), consumer.accesses
    rows = [subscript_of(reads, number, consumer.statement.shape) for number in range(2)]
    found = [None if row is None else row.width(tile) for row in rows]
    expected = counted(consumer, reads, tile)
    assume(0 not in expected)  # a guard that never holds leaves nothing to read; what is asked of one row cannot know
    assert isl_widths(consumer, tile) == expected
    assert [a for a in found if a is not None] == [e for a, e in zip(found, expected, strict=True) if a is not None]


@settings(max_examples=40, derandomize=True, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3), st.integers(-4, 0), st.integers(1, 9))
def test_the_closed_form_of_a_symbolic_window_is_isl_s(window, stride, dilation, offset, size):
    o, k = axes_of((M, window))
    consumer = block(
        "y", "o k", (M, window), read("x", o * stride + k * dilation + offset, within=((0, N),)), reduced="k"
    )
    tile = tile_of(consumer, {"o": size})
    row = subscript_of(consumer.accesses, 0, consumer.statement.shape)
    width = row.width(tile)
    assert width in (None, isl_widths(consumer, tile)[0])
    assert width is not None or dilation > 1 or stride > window


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.integers(1, 40), st.integers(1, 9), st.integers(1, 9), st.integers(1, 3), st.integers(0, 5))
def test_the_enumeration_of_merged_axes_is_isl_s(extent, size, divisor, step, offset):
    i, k = axes_of((extent, 3))
    row = axes.floordiv_within(i * step + offset, divisor, (extent, 3))
    consumer = block("y", "i k", (extent, 3), read("x", row + k, axes.mod(i, divisor, (extent, 3))), reduced="k")
    tile = tile_of(consumer, {"i": size})
    (found,) = footprints(consumer, consumer.accesses, (99, 99), tile)
    assert list(found.widths) == isl_widths(consumer, tile) == counted(consumer, consumer.accesses, tile)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(windows())
def test_the_elements_of_all_tiles_are_as_counted(case):
    consumer, sizes = case
    tile, row = tile_of(consumer, {"o": 2, **sizes}), subscript_of(consumer.accesses, 0, consumer.statement.shape)
    total = row.total(tile)
    assume(total is not None)  # it is no closed form otherwise: the ratio of widths stands in for it
    (access,), (o, _, k) = consumer.accesses, consumer.statement.shape
    found = {}
    for i, j in itertools.product(range(o), range(k)):
        value = evaluate_at(access.index[0], (i, 0, j), {})
        if all(
            0 <= evaluate_at(g.expression, (i, 0, j), {}) < g.size
            for g in access.guards
            if g.expression == access.index[0]
        ):
            found.setdefault(i // tile.sizes[0], []).append(value)
    assert total == sum(max(values) - min(values) + 1 for values in found.values())


def test_pads_of_merged_axes_leave_what_isl_says():
    # A padded 2×3 seen as one axis of 10: of a tile of 4, the digit behind the pad takes a proof.
    p = Program(x="f32 2 3")
    padded = p.pad(p.neg(p["x"], name="a"), lo=(0, 1), hi=(0, 1), value=0.0)
    p.result(p.relu(p.reshape(padded, shape="10"), name="b"))
    with context():
        a, b = poly_view(p.function).items
    found = [can_compute_at(a, b, {"i0": size}) for size in (2, 4, 5)]
    assert [tuple(each.halo.widths.values()) for each in found] == [(1, 2), (1, 3), (1, 3)]


def test_a_stencil_of_merged_axes_has_a_halo():
    (i,) = axes_of((16,))
    half = axes.floordiv_within(i, 2, (16,))
    consumer = block("y", "i", (16,), read("x", half), read("x", half + 1))
    halo = can_compute_at(copy_of("input", "x", "j", (9,)), consumer, {"i": 4}).halo
    assert (dict(halo.widths), dict(halo.per_axis)) == ({"j": 3}, {"j": 1})


@st.composite
def shuffled_windows(draw):
    """Draw a maximum over windows of what reshapes and permutations shuffle: floor divisions of window and tap."""
    factors = draw(st.permutations([2, 2, 3, 3]))
    p = Program(x="f32 36")
    value = p.neg(p["x"], name="a")
    for _ in range(draw(st.integers(1, 2))):
        cut = draw(st.integers(1, 3))
        first, second = math.prod(factors[:cut]), math.prod(factors[cut:])
        value = p.permute(p.reshape(value, shape=f"{first} {second}"), perm=(1, 0))
        factors = draw(st.permutations(factors))
    windows = p.pool(p.reshape(value, shape="36"), kernel=(draw(st.integers(2, 4)),), stride=(1,), dilation=(1,))
    p.result(p.op("reduce", windows, op="max", axes=(1,), element="f32", name="y"))
    return p, draw(st.integers(1, 12))


@settings(max_examples=40, derandomize=True, deadline=None)
@given(shuffled_windows())
def test_what_is_enumerated_is_what_isl_says(case):
    program, size = case
    with context():
        x, y = poly_view(program.function).items
    tile = tile_of(y, {"i0": size})
    found = can_compute_at(x, y, {"i0": size})
    assert found.ok
    assert list(found.halo.widths.values()) == isl_widths(y, tile) == counted(y, y.accesses, tile)


def test_a_width_that_neither_is_enumerated_nor_isl_gets_to_is_unproved(monkeypatch):
    monkeypatch.setattr(enumeration, "_MAX_INSTANCES", 0)
    monkeypatch.setattr(functions, "MAX_OPERATIONS", 10)
    p = Program(x="f32 36")
    rows = p.permute(p.reshape(p.neg(p["x"], name="a"), shape="4 9"), perm=(1, 0))
    windows = p.pool(p.reshape(rows, shape="36"), kernel=(3,), stride=(1,), dilation=(1,))
    p.result(p.op("reduce", windows, op="max", axes=(1,), element="f32", name="y"))
    with context():
        x, y = poly_view(p.function).items
    found = can_compute_at(x, y, {"i0": 7})
    assert (found.ok, found.verdict, found.halo.bytes) == (False, "unproved", 0)
    assert "how much of 'a' a tile of 'y' reads: isl needs more than 10 steps" in found.reason
    assert min_buffer_for_edge(x, y, {"i0": 7}).buffer == "gmem"
