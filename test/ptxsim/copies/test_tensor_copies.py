"""Tensor copies: loads, stores and reductions of boxes by tensor maps, and what is found in misuse."""

import itertools

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import DTypeLike

from ptxsim import PtxError, TensorMap, load
from ptxsim.errors import InputError
from ptxsim_cases.kernel_text import kernel, kinds, launch
from ptxsim_cases.tensor_maps import im2col, tiled

#: One thread issues; %d1 is the generic address of the map, %r1 that of 4 KiB of shared memory, %r2 of an mbarrier.
SETUP = """
.shared .align 1024 .b8 tile[4096]; .shared .align 8 .b64 full;
mov.b64 %d0, map; cvta.param.u64 %d1, %d0; ld.param.u64 %d2, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, tile;
mov.u32 %r2, full; setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [%r2], 1;
@%p0 fence.mbarrier_init.release.cluster; @%p0 fence.proxy.async; bar.sync 0;
"""
PARAMETERS = ".param .align 64 .b8 map[128], .param .u64 out"
WAIT = "wait_0: mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0; @!%p1 bra wait_0;\n"
#: The threads copy 16 bytes at a time from shared memory to `out`, or the other way, until `%r9` bytes are done.
READ_TILE = """shl.b32 %r10, %r0, 4; mov.u32 %r11, %ntid.x; shl.b32 %r11, %r11, 4;
more: setp.ge.u32 %p2, %r10, %r9; @%p2 bra done; cvt.u64.u32 %d3, %r10; add.u64 %d4, %d2, %d3; add.u32 %r12, %r1, %r10;
ld.shared.v2.u64 {%d5, %d6}, [%r12]; st.global.v2.u64 [%d4], {%d5, %d6}; add.u32 %r10, %r10, %r11; bra more; done:
"""
WRITE_TILE = READ_TILE.replace(
    "ld.shared.v2.u64 {%d5, %d6}, [%r12]; st.global.v2.u64 [%d4], {%d5, %d6};",
    "ld.global.v2.u64 {%d5, %d6}, [%d4]; st.shared.v2.u64 [%r12], {%d5, %d6};",
) + "fence.proxy.async; bar.sync 0;\n"  # fmt: skip
FINISH = "@%p0 cp.async.bulk.commit_group; @%p0 cp.async.bulk.wait_group 0;\n"


def vector(values) -> str:
    return "{" + ", ".join(str(value) for value in values) + "}"


def run(body: str, tensor: TensorMap, out: np.ndarray, **options):
    options = {"threads": 32} | options
    return launch(kernel(SETUP + body + "\nret;", PARAMETERS), [tensor, out], **options)


