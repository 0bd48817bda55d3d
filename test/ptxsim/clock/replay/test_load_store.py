"""The load/store unit: what Huerta et al. measured of its queues, and banks that hold up what is behind."""

import pytest

from ptxsim.clock.devices import device_of
from ptxsim.clock.recording.trace import MemoryRequest
from ptxsim.clock.replay.load_store import OPERANDS_READ, LoadStoreUnit
from ptxsim_cases.replays import Script, replay_of

A100 = device_of("a100")


def stores(count, warp=0):
    script = Script(warp)
    for _ in range(count):
        script.add("STS [R2], R1")
    return script


def test_of_one_warp_five_issue_at_once_and_then_one_in_4_cycles():
    # at 0, 1, 2, 3, 4, then as the operands of the one five before have been read: 11, 15, 19, 23, 27
    assert replay_of(stores(5)).cycles == 4 + 1
    assert replay_of(stores(6)).cycles == OPERANDS_READ + 1
    assert replay_of(stores(10)).cycles == 27 + 1


def test_four_sub_partitions_have_one_in_8_cycles_each():
    # the first addresses at 0, 2, 4, 6, those of one sub-partition 8 apart: its tenth waits for the fifth
    assert replay_of(*(stores(10, warp) for warp in range(4))).cycles == 6 + 4 * 8 + OPERANDS_READ + 1


def test_a_full_queue_is_told_as_a_wait():
    assert replay_of(stores(6)).waits == {("memory queue", 1): OPERANDS_READ - 5}


def test_bank_conflicts_hold_up_what_is_behind_them():
    script = Script()
    for _ in range(2):
        script.add("STS [R2], R1", MemoryRequest(0, "shared", "store", 4, 32))
    script.add("LDS R1, [R2]", MemoryRequest(0, "shared", "load", 4, 1), write=0).add("FADD R3, R1, R1", waits=(0,))
    assert replay_of(script, device="a100").cycles == 2 * 32 + 29 + 1


@pytest.mark.parametrize(("at_once", "start"), [(True, 32), (False, 4)])
def test_what_comes_from_l2_holds_up_no_addresses(at_once, start):
    unit = LoadStoreUnit(A100)
    unit.move(unit.take(0, 0.0), 32)
    unit.move(unit.take(1, 0.0), 4, at_once)
    assert unit.take(2, 0.0) == start
