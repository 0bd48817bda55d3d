"""`tensormap.replace` and `tensormap.cp_fenceproxy`: what a kernel may change in a map, and what is found in misuse.

Expected tiles are numpy's.
"""

import numpy as np
import pytest

from ptxsim import PtxError
from ptxsim.tensor_maps.encoding import MAP_RECORD
from ptxsim_cases.kernel_text import kinds
from ptxsim_cases.map_kernels import ACQUIRE, LOAD, OTHER, PUBLISH, distinct, replaced, run
from ptxsim_cases.tensor_maps import im2col


def test_a_map_replaced_in_shared_memory_is_copied_and_used():
    report, out = run(OTHER + PUBLISH + ACQUIRE)
    assert report.ok, str(report)
    assert (out == distinct(5, 12)[:4, :8]).all()


def test_a_map_is_replaced_in_global_memory():
    fill = PUBLISH + replaced("global_address", "%d2", space="global") + replaced("global_stride", 48, 0, "global")
    fences = "@%p0 fence.proxy.tensormap::generic.release.gpu; @%p0 " + ACQUIRE
    report, out = run(fill + replaced("global_dim", 12, 0, "global") + fences)
    assert report.ok, str(report)
    assert (out == distinct(5, 12)[:4, :8]).all()


def test_generic_addresses_name_shared_and_global_memory():
    body = """cvt.u64.u32 %d7, %r3; cvta.shared.u64 %d7, %d7;
    @%p0 tensormap.replace.tile.global_address.b1024.b64 [%d7], %d2;
    @%p0 tensormap.replace.tile.global_stride.b1024.b64 [%d7], 0, 48;"""
    fences = "@%p0 fence.proxy.tensormap::generic.release.gpu; @%p0 " + ACQUIRE
    later = "@%p0 tensormap.replace.tile.global_dim.b1024.b32 [%d1], 0, 12;" + fences
    report, out = run(body + PUBLISH + later)
    assert report.ok, str(report)
    assert (out == distinct(5, 12)[:4, :8]).all()


_ALL_FIELDS = "".join(
    (
        replaced("global_address", "%d2"),
        replaced("rank", 1),
        *(replaced("box_dim", size, number) for number, size in enumerate((8, 4))),
        *(replaced("global_dim", size, number) for number, size in enumerate((12, 5))),
        replaced("global_stride", 48, 0),
        *(replaced("element_stride", 1, number) for number in range(2)),
        replaced("elemtype", 7),
        replaced("interleave_layout", 0),
        replaced("swizzle_mode", 0),
        replaced("fill_mode", 0),
    )
)


# Triton makes a map of 128 zeros.
def test_a_map_may_be_made_of_zeros():
    zeros = "mov.u32 %r10, 0; st.shared.u32 [%r5], %r10; bar.warp.sync -1;"
    report, out = run(zeros + _ALL_FIELDS + PUBLISH + ACQUIRE)
    assert report.ok, str(report)
    assert (out == distinct(5, 12)[:4, :8]).all()


def test_a_store_goes_where_the_replaced_map_says():
    other = distinct(5, 12)
    store = """mov.b32 %r11, 0fC0000000; st.shared.f32 [%r8], %r11; fence.proxy.async; bar.sync 0;
    @%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d1, {%r6, %r7}], [%r1];
    @%p0 cp.async.bulk.commit_group; @%p0 cp.async.bulk.wait_group 0;"""
    report, out = run(OTHER + PUBLISH + ACQUIRE, LOAD + store, other=other)
    assert report.ok, str(report)
    assert (other[:4, :8] == -2).all()
    assert (out == distinct(5, 12)[:4, :8]).all()


def test_what_is_out_of_bounds_follows_the_new_extents():
    report, out = run(OTHER + replaced("global_dim", 6, 0) + replaced("global_dim", 3, 1) + PUBLISH + ACQUIRE)
    assert report.ok, str(report)
    expected = np.zeros((4, 8), np.float32)
    expected[:3, :6] = distinct(5, 12)[:3, :6]
    assert (out == expected).all()


