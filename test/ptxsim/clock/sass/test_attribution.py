"""Lines, copies and variants of runs, from disassembly written by hand: what ptxas does to loops and branches."""

import pytest

from ptxsim.clock.sass.anchor_lines import anchor_lines
from ptxsim.clock.sass.attribution import attribute
from ptxsim.clock.sass.pipes import Pipe
from ptxsim.clock.sass.straight_runs import ptx_runs
from ptxsim.kernels import kernels_of
from ptxsim_cases.sass_text import sass_function

HEAD = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 x) {\n"
REGISTERS = ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<99>;\n"

#: Lines 6 … 7, 9 … 13, 14.
LOOP = (
    HEAD
    + REGISTERS
    + """ld.param.u64 %rd1, [x];
mov.u32 %r1, 0;
LOOP:
ld.global.f32 %f1, [%rd1];
fma.rn.f32 %f2, %f1, %f1, %f2;
add.s32 %r1, %r1, 1;
setp.lt.s32 %p1, %r1, 100;
@%p1 bra LOOP;
st.global.f32 [%rd1], %f2;
ret; }
"""
)


def runs_of(text):
    return ptx_runs(kernels_of(text).program.kernels["k"])


def rounds(count, registers=1):
    """The loads and sums of unrolled rounds: a load stalls 1 and an FFMA 4."""
    for each in range(count):
        yield (9, f"LDG.E R{each + registers}, [R8.64]", {"stall": 1, "write": 0})
    for each in range(count):
        yield (10, f"FFMA R7, R{each + registers}, R{each + registers}, R7", {"stall": 4, "waits": (0,)})


@pytest.mark.parametrize("unrolled", [2, 4])
def test_a_loop_that_is_unrolled_with_a_remainder_has_its_copies_and_variants(unrolled):
    function = sass_function(
        (6, "ULDC.64 UR4, c[0x0][0x160]", {"stall": 2}),
        (7, "MOV R1, RZ", {"stall": 1}),
        ".L_x_0:",
        *rounds(unrolled),
        (11, f"IADD3 R1, R1, 0x{unrolled}, RZ", {"stall": 4}),
        (12, "ISETP.LT.AND P0, PT, R1, 0x60, PT", {"stall": 13}),
        (13, "@P0 BRA `(.L_x_0)", {"stall": 5}),
        ".L_x_1:",
        *rounds(1),
        (11, "IADD3 R1, R1, 0x1, RZ", {"stall": 4}),
        (12, "ISETP.LT.AND P0, PT, R1, 0x64, PT", {"stall": 13}),
        (13, "@P0 BRA `(.L_x_1)", {"stall": 5}),
        (14, "STG.E [R8.64], R7", {"stall": 1}),
        (15, "EXIT", {"stall": 5}),
        (15, "NOP", {"stall": 0}),
    )
    found = attribute(runs_of(LOOP), (function,))
    loop = found.runs[1]
    assert (loop.lines, loop.copies) == ((9, 10, 11, 12, 13), unrolled + 1)
    assert [each.copies for each in loop.variants] == [unrolled, 1]
    # averaged over all copies, and in the loop that has most of them
    assert found.lines[13].slots == pytest.approx(2 / (unrolled + 1))
    assert found.lines[10].stall_cycles == 4
    assert found.hot[13].slots == pytest.approx(1 / unrolled)
    assert found.hot[12].stall_cycles == pytest.approx(13 / unrolled)
    assert 8 not in found.hot
    # the sum is the SASS, the padding behind the end is charged to no line
    assert sum(each.slots * each.copies for each in found.lines.values()) == pytest.approx(12 + 2 * unrolled)
    assert [(each.reason, each.slots, each.stall_cycles) for each in found.uncharged] == [("padding", 1, 1)]
    # what a replay needs of one execution
    load, total = found.hot[9], found.hot[10]
    assert [each.name for each in load.sequence] == ["LDG.E"]
    assert (load.scoreboarded, load.latency_cycles, load.pipes) == (True, None, {Pipe.LSU: 1})
    assert [(each.line, each.operands) for each in total.waits] == [(9, False)]
    assert (total.scoreboarded, total.latency_cycles, total.pipes) == (False, 4, {Pipe.FMA: 1})


def test_loads_that_are_merged_over_copies_do_not_count_them():
    # one LDG.E.64 for two rounds, as the arithmetic of two lines tells
    text = LOOP.replace("add.s32 %r1", "mul.f32 %f3, %f2, %f2;\nadd.s32 %r1")
    function = sass_function(
        ".L_x_0:",
        (9, "LDG.E.64 R2, [R8.64]", {"write": 0}),
        *[(line, f"{opcode} R7, R2, R2, R7") for line, opcode in ((10, "FFMA"), (11, "FMUL")) for _ in range(2)],
        (14, "@P0 BRA `(.L_x_0)"),
        (15, "EXIT"),
    )
    found = attribute(runs_of(text), (function,))
    assert found.runs[1].copies == 2
    assert found.lines[9].slots == 0.5


def test_what_is_moved_out_of_a_loop_is_charged_before_it():
    function = sass_function(
        (6, "ULDC.64 UR4, c[0x0][0x160]"),
        (12, "MOV R5, 0x64", {"stall": 3}),
        ".L_x_0:",
        (9, "LDG.E R1, [R8.64]", {"write": 0}),
        (13, "@P0 BRA `(.L_x_0)"),
        (14, "STG.E [R8.64], R7"),
        (15, "EXIT"),
    )
    found = attribute(runs_of(LOOP), (function,))
    assert found.moved == 1
    assert 12 not in found.lines
    assert (found.lines[7].slots, found.lines[7].stall_cycles) == (1, 3)


def test_an_if_that_became_predicates_is_charged_to_its_branch():
    text = (
        HEAD
        + REGISTERS
        + """ld.param.u64 %rd1, [x];
setp.eq.s32 %p1, %r1, 0;
@%p1 bra BEHIND;
st.global.f32 [%rd1], %f2;
BEHIND:
ld.global.f32 %f3, [%rd1];
ret; }
"""
    )
    function = sass_function(
        (7, "ISETP.NE.AND P0, PT, R1, RZ, PT", {"stall": 13}),
        (9, "@P0 STG.E [R8.64], R7", {"stall": 2}),
        (11, "LDG.E R3, [R8.64]", {"stall": 1}),
        (12, "EXIT", {"stall": 5}),
    )
    found = attribute(runs_of(text), (function,))
    assert 9 not in found.lines
    assert (found.lines[8].slots, found.lines[8].stall_cycles) == (1, 2)
    assert found.lines[11].slots == 1


def test_products_of_warpgroups_are_matched_by_their_order():
    registers = ", ".join(f"%f{each}" for each in range(4))
    product = f"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{{registers}}}, %rd1, %rd2, 1, 1, 1, 0, 0;\n"
    text = (
        HEAD
        + REGISTERS
        + "wgmma.fence.sync.aligned;\n"
        + product * 2
        + "wgmma.fence.sync.aligned;\n"
        + product * 2
        + "wgmma.commit_group.sync.aligned;\nret; }\n"
    )
    function = sass_function(
        (6, "WARPGROUP.ARRIVE"),
        (9, "HGMMA.64x8x16.F32 R24, gdesc[UR4], R24"),
        (10, "HGMMA.64x8x16.F32 R24, gdesc[UR4], R24"),
        (9, "WARPGROUP.ARRIVE"),
        (12, "HGMMA.64x8x16.F32 R24, gdesc[UR4], R24"),
        (12, "HGMMA.64x8x16.F32 R24, gdesc[UR4], R24, gsb0"),
        (13, "EXIT"),
    )
    runs = runs_of(text)
    assert anchor_lines(runs, function) == [6, 7, 8, 9, 10, 11, 13]
    found = attribute(runs, (function,))
    assert [(work.shape, work.count) for line in (7, 8, 10, 11) for work in found.lines[line].tensor] == [
        ((64, 8, 16), 1)
    ] * 4


def test_the_first_test_of_a_wait_belongs_to_it_and_spinning_is_its_other_variant():
    text = (
        HEAD
        + REGISTERS
        + """ld.param.u64 %rd1, [x];
mov.u32 %r1, 0;
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;
@%p1 bra DONE;
bra WAIT;
DONE:
st.global.f32 [%rd1], %f2;
ret; }
"""
    )
    function = sass_function(
        (7, "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R0", {"stall": 2, "write": 0}),
        (7, "@!P0 BRA `(.L_x_1)", {"stall": 5, "waits": (0,)}),
        ".L_x_0:",
        (13, "STG.E [R8.64], R7"),
        (14, "EXIT"),
        ".L_x_1:",
        (9, "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R0", {"stall": 2, "write": 0}),
        (10, "@!P0 BRA `(.L_x_1)", {"stall": 5, "waits": (0,)}),
        (10, "BRA `(.L_x_0)", {"stall": 5}),
    )
    found = attribute(runs_of(text), (function,))
    assert [each.depth for each in found.runs[1].variants] == [0, 1]
    assert found.hot[9].slots == 1


def test_instructions_on_one_line_are_one_line():
    text = LOOP.replace("ld.global.f32 %f1, [%rd1];\nfma", "ld.global.f32 %f1, [%rd1]; fma")
    function = sass_function(
        ".L_x_0:",
        (9, "LDG.E R1, [R8.64]", {"write": 0}),
        (9, "FFMA R7, R1, R1, R7", {"stall": 4}),
        (12, "@P0 BRA `(.L_x_0)"),
        (14, "EXIT"),
    )
    found = attribute(runs_of(text), (function,))
    assert (found.lines[9].slots, found.lines[9].stall_cycles) == (2, 5)
    assert found.runs[1].copies == 1


def test_what_has_no_line_and_slow_paths_are_told():
    function = sass_function(
        (0, "MOV R1, c[0x0][0x28]", {"stall": 2}),
        ".L_x_0:",
        (9, "LDG.E R1, [R8.64]"),
        (13, "@P0 BRA `(.L_x_0)"),
        (15, "EXIT"),
        "$__internal_0_$__cuda_sm20_rcp_rn_f32_slowpath:",
        (15, "MUFU.RCP R0, R19", {"stall": 3}),
        (15, "RET.REL.NODEC R4 `(k)", {"stall": 5}),
    )
    found = attribute(runs_of(LOOP), (function,))
    assert [(each.reason, each.slots, each.stall_cycles) for each in found.uncharged] == [
        ("no line", 1, 2),
        ("slow path", 2, 8),
    ]
