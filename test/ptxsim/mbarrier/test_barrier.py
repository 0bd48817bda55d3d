"""The mbarrier object: phases, arrivals, bytes, and what the ISA leaves undefined (PTX ISA §9.7.13.15)."""

import pytest

from ptxsim.machine.misuse import Misuse
from ptxsim.mbarrier.barrier import MAXIMUM_COUNT, Barrier, pending_count


def test_a_new_object_is_in_phase_zero_with_all_arrivals_pending():
    barrier = Barrier.initial(3)
    assert (barrier.pending, barrier.expected, barrier.tx_count, barrier.phase) == (3, 3, 0, 0)


# The phase completes with the last arrival, and the next expects as many again.
def test_the_last_arrival_completes_the_phase():
    barrier = Barrier.initial(3).arrive().arrive()
    assert (barrier.phase, barrier.pending) == (0, 1)
    barrier = barrier.arrive()
    assert (barrier.phase, barrier.pending, barrier.expected) == (1, 3, 3)


def test_one_arrival_may_count_for_several():
    assert Barrier.initial(32).arrive(31).pending == 1
    assert Barrier.initial(32).arrive(32).phase == 1


# Bytes that are expected hold the phase open until they have come.
def test_pending_bytes_hold_the_phase_open():
    barrier = Barrier.initial(1).expect_tx(4096).arrive()
    assert (barrier.phase, barrier.pending, barrier.tx_count) == (0, 0, 4096)
    barrier = barrier.complete_tx(1024)
    assert barrier.phase == 0
    barrier = barrier.complete_tx(3072)
    assert (barrier.phase, barrier.pending, barrier.tx_count) == (1, 1, 0)


# Bytes may come before they are expected: the count is below zero for a while, and the phase is still the same.
def test_bytes_may_come_before_they_are_expected():
    barrier = Barrier.initial(1).complete_tx(512)
    assert (barrier.phase, barrier.tx_count) == (0, -512)
    assert barrier.expect_tx(512).arrive().phase == 1


# An expectation that comes last completes the phase, too.
def test_an_expectation_may_complete_the_phase():
    barrier = Barrier.initial(1).complete_tx(64).arrive()
    assert barrier.phase == 0
    assert barrier.expect_tx(64).phase == 1


# Who drops out arrives once more, and is not expected again.
def test_who_drops_out_arrives_and_is_not_expected_again():
    barrier = Barrier.initial(4).arrive_drop()
    assert (barrier.pending, barrier.expected) == (3, 3)
    barrier = barrier.arrive(3)
    assert (barrier.phase, barrier.pending) == (1, 3)


# A state tells the phase it was returned in, which is the current one or the one before.
def test_a_state_is_complete_once_its_phase_is():
    barrier = Barrier.initial(2)
    state = barrier.word
    barrier = barrier.arrive()
    assert not barrier.is_complete(state)
    barrier = barrier.arrive()
    assert barrier.is_complete(state)


# A state of two phases ago may not be tested.
def test_a_state_of_an_older_phase_is_misuse():
    barrier = Barrier.initial(1)
    state = barrier.word
    barrier = barrier.arrive().arrive()
    with pytest.raises(Misuse, match="neither of the mbarrier's current phase nor of the one before it"):
        barrier.is_complete(state)


# On a new object a wait for parity 1 passes: producers rely on it. The parities then alternate.
def test_the_parity_of_the_phase_before_is_complete():
    barrier = Barrier.initial(1)
    for phase in range(6):
        assert barrier.parity == phase % 2
        assert barrier.is_parity_complete(1 - phase % 2)
        assert not barrier.is_parity_complete(phase % 2)
        barrier = barrier.arrive()


def test_the_pending_count_of_a_state_is_that_before_the_arrival():
    barrier = Barrier.initial(9).arrive(2)
    state = barrier.word
    assert pending_count(state) == 7
    assert Barrier.of(barrier.arrive().word).pending == 6


# cp.async.mbarrier.arrive without .noinc adds the arrival that it makes.
def test_an_added_arrival_is_pending_in_this_phase_only():
    barrier = Barrier.initial(1).add_pending()
    assert (barrier.pending, barrier.expected) == (2, 1)
    assert barrier.arrive().phase == 0
    assert barrier.arrive(2).pending == 1


# The word holds all of the object, at the limits of every count.
@pytest.mark.parametrize("tx_count", [0, 1, -1, MAXIMUM_COUNT, -MAXIMUM_COUNT])
@pytest.mark.parametrize("counts", [(0, 1), (MAXIMUM_COUNT, MAXIMUM_COUNT), (5, 0)])
@pytest.mark.parametrize("phase", range(4))
def test_the_word_holds_the_whole_object(tx_count, counts, phase):
    barrier = Barrier(*counts, tx_count, phase)
    assert 0 <= barrier.word < 2**64
    assert Barrier.of(barrier.word) == barrier


