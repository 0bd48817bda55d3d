"""`tensormap.replace` and `tensormap.cp_fenceproxy`: maps that a kernel changes, and the fences that this takes.

Expected tiles are numpy's. A warp loads one box [4, 8] of f32 by the map at `%d1` and stores it to `out`.
"""

import numpy as np
import pytest

from ptxsim import PtxError, Report
from ptxsim_cases.kernel_text import kernel, kinds, launch
from ptxsim_cases.tensor_maps import im2col, tiled

_PARAMETERS = ".param .align 64 .b8 map[128], .param .u64 other, .param .u64 out"
_MODULE = ".global .align 128 .b8 mine[128]; .global .u32 flag;"
#: %r0: the lane, %r1: 4 KiB of shared memory, %r2: an mbarrier, %r3: 128 bytes of shared memory with the map of the
#: parameter in it, %d1: 128 bytes of global memory, %d2: `other`, %p0: the first lane.
_SETUP = """
.shared .align 1024 .b8 tile[4096]; .shared .align 8 .b64 full; .shared .align 128 .b8 copy[128];
mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, full; mov.u32 %r3, copy; mov.u64 %d1, mine;
ld.param.u64 %d2, [other]; ld.param.u64 %d3, [out]; setp.eq.u32 %p0, %r0, 0;
@%p0 mbarrier.init.shared.b64 [%r2], 1; @%p0 fence.mbarrier_init.release.cluster; @%p0 fence.proxy.async;
mov.b64 %d4, map; mul.wide.u32 %d5, %r0, 4; add.u64 %d4, %d4, %d5; ld.param.u32 %r4, [%d4];
shl.b32 %r5, %r0, 2; add.u32 %r5, %r5, %r3; st.shared.u32 [%r5], %r4; bar.sync 0;
"""
_LOAD = """
mov.u32 %r6, 0; mov.u32 %r7, 0;
@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 128;
@%p0 cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%d1, {%r6, %r7}], [%r2];
wait_0: mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0; @!%p1 bra wait_0;
shl.b32 %r8, %r0, 2; add.u32 %r8, %r8, %r1; ld.shared.u32 %r9, [%r8]; add.u64 %d6, %d3, %d5; st.global.u32 [%d6], %r9;
"""
_ACQUIRE = "fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;\n"
_PUBLISH = """bar.warp.sync -1;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [%r3], 128;
"""


def replaced(field: str, value: object, ordinal: int | None = None, space: str = "shared::cta") -> str:
    """The first lane replaces a field: in the copy, or in global memory."""
    place = {"shared::cta": "%r3", "global": "%d1"}[space]
    kind = "b64" if field in ("global_address", "global_stride") else "b32"
    number = "" if ordinal is None else f"{ordinal}, "
    return f"@%p0 tensormap.replace.tile.{field}.{space}.b1024.{kind} [{place}], {number}{value};\n"


def distinct(*shape: int) -> np.ndarray:
    return (np.arange(np.prod(shape)) + 1).astype(np.float32).reshape(shape)


def run(body: str, load: str = _LOAD, tensor=None, other=None, **options) -> tuple[Report, np.ndarray]:
    """The report, and the box [4, 8] that came; the map of the parameter is of zeros."""
    out = np.full((4, 8), -1, np.float32)
    tensor = tiled(np.zeros((4, 8), np.float32), (8, 4)) if tensor is None else tensor
    other = distinct(5, 12) if other is None else other
    return launch(kernel(_SETUP + body + load + "\nret;", _PARAMETERS, _MODULE), [tensor, other, out], **options), out


#: Of the map in shared memory: it is that of `other` [5, 12].
_OTHER = "".join(
    (
        replaced("global_address", "%d2"),
        replaced("global_dim", 12, 0),
        replaced("global_dim", 5, 1),
        replaced("global_stride", 48, 0),
    )
)


def test_a_map_replaced_in_shared_memory_is_copied_and_used():
    report, out = run(_OTHER + _PUBLISH + _ACQUIRE)
    assert report.ok, str(report)
    assert (out == distinct(5, 12)[:4, :8]).all()


