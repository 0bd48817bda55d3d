"""The clock that a device keeps up: tensor cores that are busy take so much power that it has to go down.

In: a device, how busy its tensor pipes are. Out: Hz. The rule is one number of the device's table, `sustained_hz`: the
clock at which tensor pipes that are always busy stay within the power limit, with random operands. Power is taken to go
with how busy they are and with the square of the clock. It depends on the data, too: zeros run some 12 % faster.
"""

from math import sqrt

from ptxsim.clock.devices import Device


def clock_under_power(device: Device, tensor_share: float) -> float:
    """The clock in Hz when tensor pipes are busy for this share of the time, at most the nominal one.

    `tensor_share` is that at any clock: of the cycles.
    """
    if tensor_share <= 0:
        return float(device.nominal_hz)
    return min(float(device.nominal_hz), device.sustained_hz / sqrt(tensor_share))
