"""Which registers and constants an operand takes: its own kind and width, as ptxas has it; bits for anything."""

import numpy as np
import pytest

import ptxsim
from ptxsim_cases.kernel_text import kernel, words

_DECLARATIONS = ".reg .f32 %f<4>; .reg .f64 %g<4>; .reg .u32 %u<4>; .reg .s64 %l<4>; .reg .b8 %b<4>; .global .u32 v;\n"
TAKEN = """
add.s32 %u1, %u2, %r1;
add.f32 %f1, %r1, 0f3F800000;
and.b32 %f1, %f2, %u1;
ld.global.u8 %l1, [%l2];
st.global.b8 [%l1], %g1;
st.global.f32 [%l1], %d1;
cvt.u8.u32 %l1, %u1;
cvt.rni.u8.bf16 %b1, %h1;
mov.b32 %f1, 0f3F800000;
mov.f64 %g1, 0f3F800000;
mov.f32 %f1, 0d3FF0000000000000;
mov.pred %p1, %is_explicit_cluster;
cvt.u64.u32 %d1, %tid.x;
mov.u64 %d1, %clock64;
cvta.global.u64 %d1, v;
"""
REFUSED = """
add.s32 %f1, %u1, %u2;
add.f32 %f1, %u1, %f2;
add.u32 %u1, %d1, %u2;
add.u32 %d1, %u1, %u2;
mov.b64 %d1, %q1;
and.b16 %h1, %r1, %h2;
ld.global.f32 %g1, [%l1];
ld.global.u32 %f1, [%l1];
st.global.u32 [%l1], %f1;
ld.global.u32 %u1, [%f1];
cvt.u32.u16 %u1, %f1;
add.f32 %f1, %f2, 1;
add.u32 %u1, %u2, 0f3F800000;
st.global.f32 [%l1], 1;
mov.b64 %d1, 0f3F800000;
mov.f16 %h1, %h2;
add.u32 %u1, %tid.x, 1;
mov.u64 %d1, %tid.x;
mov.u32 %r1, %clock64;
cvta.shared.u64 %d1, v;
setp.eq.f16 %p1|%p2, %h1, %h2;
cvt.rn.satfinite.tf32.f32 %r1, %f1;
isspacep.param::func %p1, %d1;
lop3.b32 %r1, %r2, %r3, %r4, %r5;
and.b32 %r1, %r2, !%p1;
"""


def _lines(text: str) -> list[str]:
    return text.strip().splitlines()


def _kernel(line: str) -> str:
    return kernel(_DECLARATIONS.replace(".global .u32 v;", "") + line + "\nret;", module=".global .u32 v;\n")


@pytest.mark.parametrize("line", _lines(TAKEN))
def test_taken(line):
    assert ptxsim.load(_kernel(line)).kernels == ("k",)


@pytest.mark.parametrize("line", _lines(REFUSED))
def test_refused(line):
    with pytest.raises(ptxsim.PtxError):
        ptxsim.load(_kernel(line))


# ptxas is the judge of both lists.
def test_ptxas_agrees(ptxas):
    ptxas(_kernel(TAKEN), "sm_90a")
    for line in _lines(REFUSED):
        with pytest.raises(Exception, match="ptxas"):
            ptxas(_kernel(line), "sm_90a")


# A generic address of 32 bits is none here.
@pytest.mark.parametrize("line", ["mapa.u32 %r1, %r2, 0;", "getctarank.u32 %r1, %r2;", "cvta.global.u32 %r1, %r2;"])
def test_short_generic_addresses(line):
    with pytest.raises(ptxsim.PtxError, match="generic addresses of 32 bits"):
        ptxsim.load(_kernel(line))


# A constant of one floating-point type is converted to the other; it is not the other's bits.
def test_constants_are_converted():
    double = words(".reg .f64 %g<2>; mov.f64 %g0, 0f3FC00000; mov.b64 {_, %r1}, %g0; st.global.u32 [%d0], %r1;", 1)
    single = words("mov.f32 %r1, 0d3FF8000000000000; st.global.u32 [%d0], %r1;", 1)
    assert double.view(np.uint32)[0] == 0x3FF80000
    assert single.view(np.float32)[0] == 1.5
