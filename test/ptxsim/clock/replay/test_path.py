"""The way of a warp through the SASS: loops that ptxas unrolls, lanes that part, waits that ask again, guards."""

import pytest

from ptxsim.clock.replay.path import PathFinder
from ptxsim.clock.sass.straight_runs import ptx_runs
from ptxsim.kernels import kernels_of
from ptxsim_cases.sass_text import sass_function

#: Line 7 loads, 8 multiplies, 12 stores and 14 stores elsewhere, 16 waits, 18 loads from shared memory.
TEXT = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x) { .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
ld.param.u64 %rd1, [x]; mov.u32 %r1, 0;
LOOP:
ld.global.f32 %f1, [%rd1];
fma.rn.f32 %f2, %f1, %f1, %f2;
add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 100;
@%p1 bra LOOP;
@%p2 bra OTHER;
st.global.f32 [%rd1], %f2;
bra WAIT; OTHER:
st.global.f32 [%rd1+4], %f2;
WAIT:
mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0;
@!%p3 bra WAIT;
ld.shared.f32 %f3, [%r3];
ret; }
"""
LOAD, STORE, OTHER, WAIT, LAST = 7, 12, 14, 16, 18


def path_of(function, executed):
    finder = PathFinder(ptx_runs(kernels_of(TEXT).program.kernels["k"]), function)
    found = finder.path(executed)
    return list(found.blocks), found


def load(register=1):
    return (LOAD, f"LDG.E R{register}, [R8.64]")


UNROLLED = sass_function(
    (9, "@!P1 BRA `(.L_rest)"),  # block 0: fewer than four rounds
    ".L_four:",
    *(load(each) for each in range(4)),
    (10, "@P0 BRA `(.L_four)"),  # 1
    (10, "@!P2 BRA `(.L_end)"),  # 2: none is left
    ".L_rest:",
    load(),
    (10, "@P0 BRA `(.L_rest)"),  # 3
    ".L_end:",
    (STORE, "STG.E [R8.64], R7"),
    (19, "EXIT"),  # 4
)


@pytest.mark.parametrize(
    ("rounds", "blocks"),
    [(1, [0, 3, 4]), (3, [0, 3, 3, 3, 4]), (4, [0, 1, 2, 4]), (8, [0, 1, 1, 2, 4]), (11, [0, 1, 1, 2, 3, 3, 3, 4])],
)
def test_rounds_go_through_the_unrolled_loop_and_what_is_left_through_the_other(rounds, blocks):
    taken, found = path_of(UNROLLED, [LOAD] * rounds + [STORE])
    assert taken == blocks
    assert (found.anchors, found.missed, found.extra) == (rounds + 1, 0, 0)


TWO_WAYS = sass_function(
    load(),
    (11, "BSSY B0, `(.L_end)"),
    (11, "@P0 BRA `(.L_other)"),  # 0
    (STORE, "STG.E [R8.64], R7"),
    (13, "BRA `(.L_meet)"),  # 1
    ".L_other:",
    (OTHER, "STG.E [R8.64+0x4], R7"),  # 2
    ".L_meet:",
    (15, "BSYNC B0"),  # 3
    ".L_end:",
    (LAST, "LDS R1, [R2]"),
    (19, "EXIT"),  # 4
)


@pytest.mark.parametrize(("way", "blocks"), [(STORE, [0, 1, 3, 4]), (OTHER, [0, 2, 3, 4])])
def test_a_warp_whose_lanes_stay_together_goes_one_way(way, blocks):
    taken, found = path_of(TWO_WAYS, [LOAD, way, LAST])
    assert taken == blocks
    assert (found.missed, found.extra) == (0, 0)


@pytest.mark.parametrize("order", [(STORE, OTHER), (OTHER, STORE)])
def test_lanes_that_part_go_both_ways_one_after_the_other(order):
    taken, found = path_of(TWO_WAYS, [LOAD, *order, LAST])
    assert taken[0] == 0
    assert set(taken[1:-2]) == {1, 2}
    assert taken[-2:] == [3, 4]
    assert (found.missed, found.extra) == (0, 0)


ASKING = sass_function(
    load(),
    (WAIT, "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3"),
    (17, "@!P0 BRA `(.L_again)"),  # 0
    ".L_on:",
    (LAST, "LDS R1, [R2]"),
    (19, "EXIT"),  # 1
    ".L_again:",
    (WAIT, "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3"),
    (17, "@P0 BRA `(.L_on)"),  # 2
    (17, "BRA `(.L_again)"),  # 3
)


@pytest.mark.parametrize("asked", [1, 2])
def test_a_wait_asks_once_however_often_the_simulator_did(asked):
    taken, found = path_of(ASKING, [LOAD, *[WAIT] * asked, LAST])
    assert taken == [0, 1]
    assert (found.anchors, found.missed, found.extra) == (2, 0, 0)  # the wait is none of those that are counted


GUARDED = sass_function(
    load(),
    (STORE, "@!P0 STG.E [R8.64], R7"),
    (OTHER, "@P0 STG.E [R8.64+0x4], R7"),
    (LAST, "LDS R1, [R2]"),
    (19, "EXIT"),
)


@pytest.mark.parametrize("executed", [[STORE], [OTHER], [STORE, OTHER]])
def test_what_a_guard_may_skip_is_not_looked_for(executed):
    taken, found = path_of(GUARDED, [LOAD, *executed, LAST])
    assert taken == [0]
    assert (found.anchors, found.missed, found.extra) == (2, 0, 0)


def test_what_the_sass_lacks_and_what_it_has_beyond_is_counted():
    straight = sass_function(load(), load(), (LAST, "LDS R1, [R2]"), (19, "EXIT"))
    _, found = path_of(straight, [LOAD, LAST, LAST, LAST])
    assert (found.anchors, found.missed, found.extra) == (4, 2, 1)


ONE_WORKS = sass_function(
    load(),
    (11, "@P0 BRA `(.L_rest)"),  # 0
    (13, "@P1 EXIT"),  # 1
    (OTHER, "STG.E [R8.64+0x4], R7"),
    (19, "EXIT"),  # 2
    ".L_rest:",
    (LAST, "LDS R1, [R2]"),
    (19, "EXIT"),  # 3
)


def test_a_warp_that_has_nothing_left_to_do_ends_at_a_guarded_exit():
    taken, found = path_of(ONE_WORKS, [LOAD])
    assert taken == [0, 1]
    assert (found.missed, found.extra) == (0, 0)


def test_a_warp_whose_other_lanes_end_goes_on_behind_a_guarded_exit():
    taken, found = path_of(ONE_WORKS, [LOAD, OTHER])
    assert taken == [0, 1, 2]
    assert (found.missed, found.extra) == (0, 0)


def test_a_wmma_that_is_two_products_is_executed_once_for_both():
    c, a = "{%r0, %r1, %r2, %r3}", "{%r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11}"
    text = f""".version 8.0
.target sm_80
.address_size 64
.visible .entry k() {{ .reg .pred %p<4>; .reg .b32 %r<13>;
LOOP:
wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 {c}, {a}, {a}, {c};
add.s32 %r12, %r12, 1; setp.lt.s32 %p1, %r12, 100; @%p1 bra LOOP;
ret; }}
"""
    product = (6, "HMMA.16816.F16 R8, R12, R6, R8")
    function = sass_function(".L_loop:", product, product, (7, "@P0 BRA `(.L_loop)"), (8, "EXIT"))
    found = PathFinder(ptx_runs(kernels_of(text).program.kernels["k"]), function).path([6, 6, 6])
    assert found.blocks == (0, 0, 0, 1)
    assert (found.anchors, found.missed, found.extra) == (6, 0, 0)