def test_the_map_of_the_parameter_stays_what_it_was():
    use = LOAD.replace("[%d1,", "[%d7,")
    report, out = run(OTHER + PUBLISH + "mov.b64 %d7, map; cvta.param.u64 %d7, %d7;", use)
    assert report.ok, str(report)
    assert (out == 0).all()


# As ptxas takes them.
def test_words_may_stand_in_another_order():
    report, out = run(OTHER.replace("tile.global_dim.shared::cta.", "tile.shared::cta.global_dim.") + PUBLISH + ACQUIRE)
    assert report.ok, str(report)
    assert (out == distinct(5, 12)[:4, :8]).all()


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        (replaced("box_dim", 257, 0), "out-of-bounds", "box_dim[0] = 257 is not within 1 … 256"),
        (replaced("box_dim", 0, 1), "out-of-bounds", "box_dim[1] = 0 is not within 1 … 256"),
        (replaced("element_stride", 9, 1), "out-of-bounds", "element_stride[1] = 9 is not within 1 … 8"),
        (replaced("rank", 5), "out-of-bounds", "rank = 5 is not within 0 … 4"),
        (replaced("global_dim", 0, 0), "out-of-bounds", "global_dim[0] = 0 is not within 1 … 4294967296"),
        (replaced("global_stride", 40, 0), "out-of-bounds", "global_stride[0] = 40 is not a multiple of 16 bytes"),
        ("add.u64 %d2, %d2, 4;" + replaced("global_address", "%d2"), "out-of-bounds", "is not a multiple of 16 bytes"),
        ("add.u32 %r3, %r3, 32;" + replaced("rank", 1), "misaligned", "tensor map address"),
        (
            "add.u32 %r3, %r3, 65536;" + replaced("rank", 1),
            "out-of-bounds",
            "the tensor map, 128 bytes of shared memory",
        ),
        ("add.u32 %r3, %r1, 4032;" + replaced("rank", 1), "uninitialized", "some of which nobody has written"),
        (replaced("rank", 1, space="global").replace("[%d1]", "[%d3]"), "uninitialized", "are no tensor map"),
        (
            ".local .align 64 .b8 own[128]; mov.u64 %d7, own; cvta.local.u64 %d7, %d7;"
            "@%p0 tensormap.replace.tile.rank.b1024.b32 [%d7], 1;",
            "out-of-bounds",
            "is replaced in shared or global memory, not in local",
        ),
        (replaced("rank", "%r31"), "uninitialized", "a field of a tensor map"),
        (replaced("rank", 1).replace("@%p0", ""), "race", "nothing orders the two"),
        (PUBLISH.replace("[%r3]", "[%r5]"), "barrier-divergence", "different addresses"),
        (PUBLISH.replace("[%r3]", "[%r1]"), "uninitialized", "some of which nobody has written"),
        (PUBLISH.replace("[%d1]", "[%d1+4096]"), "out-of-bounds", "the tensor map, 128 bytes of global memory"),
        ("@!%p0 exit;" + PUBLISH, "barrier-divergence", "lanes that have exited"),
        (ACQUIRE.replace("[%d1]", "[%d1+4096]"), "out-of-bounds", "the tensor map, 128 bytes of global memory"),
        (ACQUIRE.replace("[%d1]", "[%d1+32]"), "misaligned", "tensor map address"),
        (
            "mov.b64 %d7, map; cvta.param.u64 %d7, %d7;" + ACQUIRE.replace("[%d1]", "[%d7]"),
            "out-of-bounds",
            "a tensor map is acquired in global memory, not in param::entry",
        ),
        (
            "cvt.u64.u32 %d1, %r3; cvta.shared.u64 %d1, %d1;" + LOAD,
            "out-of-bounds",
            "a tensor map is used in param::entry or const or global memory, not in shared",
        ),
    ],
)
def test_misuse_is_found(body: str, kind: str, message: str):
    report, _ = run(body, "")
    assert kind in kinds(report), str(report)
    assert message in str(report)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (replaced("box_dim", 7, 0), "box_dim[0] makes rows of 28 bytes, no multiple of 16 bytes"),
        (replaced("swizzle_mode", 3), "makes rows of 32 bytes, shorter than the 128 bytes of swizzle '128B'"),
        (
            replaced("elemtype", 2) + replaced("fill_mode", 1),
            "oob_fill 'nan_request_zero_fma' needs elements of a float",
        ),
        (replaced("rank", 2), "global_dim[2] = 0 is not within 1 … 4294967296"),
        (replaced("rank", 0), "a copy with 2 coordinates of a tensor map of rank 1"),
        (OTHER + replaced("global_dim", 9, 1) + replaced("box_dim", 9, 1), "not all of them are in the map's array"),
    ],
)
def test_fields_that_do_not_go_together_are_found_by_the_copy(body: str, message: str):
    report, _ = run(body + PUBLISH + ACQUIRE)
    assert "out-of-bounds" in kinds(report), str(report)
    assert message in str(report)


