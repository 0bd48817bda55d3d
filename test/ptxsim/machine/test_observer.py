"""What an observer of a launch is told of the instructions that warps execute, and when."""

from collections import Counter

import numpy as np
import pytest

import ptxsim
from ptxsim.errors import InputError
from ptxsim.machine.observer import Observer
from ptxsim_cases.case_launch import shape_and_arguments
from ptxsim_cases.cases import CASES
from ptxsim_cases.kernel_text import OWN_WORD, kernel


class Recorder(Observer):
    """Keeps what it is told, in order: runs as (CTA, warps, opcodes, lanes), other events as (name, opcode, CTA)."""

    def __init__(self) -> None:
        self.events: list[tuple] = []
        self.executed: Counter[str] = Counter()

    def began(self, launch):
        self.launch = launch
        self.opcodes = [each.opcode for each in launch.code.instructions]

    def ran(self, cta, warps, start, end, mask):
        assert start < end <= len(self.opcodes)
        assert mask.shape == (len(warps), 32)
        self.events.append((cta.index[0], warps.tolist(), self.opcodes[start:end], mask.sum(axis=1).tolist()))
        for opcode in self.opcodes[start:end]:
            self.executed[opcode] += len(warps)

    def accessed(self, access, batch, memory, index, usable=None, values=None):
        self.events.append(("accessed", self.opcodes[batch.cta.at], batch.cta.index[0]))

    def arrived(self, cta, phase, lanes, relaxed=False):
        self.events.append(("arrived", self.opcodes[cta.at], cta.index[0]))


def recorded(body: str, threads: int, **options) -> Recorder:
    recorder = Recorder()
    out = np.zeros(threads, np.uint32)
    module = ptxsim.load(kernel(OWN_WORD + body))
    options = {"grid": (1, 1, 1), "block": (threads, 1, 1), "args": [out]} | options
    assert module.launch_observed(recorder, "k", **options).ok
    return recorder


_START = ["ld", "mov", "mul", "add"]


def test_a_straight_run_is_told_behind_its_events_and_ends_with_what_ends_it():
    recorder = recorded("st.global.u32 [%d0], %r0; bar.sync 0; ret;", 40)
    assert recorder.events == [
        ("accessed", "st", 0),
        ("arrived", "bar", 0),
        (0, [0, 1], [*_START, "st", "bar"], [32, 8]),
        (0, [0, 1], ["ret"], [32, 8]),
    ]


def test_warps_and_lanes_that_part_are_told_of_by_themselves():
    # warps 1 and 2 jump, and of warp 0 the lanes from 20 on
    recorder = recorded(
        "setp.lt.u32 %p0, %r0, 20; @!%p0 bra over; add.u32 %r0, %r0, 1; add.u32 %r0, %r0, 1; over: ret;", 96
    )
    assert recorder.events == [
        (0, [0, 1, 2], [*_START, "setp", "bra"], [32, 32, 32]),
        (0, [0], ["add", "add"], [20]),
        (0, [0, 1, 2], ["ret"], [32, 32, 32]),
    ]


# Lanes that come to a warp-wide instruction first wait, and execute it again when the others are there.
def test_what_lanes_of_a_warp_wait_for_each_other_at_is_told_of_again():
    recorder = recorded("setp.lt.u32 %p0, %r0, 8; @%p0 bra over; nanosleep.u32 8; over: bar.warp.sync -1; ret;", 32)
    assert [each[2:] for each in recorder.events][-1] == (["ret"], [32])
    assert recorder.executed["ret"] == 1
    assert recorder.executed["bar"] >= 1


def test_guards_and_exits_leave_the_lanes_that_came():
    recorder = recorded("setp.lt.u32 %p0, %r0, 5; @%p0 exit; st.global.u32 [%d0], %r0; ret;", 32)
    assert recorder.events[:2] == [(0, [0], [*_START, "setp", "exit"], [32]), ("accessed", "st", 0)]
    assert recorder.events[2] == (0, [0], ["st", "ret"], [27])


@pytest.mark.parametrize("name", ["softmax", "matmul_sm80", "specialised_gemm", "wmma_gemm", "cluster_sum"])
def test_all_that_is_counted_is_told_of(name: str):
    (case,) = (each for each in CASES if each.name == name)
    recorder, options = Recorder(), shape_and_arguments(case, case.arrays())
    report = ptxsim.load(case.text()).launch_observed(recorder, case.entry, **options)
    assert recorder.executed == report.counters.instructions


def test_an_observer_sees_the_launch_and_the_clusters_that_run():
    recorder = recorded("ret;", 32, grid=(6, 1, 1), cluster=(2, 1, 1), clusters=(0, 2), dynamic_shared_bytes=64)
    assert [each[0] for each in recorder.events] == [0, 1, 4, 5]
    launch = recorder.launch
    assert (launch.grid, launch.block, launch.cluster, list(launch.clusters)) == (
        (6, 1, 1),
        (32, 1, 1),
        (2, 1, 1),
        [0, 2],
    )
    assert launch.shared_bytes == 64


def test_there_is_one_observer_of_a_launch():
    with pytest.raises(InputError, match="an observer is given, and the check 'races' is one"):
        recorded("ret;", 32, checks=("bounds", "races"))
