"""The clock that is kept up: the nominal one while tensor pipes rest, less the busier they are."""

import pytest

from ptxsim.clock.devices import DEVICES, device_of
from ptxsim.clock.power import clock_under_power

H100 = device_of("h100")


def test_pipes_that_are_always_busy_have_the_sustained_clock():
    assert clock_under_power(H100, {"tensor": 1.0, "L2": 0.5}) == H100.sustained_hz


def test_power_goes_with_the_square_of_the_clock():
    less = clock_under_power(H100, {"tensor": 0.81})
    assert less == pytest.approx(H100.sustained_hz / 0.9)


@pytest.mark.parametrize("device", DEVICES.values(), ids=list(DEVICES))
def test_the_nominal_clock_is_not_exceeded(device):
    resting, little = ({"tensor": share, "L2": 1.0} for share in (0.0, 0.1))
    assert clock_under_power(device, resting) == clock_under_power(device, little) == device.nominal_hz


def test_multiply_adds_of_f32_have_a_clock_of_their_own():
    a6000 = device_of("a6000")
    assert clock_under_power(a6000, {"fma": 0.81, "tensor": 0.1}) == pytest.approx(a6000.sustained_f32_hz / 0.9)
    assert clock_under_power(H100, {"fma": 1.0}) == H100.nominal_hz
