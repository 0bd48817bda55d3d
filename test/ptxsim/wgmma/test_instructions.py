"""`wgmma` in the engine: when results come, which registers may be touched meanwhile, and who must come together.

The kernels multiply a [64, 16] by b [16, 8] of f16, both K-major without swizzle: chunks of 8 elements, 8 rows of
them a core matrix of 128 bytes, neighbours along k first. With g = lane / 4 and t = lane mod 4, registers 0 and 1 of D
are row g of the warp's 16 rows, columns 2 t and 2 t + 1, registers 2 and 3 row g + 8 (PTX ISA, figure of D).
"""

import numpy as np
import pytest

from ptxsim import PtxError
from ptxsim_cases.kernel_text import kernel, kinds, launch

_POINTERS = ".param .u64 x, .param .u64 out"
_TILE = ".shared .align 128 .b8 tile[2304];"
_START = 3.0
#: The tiles are in shared memory, %d3 and %d4 describe them, and %r10 to %r13, the accumulators, are 3.
_LOAD = """ld.param.u64 %d0, [out]; ld.param.u64 %d1, [x]; mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 4;
add.u64 %d0, %d0, %d2; mul.wide.u32 %d2, %r0, 16; add.u64 %d1, %d1, %d2; mov.u32 %r1, tile; shl.b32 %r2, %r0, 4;
add.u32 %r2, %r1, %r2; setp.lt.u32 %p0, %r0, 128; setp.lt.u32 %p1, %r0, 16;
@%p0 ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d1]; @%p0 st.shared.v4.u32 [%r2], {%r4, %r5, %r6, %r7};
@%p1 ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d1+2048]; @%p1 st.shared.v4.u32 [%r2+2048], {%r4, %r5, %r6, %r7};
"""
_READY = "fence.proxy.async.shared::cta; bar.sync 0;\n"
_DESCRIBE = """shr.u32 %r3, %r1, 4; cvt.u64.u32 %d3, %r3; or.b64 %d3, %d3, 0x0000001000080000; add.u64 %d4, %d3, 128;
mov.b32 %r10, 0f40400000; mov.b32 %r11, %r10; mov.b32 %r12, %r10; mov.b32 %r13, %r10;
"""
_FENCE = "wgmma.fence.sync.aligned;\n"
_COMMIT = "wgmma.commit_group.sync.aligned;\n"
_WAIT = "wgmma.wait_group.sync.aligned 0;\n"
_D = "{%r10, %r11, %r12, %r13}"


def _multiply(a: str = "%d3", d: str = _D, scale_d: str = "1", n: int = 8) -> str:
    immediates = "1, 1, 0" if a.startswith("{") else "1, 1, 0, 0"
    return f"wgmma.mma_async.sync.aligned.m64n{n}k16.f32.f16.f16 {d}, {a}, %d4, {scale_d}, {immediates};\n"


def _store(names: tuple[str, ...], threads: int) -> str:
    return " ".join(f"st.global.b32 [%d0+{4 * threads * i}], {name};" for i, name in enumerate(names))


def _inputs() -> tuple[np.ndarray, np.ndarray]:
    """The bytes of both tiles, and their product [64, 8]."""
    generator = np.random.default_rng(8)
    a = generator.integers(-8, 9, (64, 16)).astype(np.float16)
    b = generator.integers(-8, 9, (16, 8)).astype(np.float16)
    tiles = [matrix.reshape(-1, 8, 2, 8).swapaxes(1, 2).reshape(-1) for matrix in (a, b.T)]
    return np.concatenate(tiles).view(np.uint8), a.astype(np.float32) @ b.astype(np.float32)


def _lanes_of(product: np.ndarray) -> np.ndarray:
    """What the 128 threads hold of a matrix [64, 8]: [4 registers, 128]."""
    thread = np.arange(128)
    row, column = thread // 32 * 16 + thread % 32 // 4, thread % 4 * 2
    return np.stack([product[row + down, column + right] for down, right in ((0, 0), (0, 1), (8, 0), (8, 1))])


