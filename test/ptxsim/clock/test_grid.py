"""Which clusters the busiest SMs get, which of them are replayed, and what is carried over to the rest."""

import pytest

from ptxsim.clock.devices import device_of
from ptxsim.clock.grid import Schedule, schedule_of
from ptxsim.errors import InputError

H100 = device_of("h100")


@pytest.mark.parametrize(
    ("clusters", "cluster_ctas", "ctas_per_sm", "expected"),
    [
        (1, 1, 2, Schedule(132, 1, 1, 1)),  # one CTA has an SM for itself
        (132, 1, 2, Schedule(132, 1, 1, 1)),  # CTAs are spread before two share an SM
        (133, 1, 2, Schedule(132, 2, 2, 2)),
        (4096, 1, 8, Schedule(132, 32, 8, 32)),  # four rounds of eight, and none that is not full
        (8192, 1, 8, Schedule(132, 63, 8, 39)),  # four, and the seven of the last one
        (4096, 1, 1, Schedule(132, 32, 1, 2)),  # two where none share an SM
        (1024, 1, 3, Schedule(132, 8, 3, 8)),  # three, three and two
        (64, 2, 1, Schedule(66, 1, 1, 1)),  # of 64 pairs of SMs none has more than one
    ],
)
def test_the_busiest_sms_get_what_is_left_over(clusters, cluster_ctas, ctas_per_sm, expected):
    assert schedule_of(H100, clusters, cluster_ctas, ctas_per_sm) == expected


def test_rounds_count_how_often_places_are_filled():
    assert schedule_of(H100, 4096, 1, 8).rounds == 4
    assert schedule_of(H100, 1024, 1, 3).rounds == 3


def test_what_is_not_replayed_takes_as_long_as_rounds_before():
    assert Schedule(132, 5, 1, 2).carried_over([100.0, 190.0]) == 190 + 3 * 90
    assert Schedule(132, 2, 1, 2).carried_over([100.0, 190.0]) == 190


def test_where_clusters_share_an_sm_neither_the_first_round_tells_nor_the_last():
    # the second round ends 110 after the first one, and the third one 130 after that; the last two run alone
    ends = [100.0, 110.0, 190.0, 220.0, 330.0, 350.0, 410.0, 420.0]
    assert Schedule(132, 14, 2, 8).carried_over(ends) == 420 + 3 * 120
    assert Schedule(132, 8, 2, 8).carried_over(ends) == 420


@pytest.mark.parametrize(("place", "nearest"), [(0, 0), (1, 0), (2, 50), (3, 50), (4, 99)])
def test_the_nearest_recorded_cluster_stands_for_one_that_is_replayed(place, nearest):
    # five of them stand for clusters 0, 25, 50, 74 and 99 of the grid
    assert Schedule(132, 5, 1, 5).recorded_for(place, [0, 50, 99], 100) == nearest


def test_a_cluster_that_is_larger_than_the_device_is_refused():
    with pytest.raises(InputError, match=r"a cluster of 200 CTAs does not fit on the 132 SMs of H100"):
        schedule_of(H100, 1, 200, 1)
