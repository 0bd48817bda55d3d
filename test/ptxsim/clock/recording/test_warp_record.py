"""One warp's runs put in order: lanes that a GPU has converged again are one execution, a wait has what ended it."""

from ptxsim.clock.recording.trace import Depart, ExecutedRun, MemoryRequest, PhaseKey
from ptxsim.clock.recording.warp_record import FULL, WarpRecord

LOW, HIGH = 0x0000FFFF, 0xFFFF0000
PHASE = PhaseKey("mbarrier", 0, 64, 0)


def record_of(*runs, waits=(), gathers=()):
    """The runs of (start, end, lanes), each in a batch of its own."""
    record = WarpRecord(frozenset(waits), frozenset(gathers))
    for batch, (start, end, lanes) in enumerate(runs):
        record.ran(start, end, lanes, batch)
    return record


def shape(record):
    return [(run.start, run.end) for run in record.runs()]


def test_events_that_are_told_before_their_run_are_part_of_it():
    record = WarpRecord(frozenset())
    load = MemoryRequest(2, "shared", "load", 4, 1)
    record.add(load, FULL, 0)
    record.ran(0, 4, FULL, 0)
    assert record.runs() == (ExecutedRun(0, 4, (load,)),)


def test_lanes_that_come_to_the_same_place_one_after_the_other_execute_it_once():
    # lanes part at 3: the low ones take 3 to 5, the high ones 5 to 7; all go on at 7
    record = record_of((0, 3, FULL), (3, 5, LOW), (5, 7, HIGH), (7, 9, LOW), (7, 9, HIGH))
    assert shape(record) == [(0, 3), (3, 5), (5, 7), (7, 9)]


def test_lanes_that_go_further_than_the_others_execute_the_rest_by_themselves():
    assert shape(record_of((0, 3, FULL), (3, 5, LOW), (3, 8, HIGH))) == [(0, 3), (3, 8)]
    assert shape(record_of((0, 3, FULL), (3, 5, LOW), (9, 10, 1), (3, 8, HIGH))) == [(0, 3), (3, 5), (9, 10), (5, 8)]


def test_lanes_that_come_back_execute_again():
    # a loop: the same lanes go through 3 to 5 twice
    assert shape(record_of((3, 5, LOW), (3, 5, LOW), (3, 5, HIGH))) == [(3, 5), (3, 5)]


def test_lanes_that_wait_for_others_of_their_warp_execute_with_them():
    # the high lanes skip 3 to 5, and wait at 5, a shuffle, for the low ones
    apart = (0, 3, FULL), (5, 6, HIGH), (3, 5, LOW), (5, 6, LOW), (6, 9, FULL)
    assert shape(record_of(*apart, gathers=(5,))) == [(0, 3), (3, 5), (5, 6), (6, 9)]
    assert shape(record_of(*apart)) == [(0, 3), (5, 6), (3, 5), (5, 6), (6, 9)]
    # what they have executed on their way there stays where it was
    before = (0, 3, FULL), (7, 9, HIGH), (3, 5, LOW), (5, 9, LOW)
    assert shape(record_of(*before, gathers=(8,))) == [(0, 3), (7, 8), (3, 5), (5, 9)]


def test_lanes_that_wait_at_a_barrier_for_others_are_let_go_with_them():
    record = record_of((5, 6, HIGH), (3, 5, LOW), (5, 6, LOW), gathers=(5,), waits=(5,))
    record.add(Depart(77, PHASE), FULL, 9)
    assert record.runs() == (ExecutedRun(3, 5, ()), ExecutedRun(5, 6, (Depart(5, PHASE),)))
    record = record_of((5, 6, HIGH), (3, 5, LOW), (5, 6, LOW), gathers=(5,), waits=(5,))
    record.add(Depart(77, PHASE), HIGH, 9)  # the lanes that came first
    assert record.runs()[-1] == ExecutedRun(5, 6, (Depart(5, PHASE),))


def test_lanes_that_have_gone_on_since_are_not_gathered():
    rounds = (5, 6, HIGH), (6, 7, HIGH), (3, 5, LOW), (5, 6, LOW)
    assert shape(record_of(*rounds, gathers=(5,))) == [(start, end) for start, end, _ in rounds]


def test_what_lets_a_warp_go_on_belongs_to_its_wait():
    record = record_of((0, 3, FULL), waits=(2,))
    record.add(Depart(77, PHASE), FULL, 5)  # told while another warp runs instruction 77
    record.ran(3, 6, FULL, 6)
    assert record.runs() == (ExecutedRun(0, 3, (Depart(2, PHASE),)), ExecutedRun(3, 6, ()))


def test_lanes_that_wait_at_different_places_are_let_go_each_at_its_own():
    record = record_of((0, 3, LOW), (5, 8, HIGH), waits=(2, 7))
    record.add(Depart(77, PHASE), LOW, 9)
    record.add(Depart(77, PHASE._replace(number=1)), HIGH, 9)
    first, second = record.runs()
    assert first.events == (Depart(2, PHASE),)
    assert second.events == (Depart(7, PHASE._replace(number=1)),)


def test_the_last_wait_of_a_warp_has_what_ended_it():
    record = record_of((0, 3, FULL), waits=(2,))
    record.add(Depart(2, PHASE), FULL, 1)
    assert record.runs()[-1].events == (Depart(2, PHASE),)
