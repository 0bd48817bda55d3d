"""What ptxas moves out of a loop when it unrolls the one inside it."""

import pytest

from ptxsim.clock.live_registers import live_before
from ptxsim.clock.sass.loop_invariants import kept_values, loop_invariants
from ptxsim.clock.sass.straight_runs import ptx_runs
from ptxsim.engine.executable import Executable
from ptxsim.kernels import kernels_of
from ptxsim_cases.kernel_text import kernel

#: The outer loop runs as often as `out` says; the inner one four times: %r4 = 3 * %r2 + 7 is the same in each round.
NESTED = """ld.param.u32 %r0, [out]; mov.u32 %r1, 0;
outer: mov.u32 %r2, 0;
inner: mul.lo.u32 %r3, %r2, 3; add.u32 %r4, %r3, 7; add.u32 %r5, %r4, %r1; st.shared.u32 [%r5], %r5;
add.u32 %r2, %r2, {step}; setp.lt.u32 %p0, %r2, {last}; @%p0 bra inner;
add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r0; @%p1 bra outer; ret;"""


def invariants_of(body):
    executable = kernels_of(kernel(body)).compiled("k")
    assert isinstance(executable, Executable)
    sites = executable.sites
    found = loop_invariants(sites, ptx_runs(executable.code), live_before(sites))
    names = {sites[at].code.slots[slot].name: count for at, count in found.items() for slot in sites[at].writes}
    return names, kept_values(sites, found)


def test_what_hangs_on_the_counter_of_an_unrolled_loop_alone_moves_out():
    names, kept = invariants_of(NESTED.format(step=1, last=4))
    assert {"%r3", "%r4"} <= names.keys()
    assert not {"%r1", "%r5", "%p1"} & names.keys()
    assert names["%r4"] == 4  # one value for each round
    assert kept == names["%r4"] + names.get("%p0", 0)  # %r3 is not needed once there is %r4; the jump needs %p0


@pytest.mark.parametrize(("step", "last"), [(1, 64), (1, "%r0"), ("%r0", 4)])
def test_of_a_loop_that_is_long_or_not_counted_nothing_moves_out(step, last):
    names, kept = invariants_of(NESTED.format(step=step, last=last))
    assert (names, kept) == ({}, 0)


def test_of_one_loop_alone_compilers_have_moved_out_what_they_can():
    body = (
        "mov.u32 %r2, 0; again: mov.u32 %r3, 5; add.u32 %r2, %r2, %r3; setp.lt.u32 %p0, %r2, 99; @%p0 bra again; ret;"
    )
    assert invariants_of(body) == ({}, 0)