# The layout is that of the module's docstring.
def test_the_layout_of_the_word():
    assert Barrier(pending=3, expected=5, tx_count=-1, phase=2).word == 3 + (5 << 20) + ((2**21 - 1) << 40) + (
        0b110 << 61
    )


@pytest.mark.parametrize("word", [0, 0x7FFF_FFFF_FFFF_FFFF])
def test_a_word_that_was_not_initialised_is_no_object(word):
    with pytest.raises(Misuse, match=r"mbarrier\.init is missing") as raised:
        Barrier.of(word)
    assert raised.value.kind == "uninitialized"


MISUSES = [
    (lambda: Barrier.initial(0), "barrier-divergence", "count 0 of mbarrier.init is not within 1 … 1048575"),
    (lambda: Barrier.initial(2**20), "barrier-divergence", "count 1048576 of mbarrier.init is not within"),
    (lambda: Barrier.initial(2).arrive(0), "barrier-divergence", "count 0 of mbarrier.arrive is not within"),
    (
        lambda: Barrier.initial(2).arrive(3),
        "barrier-divergence",
        "3 arrivals at an mbarrier with 2 of 2 arrivals pending",
    ),
    (
        lambda: Barrier.initial(1).expect_tx(16).arrive().arrive(),
        "barrier-divergence",
        "1 arrival at an mbarrier with 0 of 1 arrivals pending",
    ),
    (lambda: Barrier.initial(1).arrive(no_complete=True), "barrier-divergence", ".noComplete completes the phase"),
    (
        lambda: Barrier.initial(2).arrive_drop(3),
        "barrier-divergence",
        "3 arrivals drop out of an mbarrier that expects 2",
    ),
    (
        lambda: Barrier.initial(MAXIMUM_COUNT).add_pending(),
        "barrier-divergence",
        "lifts the pending count of an mbarrier over 1048575",
    ),
    (
        lambda: Barrier.initial(1).is_parity_complete(2),
        "barrier-divergence",
        "phaseParity 2 of an mbarrier test is neither 0 nor 1",
    ),
    (
        lambda: Barrier.initial(1).expect_tx(2**20),
        "mbarrier-tx-mismatch",
        "expect-tx of 1048576 bytes is not within 0 … 1048575",
    ),
    (
        lambda: Barrier.initial(1).expect_tx(2**19).expect_tx(2**19),
        "mbarrier-tx-mismatch",
        "expect-tx of 524288 bytes makes the tx-count 1048576, beyond ±1048575",
    ),
    (
        lambda: Barrier.initial(1).complete_tx(2**19).complete_tx(2**19),
        "mbarrier-tx-mismatch",
        "complete-tx of 524288 bytes makes the tx-count -1048576, beyond ±1048575",
    ),
]


# What the ISA leaves undefined is raised with the kind of the finding it becomes.
@pytest.mark.parametrize(("act", "kind", "message"), MISUSES, ids=[message for *_, message in MISUSES])
def test_misuse_is_raised(act, kind, message):
    with pytest.raises(Misuse) as raised:
        act()
    assert raised.value.kind == kind
    assert message in raised.value.message


# An arrival without completion is right as long as another one is pending.
def test_an_arrival_without_completion_leaves_the_phase_open():
    assert Barrier.initial(2).arrive(no_complete=True).pending == 1


# Once all have arrived, bytes that are missing or too many can no longer be made good.
@pytest.mark.parametrize(
    ("expected", "copied", "message"),
    [
        (4096, 2048, "2048 bytes more are expected than copies bring"),
        (2048, 4096, "copies bring 2048 bytes more than are expected"),
        (64, 64, None),
    ],
)
def test_a_mismatch_of_bytes_is_told_once_all_have_arrived(expected, copied, message):
    barrier = Barrier.initial(1).expect_tx(expected).complete_tx(copied)
    assert barrier.mismatch() is None
    found = barrier.arrive().mismatch()
    assert found == message


# A copy too many counts in the next phase, where it shows at the latest when the CTA has exited.
def test_a_mismatch_of_bytes_is_told_at_the_end_whoever_has_arrived():
    barrier = Barrier.initial(1).expect_tx(64).arrive().complete_tx(64).complete_tx(64)
    assert barrier.phase == 1
    assert barrier.mismatch() is None
    assert barrier.mismatch(at_end=True) == "copies bring 64 bytes more than are expected"
    assert Barrier.initial(1).mismatch(at_end=True) is None