def _run(body: str, threads: int = 128, stored: tuple[str, ...] = ("%r10", "%r11", "%r12", "%r13"), before: str = ""):
    """The report, `out` [registers, threads] f32, and what the registers of D are without accumulating."""
    x, product = _inputs()
    out = np.full((4, threads), np.nan, np.float32)
    text = before or _LOAD + _READY + _DESCRIBE
    report = launch(kernel(text + body + _store(stored, threads) + "\nret;", _POINTERS, _TILE), [x, out], threads)
    return report, out, _lanes_of(product)


def test_a_product_is_added_to_the_accumulators():
    report, out, product = _run(_FENCE + _multiply() + _COMMIT + _WAIT)
    assert report.ok, str(report)
    assert (out == product + _START).all()


def test_two_warpgroups_multiply():
    report, out, product = _run(_FENCE + _multiply() + _COMMIT + _WAIT, 256)
    assert report.ok, str(report)
    assert (out == np.tile(product, 2) + _START).all()


@pytest.mark.parametrize(("condition", "times"), [("ne", 0), ("eq", 1)])
def test_scale_d_says_whether_the_accumulators_count(condition, times):
    body = f"setp.{condition}.u32 %p2, %r0, %r0;" + _FENCE + _multiply(scale_d="%p2") + _COMMIT + _WAIT
    report, out, product = _run(body)
    assert report.ok, str(report)
    assert (out == product + times * _START).all()


def test_products_into_the_same_registers_add_up_over_groups():
    report, out, product = _run(_FENCE + 2 * (_multiply() + _COMMIT) + _multiply() + _COMMIT + _WAIT)
    assert report.ok, str(report)
    assert (out == 3 * product + _START).all()


def test_a_comes_from_registers():
    # the fragments of A are those of D's rows, for columns 0 to 7 and then 8 to 15; all elements of A are 1
    body = "mov.b32 %r20, 0x3c003c00;" + _FENCE + _multiply("{%r20, %r20, %r20, %r20}") + _COMMIT + _WAIT
    report, out, _ = _run(body)
    assert report.ok, str(report)
    x, _ = _inputs()
    b = x[2048:].view(np.float16).reshape(2, 8, 8)
    columns = b.astype(np.float32).sum((0, 2))
    assert (out == _lanes_of(np.tile(columns, (64, 1))) + _START).all()


def test_who_reads_early_reads_the_old_value():
    report, out, product = _run(_FENCE + _multiply() + _COMMIT + "mov.b32 %r20, %r11;" + _WAIT, stored=("%r20", "%r11"))
    assert kinds(report) == {"wgmma-in-flight"}
    assert "'%r11' is accessed" in report.findings[0].message
    assert (out[0] == _START).all()
    assert (out[1] == product[1] + _START).all()


_FRAGMENTS = "{%r20, %r20, %r20, %r20}"
_OTHERS = "{%r14, %r15, %r16, %r17}"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (_FENCE + _multiply() + _COMMIT + "mov.b32 %r12, 0;" + _WAIT, {"wgmma-in-flight"}),
        (_FENCE + _multiply() + _WAIT + _store(("%r12",), 128) + _COMMIT + _WAIT, {"wgmma-in-flight"}),
        (_FENCE + _multiply(_FRAGMENTS) + _COMMIT + "mov.b32 %r20, 0;" + _WAIT, {"wgmma-in-flight"}),
        (_FENCE + _multiply(_FRAGMENTS) + _COMMIT + "mov.b32 %r21, %r20;" + _WAIT, set()),
        (_FENCE + _multiply() + _COMMIT + _FENCE + _multiply(_D, _OTHERS)
         + _COMMIT + _WAIT, {"wgmma-in-flight"}),
        (_FENCE + _multiply() + _COMMIT + "mov.b32 %r20, 0;" + _WAIT, set()),
    ],
    ids=["write of D", "read of what no group has", "write of A", "read of A", "D as A", "another register"],
)  # fmt: skip
def test_registers_of_a_wgmma_under_way_are_left_alone(body, found):
    zeros = "mov.b32 %r20, 0;" + "".join(f"mov.b32 %r{number}, 0;" for number in range(14, 18))
    report, _, _ = _run(zeros + body)
    assert kinds(report) == found


