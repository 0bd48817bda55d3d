"""The clock that is kept up: the nominal one while tensor pipes rest, less the busier they are."""

import pytest

from ptxsim.clock.devices import DEVICES, device_of
from ptxsim.clock.power import clock_under_power

H100 = device_of("h100")


def test_pipes_that_are_always_busy_have_the_sustained_clock():
    assert clock_under_power(H100, 1.0) == H100.sustained_hz


def test_power_goes_with_the_square_of_the_clock():
    half = clock_under_power(H100, 0.81)
    assert half == pytest.approx(H100.sustained_hz / 0.9)


@pytest.mark.parametrize("device", DEVICES.values(), ids=list(DEVICES))
def test_the_nominal_clock_is_not_exceeded(device):
    assert clock_under_power(device, 0.0) == clock_under_power(device, 0.1) == device.nominal_hz
