"""The clock that a device keeps up: pipes that are busy take so much power that it has to go down.

In: a device, how busy its pipes are. Out: Hz. The rule is two numbers of the device's table: the clock at which tensor
pipes that are always busy stay within the power limit, with random operands, and that of f32 multiply-adds. Power is
taken to go with how busy they are and with the square of the clock. It depends on the data, too: zeros run some 12 %
faster.
"""

from collections.abc import Mapping
from math import sqrt

from ptxsim.clock.devices import Device


def clock_under_power(device: Device, shares: Mapping[str, float]) -> float:
    """The clock in Hz when units are busy for these shares of the cycles, at most the nominal one."""
    kept = ((device.sustained_hz, shares.get("tensor", 0.0)), (device.sustained_f32_hz, shares.get("fma", 0.0)))
    return min([float(device.nominal_hz), *(clock / sqrt(share) for clock, share in kept if share > 0)])