def test_a_map_is_replaced_in_global_memory():
    fill = _PUBLISH + replaced("global_address", "%d2", space="global") + replaced("global_stride", 48, 0, "global")
    fences = "@%p0 fence.proxy.tensormap::generic.release.gpu; @%p0 " + _ACQUIRE
    report, out = run(fill + replaced("global_dim", 12, 0, "global") + fences)
    assert report.ok, str(report)
    assert (out == distinct(5, 12)[:4, :8]).all()


def test_generic_addresses_name_shared_and_global_memory():
    body = """cvt.u64.u32 %d7, %r3; cvta.shared.u64 %d7, %d7;
    @%p0 tensormap.replace.tile.global_address.b1024.b64 [%d7], %d2;
    @%p0 tensormap.replace.tile.global_stride.b1024.b64 [%d7], 0, 48;"""
    fences = "@%p0 fence.proxy.tensormap::generic.release.gpu; @%p0 " + _ACQUIRE
    later = "@%p0 tensormap.replace.tile.global_dim.b1024.b32 [%d1], 0, 12;" + fences
    report, out = run(body + _PUBLISH + later)
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
    report, out = run(zeros + _ALL_FIELDS + _PUBLISH + _ACQUIRE)
    assert report.ok, str(report)
    assert (out == distinct(5, 12)[:4, :8]).all()


def test_a_store_goes_where_the_replaced_map_says():
    other = distinct(5, 12)
    store = """st.shared.f32 [%r8], 0fC0000000; fence.proxy.async; bar.sync 0;
    @%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d1, {%r6, %r7}], [%r1];
    @%p0 cp.async.bulk.commit_group; @%p0 cp.async.bulk.wait_group 0;"""
    report, out = run(
        _OTHER + _PUBLISH + _ACQUIRE,
        _LOAD + store.replace("0fC0000000", "%r11").replace("st.", "mov.b32 %r11, 0fC0000000; st.", 1),
        other=other,
    )
    assert report.ok, str(report)
    assert (other[:4, :8] == -2).all()
    assert (out == distinct(5, 12)[:4, :8]).all()


def test_what_is_out_of_bounds_follows_the_new_extents():
    report, out = run(_OTHER + replaced("global_dim", 6, 0) + replaced("global_dim", 3, 1) + _PUBLISH + _ACQUIRE)
    assert report.ok, str(report)
    expected = np.zeros((4, 8), np.float32)
    expected[:3, :6] = distinct(5, 12)[:3, :6]
    assert (out == expected).all()


def test_the_map_of_the_parameter_stays_what_it_was():
    use = _LOAD.replace("[%d1,", "[%d7,")
    report, out = run(_OTHER + _PUBLISH + "mov.b64 %d7, map; cvta.param.u64 %d7, %d7;", use)
    assert report.ok, str(report)
    assert (out == 0).all()


# As ptxas takes them.
def test_words_may_stand_in_another_order():
    report, out = run(
        _OTHER.replace("tile.global_dim.shared::cta.", "tile.shared::cta.global_dim.") + _PUBLISH + _ACQUIRE
    )
    assert report.ok, str(report)
    assert (out == distinct(5, 12)[:4, :8]).all()


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        (replaced("box_dim", 257, 0), "out-of-bounds", "box_dim[0] = 0x101 is not within 1 … 256"),
        (replaced("box_dim", 0, 1), "out-of-bounds", "box_dim[1] = 0x0 is not within 1 … 256"),
        (replaced("element_stride", 9, 1), "out-of-bounds", "element_stride[1] = 0x9 is not within 1 … 8"),
        (replaced("rank", 5), "out-of-bounds", "rank = 0x5 is not within 0 … 4"),
        (replaced("global_dim", 0, 0), "out-of-bounds", "global_dim[0] = 0x0 is not within 1 … 4294967295"),
        (replaced("global_stride", 40, 0), "out-of-bounds", "global_stride[0] = 0x28 is not within"),
        ("add.u64 %d2, %d2, 4;" + replaced("global_address", "%d2"), "out-of-bounds", "and a multiple of 16"),
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
        (_PUBLISH.replace("[%r3]", "[%r5]"), "barrier-divergence", "different addresses"),
        (_PUBLISH.replace("[%r3]", "[%r1]"), "uninitialized", "some of which nobody has written"),
        (_PUBLISH.replace("[%d1]", "[%d1+4096]"), "out-of-bounds", "the tensor map, 128 bytes of global memory"),
        ("@!%p0 exit;" + _PUBLISH, "barrier-divergence", "lanes that have exited"),
        (_ACQUIRE.replace("[%d1]", "[%d1+4096]"), "out-of-bounds", "not all allocated global memory"),
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
        (_OTHER + replaced("global_dim", 9, 1) + replaced("box_dim", 9, 1), "not all of them are in the map's array"),
    ],
)
def test_fields_that_do_not_go_together_are_found_by_the_copy(body: str, message: str):
    report, _ = run(body + _PUBLISH + _ACQUIRE)
    assert "out-of-bounds" in kinds(report), str(report)
    assert message in str(report)


