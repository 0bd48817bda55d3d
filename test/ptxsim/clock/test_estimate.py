"""What an estimate says of itself: rates, shares of peaks, the limiter and what is behind it, uncertainty."""

from dataclasses import replace

import pytest

from ptxsim.clock.devices import device_of
from ptxsim.clock.estimate import Estimate
from ptxsim.clock.grid import Schedule
from ptxsim.clock.occupancy import Occupancy

H100 = device_of("h100")
#: 175500 cycles are 100 us at the nominal clock, and 2.5 us are the launch.
ESTIMATE = Estimate(
    device=H100,
    kernel="k",
    cycles=175500.0,
    clock_hz=1.5e9,
    occupancy=Occupancy(1, "registers"),
    schedule=Schedule(132, 1, 1, 1),
    tensor_flops=5e10,
    other_flops=1e9,
    memory_bytes=1e8,
    l2_bytes=4e8,
    shares={"tensor": 0.9, "L2": 0.6, "issue": 0.2},
    waits={("mbarrier", 7): 0.2, ("product", 9): 0.3, ("mbarrier", 8): 0.2},
    matched=1.0,
    uncertainties={"a": 0.03, "b": 0.04},
)


def test_seconds_are_at_the_clock_that_is_kept_up_and_at_the_nominal_one():
    assert ESTIMATE.seconds == pytest.approx(117e-6 + 2.5e-6)
    assert ESTIMATE.nominal_seconds == pytest.approx(100e-6 + 2.5e-6)


def test_rates_and_shares_of_peaks_go_with_the_seconds():
    assert ESTIMATE.flops_per_second == pytest.approx(5.1e10 / 119.5e-6)
    assert ESTIMATE.bytes_per_second == pytest.approx(1e8 / 119.5e-6)
    assert ESTIMATE.peaks["tensor FLOP/s"] == pytest.approx(5e10 / 119.5e-6 / 989.4e12)
    assert ESTIMATE.peaks["HBM bytes/s"] == pytest.approx(1e8 / 119.5e-6 / 3.35e12)


def test_a_unit_that_is_nearly_always_busy_is_the_limiter_and_the_next_one_the_headroom():
    assert (ESTIMATE.limiter, ESTIMATE.next_limiter) == ("tensor", "L2")
    assert ESTIMATE.headroom == pytest.approx(1.5)


def test_if_no_unit_is_it_is_what_warps_wait_for():
    idle = replace(ESTIMATE, shares={"tensor": 0.5, "L2": 0.4})
    assert (idle.limiter, idle.next_limiter) == ("waits for mbarriers", "tensor")
    assert idle.headroom == pytest.approx(2.0)
    assert replace(idle, waits={}).limiter == "the launch"


def test_causes_are_summed_over_lines_the_longest_first():
    assert list(ESTIMATE.causes.items()) == [("mbarrier", pytest.approx(0.4)), ("product", 0.3)]


def test_uncertainties_that_have_nothing_to_do_with_each_other_add_by_squares():
    assert ESTIMATE.uncertainty == pytest.approx(0.05)