def box_loaded(tensor: TensorMap, coordinates, mode="tile", more="", count=None) -> np.ndarray:
    """What a load of the box at `coordinates` brings, as elements in the order of shared memory."""
    size = count or tensor.byte_count
    out = np.full(size // tensor.element_bytes, 77).astype(tensor.global_address.dtype)
    words = f"{len(coordinates)}d.shared::cluster.global.{mode}.mbarrier::complete_tx::bytes"
    body = f"""mov.u32 %r9, {size}; @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], %r9;
    @%p0 cp.async.bulk.tensor.{words} [%r1], [%d1, {vector(coordinates)}], [%r2]{more};\n"""
    report = run(body + WAIT + READ_TILE, tensor, out)
    assert report.ok, str(report)
    return out


def box_moved(tensor: TensorMap, coordinates, given: np.ndarray, words: str = "", mode: str = "tile", prefix=""):
    """Store `given`, or reduce with it, at `coordinates`; return the report."""
    body = f"""mov.u32 %r9, {given.nbytes};{WRITE_TILE}
    @%p0 cp{prefix}.async.bulk.tensor.{len(coordinates)}d.global.shared::cta.{mode}.bulk_group{words}
    [%d1, {vector(coordinates)}], [%r1];\n"""
    return run(body + FINISH, tensor, given)


def distinct(*shape: int, dtype: DTypeLike = np.float32) -> np.ndarray:
    return (np.arange(np.prod(shape)) + 1).astype(dtype).reshape(shape)


def boxed(array, start, extents, strides=None, fill=0):
    """A box by loops over the indices: `start`, `extents`, `strides` innermost first."""
    strides = strides or (1,) * len(start)
    result = []
    for index in itertools.product(*(range(-(-n // s)) for n, s in zip(extents[::-1], strides[::-1], strict=True))):
        place = tuple(at + k * s for at, k, s in zip(start[::-1], index, strides[::-1], strict=True))
        inside = all(0 <= at < size for at, size in zip(place, array.shape, strict=True))
        result.append(array[place] if inside else fill)
    return result


BOXES = [
    ((300,), (64,), (8,)),
    ((9, 12), (8, 4), (3, 2)),
    ((3, 5, 12), (8, 4, 2), (7, -2, 2)),
    ((2, 3, 5, 4), (4, 4, 2, 2), (-1, 2, 1, 1)),
    ((2, 2, 3, 5, 4), (4, 3, 2, 2, 2), (1, -1, 2, 0, -1)),
    ((9, 12), (8, 4), (-8, 0)),
    ((9, 12), (8, 4), (0, -2147483648)),
]


# One to five dimensions, inside and over every edge: what is out of bounds is zero.
@pytest.mark.parametrize(("shape", "box", "start"), BOXES)
def test_a_load_brings_a_box(shape, box, start):
    array = distinct(*shape)
    assert box_loaded(tiled(array, box), start).tolist() == boxed(array, start, box)


@pytest.mark.parametrize(("shape", "box", "start"), BOXES)
def test_a_store_writes_what_is_in_bounds(shape, box, start):
    array = distinct(*shape)
    before, given = array.copy(), -distinct(int(np.prod(box)))
    report = box_moved(tiled(array, box), start, given)
    assert report.ok, str(report)
    expected = before.copy()
    for index, value in zip(np.ndindex(box[::-1]), given.tolist(), strict=True):
        place = tuple(at + k for at, k in zip(start[::-1], index, strict=True))
        if all(0 <= at < size for at, size in zip(place, shape, strict=True)):
            expected[place] = value
    assert (array == expected).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, ml_dtypes.bfloat16, np.int32, np.float64])
def test_elements_of_any_size_keep_their_bits(dtype):
    array = (np.arange(20 * 48) % 120).astype(dtype).reshape(20, 48)
    assert box_loaded(tiled(array, (16, 4)), (5, 3)).tolist() == array[3:7, 5:21].reshape(-1).tolist()


def test_element_strides_leave_elements_out():
    array = distinct(11, 6, 4)
    found = box_loaded(tiled(array, (4, 5, 6), (1, 2, 3)), (0, 1, 4))
    assert found.tolist() == boxed(array, (0, 1, 4), (4, 5, 6), (1, 2, 3))


def test_a_tile_may_be_filled_with_nan():
    array = distinct(4, 16, dtype=np.float16)
    found = box_loaded(tiled(array, (16, 4), oob_fill="nan_request_zero_fma"), (8, 2)).reshape(4, 16)
    assert found[:2, :8].tolist() == array[2:, 8:].tolist()
    assert np.isnan(found[2:]).all()
    assert np.isnan(found[:, 8:]).all()


def test_interleaved_layouts_are_refused():
    with pytest.raises(InputError, match="interleave '16B' is not modelled"):
        tiled(distinct(4, 4, 4), (4, 2, 2), interleave="16B")


# Chunk c of row r lies at chunk c ^ (r mod 8); the box begins in the third line of 128 bytes.
def test_a_swizzled_tile_is_read_back_in_order_and_stored_again():
    array = distinct(16, 64, dtype=np.uint16)
    out = np.zeros((16, 64), np.uint16)
    body = """add.u32 %r1, %r1, 256; mov.u32 %r9, 2048; @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 2048;
    @%p0 cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%d1, {0, 0}], [%r2];\n"""
    assert run(body + WAIT + READ_TILE, tiled(array, (64, 16), swizzle="128B"), out).ok
    for row, chunk in np.ndindex(16, 8):
        place = 8 * (chunk ^ ((row + 2) % 8))
        assert out[row, place : place + 8].tolist() == array[row, 8 * chunk : 8 * chunk + 8].tolist()
    # Without the offset of 256 bytes, as the store is done from the beginning of the tile.
    plain = box_loaded(tiled(array, (64, 16), swizzle="128B"), (0, 0))
    target = np.zeros_like(array)
    assert box_moved(tiled(target, (64, 16), swizzle="128B"), (0, 0), plain).ok
    assert (target == array).all()


# The taps of a 3 x 3 convolution with padding 1, in 3, 4 and 5 dimensions.
@pytest.mark.parametrize("shape", [(2, 6, 4), (2, 3, 5, 4), (2, 2, 3, 4, 4)])
def test_im2col_loads_are_shifted_images(shape):
    array, spatial = distinct(*shape), len(shape) - 2
    pixels = int(np.prod(shape[:-1]))
    tensor = im2col(array, (-1,) * spatial, (-1,) * spatial, 4, pixels)
    padded = np.pad(array, ((0, 0), *[(1, 1)] * spatial, (0, 0)))
    for tap in itertools.product(range(3), repeat=spatial):
        start, offsets = (0, *[-1] * spatial, 0), vector(reversed(tap))
        found = box_loaded(tensor, start, "im2col", f", {offsets}")
        window = tuple(slice(at, at + size) for at, size in zip(tap, shape[1:-1], strict=True))
        assert found.tolist() == padded[(slice(None), *window)].reshape(-1).tolist()


def test_a_store_in_im2col_mode_writes_columns():
    array = np.zeros((2, 3, 5, 4), np.float32)
    given = distinct(12, 4)
    report = box_moved(im2col(array, (0, 0), (0, 0), 4, 12), (0, 3, 1, 0), given, mode="im2col_no_offs")
    assert report.ok, str(report)
    assert array.reshape(30, 4)[8:20].tolist() == given.tolist()
    assert np.count_nonzero(array) == 48


REDUCTIONS = [
    ("add", np.float32, np.add),
    ("add", np.float16, np.add),
    ("add", ml_dtypes.bfloat16, np.add),
    ("min", np.int32, np.minimum),
    ("max", np.float16, np.maximum),
    ("xor", np.uint32, np.bitwise_xor),
    ("and", np.int64, np.bitwise_and),
    ("add", np.uint64, np.add),
]


@pytest.mark.parametrize(("operator", "dtype", "function"), REDUCTIONS)
def test_a_reduction_combines_what_is_in_bounds(operator, dtype, function):
    generator = np.random.default_rng(3)
    array, given = (generator.integers(0, 60, shape).astype(dtype) for shape in ((6, 24), (4, 16)))
    expected = array.copy()
    expected[3:, 12:] = function(array[3:, 12:], given[:3, :12])
    report = box_moved(tiled(array, (16, 4)), (12, 3), given, prefix=".reduce", words=f".{operator}")
    assert report.ok, str(report)
    assert array.tolist() == expected.tolist()


# A stride of 0 lets all rows of the box be one row of memory: each is added.
def test_rows_that_coincide_are_added_one_after_the_other():
    array, given = np.ones(8, np.float32), distinct(4, 8)
    tensor = TensorMap.tiled(2, array, (8, 4), (0,), (8, 4), (1, 1))
    assert box_moved(tensor, (0, 0), given, prefix=".reduce", words=".add").ok
    assert array.tolist() == (1 + given.sum(0)).tolist()


def test_a_reduction_that_the_type_does_not_have_is_reported():
    report = box_moved(tiled(distinct(4, 8), (8, 4)), (0, 0), distinct(4, 8), prefix=".reduce", words=".min")
    assert kinds(report) == {"out-of-bounds"}
    assert "no reduction .min" in report.findings[0].message


def test_a_multicast_fills_the_same_place_of_both_ctas():
    array, out = distinct(8, 16), np.zeros((2, 8, 16), np.float32)
    words = "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
    body = f"""mov.u32 %r3, %cluster_ctarank; mul.wide.u32 %d8, %r3, 512; add.u64 %d2, %d2, %d8; mov.u32 %r9, 512;
    @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 512; barrier.cluster.arrive; barrier.cluster.wait;
    mov.b16 %h0, 3; shl.b32 %r4, %r3, 8; add.u32 %r5, %r1, %r4; shl.b32 %r6, %r3, 2;
    @%p0 cp.async.bulk.tensor.{words} [%r5], [%d1, {{0, %r6}}], [%r2], %h0;\n"""
    end = "barrier.cluster.arrive; barrier.cluster.wait;"
    report = run(body + WAIT + READ_TILE + end, tiled(array, (16, 4)), out, grid=(2, 1, 1), cluster=(2, 1, 1))
    assert report.ok, str(report)
    assert (out == array).all()


# A kernel may copy a map out of its parameters: the bytes in global memory are the same map, behind both fences.
def test_a_map_may_lie_in_global_memory():
    array, out = distinct(4, 8), np.zeros(32, np.float32)
    copied = "".join(f"ld.param.u64 %d8, [map+{k}]; st.global.u64 [copy+{k}], %d8;\n" for k in range(0, 128, 8))
    fence = "fence.proxy.tensormap::generic.release.gpu; fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;\n"
    body = f"""{copied} mov.b64 %d1, copy; {fence} mov.u32 %r9, 128;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 128;
    cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%d1, {{0, 0}}], [%r2];\n"""
    module = ".global .align 128 .b8 copy[128];"
    text = kernel(SETUP + body + WAIT + READ_TILE + "ret;", PARAMETERS, module)
    report = launch(text, [tiled(array, (8, 4)), out], 1)
    assert report.ok, str(report)
    assert out.tolist() == array.reshape(-1).tolist()


def test_prefetches_change_nothing():
    array, out = distinct(4, 8), np.zeros(8, np.float32)
    body = """prefetch.tensormap [%d1]; prefetch.param.tensormap [map]; mov.b16 %h0, 0;
    cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%d1, {0, 1}];"""
    assert run(body, tiled(array, (8, 4)), out).ok
    assert not out.any()


def tma(words: str, shared: str = "%r1", place: str = "[%d1, {0, 0}]", more: str = "") -> str:
    return f"cp.async.bulk.tensor.{words}.mbarrier::complete_tx::bytes [{shared}], {place}, [%r2]{more};"


TILED_2D = "2d.shared::cta.global.tile"
FAULTS = [
    (tma(TILED_2D, "%r1+64"), "misaligned", "shared memory"),
    (tma(TILED_2D, "%r1+4096"), "out-of-bounds", "destination of the copy"),
    (tma("3d.shared::cta.global", place="[%d1, {0, 0, 0}]"), "out-of-bounds", "3 coordinates"),
    (tma("3d.shared::cta.global.im2col", place="[%d1, {0, 0, 0}]", more=", {0}"), "out-of-bounds", "3 coordinates"),
    ("add.u64 %d1, %d1, 32; " + tma(TILED_2D), "misaligned", "tensor map"),
    (tma(TILED_2D, place="[%d2, {0, 0}]"), "uninitialized", "no tensor map"),
    ("mov.b64 %d1, 64; " + tma(TILED_2D), "out-of-bounds", "tensor map"),
    ("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d1, {0, 0}], [%r1];", "uninitialized", "nobody has"),
]


@pytest.mark.parametrize(("body", "kind", "message"), FAULTS)
def test_misuse_is_reported(body, kind, message):
    report = run(body, tiled(distinct(4, 8), (8, 4)), np.zeros(32, np.float32), threads=1)
    assert kinds(report) == {kind}
    assert message in report.findings[0].message


# The map says four rows, and its array has two.
@pytest.mark.parametrize(("row", "found"), [(0, False), (1, True)])
def test_a_map_beyond_its_array_is_out_of_bounds(row, found):
    tensor = TensorMap.tiled(2, distinct(2, 8), (8, 4), (32,), (8, 2), (1, 1))
    body = f"mov.u32 %r9, 64; mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 64; mov.u32 %r3, {row};"
    report = run(body + tma(TILED_2D, place="[%d1, {0, %r3}]") + WAIT, tensor, np.zeros(32, np.float32), threads=1)
    assert ("out-of-bounds" in kinds(report)) == found


# What a store leaves out need not be written in shared memory; what it takes must be.
@pytest.mark.parametrize(("column", "found"), [(4, set()), (0, {"uninitialized"})])
def test_only_elements_in_bounds_must_be_written(column, found):
    given = distinct(4)
    body = f"""mov.u32 %r9, 16;{WRITE_TILE} mov.u32 %r3, {column};
    @%p0 cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {{%r3}}], [%r1];"""
    assert kinds(run(body + FINISH, tiled(distinct(8), (8,)), given)) == found


@pytest.mark.parametrize(
    "instruction",
    [
        tma("2d.shared::cta.global.im2col", more=", {0}"),
        tma("2d.shared::cta.global.tile::gather4"),
        tma("2d.shared::cta.global.multicast::cluster", more=", %h0"),
        tma("2d.shared::cluster.global.cta_group::1"),
        tma("3d.shared::cta.global.im2col_no_offs", place="[%d1, {0, 0, 0}]"),
        tma("2d.shared::cta.global", place="[%d1]"),
        tma("2d.shared::cta.global", place="[%d1, {0, 0, 0}]"),
        "cp.async.bulk.tensor.2d.global.shared::cta.tile [%d1, {0, 0}], [%r1];",
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.noftz.bulk_group [%d1, {0, 0}], [%r1];",
        "cp.async.bulk.prefetch.tensor.2d.L2 [%d1, {0, 0}];",
        "prefetch.global.tensormap [%d1];",
        "fence.proxy.tensormap::generic.acquire.gpu [%d1], 64;",
        "fence.proxy.tensormap::generic.release.gpu [%d1], 128;",
    ],
)
def test_what_the_isa_or_the_target_does_not_have_is_refused(instruction):
    with pytest.raises(PtxError):
        load(kernel(instruction + " ret;", PARAMETERS))
