"""Undefined values: they may be copied, computed with, exchanged and kept, and are found where they decide something.

In every kernel here `%r9` is written by lanes 0 to 3 alone (with their numbers plus one), `%p6` says which those are,
and `%r8` is written by all lanes.
"""

import numpy as np
import pytest

from ptxsim import Report
from ptxsim.engine.compile import compile_code
from ptxsim.linking.link import link
from ptxsim.parsing.parser import parse
from ptxsim_cases.kernel_text import OWN_WORD, kernel, launch

_SOME = """
mov.u32 %r8, %r0; setp.lt.u32 %p6, %r0, 4;
@%p6 add.u32 %r9, %r0, 1;
"""
_STORE = "st.global.u32 [%d0], "


def run(body: str, module: str = "") -> Report:
    """Look for undefined values in a kernel of one warp in which `%r9` is defined in lanes 0 to 3 alone."""
    text = kernel(OWN_WORD + _SOME + body + "\nret;", module=module)
    return launch(text, [np.zeros(32, np.uint32)], checks=("uninitialized",))


def lanes_found(report: Report) -> int:
    """How many lanes use an undefined value; there is one finding, or none."""
    if report.ok:
        return 0
    (finding,) = report.findings
    assert finding.kind == "uninitialized"
    return finding.occurrences


# What decides something.


@pytest.mark.parametrize(
    ("use", "role"),
    [
        ("cvt.u64.u32 %d2, %r9; add.u64 %d2, %d2, %d0; ld.global.u32 %r1, [%d2];", "an address"),
        ("st.global.u32 [%d0], %r9;", "a value stored to global memory"),
        ("setp.eq.u32 %p1, %r9, 0; @%p1 mov.u32 %r1, 1;", "the guard of an instruction"),
        ("setp.eq.u32 %p1, %r9, 0; @%p1 bra end; end:", "the condition of a branch"),
        ("bar.sync 0, %r9;", "an operand of 'bar'"),
        ("shfl.sync.bfly.b32 %r1, %r8, 1, 31, %r9;", "a member mask"),
        ("atom.global.add.u32 %r1, [%d0], %r9;", "an operand of 'atom'"),
    ],
)
def test_a_use_that_decides_something_is_found(use, role):
    report = run(use)
    (finding, *_) = [each for each in report.findings if each.kind == "uninitialized"]
    assert f"is used as {role}" in finding.message
    assert finding.occurrences == 28


def test_the_register_that_nobody_wrote_is_named():
    (finding,) = run("add.u32 %r1, %r9, 1; xor.b32 %r2, %r1, %r8; st.global.u32 [%d0], %r2;").findings
    assert "'%r2'" in finding.message
    assert "'%r9', which was never written" in finding.message


def test_a_value_is_found_once():
    # the second use of the same register says nothing new
    assert lanes_found(run("st.global.u32 [%d0], %r9; st.global.u32 [%d0], %r9;")) == 28


# What does not.


@pytest.mark.parametrize(
    "body",
    [
        "mov.u32 %r1, %r9;",
        "add.u32 %r1, %r9, 1; mul.lo.u32 %r2, %r1, %r1; cvt.rn.f32.u32 %r3, %r2; fma.rn.f32 %r4, %r3, %r3, %r3;",
        "mov.b64 %d2, {%r9, %r8}; mov.b64 {%r1, %r2}, %d2;",
        "shfl.sync.bfly.b32 %r1, %r9, 1, 31, -1; redux.sync.add.u32 %r2, %r1, -1; match.any.sync.b32 %r3, %r9, -1;",
        "setp.eq.u32 %p1, %r9, 0; vote.sync.ballot.b32 %r1, %p1, -1;",
        "@%p6 st.global.u32 [%d0], %r9;",
    ],
)
def test_a_value_that_decides_nothing_is_no_finding(body):
    assert run(body).ok


# How many lanes of the result are undefined.


