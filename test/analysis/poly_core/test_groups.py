"""Groups of blocks that one kernel can compute."""

from dataclasses import replace

import pytest

from analysis_programs.poly_blocks import axes_of, block, copy_of, read
from analysis_programs.poly_programs import relus, scan, softmax, two_convolutions
from analysis_programs.tiny_programs import Program, gemm_bias_relu
from tinyc.analysis.poly.view import poly_view
from tinyc.analysis.poly_core import can_compute_at, groups, make_fusable_groups, why_not_fusable
from tinyc.analysis.poly_core.groups import MAX_BLOCKS
from tinyc.analysis.poly_core.loops import common_loops
from tinyc.dialects.registry import context


def view_of(program):
    with context():
        return poly_view(program.function)


def groups_of(program):
    return make_fusable_groups(view_of(program))


def product(p, x, w, m, n, k, name):
    left = p.expand(p.reshape(x, shape=f"{m} 1 {k}"), shape=f"{m} {n} {k}", broadcast_dimensions=(0, 1, 2))
    right = p.expand(p.reshape(w, shape=f"1 {n} {k}"), shape=f"{m} {n} {k}", broadcast_dimensions=(0, 1, 2))
    return p.sum(p.mul(left, right), 2, name=name)


def test_a_product_and_its_epilogue_are_one_group():
    assert groups_of(gemm_bias_relu()) == [["Y_fp32", "v3", "Yb", "Yr", "Y"]]


@pytest.mark.parametrize("shape", ["M N", "64 128", "1 N", "1 5", "1 1"])
def test_a_softmax_is_one_group(shape):
    assert groups_of(softmax(shape)) == [["most", "d", "e", "total", "r", "y"]]


def test_two_convolutions_of_few_channels_are_one_group():
    (group,) = groups_of(two_convolutions())
    assert {"first", "silu", "second"} <= set(group)


def test_a_scan_shares_the_loops_beside_its_axis():
    assert groups_of(scan()) == [["x1", "running", "y"]]


def test_a_product_of_products_is_fused_where_rows_fit_and_not_where_they_are_endless():
    for n, expected in (("64", [["a", "b"]]), ("N", [["a"], ["b"]])):
        p = Program(x="f32 M 32", w=f"f32 {n} 32", v=f"f32 16 {n}")
        first = product(p, p["x"], p["w"], "M", n, "32", "a")
        assert groups_of(p.result(product(p, first, p["v"], "M", "16", n, "b"))) == expected


def test_a_product_and_a_sum_over_its_rows_and_columns_have_no_common_loop():
    p = Program(x="f32 64 64")
    most = p.op("reduce", p["x"], op="max", axes=(0,), element="f32", name="columns")
    wide = p.expand(p.reshape(most, shape="1 64"), shape="64 64", broadcast_dimensions=(0, 1))
    view = view_of(p.result(p.sum(p.sub(p["x"], wide, name="d"), 1, name="rows")))
    assert make_fusable_groups(view) == [["columns", "d"], ["rows"]]
    reason = why_not_fusable(view.blocks, frozenset({"rows"}))
    assert reason is not None
    assert "no outer loop" in reason


def test_an_axis_that_one_read_runs_over_as_a_whole_is_no_common_loop():
    # S[i, j] = Σ A[i, k] * A[k, j]: a tile of rows of S needs rows of A for one operand, and all of them for the other.
    i, j, k = axes_of((8, 8, 8))
    a = copy_of("x", "a", "r c", (8, 8))
    square = block("s", "i j k", (8, 8, 8), read("a", i, k), read("a", k, j), reduced="k")
    assert common_loops([a, square], {"a", "s"}) == ()
    row = block("s", "i j k", (8, 8, 8), read("a", i, k), reduced="k")
    assert [dict(loop.axes) for loop in common_loops([a, row], {"a", "s"})] == [{"a": 0, "s": 0}]


def test_no_group_reaches_around_what_is_not_affine():
    p = Program(x="f32 8 8", i="i64 8")
    first = p.relu(p["x"], name="first")
    gathered = p.gather(first, p["i"], axis=0, name="g")
    assert groups_of(p.result(p.add(first, gathered, name="last"))) == [["first"], ["last"]]


def test_no_group_reaches_around_a_block_outside():
    # `last` needs `whole`, which shares no loop with anything, and which needs `near`.
    p = Program(x="f32 8 8")
    near = p.relu(p["x"], name="near")
    whole = p.op("reduce", near, op="max", axes=(0, 1), element="f32", name="whole")
    wide = p.expand(p.reshape(whole, shape="1 1"), shape="8 8", broadcast_dimensions=(0, 1))
    assert groups_of(p.result(p.add(near, wide, name="last"))) == [["near"], ["whole"], ["last"]]


def test_each_block_is_in_one_group_and_groups_can_run_one_after_the_other():
    for program in (gemm_bias_relu(), softmax(), two_convolutions(), scan()):
        view = view_of(program)
        found = make_fusable_groups(view)
        of = {name: number for number, group in enumerate(found) for name in group}
        assert sorted(of) == sorted(block.name for block in view.blocks)
        assert all(of[edge.source.name] <= of[edge.target.name] for edge in view.edges)