def test_an_im2col_map_has_no_field_of_tiles():
    tensor = im2col(np.zeros((2, 6, 4), np.float32), (0,), (0,), 4, 8)
    report, _ = run(replaced("box_dim", 8, 0), "", tensor=tensor)
    assert "it is one of im2col; tensormap.replace.tile takes one of tiles" in str(report)


_RELEASE = "@%p0 fence.proxy.tensormap::generic.release.gpu;\n"
_IN_GLOBAL = _PUBLISH + replaced("global_address", "%d2", space="global")


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (_PUBLISH + "@%p0 " + _ACQUIRE, ""),
        (_PUBLISH, "proxy-fence-missing"),
        (_IN_GLOBAL + _RELEASE + _ACQUIRE, ""),
        (_IN_GLOBAL + _ACQUIRE, "proxy-fence-missing"),
        (_IN_GLOBAL + _RELEASE, "proxy-fence-missing"),
        (_IN_GLOBAL + _ACQUIRE + _RELEASE, "proxy-fence-missing"),
        (_PUBLISH + _RELEASE + _ACQUIRE + replaced("global_address", "%d2", space="global"), "proxy-fence-missing"),
        (_IN_GLOBAL + _RELEASE + _ACQUIRE.replace("[%d1]", "[%d2]"), "proxy-fence-missing"),
        # Another lane acquires, or releases what the first has written: only with a barrier between.
        (_IN_GLOBAL + _RELEASE + "bar.warp.sync -1; @!%p0 " + _ACQUIRE + "bar.warp.sync -1;", ""),
        (_IN_GLOBAL + _RELEASE + "@!%p0 " + _ACQUIRE + "bar.warp.sync -1;", "proxy-fence-missing"),
        (_IN_GLOBAL + _RELEASE + "bar.warp.sync -1; @!%p0 " + _ACQUIRE, "proxy-fence-missing"),
        (_IN_GLOBAL + "bar.warp.sync -1;" + _RELEASE.replace("@", "@!") + "bar.warp.sync -1;" + _ACQUIRE, ""),
        (_IN_GLOBAL + _RELEASE.replace("@", "@!") + "bar.warp.sync -1;" + _ACQUIRE, "proxy-fence-missing"),
    ],
)
def test_a_changed_map_is_released_and_acquired_by_its_proxy(body: str, found: str):
    report, _ = run(body)
    assert kinds(report) == ({found} if found else set()), str(report)


def test_the_finding_names_both_sides_and_the_fences():
    report, _ = run(_IN_GLOBAL)
    (finding,) = report.findings
    assert "starts to read 128 bytes of global memory as a tensor map that a thread writes at line" in finding.message
    assert (
        "without fence.proxy.tensormap::generic.release there and .acquire of the map here between" in finding.message
    )
    assert finding.variable == "mine+0"
    assert [other.thread.thread for other in finding.others] == [(0, 0, 0)]


