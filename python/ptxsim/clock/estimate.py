"""What is told of a launch's time, and what it is worth.

In: what `timing` has found. Out: `Estimate`: cycles first, then seconds at two clocks, rates and shares of peaks, the
limiter and what there is behind it, waits by cause and line, and the uncertainty with what it consists of.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt

from ptxsim.clock.devices import Device
from ptxsim.clock.grid import Schedule
from ptxsim.clock.occupancy import Occupancy

#: A unit that is busy for so much of the time is what limits; below it warps wait for something else.
_LIMITS_FROM = 0.8
#: What the causes of waits are called.
CAUSES = {
    "scoreboard": "results of earlier instructions",
    "product": "products of its own warpgroup",
    "copies": "copies by threads",
    "mbarrier": "mbarriers",
    "barrier": "barriers of the CTA",
    "cluster": "barriers of the cluster",
    "issue": "the issue port",
    "memory queue": "the queues of the load/store unit",
}


@dataclass(frozen=True)
class Estimate:
    """The time of a launch.

    `cycles` are those of the SM's clock; `nominal_seconds` what they take at the nominal clock and `seconds` at
    `clock_hz`, the one that is kept up under power, both with the device's `launch_seconds`. `shares` say for which
    part of the cycles each unit of an SM is busy, the fullest first. `waits` say for which part of the time that they
    are resident warps wait, by cause and PTX line, the longest first. `matched` is the share of the PTX's anchors that
    were found in the SASS.
    `source` is what an instruction's cost comes from, "SASS of ptxas 13.0.88" or "class weights"; `cycles_between` are
    the least and the most cycles by class weights.
    `uncertainties` are relative, by their reasons; `cautions` what the model is not good for and this launch does.
    """

    device: Device
    kernel: str
    cycles: float
    clock_hz: float
    occupancy: Occupancy
    schedule: Schedule
    tensor_flops: float
    other_flops: float
    memory_bytes: float
    l2_bytes: float
    shares: Mapping[str, float]
    waits: Mapping[tuple[str, int], float]
    matched: float
    source: str
    uncertainties: Mapping[str, float]
    cautions: tuple[str, ...] = field(default=())
    cycles_between: tuple[float, float] | None = None

    def __str__(self) -> str:
        told = f"{self.seconds * 1e6:.1f} us ± {self.uncertainty:.0%} on {self.device.title}"
        return f"{self.kernel}: {told}, limited by {self.limiter}"

    @property
    def seconds(self) -> float:
        """Its time at the clock that is kept up, the launch itself included."""
        return self.cycles / self.clock_hz + self.device.launch_seconds

    @property
    def nominal_seconds(self) -> float:
        """Its time at the nominal clock, the launch itself included."""
        return self.cycles / self.device.nominal_hz + self.device.launch_seconds

    @property
    def uncertainty(self) -> float:
        """How far the time may be off, relative: what two of three launches stay within."""
        return sqrt(sum(each * each for each in self.uncertainties.values()))

    @property
    def flops_per_second(self) -> float:
        """What it computes in a second, on all pipes."""
        return (self.tensor_flops + self.other_flops) / self.seconds

    @property
    def bytes_per_second(self) -> float:
        """What it moves between HBM and L2 in a second."""
        return self.memory_bytes / self.seconds

    @property
    def peaks(self) -> Mapping[str, float]:
        """The share of each of the device's peaks that it reaches."""
        device = self.device
        return {
            "tensor FLOP/s": self.tensor_flops / self.seconds / device.tensor_flops_per_second,
            "f32 FLOP/s": self.other_flops / self.seconds / device.f32_flops_per_second,
            "HBM bytes/s": self.bytes_per_second / device.memory_bytes_per_second,
        }

    @property
    def limiter(self) -> str:
        """What keeps it from being faster: the unit that is nearly always busy, else what its warps wait for."""
        fullest = next(iter(self.shares), "")
        if fullest and self.shares[fullest] >= _LIMITS_FROM:
            return fullest
        cause = next(iter(self.causes), "")
        return f"waits for {CAUSES.get(cause, cause)}" if cause else "the launch"

    @property
    def headroom(self) -> float:
        """How many times faster it could be without its limiter, by what the next unit then allows."""
        fullest, behind = next(iter(self.shares.values()), 0.0), self.shares.get(self.next_limiter, 0.0)
        if not behind:
            return 1.0
        return fullest / behind if self.limiter in self.shares else 1 / behind

    @property
    def next_limiter(self) -> str:
        """The unit that would limit it then, "" if none would."""
        if self.limiter == "the launch":
            return ""
        waited_for = next(iter(self.causes), "")
        return next((unit for unit in self.shares if unit not in (self.limiter, waited_for)), "")

    @property
    def causes(self) -> Mapping[str, float]:
        """The part of the time that warps wait, by cause, the longest first."""
        found: dict[str, float] = {}
        for (cause, _), share in self.waits.items():
            found[cause] = found.get(cause, 0.0) + share
        return dict(sorted(found.items(), key=lambda each: -each[1]))