def test_no_group_reaches_around_a_group_that_began_before_it():
    # `total` needs `least`, which needs `near`, which is in one group with `far`, which needs `most`.
    p = Program(x="f32 8 8")
    near = p.relu(p["x"], name="near")
    least = p.op("reduce", near, op="min", axes=(0, 1), element="f32", name="least")
    most = p.op("reduce", p["x"], op="max", axes=(0, 1), element="f32", name="most")
    wide = p.expand(p.reshape(most, shape="1 1"), shape="8 8", broadcast_dimensions=(0, 1))
    far = p.add(near, wide, name="far")
    assert groups_of(p.result(p.add(most, least, name="total"), far)) == [["most"], ["near", "far"], ["least", "total"]]


def test_a_group_whose_last_block_is_late_may_have_to_run_early():
    # `whole` needs `first`, which is in one group with `last`; `last` does not need `whole`.
    p = Program(x="f32 8 8")
    first = p.relu(p["x"], name="first")
    whole = p.op("reduce", first, op="max", axes=(0, 1), element="f32", name="whole")
    last = p.neg(first, name="last")
    assert groups_of(p.result(whole, last, first)) == [["first", "last"], ["whole"]]


def test_what_is_a_result_itself_is_not_recomputed_at_will():
    # Every row reads all of `b`: as a result, it needs a loop over columns, which the sum over columns has not.
    p = Program(x="f32 M N", bias="f32 N")
    b = p.relu(p["bias"], name="b")
    wide = p.expand(p.reshape(b, shape="1 N"), shape="M N", broadcast_dimensions=(0, 1))
    rows = p.sum(p.add(p["x"], wide, name="y"), 1, name="rows")
    assert groups_of(p.result(rows, b)) == [["b", "y"], ["rows"]]


def test_what_nothing_inside_reads_is_a_result():
    # `z` is element-wise, and shares no loop with `total`.
    p = Program(x="f32 64 32", w="f32 8")
    view = view_of(p.result(p.sum(p["x"], 1, name="total"), p.relu(p["w"], name="z")))
    assert why_not_fusable(view.blocks, frozenset()) == "no outer loop runs over all reductions and results"


@pytest.mark.parametrize("verdict", ["illegal", "unproved"])
def test_a_producer_that_is_not_legal_in_its_consumer_is_no_part_of_a_group(monkeypatch, verdict):
    # One edge of a softmax after the other, at one row.
    blocks = view_of(softmax("64 32")).blocks
    edges = [(read.tensor, block.name) for block in blocks for read in block.accesses if read.tensor != "s"]
    assert len(edges) == 6
    for edge in edges:

        def answer(producer, consumer, tile, edge=edge):
            assert tile == {"i0": 1}
            found = can_compute_at(producer, consumer, tile)
            asked = (producer.name, consumer.name) == edge
            return replace(found, verdict=verdict, reason=f"of {edge}") if asked else found

        monkeypatch.setattr(groups, "can_compute_at", answer)
        assert why_not_fusable(blocks, frozenset({"y"})) == f"of {edge}"


def test_what_only_the_group_reads_is_recomputed_at_will():
    p = Program(x="f32 M N", bias="f32 N")
    wide = p.expand(p.reshape(p.relu(p["bias"], name="b"), shape="1 N"), shape="M N", broadcast_dimensions=(0, 1))
    assert groups_of(p.result(p.sum(p.add(p["x"], wide, name="y"), 1, name="rows"))) == [["b", "y", "rows"]]


def test_what_reads_nothing_of_a_group_is_no_obstacle():
    # The gather stands between `first` and `last`, and reads inputs only.
    p = Program(x="f32 8 8", i="i64 8")
    first = p.relu(p["x"], name="first")
    gathered = p.gather(p["x"], p["i"], axis=0, name="g")
    assert groups_of(p.result(p.add(first, gathered, name="last"))) == [["first", "last"]]


def test_what_is_not_affine_and_reads_a_block_makes_it_a_result():
    # As `b` above, which is not returned, and which a gather reads as a whole.
    p = Program(x="f32 M N", bias="f32 N", i="i64 4")
    b = p.relu(p["bias"], name="b")
    wide = p.expand(p.reshape(b, shape="1 N"), shape="M N", broadcast_dimensions=(0, 1))
    rows = p.sum(p.add(p["x"], wide, name="y"), 1, name="rows")
    assert groups_of(p.result(rows, p.gather(b, p["i"], axis=0))) == [["b", "y"], ["rows"]]


def test_a_long_chain_is_cut_in_groups():
    assert [len(group) for group in groups_of(relus(2 * MAX_BLOCKS + 1))] == [MAX_BLOCKS, MAX_BLOCKS, 1]


def test_what_has_an_axis_of_extent_1_shares_one_step_only_with_what_has_one():
    # The sum is one element for all rows of `y`: no step of a loop over rows is the one that makes it.
    p = Program(x="f32 1 32")
    total = p.sum(p["x"], 1, name="total")
    wide = p.expand(total, shape="64", broadcast_dimensions=(0,))
    assert groups_of(p.result(p.neg(wide, name="y"))) == [["total"], ["y"]]