@pytest.mark.parametrize(
    ("body", "undefined"),
    [
        # a choice takes the state of what is chosen
        ("selp.u32 %r1, %r9, %r8, %p6;", 0),
        ("selp.u32 %r1, %r8, %r9, %p6;", 28),
        ("slct.u32.s32 %r1, %r8, %r9, %r0;", 0),
        ("setp.eq.u32 %p1, %r9, 0; selp.u32 %r1, %r8, %r8, %p1;", 28),
        # bits that a defined operand decides
        ("and.b32 %r1, %r9, 0;", 0),
        ("and.b32 %r1, %r9, %r8;", 28),
        ("or.b32 %r1, %r9, -1;", 0),
        ("xor.b32 %r1, %r9, %r9;", 0),
        ("lop3.b32 %r1, %r9, %r8, 0, 0x80;", 0),  # a & b & c
        ("lop3.b32 %r1, %r9, %r8, -1, 0x80;", 28),
        ("prmt.b32 %r1, %r9, %r8, 0x7654;", 0),  # the bytes of %r8
        ("prmt.b32 %r1, %r9, %r8, 0x7650;", 28),
        ("shl.b32 %r1, %r9, 32;", 0),
        ("bfe.u32 %r1, %r9, 3, 0;", 0),
        ("mul.lo.u32 %r1, %r9, %r8;", 28),
        # predicates: only lanes of %p6 ask for more
        ("setp.ne.u32 %p1, %r9, 77; and.pred %p2, %p1, %p6; selp.u32 %r1, 1, 0, %p2;", 0),
        ("setp.ne.u32 %p1, %r9, 77; or.pred %p2, %p1, %p6; selp.u32 %r1, 1, 0, %p2;", 28),
        ("setp.ne.and.u32 %p1, %r9, 77, %p6; selp.u32 %r1, 1, 0, %p1;", 0),
        ("setp.ne.or.u32 %p1, %r9, 77, !%p6; selp.u32 %r1, 1, 0, %p1;", 0),
        ("setp.ne.xor.u32 %p1, %r9, 77, %p6; selp.u32 %r1, 1, 0, %p1;", 28),
        # exchange: the lane that is read
        ("shfl.sync.bfly.b32 %r1, %r9, 1, 31, -1;", 28),
        ("shfl.sync.idx.b32 %r1, %r9, 2, 31, -1;", 0),
        ("shfl.sync.idx.b32 %r1, %r9, 9, 31, -1;", 32),
        ("shfl.sync.down.b32 %r1, %r9, 3, 31, -1;", 31),  # lane 0 reads lane 3
        ("redux.sync.add.u32 %r1, %r9, -1;", 32),
        # a vote that one lane decides
        ("setp.eq.u32 %p1, %r9, 1; vote.sync.any.pred %p2, %p1, -1; selp.u32 %r1, 1, 0, %p2;", 0),
        ("setp.eq.u32 %p1, %r9, 9; vote.sync.any.pred %p2, %p1, -1; selp.u32 %r1, 1, 0, %p2;", 32),
        ("setp.eq.u32 %p1, %r9, 9; vote.sync.all.pred %p2, %p1, -1; selp.u32 %r1, 1, 0, %p2;", 0),
        # the carry flag
        ("add.cc.u32 %r2, %r9, %r8; addc.u32 %r1, %r8, 0;", 28),
        ("add.cc.u32 %r2, %r9, %r8; add.cc.u32 %r3, %r8, %r8; addc.u32 %r1, %r8, 0;", 0),
        # a register that is written again
        ("mov.u32 %r9, 3; mov.u32 %r1, %r9;", 0),
        ("mov.u32 %r1, %r9; @!%p6 mov.u32 %r1, 5;", 0),
        ("mov.u32 %r1, 5; @!%p6 mov.u32 %r1, %r9;", 28),
        ("mov.u32 %r1, 5; @%p6 mov.u32 %r1, %r9;", 0),
        ("mov.b64 %d2, {%r9, %r8}; mov.b64 {%r2, %r1}, %d2;", 28),
    ],
)
def test_a_result_is_defined_where_nothing_undefined_decides_it(body, undefined):
    assert lanes_found(run(body + _STORE + "%r1;")) == undefined


def test_lanes_of_two_batches_exchange_their_states():
    # lanes 4 and up come to the shuffle another way: each reads the lane beside it in the end
    body = """@%p6 bra meet; mov.u32 %r2, 7; meet: shfl.sync.up.b32 %r1, %r9, 1, 0, -1; st.global.u32 [%d0], %r1;"""
    assert lanes_found(run(body)) == 27  # lanes 0 to 4 read lanes 0, 0, 1, 2 and 3


def test_a_loop_of_copies_passes_the_state_on():
    body = """mov.u32 %r1, 1; mov.u32 %r3, 0;
    loop: mov.u32 %r2, %r1; mov.u32 %r1, %r9; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 2; @%p1 bra loop;"""
    assert lanes_found(run(body + _STORE + "%r2;")) == 28


# Memory.

_OWN_SHARED = ".shared .b32 box[64]; mov.b32 %r5, box; shl.b32 %r6, %r0, 3; add.u32 %r5, %r5, %r6;\n"


@pytest.mark.parametrize(
    ("body", "undefined"),
    [
        ("st.shared.u32 [%r5], %r9; ld.shared.u32 %r1, [%r5];", 28),
        ("st.shared.u32 [%r5], %r9; st.shared.u32 [%r5], %r8; ld.shared.u32 %r1, [%r5];", 0),
        ("st.shared.v2.u32 [%r5], {%r8, %r9}; ld.shared.v2.u32 {%r1, %r2}, [%r5];", 0),
        ("st.shared.v2.u32 [%r5], {%r8, %r9}; ld.shared.v2.u32 {%r2, %r1}, [%r5];", 28),
        ("st.shared.u32 [%r5], %r8; st.shared.u8 [%r5+1], %r9; ld.shared.u32 %r1, [%r5];", 28),
        ("st.shared.u32 [%r5], %r8; st.shared.u8 [%r5+1], %r9; ld.shared.u8 %r1, [%r5];", 0),
        ("cvt.u64.u32 %d2, %r5; cvta.shared.u64 %d2, %d2; st.u32 [%d2], %r9; ld.shared.u32 %r1, [%r5];", 28),
        (".local .b32 own; st.local.u32 [own], %r9; ld.local.u32 %r1, [own];", 28),
    ],
)
def test_memory_of_the_cta_keeps_undefined_values(body, undefined):
    assert lanes_found(run(_OWN_SHARED + body + _STORE + "%r1;")) == undefined


