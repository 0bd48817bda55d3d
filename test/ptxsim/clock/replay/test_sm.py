"""One micro-kernel for each resource of an SM, with the cycles computed by hand."""

import numpy as np
import pytest

from ptxsim.clock.devices import device_of
from ptxsim.clock.recording.trace import Arrive, CopyStart, Depart, MemoryRequest
from ptxsim_cases.replays import Script, load_of, memory_step, phase, replay_of

H100, A100 = device_of("h100"), device_of("a100")
SHARED = {"write": 0, "stall": 1}
PRODUCT = "HGMMA.64x256x16.F32.BF16 R24, gdesc[UR8], R24, gsb0"
ALL_PRODUCTS = "WARPGROUP.DEPBAR.LE gsb0, 0x0"


def many(text, count, warp=0, **control):
    script = Script(warp)
    for _ in range(count):
        script.add(text, **control)
    return script


def shared_load(passes):
    return MemoryRequest(0, "shared", "load", 4, passes)


def global_load(sectors):
    return MemoryRequest(0, "global", "load", 16, sectors)


# --- issue and pipes --------------------------------------------------------------------------------------------------


def test_a_warp_issues_an_instruction_when_the_stall_of_the_last_one_is_over():
    assert replay_of(many("NOP", 10, stall=4)).cycles == 40


def test_warps_of_one_sub_partition_share_its_issue_port_and_others_do_not():
    assert replay_of(many("NOP", 50), many("NOP", 50, warp=4)).cycles == 100
    assert replay_of(many("NOP", 50), many("NOP", 50, warp=1)).cycles == 50


@pytest.mark.parametrize(("device", "interval"), [("a100", 2), ("h100", 1)])
def test_the_fma_pipe_takes_an_instruction_in_each_interval(device, interval):
    # the last one issues at 49 intervals, and ends a cycle later
    assert replay_of(many("FFMA R2, R2, R3, R2", 50), device=device).cycles == 49 * interval + 1


def test_pipes_of_a_sub_partition_work_beside_each_other():
    both = Script()
    for _ in range(50):
        both.add("FFMA R2, R2, R3, R2").add("LOP3.LUT R4, R4, R5, RZ, 0xc0, !PT")
    assert replay_of(both, device="a100").cycles == 100  # two pipes of 2 cycles each; either one alone: 99


HMMA = "HMMA.16816.F16 R4, R8, R10, R4"


def test_of_warps_that_are_ready_the_youngest_issues_first():
    old, young = many(HMMA, 4), many(HMMA, 4, warp=4)
    young.add("LDS R1, [R2]", shared_load(1), **SHARED).add("FADD R3, R1, R1", waits=(0,))
    # products at 0, 8, 16, 24 are the young warp's, whose load issues at 25, and the old one's are at 32 … 56
    assert replay_of(old, young, device="a100").cycles == 56 + 1
    old.add("LDS R1, [R2]", shared_load(1), **SHARED).add("FADD R3, R1, R1", waits=(0,))
    assert replay_of(old, many(HMMA, 4, warp=4), device="a100").cycles == 57 + 29 + 1


@pytest.mark.parametrize(("switches", "load_at"), [(False, 26), (True, 42)])
def test_the_warp_that_has_issued_last_goes_on_unless_its_control_code_says_to_switch(switches, load_at):
    greedy = many(HMMA, 3, switches=switches).add(HMMA)
    greedy.add("LDS R1, [R2]", shared_load(1), **SHARED).add("FADD R3, R1, R1", waits=(0,))
    young = Script(4).add("NOP", stall=5).add(HMMA).add(HMMA)
    # it issues products at 1, 9, 17, 25, though the other one is ready at 5; else the other one's are at 9 and 17
    assert replay_of(greedy, young, device="a100").cycles == load_at + 29 + 1


# --- tensor cores -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("warps", [1, 2])
def test_a_stream_of_mma_takes_8_cycles_each_of_the_tensor_core_on_a100(warps):
    scripts = [many("HMMA.16816.F32 R4, R8, R10, R4", 40, warp=4 * each) for each in range(warps)]
    replayed = replay_of(*scripts, device="a100")
    assert replayed.cycles == (40 * warps - 1) * 8 + 1
    assert replayed.busy["tensor"] == 40 * warps * 8 / 4  # of one sub-partition of four


def test_a_stream_of_wgmma_n256_takes_128_cycles_each_and_the_tail():
    script = many(PRODUCT, 16).add(ALL_PRODUCTS)
    assert replay_of(script).cycles == 16 * 128 + H100.wgmma_tail


