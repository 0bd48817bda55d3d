"""Compute-at of Poly Core on programs: what is legal at which tile, with witnesses; buffers between the blocks."""

import dataclasses

import pytest

from analysis_programs.poly_programs import group_mean, scan, softmax, two_convolutions
from analysis_programs.tiny_programs import Program, gemm_bias_relu
from tinyc.analysis.poly.view import poly_view
from tinyc.analysis.poly_core import can_compute_at, min_buffer_for_edge
from tinyc.dialects.registry import context
from tinyc.expr.isl import functions
from tinyc.target import SM90
from tinyc.vocabulary.element_type import ElementType


def items_of(program):
    with context():
        return {item.name: item for item in poly_view(program.function).items}


def test_an_epilogue_takes_the_tile_of_its_product():
    items = items_of(gemm_bias_relu())
    found = can_compute_at(items["Y_fp32"], items["Yb"], {"m": 128, "n": 64})
    assert (found.ok, found.verdict, found.halo.bytes, found.recompute) == (True, "ok", 0, 1.0)
    assert found.halo.widths == {"m": 128, "n": 64}
    buffer = min_buffer_for_edge(items["Y_fp32"], items["Yb"], {"m": 128, "n": 64})
    assert (buffer.buffer, buffer.bytes) == ("reg", 128 * 64 * 4)


def test_a_tile_that_cuts_the_sum_leaves_parts_of_the_result():
    items = items_of(gemm_bias_relu())
    found = can_compute_at(items["Y_fp32"], items["Yb"], {"m": 128, "n": 64, "k": 64})
    assert (found.ok, found.verdict) == (False, "illegal")
    assert "cuts axis k" in found.reason
    assert found.witness.producer[2] >= 64
    assert found.witness.producer[:2] == found.witness.consumer
    assert min_buffer_for_edge(items["Y_fp32"], items["Yb"], {"k": 64}).buffer == "gmem"


@pytest.mark.parametrize("shape", ["M N", "64 128"])
def test_softmax_is_legal_by_rows_and_not_by_elements(shape):
    items = items_of(softmax(shape))
    row, column = items["d"].statement.axes
    for producer, consumer in (("most", "d"), ("total", "r")):
        assert can_compute_at(items[producer], items[consumer], {row: 1}).ok
    found = can_compute_at(items["most"], items["d"], {row: 1, column: 1})
    assert (found.ok, found.verdict) == (False, "illegal")
    # The witness: a part of the row's maximum in another tile than the element that needs it.
    (m, n), instance = found.witness.producer, found.witness.consumer
    assert m == instance[0]
    assert n != instance[1]
    assert found.witness.text in found.reason


def test_a_maximum_is_not_legal_by_elements_when_an_element_wise_op_is_between():
    p = Program(x="f32 64 128")
    most = p.op("reduce", p.relu(p["x"], name="r"), op="max", axes=(1,), element="f32", name="most")
    wide = p.expand(p.reshape(most, shape="64 1"), shape="64 128", broadcast_dimensions=(0, 1))
    items = items_of(p.result(p.sub(p["x"], wide, name="y")))
    assert can_compute_at(items["most"], items["y"], {"i0": 16}).ok
    found = can_compute_at(items["most"], items["y"], {"i0": 16, "i1": 16})
    assert (found.ok, found.verdict) == (False, "illegal")
    assert "of 'x', which a tile of 'y' holds 16 of" in found.reason


def test_a_mean_is_an_element_wise_op_after_its_sum():
    p = Program(x="f32 64 128")
    total = p.sum(p["x"], 1, name="total")
    mean = p.mul(total, total, name="mean")  # any function of the sum alone
    wide = p.expand(p.reshape(mean, shape="64 1"), shape="64 128", broadcast_dimensions=(0, 1))
    items = items_of(p.result(p.sub(p["x"], wide, name="y")))
    assert can_compute_at(items["total"], items["mean"], {"i0": 16}).ok
    found = can_compute_at(items["mean"], items["y"], {"i0": 16, "i1": 16})
    assert (found.ok, found.recompute) == (True, 8)


def test_the_smallest_tile_of_a_softmax_is_a_row():
    items = items_of(softmax("64 128"))
    assert dict(can_compute_at(items["most"], items["d"]).tile) == {"i0": 1, "i1": 128}


def test_a_row_that_is_one_tile_is_legal_however_it_is_named():
    items = items_of(softmax("64 128"))
    assert can_compute_at(items["most"], items["d"], {"i0": 1, "i1": 128}).ok
    assert not can_compute_at(items["most"], items["d"], {"i0": 1, "i1": 127}).ok


def test_the_maximum_of_a_row_stays_in_registers():
    items = items_of(softmax())
    assert min_buffer_for_edge(items["most"], items["d"], {"m": 4}).buffer == "reg"
    assert min_buffer_for_edge(items["e"], items["total"], {"m": 4}).buffer == "reg"


def test_an_activation_takes_the_tile_of_its_convolution():
    items = items_of(two_convolutions())
    found = can_compute_at(items["first"], items["n"], {"i1": 8, "i2": 8})
    assert found.ok
    assert set(found.halo.per_axis.values()) == {0}


