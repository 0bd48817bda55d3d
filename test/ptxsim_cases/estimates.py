"""Estimates that are made up, for tests of what is told of them: no SASS is needed."""

from ptxsim.clock.devices import device_of
from ptxsim.clock.estimate import Estimate
from ptxsim.clock.grid import Schedule
from ptxsim.clock.occupancy import Occupancy


def made_up(**different) -> Estimate:
    """3510 cycles at the nominal clock are 2 us, and the launch takes 2.5 us: 4.5 us."""
    facts = {
        "device": device_of("h100"),
        "kernel": "k",
        "cycles": 3510.0,
        "clock_hz": 1.755e9,
        "occupancy": Occupancy(2, "registers"),
        "schedule": Schedule(132, 4, 2, 4),
        "tensor_flops": 9e8,
        "other_flops": 0.0,
        "memory_bytes": 4.5e6,
        "l2_bytes": 9e6,
        "shares": {"HBM": 0.9, "tensor": 0.45},
        "waits": {("scoreboard", 2): 0.5, ("mbarrier", 3): 0.25, ("tensor", 3): 0.001},
        "matched": 1.0,
        "source": "SASS of ptxas 13.0.88",
        "uncertainties": {"published kernels": 0.08, "the launch itself": 0.06},
        "cautions": ("it takes less than 10 us",),
    }
    return Estimate(**(facts | different))


LINES = ["ld.global.f32 %f1, [%rd1];", "fma.rn.f32   %f2, %f1, %f1, %f1;", "@%p bra done;", "ret;"]