def stored(field: str, value: int) -> str:
    """The first lane stores a number over a field of the copy."""
    dtype, offset = dict(MAP_RECORD.fields or {})[field][:2]
    size = dtype.base.itemsize
    words = [(offset + at, min(size, 4), value >> 8 * at & 0xFFFFFFFF) for at in range(0, size, 4)]
    return "".join(f"mov.u32 %r9, {word}; @%p0 st.shared.b{8 * part} [%r3+{at}], %r9;\n" for at, part, word in words)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("mark", 0, "are no tensor map"),
        ("global_address", 8, "global_address = 8 is not a multiple of 16 bytes"),
        ("global_address", 16, "not all of them are in the map's array"),
        ("global_address", 2**64 - 16, "has its tensor at 0xfffffffffffffff0, where there is no memory"),
        ("global_dim", 0, "global_dim[0] = 0 is not within"),
        ("global_dim", 2**32 + 1, "global_dim[0] = 4294967297 is not within 1 … 4294967296"),
        ("global_stride", 40, "global_strides[0] = 40 is not a multiple of 16 bytes"),
        ("global_stride", 2**40, "global_strides[0] = 1099511627776 is not within"),
        ("box_dim", 257, "box_dim[0] = 257 is not within 1 … 256"),
        ("element_stride", 9, "element_strides[0] = 9 is not within 1 … 8"),
        ("rank", 200, "tensor_rank = 201 is not within 1 … 5"),
        ("elemtype", 200, "elemtype = 200; the simulator knows 0 (u8), 1 (u16), "),
        ("elemtype", 8, "elemtype = 8; the simulator knows 0 (u8), "),
        ("swizzle_mode", 99, "swizzle_mode = 99; the simulator knows 0 (none), "),
        ("fill_mode", 2, "fill_mode = 2; the simulator knows 0 (zeros), "),
        ("mode", 7, "mode = 7; the simulator knows 0 (tile), 1 (im2col)"),
        ("mode", 1, "tensor_rank = 2 is not within 3 … 5"),
        ("interleave_layout", 3, "interleave_layout = 3; the simulator knows 0 (none)"),
    ],
)
def test_what_stores_write_into_a_map_is_found_by_the_copy(field: str, value: int, message: str):
    report, _ = run(OTHER + stored(field, value) + PUBLISH + ACQUIRE)
    assert message in str(report)
    assert all(finding.line for finding in report.findings)


