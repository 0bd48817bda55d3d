"""Which forms of loads, stores and atomics there are: what ptxas takes loads, what it refuses is an error."""

import pytest

import ptxsim
from ptxsim_cases.kernel_text import kernel

TAKEN = """
ld.global.u32 %r1, [%d1];
ld.nc.global.u32 %r1, [%d1];
ld.global.ca.nc.L2::cache_hint.L2::128B.v2.u32 {%r1, %r2}, [%d1], %d2;
ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%r1, %r2, %r3, %r4}, [%d1];
ld.weak.shared.cv.u32 %r1, [%r9];
ld.volatile.global.L2::64B.u32 %r1, [%d1];
ld.gpu.relaxed.global.L1::evict_last.u32 %r1, [%d1];
ld.acquire.cluster.shared::cluster.u32 %r1, [%r9];
ld.mmio.relaxed.sys.global.u32 %r1, [%d1];
ld.local.ca.b128 %q1, [%r9];
ldu.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d1];
st.global.wt.u32 [%d1], %r1;
st.release.sys.L1::evict_first.u32 [%d1], %r1;
st.mmio.relaxed.sys.u32 [%d1], %r1;
st.shared.v2.u64 [%r9], {%d1, %d2};
atom.add.relaxed.gpu.global.u32 %r1, [%d1], %r2;
atom.acq_rel.shared.cas.b16 %h1, [%r9], %h2, %h3;
atom.global.add.noftz.v8.f16 {%h1, %h2, %h3, %h4, %h5, %h6, %h7, %h8}, [%d1], {%h1, %h2, %h3, %h4, %h5, %h6, %h7, %h8};
atom.global.max.noftz.v4.bf16x2 {%r1, %r2, %r3, %r4}, [%d1], {%r5, %r6, %r7, %r8};
red.release.add.v4.f32 [%d1], {%r1, %r2, %r3, %r4};
red.global.add.L2::cache_hint.u32 [%d1], %r1, %d2;
red.shared.add.noftz.bf16 [%r9], %h1;
"""
REFUSED = """
ld.nc.u32 %r1, [%d1];
ld.local.nc.u32 %r1, [%r9];
ld.weak.global.nc.u32 %r1, [%d1];
ld.global.gpu.u32 %r1, [%d1];
ld.relaxed.global.u32 %r1, [%d1];
ld.relaxed.gpu.global.ca.u32 %r1, [%d1];
ld.relaxed.gpu.local.u32 %r1, [%r9];
ld.volatile.relaxed.gpu.global.u32 %r1, [%d1];
ld.volatile.global.L1::evict_last.u32 %r1, [%d1];
ld.volatile.const.u32 %r1, [%r9];
ld.release.gpu.global.u32 %r1, [%d1];
ld.global.ca.cg.u32 %r1, [%d1];
ld.global.ca.L1::evict_last.u32 %r1, [%d1];
ld.global.wb.u32 %r1, [%d1];
ld.shared.L2::128B.u32 %r1, [%r9];
ld.global.L2::evict_last.u32 %r1, [%d1];
ld.mmio.sys.global.u32 %r1, [%d1];
ld.mmio.relaxed.gpu.global.u32 %r1, [%d1];
ld.global.v4.u64 {%d1, %d2, %d3, %d4}, [%d1];
ld.global.v8.u32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%d1];
ldu.shared.u32 %r1, [%r9];
ldu.volatile.global.u32 %r1, [%d1];
st.global.nc.u32 [%d1], %r1;
st.global.ca.u32 [%d1], %r1;
st.global.L2::128B.u32 [%d1], %r1;
st.acquire.gpu.global.u32 [%d1], %r1;
atom.weak.global.add.u32 %r1, [%d1], %r2;
atom.global.add.s64 %d1, [%d1], %d2;
atom.global.min.noftz.f16x2 %r1, [%d1], %r2;
atom.global.add.v2.u32 {%r1, %r2}, [%d1], {%r3, %r4};
atom.shared.add.v2.f32 {%r1, %r2}, [%r9], {%r3, %r4};
atom.shared.add.L2::cache_hint.u32 %r1, [%r9], %r2, %d2;
atom.global.add.L1::evict_last.u32 %r1, [%d1], %r2;
red.acquire.gpu.global.add.u32 [%d1], %r1;
red.global.add.noftz.v8.f16x2 [%d1], {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8};
"""


def _lines(text: str) -> list[str]:
    return text.strip().splitlines()


@pytest.mark.parametrize("line", _lines(TAKEN))
def test_taken(line):
    assert ptxsim.load(kernel(line + "\nret;")).kernels == ("k",)


@pytest.mark.parametrize("line", _lines(REFUSED))
def test_refused(line):
    with pytest.raises(ptxsim.PtxError, match=f"'{line.split()[0]}' (is not an instruction|needs)"):
        ptxsim.load(kernel(line + "\nret;"))


# ptxas is the judge of both lists.
def test_ptxas_agrees(ptxas):
    ptxas(kernel(TAKEN + "\nret;"), "sm_90a")
    for line in _lines(REFUSED):
        with pytest.raises(Exception, match="ptxas"):
            ptxas(kernel(line + "\nret;"), "sm_90a")