def test_a_generic_store_to_global_memory_is_found():
    assert lanes_found(run("cvta.global.u64 %d2, %d0; st.u32 [%d2], %r9;")) == 28


def test_an_atomic_does_not_compute_with_undefined_bytes():
    body = "st.shared.u32 [%r5], %r9; atom.shared.add.u32 %r1, [%r5], 1;"
    assert lanes_found(run(_OWN_SHARED + body)) == 28


def test_the_last_lane_that_stores_to_a_word_says_whether_it_is_defined():
    # all lanes store to one word: lane 31 comes last
    body = """.shared .b32 one; mov.u32 %r1, 4; @!%p6 mov.u32 %r1, %r9; st.shared.u32 [one], %r1;
    ld.shared.u32 %r2, [one]; @%p6 st.global.u32 [%d0], %r2;"""
    assert lanes_found(run(body)) == 4


# Calls.

_IN_REGISTERS = ".func (.reg .u32 y) next(.reg .u32 x) { add.u32 y, x, 1; ret; }"
_IN_MEMORY = (
    """.func (.param .b32 y) next(.param .b32 x) { .reg .b32 %a; ld.param.u32 %a, [x]; st.param.u32 [y], %a; ret; }"""
)
_NO_RESULT = ".func (.reg .u32 y) next(.reg .u32 x) { .reg .pred %s; setp.lt.u32 %s, x, 4; @%s mov.u32 y, 1; ret; }"


@pytest.mark.parametrize(("given", "undefined"), [("%r9", 28), ("%r8", 0)])
def test_parameters_in_registers_pass_the_state_on(given, undefined):
    assert lanes_found(run(f"call (%r1), next, ({given});" + _STORE + "%r1;", _IN_REGISTERS)) == undefined


@pytest.mark.parametrize(("given", "undefined"), [("%r9", 28), ("%r8", 0)])
def test_parameters_in_memory_pass_the_state_on(given, undefined):
    body = f"""{{ .param .b32 there; .param .b32 back; st.param.u32 [there], {given};
    call (back), next, (there); ld.param.u32 %r1, [back]; }}"""
    assert lanes_found(run(body + _STORE + "%r1;", _IN_MEMORY)) == undefined


def test_a_result_that_the_function_does_not_write_is_undefined():
    assert lanes_found(run("call (%r1), next, (%r8);" + _STORE + "%r1;", _NO_RESULT)) == 28


# Structures copied byte by byte, with the padding that nobody writes: nvcc without optimisation does it.

_COPY = """.local .align 4 .b8 from[8]; .local .align 4 .b8 to[8]; st.local.u8 [from], %r8; st.local.u32 [from+4], %r8;
ld.local.u8 %r1, [from+1]; st.local.u8 [to+1], %r1; ld.local.u8 %r1, [from]; st.local.u8 [to], %r1;
mov.u64 %d2, from; cvta.local.u64 %d2, %d2; ld.u8 %r1, [%d2+2]; st.local.u8 [to+2], %r1;
"""


@pytest.mark.parametrize(
    ("body", "undefined"),
    [
        ("ld.local.u8 %r1, [to];" + _STORE + "%r1;", 0),
        ("ld.local.u8 %r1, [to+1];" + _STORE + "%r1;", 32),
        ("ld.local.u8 %r1, [from+2];" + _STORE + "%r1;", 32),
        ("ld.local.u16 %r1, [from+2];", 32),
    ],
)
def test_padding_may_be_copied_not_used(body, undefined):
    assert lanes_found(run(_COPY + body)) == undefined


# What it costs.


@pytest.mark.parametrize(
    ("body", "tracked"),
    [
        ("mov.u32 %r1, 5; add.u32 %r2, %r1, 1; @%p1 bra end; end:", {"%p1"}),
        ("mov.u32 %r1, 5; add.u32 %r2, %r1, %r3; mov.u32 %r4, %r1;", {"%r3", "%r2"}),
        ("mov.u32 %r1, 5; shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; add.u32 %r1, %r1, %r2;", set()),
    ],
)
def test_only_registers_that_may_be_undefined_are_tracked(body, tracked):
    # all others cost nothing
    code = link(parse(kernel(body + "ret;", ""))).kernels["k"]
    assert {code.slots[slot].name for slot in compile_code(code).tracked} == tracked
