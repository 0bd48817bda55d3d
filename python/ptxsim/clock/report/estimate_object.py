"""An estimate for programs: what `--json` writes.

In: an `Estimate`, and the lines of its PTX. Out: what JSON can hold; seconds, cycles, bytes, parts of one.
"""

from collections.abc import Sequence

from ptxsim.clock.devices import Device
from ptxsim.clock.estimate import Estimate
from ptxsim.clock.report.estimate_text import NOT_GOOD_FOR
from ptxsim.clock.report.quantities import line_text


def estimate_object(estimate: Estimate, lines: Sequence[str]) -> dict[str, object]:
    """All that is told of a launch's time."""
    return {
        "kernel": estimate.kernel,
        "device": estimate.device.name,
        "cycles": estimate.cycles,
        "clock_hz": estimate.clock_hz,
        "seconds": estimate.seconds,
        "nominal_seconds": estimate.nominal_seconds,
        "uncertainty": estimate.uncertainty,
        "uncertainties": dict(estimate.uncertainties),
        "tensor_flops": estimate.tensor_flops,
        "other_flops": estimate.other_flops,
        "flops_per_second": estimate.flops_per_second,
        "memory_bytes": estimate.memory_bytes,
        "l2_bytes": estimate.l2_bytes,
        "bytes_per_second": estimate.bytes_per_second,
        "peaks": dict(estimate.peaks),
        "limiter": estimate.limiter,
        "next_limiter": estimate.next_limiter,
        "headroom": estimate.headroom,
        "shares": dict(estimate.shares),
        "ctas_per_sm": estimate.occupancy.ctas,
        "occupancy_limiter": estimate.occupancy.limiter,
        "rounds": estimate.schedule.rounds,
        "causes": dict(estimate.causes),
        "waits": [
            {"line": line, "cause": cause, "share": share, "text": line_text(lines, line)}
            for (cause, line), share in estimate.waits.items()
        ],
        "code": estimate.source,
        "cycles_between": estimate.cycles_between,
        "matched": estimate.matched,
        "cautions": list(estimate.cautions),
        "not_good_for": NOT_GOOD_FOR,
    }


def device_object(device: Device) -> dict[str, object]:
    """Every number of a device, with its unit, how it is known, and its source."""
    figures = {
        name: {"value": float(each), "unit": each.unit, "standing": each.standing, "source": each.source}
        for name, each in device.figures.items()
    }
    return {"name": device.name, "title": device.title, "arch": device.arch, "figures": figures}