def test_a_map_from_before_the_launch_is_acquired():
    workspace = np.zeros(128, np.uint8)
    tensor, out = tiled(distinct(4, 8), (8, 4)), np.zeros((4, 8), np.float32)
    text = kernel(_SETUP + "mov.u64 %d1, %d2;" + _PUBLISH + "ret;", _PARAMETERS, _MODULE)
    assert launch(text, [tensor, workspace, out]).ok
    for fence, found in ((_ACQUIRE, set()), ("", {"proxy-fence-missing"})):
        text = kernel(_SETUP + "mov.u64 %d1, %d2;" + fence + _LOAD + "ret;", _PARAMETERS, _MODULE)
        report = launch(text, [tensor, workspace, out], grid=(20, 1, 1))
        assert kinds(report) == found, str(report)
        assert (out == distinct(4, 8)).all()
    assert "since the launch began" in str(report)


#: CTA 0 writes the map and sets a flag, CTA 1 waits for it and loads.
_BETWEEN = """mov.u32 %r12, %ctaid.x; setp.ne.u32 %p3, %r12, 0; mov.u64 %d8, flag; @%p3 bra consumer;
{body} @%p0 st.release.gpu.global.u32 [%d8], 1; bra end;
consumer: spin: ld.acquire.gpu.global.u32 %r13, [%d8]; setp.eq.u32 %p4, %r13, 0; @%p4 bra spin; {acquire}
"""


@pytest.mark.parametrize(
    ("scope", "acquire", "found"),
    [
        ("gpu", _ACQUIRE, set()),
        ("gpu", "", {"proxy-fence-missing"}),
        ("cta", _ACQUIRE, {"proxy-fence-missing"}),
        ("gpu", _ACQUIRE.replace("gpu", "cta"), {"proxy-fence-missing"}),
    ],
)
def test_another_cta_uses_the_map(scope: str, acquire: str, found: set[str]):
    body = _BETWEEN.format(body=_OTHER + _PUBLISH.replace("gpu", scope), acquire=acquire)
    report, out = run(body, _LOAD + "end:", grid=(2, 1, 1))
    assert kinds(report) == found, str(report)
    assert (out == distinct(5, 12)[:4, :8]).all()


# The release of the proxy before a relaxed store, and its acquire behind a relaxed load, are what the flag takes.
def test_fences_of_the_proxy_order_as_fences_do():
    body = _BETWEEN.format(body=_OTHER + _PUBLISH, acquire=_ACQUIRE).replace("release.gpu.global", "relaxed.gpu.global")
    report, _ = run(body.replace("acquire.gpu.global", "relaxed.gpu.global"), _LOAD + "end:", grid=(2, 1, 1))
    assert report.ok, str(report)


def test_a_map_is_not_changed_while_a_copy_reads_it():
    change = replaced("rank", 1, space="global")
    early = _LOAD.replace("wait_0:", change + "wait_0:")
    report, _ = run(_PUBLISH + _ACQUIRE, early)
    assert kinds(report) == {"async-in-flight"}, str(report)
    report, _ = run(_PUBLISH + _ACQUIRE, _LOAD + change)
    assert report.ok, str(report)


def test_a_map_that_another_thread_writes_is_a_race():
    body = _PUBLISH + "bar.sync 0; setp.eq.u32 %p5, %r0, 5; @%p5 tensormap.replace.tile.rank.global.b1024.b32 [%d1], 1;"
    report, _ = run(body + "@%p5 fence.proxy.tensormap::generic.release.gpu;" + _ACQUIRE)
    assert kinds(report) == {"race"}, str(report)
    assert "starts to read 128 bytes of global memory that another thread writes" in str(report)


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
        ("tensormap.replace.tile.elemtype.global.b1024.b32 [%d1], 8;", "knows no elemtype 8; it knows 0 .u8., "),
        ("tensormap.replace.tile.interleave_layout.global.b1024.b32 [%d1], 1;", "layout 1; it knows 0 .none"),
        ("tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%d1], 4;", "no swizzle_mode 4; .* 3 .128B"),
        ("tensormap.replace.tile.fill_mode.global.b1024.b32 [%d1], 2;", "no fill_mode 2"),
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
