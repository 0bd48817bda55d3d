"""The order in which a straight run issues, and how long fixed latencies make it."""

from ptxsim.clock.replay.run_order import ScheduledInstruction, compiled_order, fixed_cycles, needs_of


def computes(reads, writes, latency=4, slots=1.0):
    return ScheduledInstruction(frozenset(reads), frozenset(writes), "", "generic", slots, latency, True)


def touches(memory, space, reads=(), writes=(), latency=0.0):
    return ScheduledInstruction(frozenset(reads), frozenset(writes), memory, space, 1.0, latency, False)


def test_a_chain_takes_the_latency_of_each():
    run = [computes({0}, {0}) for _ in range(5)]
    assert fixed_cycles(run, range(5)) == 5 * 4  # the next round waits for the last one
    others = [computes({at}, {at + 1}) for at in range(5)]
    assert fixed_cycles(others, range(5)) == 4 * 4 + 1


def test_chains_beside_each_other_take_turns():
    one_after_the_other = [computes({chain}, {chain}) for chain in range(4) for _ in range(4)]
    order = compiled_order(one_after_the_other, ends_with_jump=False)
    assert fixed_cycles(one_after_the_other, order) == 16  # every slot is used
    assert fixed_cycles(one_after_the_other, range(16)) == 4 * 13  # each chain 3 * 4 + 1


def test_loads_move_before_what_is_computed_and_not_before_a_store_to_the_same_space():
    run = [
        computes({0}, {1}),
        touches("store", "shared", reads={1}),
        touches("load", "shared", writes={2}, latency=29),
        touches("load", "global", writes={3}, latency=263),
    ]
    order = compiled_order(run, ends_with_jump=False)
    assert order[0] == 3  # the longest way
    assert order.index(1) < order.index(2)


def test_nothing_passes_a_fence_and_a_jump_is_the_last():
    run = [touches("load", "global", latency=263), touches("fence", ""), touches("load", "global", latency=263)]
    jump = touches("fence", "")
    assert compiled_order([*run, computes((), {9}), jump], ends_with_jump=True)[-1] == 4
    assert compiled_order(run, ends_with_jump=False) == [0, 1, 2]


def test_a_register_is_not_written_before_its_readers():
    assert needs_of([computes((), {0}), computes({0}, {1}), computes((), {0})]) == [{}, {0: True}, {1: False, 0: False}]


def test_half_a_slot_takes_half_a_cycle():
    run = [computes((), {at}, slots=0.5) for at in range(8)]
    assert fixed_cycles(run, range(8)) == 4