def test_a_wait_completes_all_groups_but_the_latest():
    two = _FENCE + _multiply() + _COMMIT + _multiply(d=_OTHERS, scale_d="0") + _COMMIT
    wait = "wgmma.wait_group.sync.aligned 1;"
    stored = ("%r10", "%r11", "%r12", "%r13")
    report, out, product = _run(two + wait + _store(stored, 128) + _WAIT)
    assert report.ok, str(report)
    assert (out == product + _START).all()
    report, _, _ = _run(two + wait + "mov.b32 %r20, %r14;" + _WAIT)
    assert kinds(report) == {"wgmma-in-flight"}


def test_registers_that_a_later_group_writes_again_are_not_complete():
    wait = "wgmma.wait_group.sync.aligned 1;"
    report, out, product = _run(_FENCE + 2 * (_multiply() + _COMMIT) + wait + "mov.b32 %r20, %r10;" + _WAIT)
    assert kinds(report) == {"wgmma-in-flight"}
    assert (out == 2 * product + _START).all()


_FULL = _FENCE + _multiply() + _COMMIT + _WAIT


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (_multiply() + _COMMIT + _WAIT, True),
        (_FENCE + "mov.b32 %r12, 0;" + _multiply() + _COMMIT + _WAIT, True),
        (_FENCE + "mov.b32 %r21, %r12;" + _multiply() + _COMMIT + _WAIT, True),
        (_FENCE + "mov.b32 %r20, 0;" + _multiply(_FRAGMENTS) + _COMMIT + _WAIT, True),
        (_FENCE + "mov.b32 %r21, 0;" + _multiply() + _COMMIT + _WAIT, False),
        (_FULL + _multiply() + _COMMIT + _WAIT, False),
        (_FULL + "mov.b32 %r21, %r13;" + _multiply() + _COMMIT + _WAIT, True),
        (_FULL + "mov.b32 %r21, %r13;" + _FULL, False),
        (_FENCE + 2 * _multiply(_FRAGMENTS) + _COMMIT + _WAIT, False),
        (_FENCE + _multiply(d=_OTHERS, a=_D) + _COMMIT + _WAIT + _multiply() + _COMMIT + _WAIT, True),
        ("setp.ge.u32 %p2, %r0, 96; @%p2 bra end;" + _FENCE + "end:" + _multiply() + _COMMIT + _WAIT, True),
    ],
    ids=[
        "none at all", "D written", "D read", "A written", "another register", "D of the same shape", "D read between",
        "D read and a fence", "A read twice", "A becomes D", "not by all warps",
    ],
)  # fmt: skip
def test_a_fence_stands_between_other_accesses_and_a_wgmma(body, found):
    zeros = "mov.b32 %r20, 0;" + "".join(f"mov.b32 %r{number}, 0;" for number in range(14, 18))
    report, _, _ = _run(zeros + body)
    assert kinds(report) == ({"wgmma-fence-missing"} if found else set()), str(report)


def test_accumulators_of_another_shape_need_a_fence():
    more = "{%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}"
    # b of 16 columns: the second 8 are the first ones again, at a stride of 0
    wide = "and.b64 %d4, %d4, 0x00000000ffffffff;"
    zeros = "".join(f"mov.b32 %r{number}, 0;" for number in range(14, 18))
    body = wide + zeros + _FENCE + _multiply(d=more, n=16) + _COMMIT + _WAIT
    report, _, _ = _run(body + _multiply() + _COMMIT + _WAIT)
    assert kinds(report) == {"wgmma-fence-missing"}
    report, _, _ = _run(body + _FENCE + _multiply() + _COMMIT + _WAIT)
    assert report.ok, str(report)


def test_warps_of_a_warpgroup_wait_for_each_other():
    way = "setp.lt.u32 %p2, %r0, 64; @%p2 bra go; nanosleep.u32 10; add.u32 %r20, %r0, 1; go:"
    report, out, product = _run(way + _FENCE + _multiply() + _COMMIT + _WAIT)
    assert report.ok, str(report)
    assert (out == product + _START).all()


def test_a_warp_that_never_comes_is_a_deadlock():
    way = "setp.lt.u32 %p2, %r0, 96; @%p2 bra go; bar.sync 1; go:"
    report, _, _ = _run(way + _FENCE + _multiply() + _COMMIT + _WAIT)
    assert kinds(report) == {"deadlock"}
    assert any("the other warps of its warpgroup" in finding.message for finding in report.findings)