def test_a_narrow_wgmma_from_shared_memory_is_bound_by_what_it_reads():
    # 64 rows of A and 64 of B, 32 bytes each, at 128 bytes in a cycle; the product itself is 32 cycles
    script = many("HGMMA.64x64x16.F32.BF16 R24, gdesc[UR8], R24, gsb0", 10).add(ALL_PRODUCTS)
    assert replay_of(script).cycles == 10 * 32 + H100.wgmma_tail
    narrow = many("HGMMA.64x8x16.F32.BF16 R24, gdesc[UR8], R24, gsb0", 10).add(ALL_PRODUCTS)
    assert replay_of(narrow).cycles == 10 * (64 + 8) * 32 / 128 + H100.wgmma_tail  # 18 each, not 4


def test_a_wait_for_all_but_one_group_ends_when_the_one_before_has():
    script = many(PRODUCT, 3).add("WARPGROUP.DEPBAR.LE gsb0, 0x1")
    assert replay_of(script).cycles == 2 * 128 + H100.wgmma_tail


# --- memory -----------------------------------------------------------------------------------------------------------


def test_a_shared_load_is_there_after_its_latency():
    script = Script().add("LDS R1, [R2]", shared_load(1), **SHARED).add("FADD R3, R1, R1", waits=(0,))
    replayed = replay_of(script)
    assert replayed.cycles == 29 + 1
    assert replayed.waits == {("scoreboard", 1): 28}  # from the cycle behind the load on


def test_bank_conflicts_cost_a_cycle_for_each_pass():
    script = Script().add("LDS R1, [R2]", shared_load(32), **SHARED).add("FADD R3, R1, R1", waits=(0,))
    assert replay_of(script).cycles == 29 + 31 + 1


def test_warps_of_all_sub_partitions_share_the_banks():
    scripts = [
        Script(warp).add("LDS R1, [R2]", shared_load(32), **SHARED).add("FADD R3, R1, R1", waits=(0,))
        for warp in range(4)
    ]
    assert replay_of(*scripts).cycles == 29 + 4 * 32 - 1 + 1


def test_an_sm_takes_a_memory_instruction_in_two_cycles():
    scripts = [many("STS [R2], R1", 20, warp=warp) for warp in range(4)]
    for script in scripts:
        script.add("LDS R1, [R2]", shared_load(1), **SHARED).add("FADD R3, R1, R1", waits=(0,))
    assert replay_of(*scripts).cycles == pytest.approx(84 * H100.lsu_interval + 29, abs=2)


def test_a_load_that_l2_has_takes_its_latency_and_its_bytes_at_the_port():
    script = Script()
    for _ in range(16):
        script.add("LDG.E.128 R4, [R2.64]", global_load(16), write=0)
    script.add("FADD R3, R4, R4", waits=(0,))
    # 16 times 512 bytes at 64 in a cycle, the latency, the last instruction
    assert replay_of(script).cycles == 16 * 8 + H100.l2_latency + 1


def test_a_load_that_l2_lacks_comes_from_memory():
    script = Script().add("LDG.E R4, [R2.64]", global_load(4), write=0).add("FADD R3, R4, R4", waits=(0,))
    share = memory_step(1e9, 16.0, 0.0)
    assert replay_of(script, share=share).cycles == 128 / 16 + H100.memory_latency + 1


def test_a_copy_is_bound_by_the_memorys_bandwidth():
    share = memory_step(1e9, 16.0, 0.0)
    warps, rounds, size = 16, 20, 512
    scripts = [Script(warp) for warp in range(warps)]
    for script in scripts:
        for _ in range(rounds):
            script.add("LDG.E.128 R4, [R2.64]", global_load(16), write=0)
            script.add("STG.E.128 [R6.64], R4", MemoryRequest(0, "global", "store", 16, 16), waits=(0,))
    moved = 2 * warps * rounds * size
    assert replay_of(*scripts, share=share).cycles == pytest.approx(moved / 16, rel=0.05)


def test_a_copy_by_threads_is_waited_for_by_its_scoreboard():
    request = MemoryRequest(0, "global", "load", 16, 16), MemoryRequest(0, "shared", "store", 16, 4)
    script = Script().add("LDGSTS.E.BYPASS.128 [R2], [R4.64]", *request).add("LDGDEPBAR", write=0)
    script.add("DEPBAR.LE SB0, 0x0").add("NOP")
    # 512 bytes at the port, the latency of L2; then the last instruction
    assert replay_of(script, device="a100").cycles == 8 + A100.l2_latency + 1


