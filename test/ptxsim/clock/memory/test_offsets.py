"""How far clusters read from the recorded one: found by running them until they have touched each array once."""

import numpy as np

import ptxsim
from ptxsim.clock.kernel_launch import KernelLaunch
from ptxsim.clock.memory.offsets import offsets_of_clusters
from ptxsim_cases.kernel_text import kernel

_PARAMETERS = ".param .u64 x, .param .u64 w, .param .u64 out"
#: Each CTA reads words of x from 128 · %r4 bytes on and of w from 256 · %r5 on, works on, and stores at its end.
_READS = """mov.u32 %r0, %tid.x; ld.param.u64 %d0, [x]; ld.param.u64 %d1, [w]; ld.param.u64 %d2, [out];
mul.wide.u32 %d3, %r0, 4; mul.wide.u32 %d4, %r4, 128; mul.wide.u32 %d5, %r5, 256;
add.u64 %d0, %d0, %d3; add.u64 %d0, %d0, %d4; add.u64 %d1, %d1, %d3; add.u64 %d1, %d1, %d5; mov.u32 %r9, 0;
ld.global.u32 %r6, [%d0]; ld.global.u32 %r7, [%d1];
again: add.u32 %r9, %r9, 1; setp.lt.u32 %p0, %r9, 500; @%p0 bra again;
add.u32 %r6, %r6, %r7; add.u64 %d2, %d2, %d3; st.global.u32 [%d2], %r6; ret;"""
BY_PLACE = "mov.u32 %r4, %ctaid.y; mov.u32 %r5, %ctaid.x;"
BY_NUMBER = "mov.u32 %r1, %ctaid.x; rem.u32 %r5, %r1, 16; div.u32 %r4, %r1, 16;"
#: Every other row runs backwards.
SNAKE = f"""{BY_NUMBER} and.b32 %r8, %r4, 1; setp.eq.u32 %p1, %r8, 1; mov.u32 %r8, 15; @%p1 sub.u32 %r5, %r8, %r5;"""


def offsets_of(index, grid, recorded=0):
    arrays = [np.zeros(2048, np.uint32) for _ in range(3)]
    arrays[0][:] = 7
    text = kernel(index + _READS, _PARAMETERS)
    launch = KernelLaunch(text, "k", grid, (32, 1, 1), arrays)
    found = offsets_of_clusters(ptxsim.load(text), launch, recorded, 10**6)
    assert not arrays[2].any()  # no cluster came as far as its store
    assert found.exact
    read = [found.offsets[number].tolist() for number in sorted(found.offsets)]
    return found, read


def test_each_array_has_an_offset_of_its_own():
    found, (x, w) = offsets_of(BY_PLACE, (4, 3, 1))
    assert x == [128 * (at // 4) for at in range(12)]
    assert w == [256 * (at % 4) for at in range(12)]
    assert found.ran == 12
    starts, ends = zip(*(found.ranges[number] for number in sorted(found.offsets)), strict=True)
    assert [end - start for start, end in zip(starts, ends, strict=True)] == [8192, 8192]


def test_offsets_are_from_the_recorded_cluster():
    _, (x, w) = offsets_of(BY_PLACE, (4, 3, 1), recorded=5)
    assert x == [128 * (at // 4 - 1) for at in range(12)]
    assert w == [256 * (at % 4 - 1) for at in range(12)]


def test_of_many_clusters_a_sample_tells_the_others_with_remainders_and_quotients():
    found, (x, w) = offsets_of(BY_NUMBER, (256, 1, 1))
    assert x == [128 * (at // 16) for at in range(256)]
    assert w == [256 * (at % 16) for at in range(256)]
    assert found.ran < 30


def test_what_a_sample_does_not_tell_is_found_by_running_all():
    found, (_, w) = offsets_of(SNAKE, (256, 1, 1))
    assert w == [256 * (15 - at % 16 if at // 16 % 2 else at % 16) for at in range(256)]
    assert found.ran > 256


def test_a_kernel_that_touches_no_memory_has_no_offsets():
    text = kernel("ret;")
    launch = KernelLaunch(text, "k", (4, 1, 1), (32, 1, 1), [np.zeros(8, np.uint32)])
    assert offsets_of_clusters(ptxsim.load(text), launch, 0, 4).offsets == {}