def test_a_part_of_a_warpgroup_does_not_multiply():
    report, _, _ = _run(_FENCE + _multiply() + _COMMIT + _WAIT, 160)
    assert kinds(report) == {"barrier-divergence"}


@pytest.mark.parametrize("change", ["@%p1 add.u64 %d4, %d4, 8;", "setp.lt.u32 %p2, %r0, 32;"])
def test_operands_that_differ_within_a_warpgroup_are_found(change):
    scale_d = "%p2" if "%p2" in change else "1"
    report, _, _ = _run(change + _FENCE + _multiply(scale_d=scale_d) + _COMMIT + _WAIT)
    assert "barrier-divergence" in kinds(report)


def test_a_tile_that_nobody_has_written_is_found():
    report, _, _ = _run(_FENCE + _multiply() + _COMMIT + _WAIT, before=_LOAD.split("@")[0] + _READY + _DESCRIBE)
    assert kinds(report) == {"uninitialized"}


def test_a_descriptor_that_leaves_shared_memory_is_found():
    report, _, _ = _run("add.u64 %d3, %d3, 8192;" + _FENCE + _multiply() + _COMMIT + _WAIT)
    assert kinds(report) == {"out-of-bounds"}
    assert report.findings[0].address == 1024 + 8192 * 16


def test_a_tile_that_is_overwritten_while_it_is_multiplied_is_found():
    overwrite = "@%p1 st.shared.u32 [%r2], %r0;"
    report, _, _ = _run(_FENCE + _multiply() + _COMMIT + overwrite + _WAIT)
    assert kinds(report) == {"async-in-flight"}
    report, _, _ = _run(_FENCE + _multiply() + _COMMIT + _WAIT + "bar.sync 0;" + overwrite)
    assert report.ok, str(report)


def test_what_is_read_of_shared_memory_is_counted():
    report, _, _ = _run(_FENCE + _multiply() + _COMMIT + _WAIT, 256)
    assert report.counters.read["shared", 16] == 2 * (64 * 32 + 8 * 32)
    assert report.counters.instructions["wgmma"] == 4 * 8


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (_multiply(d="{%r10, %r11}"), "takes 4 registers here, not 2"),
        (_multiply(d="{%r10, %r11, %r12, _}"), "are registers"),
        (_multiply(scale_d="tile"), "a predicate is expected"),
        (_multiply(scale_d="1, %r0"), "after scale-d are constants"),
        (_multiply().split(", %d3")[0] + ";", "takes the operands d, a, b and scale-d"),
        (_multiply(scale_d="1, 1"), "has 4 operands after scale-d"),
        ("wgmma.wait_group.sync.aligned %r0;", "takes a constant number"),
        ("wgmma.wait_group.sync.aligned -1;", "takes a constant number of groups, not negative"),
        ("wgmma.fence.aligned;", "is not an instruction"),
        (
            "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%r10}, %d3, %d4, %r0, 0, 1, 1, 1, 0, 0;",
            "unknown here",
        ),
    ],
)
def test_forms_that_do_not_exist_are_refused(body, message):
    with pytest.raises(PtxError, match=message):
        launch(kernel(body, _POINTERS, _TILE), [])


@pytest.mark.parametrize(
    ("scale_d", "found"),
    [("0", set()), ("%p2", set()), ("!%p2", {"uninitialized"}), ("1", {"uninitialized"})],
)
def test_accumulators_that_nobody_has_written_must_not_count(scale_d, found):
    never = "setp.ne.u32 %p2, %r0, %r0;"
    names = ("%r14", "%r15", "%r16", "%r17")
    body = never + _FENCE + _multiply(d=_OTHERS, scale_d=scale_d) + _COMMIT + _WAIT
    report, out, product = _run(body, stored=names)
    assert kinds(report) == found
    assert found or (out == product).all()


def test_an_undefined_fragment_makes_its_rows_undefined():
    # the first and the third register of A hold rows g, the others rows g + 8: nobody has written those
    body = "mov.b32 %r20, 0;" + _FENCE + _multiply("{%r20, %r21, %r20, %r21}") + _COMMIT + _WAIT
    report, _, _ = _run(body, stored=("%r10", "%r11"))
    assert report.ok, str(report)
    report, _, _ = _run(body, stored=("%r12",))
    assert kinds(report) == {"uninitialized"}
