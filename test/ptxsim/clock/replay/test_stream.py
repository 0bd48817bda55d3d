"""What a warp issues: the SASS of its way, and at which of its instructions its events happen."""

import pytest

from ptxsim.clock.recording.trace import Depart, ExecutedRun, MemoryRequest, PhaseKey, WarpTrace
from ptxsim.clock.replay.path import PathFinder
from ptxsim.clock.replay.stream import StreamMaker
from ptxsim.clock.sass.straight_runs import ptx_runs
from ptxsim.kernels import kernels_of
from ptxsim_cases.sass_text import sass_function

#: Instructions 1 to 4 are the loop on lines 7 to 10, 5 and 6 the wait on lines 12 and 13.
TEXT = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x) { .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
ld.param.u64 %rd1, [x];
LOOP:
ld.global.f32 %f1, [%rd1];
add.s32 %r1, %r1, 1;
setp.lt.s32 %p1, %r1, 100;
@%p1 bra LOOP;
WAIT:
mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0;
@!%p3 bra WAIT;
ret; }
"""
CODE = kernels_of(TEXT).program.kernels["k"]
PHASE = PhaseKey("mbarrier", 0, 0, 0)


def stream_of(function, runs):
    maker = StreamMaker(CODE, PathFinder(ptx_runs(CODE), function))
    return maker.stream(WarpTrace(0, 0, tuple(ExecutedRun(*run) for run in runs)))


def load(number):
    return MemoryRequest(1, "global", "load", 4, number)


def rounds(count):
    return [(0 if not each else 1, 5, (load(each),)) for each in range(count)]


def units(stream):
    """The requests of each place, as the numbers that the test has given them."""
    return {place: [event.units for event in events] for place, events in stream.events.items()}


def loads(count):
    return [(7, f"LDG.E R{each}, [R8.64]") for each in range(count)]


def test_each_execution_of_a_line_has_its_events_at_its_own_instruction():
    stream = stream_of(sass_function((5, "MOV R8, R9"), *loads(3), (14, "EXIT")), rounds(3))
    assert stream.instructions == (0, 1, 2, 3, 4)
    assert units(stream) == {1: [0], 2: [1], 3: [2]}
    assert (stream.path.missed, stream.path.extra) == (0, 0)


def test_loads_that_ptxas_joins_have_the_events_of_all():
    stream = stream_of(sass_function((7, "LDG.E.128 R4, [R8.64]"), (14, "EXIT")), rounds(4))
    assert units(stream) == {0: [0, 1, 2, 3]}
    assert (stream.path.missed, stream.path.extra) == (0, 0)


def test_a_load_that_ptxas_splits_has_its_events_once():
    stream = stream_of(sass_function(*loads(2), (14, "EXIT")), rounds(1))
    assert units(stream) == {1: [0]}


@pytest.mark.parametrize("asked", [1, 2])
def test_a_warp_that_asks_again_waits_at_the_first_test(asked):
    function = sass_function((12, "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3"), (14, "EXIT"))
    runs = [*rounds(1), *[(5, 7, ())] * (asked - 1), (5, 6, (Depart(5, PHASE),)), (6, 8, ())]
    stream = stream_of(function, runs)
    assert stream.events == {0: (Depart(5, PHASE),)}


def test_warps_that_went_the_same_way_share_it():
    function = sass_function(*loads(2), (14, "EXIT"))
    maker = StreamMaker(CODE, PathFinder(ptx_runs(CODE), function))
    runs = tuple(ExecutedRun(*run) for run in rounds(2))
    first, second = (maker.stream(WarpTrace(0, warp, runs)) for warp in (0, 1))
    assert first.path is second.path
    assert (first.warp, second.warp) == (0, 1)


def test_a_line_of_several_instructions_is_executed_as_often_as_those_that_anchor_it():
    one_line = TEXT.replace("\nadd.s32", " add.s32")
    code = kernels_of(one_line).program.kernels["k"]
    maker = StreamMaker(code, PathFinder(ptx_runs(code), sass_function(*loads(3), (13, "EXIT"))))
    stream = maker.stream(WarpTrace(0, 0, tuple(ExecutedRun(*run) for run in rounds(3))))
    assert (stream.path.anchors, stream.path.missed, stream.path.extra) == (3, 0, 0)
    assert units(stream) == {0: [0], 1: [1], 2: [2]}