def test_a_convolution_computes_the_edges_of_the_one_before_again():
    items = items_of(two_convolutions())
    found = can_compute_at(items["silu"], items["second"], {"i2": 8, "i3": 8})
    assert found.ok
    assert list(found.halo.per_axis.values()) == [0, 2, 2]
    assert found.halo.bytes == 4 * (10 * 10 - 8 * 8) * 4
    assert found.recompute == pytest.approx(1.47449, abs=1e-5)
    buffer = min_buffer_for_edge(items["silu"], items["second"], {"i2": 8, "i3": 8})
    assert (buffer.buffer, buffer.depth) == ("smem_ring", 2)


def test_a_residual_of_what_is_summed_is_no_obstacle():
    # The sum runs over the columns of x, and the tile cuts them for the addition; the product needs all of them anyway.
    p = Program(x="f32 64 64", w="f32 64 64")
    left = p.expand(p.reshape(p["x"], shape="64 1 64"), shape="64 64 64", broadcast_dimensions=(0, 1, 2))
    right = p.expand(
        p.reshape(p.permute(p["w"], perm=(1, 0)), shape="1 64 64"), shape="64 64 64", broadcast_dimensions=(0, 1, 2)
    )
    product = p.sum(p.mul(left, right), 2, name="product")
    items = items_of(p.result(p.add(product, p["x"], name="y")))
    assert can_compute_at(items["product"], items["y"], {"i0": 16, "i1": 16}).ok


def test_a_transposed_reader_takes_shared_memory():
    p = Program(x="f32 64 64")
    items = items_of(p.result(p.neg(p.permute(p.relu(p["x"], name="x1"), perm=(1, 0)), name="y")))
    found = can_compute_at(items["x1"], items["y"], {"i0": 16, "i1": 8})
    assert found.ok
    assert list(found.halo.widths.values()) == [8, 16]
    assert min_buffer_for_edge(items["x1"], items["y"], {"i0": 16, "i1": 8}).buffer == "smem_ring"


@pytest.mark.parametrize(("producer", "consumer"), [("running", "y"), ("x1", "running")])
def test_a_scan_is_whole_along_its_axis(producer, consumer):
    items = items_of(scan())
    assert items["running"].kind == "scan"
    along = items[consumer].statement.axes[1]
    found = can_compute_at(items[producer], items[consumer], {along: 16})
    assert (found.ok, found.verdict) == (False, "illegal")
    assert found.witness is not None
    assert can_compute_at(items[producer], items[consumer], {items[consumer].statement.axes[0]: 1}).ok
    assert can_compute_at(items[producer], items[consumer]).tile[along] == 64


def test_two_readers_are_asked_one_by_one():
    items = items_of(softmax())
    assert can_compute_at(items["e"], items["total"], {"m": 1}).ok
    assert can_compute_at(items["e"], items["y"], {"m": 1, "n": 64}).ok
    assert not can_compute_at(items["most"], items["y"], {"m": 1}).ok


def test_what_is_not_affine_is_never_fused():
    p = Program(x="f32 M N", i="i64 4")
    gathered = p.gather(p.relu(p["x"], name="x1"), p["i"], axis=0, name="g")
    items = items_of(p.result(p.neg(gathered, name="y")))
    for pair in (("x1", "g"), ("g", "y"), ("x1", "y")):
        found = can_compute_at(items[pair[0]], items[pair[1]])
        assert not found.ok
        assert found.reason
        assert min_buffer_for_edge(items[pair[0]], items[pair[1]]).buffer == "gmem"


def test_a_tile_names_axes_that_exist():
    items = items_of(gemm_bias_relu())
    with pytest.raises(ValueError, match="has an axis q"):
        can_compute_at(items["Y_fp32"], items["Yb"], {"q": 8})
    for size in (0, 1.5, "8", True, 2**31):
        with pytest.raises(ValueError, match="not a whole number in 1"):
            can_compute_at(items["Y_fp32"], items["Yb"], {"m": size})


def test_what_isl_does_not_prove_is_not_ok(monkeypatch):
    # A group of 4 channels is reduced together; whether a tile of 6 holds whole groups takes a proof.
    monkeypatch.setattr(functions, "MAX_OPERATIONS", 10)
    items = items_of(group_mean())
    found = can_compute_at(items["mean"], items["y"], {"i1": 6})
    assert (found.ok, found.verdict) == (False, "unproved")
    assert "more than 10 steps" in found.reason


@pytest.mark.parametrize(("size", "ok"), [(4, True), (8, True), (24, True), (6, False), (3, False), (1, False)])
def test_tiles_hold_whole_groups_of_channels(size, ok):
    items = items_of(group_mean())
    found = can_compute_at(items["mean"], items["y"], {"i1": size})
    assert found.verdict == ("ok" if ok else "illegal")


def test_a_ring_that_does_not_fit_is_global_memory():
    items = items_of(two_convolutions())
    whole = min_buffer_for_edge(items["silu"], items["second"], {})
    assert (whole.buffer, whole.bytes) == ("smem_ring", 2 * 4 * 56 * 56 * 4)
    wide = dataclasses.replace(items["silu"], element=ElementType.F64)
    assert min_buffer_for_edge(wide, items["second"], {}).buffer == "gmem"
    assert min_buffer_for_edge(items["silu"], items["second"], {}, SM90).buffer == "smem_ring"
