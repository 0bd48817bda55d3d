"""Registers of a thread, counted in the PTX."""

import pytest

from ptxsim.clock.devices import device_of
from ptxsim.clock.live_registers import estimated_registers, live_registers
from ptxsim.engine.executable import Executable
from ptxsim.kernels import kernels_of
from ptxsim_cases.kernel_text import kernel

#: Four loaded words and their address are live at once: 4 + 2.
FOUR = """ld.param.u64 %d0, [out]; ld.global.u32 %r0, [%d0]; ld.global.u32 %r1, [%d0]; ld.global.u32 %r2, [%d0];
ld.global.u32 %r3, [%d0]; add.u32 %r0, %r0, %r1; add.u32 %r2, %r2, %r3; add.u32 %r0, %r0, %r2;
st.global.u32 [%d0], %r0; ret;"""


def compiled(body, directives=""):
    found = kernels_of(kernel(body, directives=directives)).compiled("k")
    assert isinstance(found, Executable)
    return found


def test_values_are_live_until_their_last_use():
    assert live_registers(compiled(FOUR).sites) == 6


def test_what_a_loop_reads_is_live_all_around_it():
    body = """ld.param.u64 %d0, [out]; mov.u32 %r0, 0; mov.u32 %r1, 3;
    again: add.u32 %r0, %r0, %r1; setp.lt.u32 %p0, %r0, 99; @%p0 bra again; st.global.u32 [%d0], %r0; ret;"""
    assert live_registers(compiled(body).sites) == 4  # %d0 takes two; a predicate takes none


def test_what_a_guard_may_leave_as_it_was_stays_live():
    body = """ld.param.u64 %d0, [out]; mov.u32 %r0, 1; setp.eq.u32 %p0, %r0, 1;
    @%p0 mov.u32 %r0, 2; st.global.u32 [%d0], %r0; ret;"""
    assert live_registers(compiled(body).sites) == 3


@pytest.mark.parametrize(
    ("directives", "threads", "expected"),
    [
        ("", 128, [16, 16, 24]),  # (6 + 12) * 0.7, 0.9, 1.3, in eights
        (".maxnreg 20", 128, [16, 16, 20]),
        (".maxntid 1024, 1, 1 .minnctapersm 4", 128, [16, 16, 16]),  # 65536 / 4096
        ("", 4096, [16, 16, 16]),  # no more than there is room for
    ],
)
def test_bounds_of_a_launch_bound_registers(directives, threads, expected):
    executable = compiled(FOUR, directives)
    found = [estimated_registers(executable, 0, threads, device_of("h100"), bound) for bound in ("lower", "expected")]
    assert [*found, estimated_registers(executable, 0, threads, device_of("h100"), "upper")] == expected


def test_a_kernel_that_sets_its_registers_begins_with_what_there_is_room_for():
    executable = compiled(f"setmaxnreg.inc.sync.aligned.u32 240; {FOUR}")
    assert estimated_registers(executable, 0, 384, device_of("h100")) == 168  # 65536 / 384 = 170.7


def test_what_is_kept_for_an_unrolled_loop_takes_registers():
    assert estimated_registers(compiled(FOUR), 40, 128, device_of("h100")) == 56  # (6 + 40 + 12) * 0.9 = 52.2
