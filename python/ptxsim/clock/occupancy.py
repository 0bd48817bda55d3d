"""How many CTAs of a launch an SM holds at the same time, and what keeps it from holding more.

In: what a CTA takes, a device. Out: `Occupancy`. Source: CUDA C++ Programming Guide, "Hardware Multithreading".
"""

from dataclasses import dataclass

from ptxsim.clock.devices import Device
from ptxsim.errors import InputError
from ptxsim.machine.warp import WARP

#: Registers are given to a warp in units of so many, shared memory to a CTA in units of so many bytes.
_REGISTER_UNIT, _SHARED_UNIT = 256, 128


@dataclass(frozen=True)
class Occupancy:
    """CTAs that are resident on an SM, and what ends first: "warps", "CTAs", "registers" or "shared memory"."""

    ctas: int
    limiter: str


def occupancy_of(device: Device, threads: int, registers: int, shared_bytes: int) -> Occupancy:
    """The occupancy of CTAs of so many threads, registers of a thread and bytes of shared memory.

    Raises:
        InputError: not even one CTA fits.
    """
    warps = -(-threads // WARP)
    of_a_warp = -(-registers * WARP // _REGISTER_UNIT) * _REGISTER_UNIT
    shared = -(-(shared_bytes + int(device.shared_bytes_reserved)) // _SHARED_UNIT) * _SHARED_UNIT
    held = {
        "warps": int(device.warps_per_sm) // warps,
        "CTAs": int(device.ctas_per_sm),
        "registers": int(device.registers_per_sm) // (of_a_warp * warps) if registers else int(device.ctas_per_sm),
        "shared memory": int(device.shared_bytes_per_sm) // shared,
    }
    limiter = min(held, key=lambda name: held[name])
    if held[limiter] < 1:
        raise InputError(
            f"a CTA of {threads} threads with {registers} registers each and {shared_bytes} bytes of shared memory "
            f"does not fit on an SM of {device.title}: too much for its {limiter}; make the CTA smaller"
        )
    return Occupancy(held[limiter], limiter)
