"""`st.async` and `red.async`: what lands in another CTA's shared memory, and what is found in misuse."""

import numpy as np
import pytest

from ptxsim import PtxError, load
from ptxsim_cases.kernel_text import kernel, kinds, launch

#: Two CTAs of a cluster; %r4 and %r5 are the addresses of `box` and of the mbarrier `full` in the other one.
SETUP = """
.shared .align 16 .b8 box[512]; .shared .align 8 .b64 full; mov.u32 %r0, %tid.x; mov.u32 %r3, %cluster_ctarank;
mov.u32 %r1, box; mov.u32 %r2, full; xor.b32 %r6, %r3, 1; setp.eq.u32 %p0, %r0, 0; shl.b32 %r7, %r0, 4;
add.u32 %r1, %r1, %r7; mapa.shared::cluster.u32 %r4, %r1, %r6; mapa.shared::cluster.u32 %r5, %r2, %r6;
st.shared.v2.u64 [%r1], {100, 100}; @%p0 mbarrier.init.shared.b64 [%r2], 1; @%p0 fence.mbarrier_init.release.cluster;
barrier.cluster.arrive; barrier.cluster.wait; ld.param.u64 %d1, [out]; shl.b32 %r8, %r3, 5; add.u32 %r8, %r8, %r0;
mul.wide.u32 %d2, %r8, 16; add.u64 %d1, %d1, %d2; mov.b64 %d3, 7;
"""
END = """
wait: mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0; @!%p1 bra wait;
ld.shared.v2.u64 {%d4, %d5}, [%r1]; st.global.v2.u64 [%d1], {%d4, %d5};
barrier.cluster.arrive; barrier.cluster.wait; ret;
"""
STORE, REDUCE = "st.async.shared::cluster.mbarrier::complete_tx::bytes", "red.async.relaxed.cluster.shared::cluster"


def run(body: str, count: int):
    """What both CTAs find in their boxes, [2, 32, 4] u32, and the report; `count` bytes come to each."""
    out = np.zeros((2, 32, 4), np.uint32)
    text = kernel(f"{SETUP} @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], {count};\n{body}\n{END}")
    return out, launch(text, [out], grid=(2, 1, 1), cluster=(2, 1, 1))


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        (f"{STORE}.u32 [%r4], %r8, [%r5]", lambda other: [other, 0, 100, 0]),
        (f"{STORE}.v4.b32 [%r4], {{%r8, 5, %r8, 6}}, [%r5]", lambda other: [other, 5, other, 6]),
        (f"{STORE}.v2.s64 [%r4], {{%d3, 9}}, [%r5]", lambda other: [7, 0, 9, 0]),
    ],
)
def test_a_store_goes_to_the_other_cta(instruction, expected):
    size = 32 * (4 if ".u32" in instruction else 16)
    out, report = run(instruction + ";", size)
    assert report.ok, str(report)
    assert out.tolist() == [[expected((1 - cta) * 32 + lane) for lane in range(32)] for cta in range(2)]


def test_generic_addresses_name_the_same_memory():
    body = """cvt.u64.u32 %d6, %r4; cvta.shared::cluster.u64 %d6, %d6; cvt.u64.u32 %d7, %r5;
    cvta.shared::cluster.u64 %d7, %d7; st.async.weak.mbarrier::complete_tx::bytes.b64 [%d6], %d3, [%d7];"""
    out, report = run(body, 256)
    assert report.ok, str(report)
    assert (out == [7, 0, 100, 0]).all()


@pytest.mark.parametrize(
    ("operation", "value", "expected"),
    [("add.u32", "%r8", lambda x: 100 + x), ("min.s32", "-3", lambda x: 2**32 - 3), ("and.b32", "6", lambda x: 4)],
)
def test_a_reduction_updates_the_other_cta(operation, value, expected):
    out, report = run(f"{REDUCE}.mbarrier::complete_tx::bytes.{operation} [%r4], {value}, [%r5];", 128)
    assert report.ok, str(report)
    assert out[..., 0].tolist() == [[expected((1 - cta) * 32 + lane) for lane in range(32)] for cta in range(2)]


# All lanes of a CTA count in one word of the other one.
def test_reductions_of_several_lanes_in_one_word_all_count():
    body = f"mov.u32 %r10, box; mapa.shared::cluster.u32 %r9, %r10, %r6;\
    {REDUCE}.mbarrier::complete_tx::bytes.inc.u32 [%r9], 1000, [%r5];"
    out, report = run(body, 128)
    assert report.ok, str(report)
    assert out[:, 0, 0].tolist() == [132, 132]


@pytest.mark.parametrize(
    ("instruction", "kind"),
    [
        (f"{STORE}.b64 [%r4+4], %d3, [%r5]", "misaligned"),
        (f"{STORE}.b64 [%r4+528], %d3, [%r5]", "out-of-bounds"),
        (f"{STORE}.b64 [%r4], %d3, [%r2]", "out-of-bounds"),
        (f"{STORE}.b64 [%r4], %d3, [%r4]", "uninitialized"),
        ("st.async.mbarrier::complete_tx::bytes.b64 [%d1], %d3, [%d1]", "out-of-bounds"),
    ],
)
def test_misuse_is_reported(instruction, kind):
    _, report = run(f"@%p0 {instruction};", 0)
    assert kinds(report) == {kind}


@pytest.mark.parametrize(
    "instruction",
    [
        f"{STORE}.b8 [%r4], %r8, [%r5]",
        f"{STORE}.v4.b64 [%r4], {{%d3, %d3, %d3, %d3}}, [%r5]",
        f"{STORE}.b32 [%r4], %r8",
        "st.async.release.gpu.global.b32 [%d1], %r8",
        f"{REDUCE}.mbarrier::complete_tx::bytes.add.f32 [%r4], %r8, [%r5]",
        "red.async.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r4], %r8, [%r5]",
    ],
)
def test_what_the_isa_or_the_target_does_not_have_is_refused(instruction):
    with pytest.raises(PtxError):
        load(kernel(SETUP + instruction + "; ret;"))
