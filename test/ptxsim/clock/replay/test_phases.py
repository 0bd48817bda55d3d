"""When phases are over, whatever the order in which arrivals come."""

from ptxsim.clock.replay.phases import Phases
from ptxsim_cases.replays import phase

AT = phase(0)


def test_a_phase_is_over_with_the_last_of_what_completes_it():
    phases = Phases()
    phases.begin(0, {AT: 2})
    assert phases.over(0, AT) is None
    phases.wait(0, AT, "warp")
    assert phases.complete(0, AT, 30.0) == (30.0, ())
    assert phases.complete(0, AT, 10.0) == (30.0, ["warp"])  # the later of both, told second
    assert phases.over(0, AT) == 30.0


def test_what_nothing_is_expected_of_is_over_from_the_start():
    phases = Phases()
    phases.begin(0, {})
    assert phases.over(0, AT) == 0.0


def test_instances_of_a_cluster_have_their_own_phases():
    phases = Phases()
    phases.begin(0, {AT: 1})
    phases.begin(1, {AT: 1})
    phases.complete(0, AT, 5.0)
    assert (phases.over(0, AT), phases.over(1, AT)) == (5.0, None)
    phases.end(0)
    assert phases.complete(1, AT, 9.0) == (9.0, ())
