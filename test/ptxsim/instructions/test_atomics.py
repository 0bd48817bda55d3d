"""Atomics: what they leave in memory and what they return, with many lanes at one word."""

import numpy as np
import pytest

import ptxsim
from ptxsim import PtxError
from ptxsim_cases.kernel_text import OWN_WORD, kernel, kinds, launch

TWO = ".param .u64 out, .param .u64 x"


def on_one_word(instruction: str, start: int, threads: int = 40) -> tuple[int, list[int]]:
    """The u32 at `x` after all threads' instruction on it, and what each of them got (in %r1)."""
    out, word = np.zeros(threads, np.uint32), np.array([start], np.uint32)
    body = OWN_WORD + f"mov.u32 %r1, 0; ld.param.u64 %d2, [x]; {instruction} st.global.u32 [%d0], %r1; ret;"
    report = launch(kernel(body, TWO), [out, word], threads)
    assert report.ok, str(report)
    return int(word[0]), out.tolist()


def test_an_add_returns_every_old_value_once():
    final, old = on_one_word("atom.global.add.u32 %r1, [%d2], 3;", 7)
    assert final == 7 + 3 * 40
    assert sorted(old) == [7 + 3 * t for t in range(40)]


@pytest.mark.parametrize(
    ("operation", "start", "final"),
    [
        ("and.b32", 0xFFFF, 0),
        ("or.b32", 0x100, 0x13F),
        ("xor.b32", 5, 5),
        ("min.u32", 20, 0),
        ("max.s32", 0xFFFFFFFF, 39),
        ("max.u32", 0xFFFFFFFF, 0xFFFFFFFF),
        ("min.s32", 0xFFFFFFFF, 0xFFFFFFFF),
        ("add.s32", 0, sum(range(40))),
    ],
)
@pytest.mark.parametrize("opcode", ["atom.global.{} %r1, [%d2], %r0;", "red.relaxed.gpu.global.{} [%d2], %r0;"])
def test_operations_on_one_word(opcode, operation, start, final):
    assert on_one_word(opcode.format(operation), start)[0] == final


def test_inc_wraps_at_its_bound():
    # 40 increments that wrap after 6: 40 mod 7
    assert on_one_word("atom.global.inc.u32 %r1, [%d2], 6;", 0)[0] == 40 % 7


def test_dec_wraps_to_its_bound():
    assert on_one_word("atom.global.dec.u32 %r1, [%d2], 6;", 0)[0] == -40 % 7


def test_exactly_one_lane_wins_a_compare_and_swap():
    final, old = on_one_word("add.u32 %r2, %r0, 1; atom.acq_rel.gpu.global.cas.b32 %r1, [%d2], 0, %r2;", 0)
    assert old.count(0) == 1
    assert final == old.index(0) + 1
    assert set(old) == {0, final}


def test_an_exchange_passes_the_word_on():
    final, old = on_one_word("atom.global.exch.b32 %r1, [%d2], %r0;", 99)
    assert sorted([*old, final]) == sorted([99, *range(40)])


def test_float_sums():
    out = np.array([0.5], np.float32)
    body = "ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; cvt.rn.f32.u32 %r1, %r0; red.global.add.f32 [%d0], %r1; ret;"
    assert launch(kernel(body), [out], 64).ok
    assert out[0] == 0.5 + sum(range(64))


def test_global_float_sums_flush_subnormals_and_shared_ones_do_not():
    out = np.zeros(2, np.uint32)
    body = """.shared .align 4 .u32 s; ld.param.u64 %d0, [out]; mov.u32 %r1, 0; st.shared.u32 [s], %r1;
    mov.u32 %r2, 5; atom.shared.add.f32 %r3, [s], %r2; red.global.add.f32 [%d0], %r2; ld.shared.u32 %r4, [s];
    st.global.u32 [%d0+4], %r4; ret;"""
    assert launch(kernel(body), [out], 1).ok
    assert out.tolist() == [0, 5]


def test_pairs_of_halves_are_added_apart():
    out = np.array([1.0, 2.0], np.float16)
    body = "ld.param.u64 %d0, [out]; mov.u32 %r1, 0x3c004000; red.global.add.noftz.f16x2 [%d0], %r1; ret;"
    assert launch(kernel(body), [out], 4).ok
    assert out.tolist() == [1 + 4 * 2, 2 + 4 * 1]


def test_vectors_of_floats_are_added():
    out = np.array([1, 2, 3, 4], np.float32)
    body = "ld.param.u64 %d0, [out]; mov.b32 %r1, 0f3f800000; red.global.add.v4.f32 [%d0], {%r1, %r1, %r1, %r1}; ret;"
    assert launch(kernel(body), [out], 3).ok
    assert out.tolist() == [4, 5, 6, 7]


def test_shared_words_and_64_bits():
    out = np.zeros(1, np.uint64)
    body = """.shared .align 8 .u64 s; ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0;
    mov.u64 %d1, 0; @%p0 st.shared.u64 [s], %d1; bar.sync 0; cvt.u64.u32 %d2, %r0; shl.b64 %d2, %d2, 32;
    atom.shared.add.u64 %d3, [s], %d2; bar.sync 0; @%p0 ld.shared.u64 %d4, [s]; @%p0 st.global.u64 [%d0], %d4; ret;"""
    assert launch(kernel(body), [out], 96).ok
    assert out[0] == sum(range(96)) << 32


def test_an_atomic_out_of_bounds_is_reported_and_does_no_harm():
    out = np.zeros(32, np.uint32)
    report = launch(kernel(OWN_WORD + "red.global.add.u32 [%d0+4], %r0; ret;"), [out])
    assert kinds(report) == {"out-of-bounds"}
    assert out.tolist() == [0, *range(31)]


@pytest.mark.parametrize(
    "name", ["red.global.exch.b32", "atom.global.add.u16", "red.global.add.f16x2", "red.local.add.u32"]
)
def test_forms_that_the_isa_does_not_have_are_errors(name):
    with pytest.raises(PtxError):
        ptxsim.load(kernel(f"ld.param.u64 %d0, [out]; mov.u32 %r1, 1; {name} [%d0], %r1; ret;"))