# Only the host knows that a tensor is within an array, and only of the maps that it gave.
def test_what_stores_say_of_the_array_is_not_believed():
    report, _ = run(OTHER + stored("array_bytes", 2**40) + replaced("global_dim", 9, 1) + PUBLISH + ACQUIRE)
    assert report.ok, str(report)
    far = stored("global_address", 2**46) + stored("array_bytes", 2**40)
    report, _ = run(OTHER + far + PUBLISH + ACQUIRE)
    assert "not all of them are in the map's array" in str(report)


def test_stores_into_a_map_of_im2col_are_found_too():
    tensor = im2col(np.zeros((2, 6, 4), np.float32), (0,), (0,), 4, 8)
    for field, value, message in (
        ("box_dim", 0, "channels_per_pixel = 0 is not within 1 … 256"),
        ("box_dim", 3, "channels_per_pixel makes rows of 12 bytes, no multiple of 16 bytes"),
        ("corners", 6, "the pixel box is empty in dimension W"),
    ):
        report, _ = run(stored(field, value) + PUBLISH + ACQUIRE, tensor=tensor)
        assert message in str(report)


def test_an_im2col_map_has_no_field_of_tiles():
    tensor = im2col(np.zeros((2, 6, 4), np.float32), (0,), (0,), 4, 8)
    report, _ = run(replaced("box_dim", 8, 0), "", tensor=tensor)
    assert "it is one of im2col; tensormap.replace.tile takes one of tiles" in str(report)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tensormap.replace.im2col.rank.global.b1024.b32 [%d1], 1;", "is not an instruction that the simulator knows"),
        ("tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%d1], 1;", "is not an instruction"),
        ("tensormap.replace.tile.rank.global.b1024.b64 [%d1], 1;", "is not an instruction"),
        ("tensormap.replace.tile.rank.const.b1024.b32 [%d1], 1;", "is not an instruction"),
        ("tensormap.replace.tile.rank.shared.b1024.b32 [%r3], 1;", "is not an instruction"),
        ("tensormap.replace.tile.rank.box_dim.b1024.b32 [%d1], 1;", "is not an instruction"),
        ("tensormap.tile.rank.b1024.b32 [%d1], 1;", "is not an instruction"),
        ("tensormap.replace.tile.global_address.global.b1024.b32 [%d1], %r0;", "is not an instruction"),
        ("tensormap.replace.tile.rank.global.b1024.b32 [%d1], 0, 1;", "takes 2 operands, not 3"),
        ("tensormap.replace.tile.box_dim.global.b1024.b32 [%d1], 1;", "takes 3 operands, not 2"),
        ("tensormap.replace.tile.box_dim.global.b1024.b32 [%d1], 5, 1;", "field box_dim has the ordinals 0 … 4, not 5"),
        ("tensormap.replace.tile.global_stride.global.b1024.b64 [%d1], 4, 16;", "the ordinals 0 … 3, not 4"),
        ("tensormap.replace.tile.box_dim.global.b1024.b32 [%d1], %r0, 1;", "takes a constant ordinal"),
        ("tensormap.replace.tile.elemtype.global.b1024.b32 [%d1], %r0;", "takes a constant mode"),
        ("tensormap.replace.tile.elemtype.global.b1024.b32 [%d1], 8;", "elemtype = 8; the simulator knows 0 .u8., "),
        ("tensormap.replace.tile.interleave_layout.global.b1024.b32 [%d1], 1;", "layout = 1; .* 0 .none"),
        ("tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%d1], 4;", "swizzle_mode = 4; .* 3 .128B"),
        ("tensormap.replace.tile.fill_mode.global.b1024.b32 [%d1], 2;", "fill_mode = 2; "),
        (
            "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.acquire.gpu.sync.aligned [%d1], [%r3], 128;",
            "is not an instruction",
        ),
        (
            "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [%r3], 64;",
            "a tensor map has 128 bytes",
        ),
    ],
)  # fmt: skip
def test_forms_that_do_not_exist_are_refused(text: str, message: str):
    with pytest.raises(PtxError, match=message):
        run(text, "")