def test_of_two_groups_of_copies_the_first_may_be_waited_for_alone():
    request = MemoryRequest(0, "global", "load", 16, 16), MemoryRequest(0, "shared", "store", 16, 4)
    ends = {}
    for left in (1, 0):
        script = Script()
        for _ in range(2):
            script.add("LDGSTS.E.BYPASS.128 [R2], [R4.64]", *request).add("LDGDEPBAR", write=0)
        ends[left] = replay_of(script.add(f"DEPBAR.LE SB0, 0x{left}").add("NOP"), device="a100").cycles
    assert ends == {1: 8 + A100.l2_latency + 1, 0: 16 + A100.l2_latency + 1}


# --- synchronisation --------------------------------------------------------------------------------------------------


def test_two_warps_that_meet_at_a_barrier_take_its_latency_each_time():
    scripts = [Script(warp) for warp in range(2)]
    for number in range(10):
        at = phase(0, number, "barrier")
        for script in scripts:
            script.add("BAR.SYNC.DEFER_BLOCKING 0x0", Arrive(0, at, 32), Depart(0, at))
    assert replay_of(*scripts).cycles == 10 * H100.barrier_latency


def test_a_barrier_lets_go_when_the_last_warp_has_come():
    at = phase(0, 0, "barrier")
    meeting = Arrive(0, at, 32), Depart(0, at)
    early = Script(0).add("BAR.SYNC.DEFER_BLOCKING 0x0", *meeting)
    late = many("NOP", 1, warp=1, stall=15).add("BAR.SYNC.DEFER_BLOCKING 0x0", *meeting)
    replayed = replay_of(early, late)
    assert replayed.cycles == 15 + H100.barrier_latency
    assert set(replayed.waits) == {("barrier", 1)}  # all waits are told at the line of the PTX


def test_the_last_one_to_come_does_not_run_ahead_of_those_that_it_lets_go():
    at = phase(0, 0, "barrier")
    meeting = Arrive(0, at, 32), Depart(0, at)
    early = Script(1).add("BAR.SYNC.DEFER_BLOCKING 0x0", *meeting)
    early.add("LDS R1, [R2]", shared_load(1), **SHARED).add("FADD R3, R1, R1", waits=(0,))
    late = Script(0).add("NOP", stall=15).add("BAR.SYNC.DEFER_BLOCKING 0x0", *meeting)
    for _ in range(4):
        late.add("STS [R2], R1")
    # both go on at once: the load is the first one that the SM takes, not the fifth
    assert replay_of(late, early).cycles == 15 + H100.barrier_latency + 29 + 1


def test_a_warp_that_lets_others_go_does_not_use_the_banks_before_them():
    at = phase(0, 0, "barrier")
    meeting = Arrive(0, at, 32), Depart(0, at)
    first, last = (Script(warp).add("BAR.SYNC.DEFER_BLOCKING 0x0", *meeting) for warp in range(2))
    for _ in range(10):
        last.add("NOP", stall=10)
    for script in (first, last):
        script.add("LDS R1, [R2]", shared_load(1), **SHARED).add("FADD R3, R1, R1", waits=(0,))
    replayed = replay_of(first, last)
    assert replayed.cycles == H100.barrier_latency + 100 + 29 + 1
    assert replayed.waits["scoreboard", 1] == 2 * 28  # each its own latency, though the first load is told of last


def test_a_ping_pong_of_two_warps_takes_an_arrival_and_a_wake_each_way():
    ping, pong = Script(0), Script(1)
    for number in range(5):
        there, back = phase(0, number), phase(8, number)
        ping.add("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R2], RZ", Arrive(0, there, 1))
        ping.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3", Depart(0, back))
        pong.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3", Depart(0, there))
        pong.add("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R2], RZ", Arrive(0, back, 1))
    # the first arrival is there when the first wait has asked; from then on each warp sleeps until the other arrives
    one_way = H100.mbarrier_lane_interval + H100.mbarrier_arrive + H100.mbarrier_wake
    first = 1 + H100.mbarrier_try
    assert replay_of(ping, pong).cycles == first + 9 * one_way


