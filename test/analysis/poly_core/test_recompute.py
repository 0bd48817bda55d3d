"""How often tiles compute an element of what they read: the closed forms against isl's count, and the bounds beyond.

`--random-examples N` runs more than those of CI, new ones each time.
"""

import pytest
from hypothesis import strategies as st

from analysis_oracles.poly_pairs import Pair, by_tile, elements, number_of, pairs, places
from analysis_programs.poly_blocks import axes_of, block, conv, copy_of, read
from tinyc.analysis.poly_core import can_compute_at, enumeration
from tinyc.expr import axes
from tinyc.expr.extents import symbol

M, N = symbol("M"), symbol("N")


def factor(pair):
    found = can_compute_at(pair.producer, pair.consumer, pair.sizes)
    assert found.ok
    return found.recompute


def counted(pair):
    """Return what isl counts: the elements that all tiles read, with repetition, over those of the tensor."""
    if not elements(pair.producer):
        return 0.0
    total = sum(number_of(by_tile(pair.consumer, reads, pair.sizes)) for reads in places(pair))
    return total / elements(pair.producer)


def at(shape, tensor, *rows, reduced="", **sizes):
    """Return the factor of a read of `rows`, over axes i, j, ... of `shape`, of a tensor of the shape `tensor`."""
    consumer = block("y", " ".join("ijkl"[: len(shape)]), shape, read("x", *rows), reduced=reduced)
    return factor(Pair(copy_of("input", "x", " ".join("abc"[: len(tensor)]), tensor), consumer, sizes))


def test_the_factor_of_a_small_pair_is_what_isl_counts(random_examples):
    @random_examples(pairs(), 400)
    def check(pair):
        assert factor(pair) == pytest.approx(counted(pair), rel=1e-12)

    check()


def test_the_factor_of_what_is_too_large_to_enumerate_is_at_least_what_isl_counts(random_examples, monkeypatch):
    monkeypatch.setattr(enumeration, "_MAX_INSTANCES", 0)

    @random_examples(pairs(), 400)
    def check(pair):
        bound = factor(pair)
        assert bound is not None
        assert bound >= counted(pair) - 1e-12

    check()


@st.composite
def windows(draw):
    """Draw the stride, dilation, kernel and pad of a window, and the size of a tile."""
    kernel, dilation = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    stride = draw(st.integers(1, 3)) if dilation == 1 else 1
    return stride, dilation, kernel, draw(st.integers(0, 3)), draw(st.integers(2, 9))


def window(extent, tensor, stride, dilation, kernel, pad, size):
    o, k = axes_of((extent, kernel))
    reads = read("x", o * stride + k * dilation - pad, within=((0, tensor),))
    y = block("y", "o k", (extent, kernel), reads, reduced="k")
    return Pair(copy_of("input", "x", "i", (tensor,)), y, {"o": size})


def test_the_closed_form_of_a_large_window_is_what_isl_counts(random_examples, monkeypatch):
    # Nothing is enumerated: what answers is the closed form, of windows between which there are no gaps.
    monkeypatch.setattr(enumeration, "_MAX_INSTANCES", 0)

    @random_examples(st.tuples(windows(), st.integers(2, 40), st.integers(1, 40)), 200)
    def check(case):
        form, extent, tensor = case
        stride, dilation, kernel, _, size = form
        pair = window(extent, tensor, *form)
        least = extent % size or size if size < extent else extent
        if stride <= kernel and (dilation == 1 or least >= dilation):
            assert factor(pair) == pytest.approx(counted(pair), rel=1e-12)

    check()


def test_the_factor_of_a_symbolic_window_bounds_that_of_large_ones(random_examples):
    @random_examples(st.tuples(windows(), st.integers(200, 230)), 60)
    def check(case):
        form, extent = case
        stride, dilation, kernel, _, size = form
        width = (size - 1) * stride + (kernel - 1) * dilation + 1
        bound = factor(window(M, M * stride, *form))
        assert bound == max(width / (size * stride), 1)
        # A window at the edge is part of the tensor only, of which it has at most one more.
        assert counted(window(extent, extent * stride, *form)) <= bound + width / (extent * stride)

    check()


def test_a_symbolic_convolution_has_the_factor_of_a_tile_inside():
    shape = (M, N, 3, 3)
    oh, ow, kh, kw = axes_of(shape)
    reads = read("x", oh + kh - 1, ow + kw - 1, within=((0, M), (1, N)))
    y = block("y", "oh ow kh kw", shape, reads, reduced="kh kw")
    pair = Pair(copy_of("input", "x", "h w", (M, N)), y, {"oh": 8, "ow": 8})
    assert factor(pair) == (10 / 8) ** 2


def test_a_large_convolution_is_counted_to_its_edges():
    x, y = conv(3, 1, 1, size=4096)
    tiles = 4096 // 8
    assert factor(Pair(x, y, {"oh": 8})) == (4096 + 2 * (tiles - 1)) / 4096


@pytest.mark.parametrize(("size", "expected"), [(1, 4.0), (2, 2.0), (4, 1.0), (8, 1.0), (3, 16 / 8)])
def test_query_heads_share_the_head_of_their_group(size, expected):
    # GQA, 4 query heads to each of 8 heads: a tile of part of a group computes the group's keys for itself.
    (h,) = axes_of((32,))
    assert at((32,), (8,), axes.floordiv_within(h, 4, (32,)), i=size) == expected


def test_tiles_of_two_axes_that_move_one_row_overlap():
    i, j = axes_of((16, 16))
    assert at((16, 16), (31,), i + j, i=4, j=4) == 4 * 4 * 7 / 31


def test_a_diagonal_is_read_once():
    (i,) = axes_of((8,))
    assert at((8,), (8, 8), i, i, i=2) == 8 / 64


def test_what_is_not_read_is_not_counted():
    (i,) = axes_of((8,))
    assert at((8,), (8, 4), i, 3, i=2) == 1 / 4
    assert at((8,), (16,), i * 2, i=2) == 1 / 2


def test_an_axis_that_moves_no_row_computes_all_again():
    i, _ = axes_of((8, 9))
    assert at((8, 9), (8,), i, i=2, j=4) == 3
    m, _ = axes_of((M, N))
    assert at((M, N), (M,), m, i=16) == 1
    assert at((M, N), (M,), m, i=16, j=16) is None


def test_a_stencil_of_five_points_has_no_corners():
    i, j = axes_of((4, 4))
    points = [read("x", i + a, j + b) for a, b in ((1, 1), (0, 1), (2, 1), (1, 0), (1, 2))]
    pair = Pair(copy_of("input", "x", "a b", (6, 6)), block("y", "i j", (4, 4), *points), {"i": 2, "j": 2})
    assert factor(pair) == 4 * (4 * 4 - 4) / 36


def test_a_tensor_without_elements_is_not_computed():
    (i,) = axes_of((0,))
    assert at((0,), (0,), i) == 0
