"""The clock that a device keeps up: pipes that are busy take so much power that it has to go down.

In: a device, how busy its pipes are. Out: Hz. The rule is one number of the device's table, `sustained_hz`: the clock
at which tensor pipes that are always busy stay within the power limit, with random operands. Power is taken to go with
how busy they are and with the square of the clock; pipes of f32 multiply-adds are taken to need as much as tensor
pipes. It depends on the data, too: zeros run some 12 % faster.
"""

from collections.abc import Mapping
from math import sqrt

from ptxsim.clock.devices import Device

_HUNGRY = ("tensor", "fma")


def clock_under_power(device: Device, shares: Mapping[str, float]) -> float:
    """The clock in Hz when units are busy for these shares of the cycles, at most the nominal one."""
    busiest = max(shares.get(pipe, 0.0) for pipe in _HUNGRY)
    if busiest <= 0:
        return float(device.nominal_hz)
    return min(float(device.nominal_hz), device.sustained_hz / sqrt(busiest))