def test_a_warp_that_waits_for_what_never_comes_is_counted():
    at = phase(0)
    script = Script().add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3", Depart(0, at))
    other = Script(1).add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3", Depart(0, phase(8)))
    other.add("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R2], RZ", Arrive(0, at, 1))
    script.add("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R2], RZ", Arrive(0, phase(8), 1))
    assert replay_of(script, other).deadlocked == 2


# --- bulk copies ------------------------------------------------------------------------------------------------------


def circular_buffer(rounds, stages, size, products=0, device="h100", share=None):
    """A warp fills the stages of a buffer by bulk copies, another one multiplies what is in them."""
    producer, consumer, copies = Script(0), Script(1), []
    for number in range(rounds):
        full, empty = phase(0, number), phase(8, number)
        if number >= stages:
            producer.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3", Depart(0, phase(8, number - stages)))
        copies.append(load_of(size, full))
        producer.add("UTMALDG.2D [UR4], [UR8]", CopyStart(0, number))
        consumer.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3", Depart(0, full))
        for _ in range(products):
            consumer.add(PRODUCT)
        consumer.add(ALL_PRODUCTS)
        consumer.add("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R2], RZ", Arrive(0, empty, 1))
    options = {} if share is None else {"share": share}
    return replay_of(producer, consumer, device=device, copies=copies, **options).cycles


def test_a_buffer_that_is_deep_enough_is_bound_by_the_port():
    # 32 KB are 512 cycles at 64 bytes each; then the last one's latency, its wake and its arrival
    rounds, size = 20, 32768
    assert circular_buffer(rounds, rounds, size) == pytest.approx(rounds * 512 + H100.tma_latency, abs=60)


def test_a_share_of_l2_that_is_less_than_the_port_binds():
    share = memory_step(32.0, 1e9, 1.0)
    assert circular_buffer(20, 20, 32768, share=share) == pytest.approx(20 * 1024 + H100.tma_latency, abs=60)


def test_a_buffer_of_one_stage_waits_for_each_copy():
    one = circular_buffer(20, 1, 32768)
    assert one == pytest.approx(20 * (512 + H100.tma_latency), rel=0.15)


def test_a_product_that_takes_longer_than_its_copies_is_bound_by_the_tensor_core():
    # 8 products of 128 cycles in a stage, whose copy takes 512 cycles
    time = circular_buffer(20, 4, 32768, products=8)
    assert time == pytest.approx(20 * (8 * 128 + H100.wgmma_tail + H100.mbarrier_try), rel=0.06)


def test_fewer_stages_are_slower():
    times = [circular_buffer(24, stages, 32768, products=4) for stages in (1, 2, 3, 4)]
    assert times[0] > 1.5 * times[1] > 1.5 * times[2] / 1.2
    assert times == sorted(times, reverse=True)


def test_a_multicast_reads_l2_once_and_fills_the_ports_of_both_sms():
    share = memory_step(32.0, 1e9, 1.0)
    ends = {}
    for shared in (False, True):
        producer = Script(0)
        for number in range(2):
            producer.add("UTMALDG.2D [UR4], [UR8]", CopyStart(0, number))
        producer.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3", Depart(0, phase(0)))
        other = Script(0, cta=1).add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3", Depart(0, phase(0, cta=1)))
        copies = [load_of(32768, phase(0, cta=cta), cta=cta, is_shared=shared) for cta in (0, 1)]
        ends[shared] = replay_of(producer, other, copies=copies, share=share).cycles
    # alone each SM gets 32 bytes in a cycle; of what they share each reads half
    assert ends[False] - ends[True] == pytest.approx(32768 / 32 - 32768 / 64)


def test_times_are_the_same_each_time():
    assert circular_buffer(10, 2, 4096, products=2) == circular_buffer(10, 2, 4096, products=2)


def test_a_wait_that_is_moved_up_hides_nothing():
    ends = []
    for before, behind in ((50, 0), (0, 50)):
        script = Script().add("LDG.E R4, [R2.64]", global_load(4), write=0)
        for _ in range(before):
            script.add("NOP", stall=4)
        script.add("FADD R3, R4, R4", waits=(0,))
        for _ in range(behind):
            script.add("NOP", stall=4)
        ends.append(replay_of(script).cycles)
    arrived = 128 / 64 + H100.l2_latency
    assert ends == [arrived + 1, arrived + 1 + 200]


# --- clusters one after the other -------------------------------------------------------------------------------------


def test_a_cluster_starts_when_another_one_has_ended():
    replayed = replay_of(many("NOP", 50, stall=2), times=3)
    assert replayed.ends == (100, 200 + H100.cta_replace, 300 + 2 * H100.cta_replace)


def test_clusters_that_are_resident_at_once_share_the_sm():
    replayed = replay_of(many("NOP", 100), times=4, resident=2)
    # the first one goes on while it can, the second one follows; so do those that take their places
    assert replayed.ends == (100, 200, 200 + H100.cta_replace, 300 + H100.cta_replace)


def test_the_place_of_a_cta_is_free_when_its_stores_have_left():
    script = Script().add("STG.E.128 [R6.64], R4", MemoryRequest(0, "global", "store", 16, 16))
    assert replay_of(script).cycles == 16 * 32 / H100.l2_port_bytes_per_cycle


# --- arrivals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lanes", [1, 32])
def test_lanes_arrive_one_after_the_other(lanes):
    script = Script()
    for number in range(4):
        script.add("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R2], RZ", Arrive(0, phase(0, number), lanes))
    script.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3", Depart(0, phase(0, 3)))
    arrived = max(4 * lanes * H100.mbarrier_lane_interval, 3 + H100.mbarrier_lane_interval) + H100.mbarrier_arrive
    asked = 5 + H100.mbarrier_try
    assert replay_of(script).cycles == max(arrived, asked)


# --- what is counted --------------------------------------------------------------------------------------------------


def test_busy_cycles_are_counted_by_unit():
    script = many("FFMA R2, R2, R3, R2", 40)
    script.add("LDS R1, [R2]", shared_load(3), **SHARED).add("LDG.E.128 R4, [R2.64]", global_load(16), write=1)
    busy = replay_of(script).busy
    assert (busy["issue"], busy["fma"]) == (42 / 4, 40 / 4)  # of a sub-partition, on average
    assert (busy["shared memory"], busy["LSU"]) == (3 + 4, 2 * H100.lsu_interval)  # 4 registers come through L1
    assert busy["L2 port"] == 512 / H100.l2_port_bytes_per_cycle


def test_waits_are_a_part_of_the_time_that_warps_are_resident():
    script = Script().add("LDS R1, [R2]", shared_load(1), **SHARED).add("FADD R3, R1, R1", waits=(0,))
    replayed = replay_of(script, times=3)
    assert replayed.warp_cycles == 3 * 30
    assert sum(replayed.waits.values()) == 3 * 28


def test_what_a_cta_has_read_before_is_in_its_l1():
    sectors = np.arange(4)
    request = MemoryRequest(0, "global", "load", 4, 4, sectors)
    script = Script().add("LDG.E R4, [R2.64]", request, write=0).add("FADD R3, R4, R4", waits=(0,))
    once = replay_of(script).cycles
    script.add("LDG.E R4, [R2.64]", request, write=0).add("FADD R3, R4, R4", waits=(0,))
    given = 128 / H100.l1_bytes_per_cycle  # to the registers of a warp
    assert replay_of(script).cycles == pytest.approx(once + given + H100.l1_latency + 1)
    past = Script()
    for _ in range(2):
        past.add("LDG.E.STRONG.GPU R4, [R2.64]", request, write=0).add("FADD R3, R4, R4", waits=(0,))
    assert replay_of(past).cycles > 2 * H100.l2_latency


def test_a_load_of_many_lines_looks_at_the_tags_of_each():
    scattered = MemoryRequest(0, "global", "load", 4, 32, np.arange(32) * 4)
    script = Script()
    for _ in range(11):
        script.add("LDG.E R4, [R2.64]", scattered, write=0)
    script.add("FADD R3, R4, R4", waits=(0,))
    # the first one's sectors come from L2 while the tags of the others are looked at
    assert replay_of(script).cycles == 11 * 32 - 1 + H100.l1_latency + 1


@pytest.mark.parametrize(("last", "bubbles"), [("R1, R3", 0), ("R1, R4", 1), ("R4, R6", 2)])
def test_operands_are_read_of_each_bank_one_after_the_other_within_three_cycles(last, bubbles):
    # Huerta et al.: the first one reads the even bank in cycles 0 to 2, so that the second one has it from 3 on
    script = Script().add("FFMA R11, R10, R12, R14").add(f"FFMA R13, R16, {last}").add("NOP")
    assert replay_of(script).cycles == 3 + bubbles


def test_instructions_that_read_three_registers_of_one_bank_take_three_cycles_each():
    assert replay_of(many("FFMA R2, R4, R6, R8", 40)).cycles == 3 * 39 + 1
