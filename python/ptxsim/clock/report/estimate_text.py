"""An estimate as people read it: what it takes, what keeps it from being faster, where it waits, what it is worth.

In: an `Estimate`, and the lines of its PTX. Out: text.
"""

from collections.abc import Sequence

from ptxsim.clock.devices import Device
from ptxsim.clock.estimate import Estimate
from ptxsim.clock.report.quantities import (
    cause_text,
    clock_text,
    line_text,
    rate_text,
    seconds_text,
    share_text,
    unit_text,
)
from ptxsim.counters import CounterTable

#: Lines that wait for a smaller part of the time are not shown, nor more of them.
_LEAST_SHARE, _MOST_LINES = 0.005, 12
#: What the model was never compared with, or was and failed.
NOT_GOOD_FOR = (
    "not good for: tiny or irregular kernels; a way that depends on time or on other clusters, as with counters of "
    "tiles; the order of kernels that are closer than 3 to 5 %"
)


def estimate_rows(estimate: Estimate) -> list[tuple[str, str]]:
    """What is told in a line each: titles and texts."""
    device = estimate.device
    under_power = "" if estimate.clock_hz >= device.nominal_hz else ", which it keeps up under power"
    nominal = f"; {seconds_text(estimate.nominal_seconds)} at the nominal {clock_text(device.nominal_hz)}"
    known = f"{seconds_text(estimate.seconds)} ± {share_text(estimate.uncertainty)}"
    at = f"at {clock_text(estimate.clock_hz)}{under_power}{nominal if under_power else ', the nominal clock'}"
    flops = rate_text((estimate.tensor_flops + estimate.other_flops) / estimate.seconds, "FLOP")
    moved = rate_text(estimate.bytes_per_second, "B")
    l2 = rate_text(estimate.l2_bytes / estimate.seconds, "B")
    peaks = ", ".join(f"{share_text(share)} of {name}" for name, share in _largest_first(estimate))
    return [
        ("device", f"{device.title}, {device.arch}"),
        ("cycles", f"{estimate.cycles:,.0f} of an SM, and {seconds_text(device.launch_seconds)} for the launch itself"),
        ("time", f"{known} {at}"),
        ("rates", f"{flops}; {moved} between HBM and L2, {l2} between L2 and the SMs"),
        ("peaks", peaks),
        ("limiter", limiter_text(estimate)),
        ("resident", _resident_text(estimate)),
        ("code", _code(estimate)),
    ]


def limiter_text(estimate: Estimate) -> str:
    """What keeps a launch from being faster, and what the next one would give."""
    limiter, following = estimate.limiter, estimate.next_limiter
    share = estimate.shares.get(limiter)
    if share is not None:
        told = f"{unit_text(limiter)}, busy for {share_text(share)} of the time"
    else:
        told = f"waits for {cause_text(cause)}" if (cause := next(iter(estimate.causes), "")) else limiter
    if not following or estimate.headroom <= 1:
        return told
    return f"{told}; without it {estimate.headroom:.2f} times as fast at most, limited by {unit_text(following)}"


def estimate_text(estimate: Estimate, lines: Sequence[str] = ()) -> str:
    """All of it: the rows, tables of units, waits and uncertainty, cautions; `lines` are those of the PTX."""
    rows = "\n".join(f"{title:<9}{text}" for title, text in estimate_rows(estimate))
    tables = [str(each) for each in estimate_tables(estimate, lines)]
    cautions = [f"caution: {each}" for each in estimate.cautions]
    return "\n\n".join((rows, *tables, "\n".join((*cautions, NOT_GOOD_FOR))))


def estimate_tables(estimate: Estimate, lines: Sequence[str]) -> list[CounterTable]:
    """The tables that have rows."""
    units = tuple((unit_text(name), share_text(share)) for name, share in estimate.shares.items() if share >= 0.001)
    causes = tuple((cause_text(name), share_text(share)) for name, share in estimate.causes.items() if share >= 0.001)
    waits = tuple(
        (line, cause_text(cause), share_text(share), line_text(lines, line))
        for (cause, line), share in list(estimate.waits.items())[:_MOST_LINES]
        if share >= _LEAST_SHARE
    )
    why = tuple((reason, share_text(value)) for reason, value in estimate.uncertainties.items())
    columns = ("line", "waits for", "of the time", *(("instruction",) if lines else ()))
    tables = [
        CounterTable("units of an SM: busy for so much of the time", ("unit", "busy"), units),
        CounterTable("waits of a resident warp by cause", ("waits for", "of the time"), causes),
        CounterTable(
            "waits of a resident warp by line of the PTX", columns, tuple(row[: len(columns)] for row in waits)
        ),
        CounterTable(
            "uncertainty: two of three launches are within all of it together, each squared",
            ("of", "of the time"),
            (*why, ("together", share_text(estimate.uncertainty))),
        ),
    ]
    return [each for each in tables if each.rows]


def device_table(device: Device) -> CounterTable:
    """Every number of a device, with its unit, how it is known, and its source."""
    rows = tuple(
        (name, f"{float(figure):.6g}", figure.unit, figure.standing, figure.source)
        for name, figure in device.figures.items()
    )
    return CounterTable(f"{device.title} ({device.name}), {device.arch}", ("number", "is", "unit", "known", "by"), rows)


def _largest_first(estimate: Estimate) -> list[tuple[str, float]]:
    return sorted(estimate.peaks.items(), key=lambda each: -each[1])


def _resident_text(estimate: Estimate) -> str:
    occupancy, schedule = estimate.occupancy, estimate.schedule
    ctas = f"{occupancy.ctas} CTA{'s' * (occupancy.ctas != 1)} of an SM at most, by {occupancy.limiter}"
    rounds = f"{schedule.clusters} on the busiest, in {schedule.rounds} round{'s' * (schedule.rounds != 1)}"
    return f"{ctas}; {rounds}"


def _code(estimate: Estimate) -> str:
    """What the time is made of, and how much of the launch was found in it, or between which bounds it is."""
    if estimate.cycles_between is None:
        found = f"{share_text(estimate.matched)} of accesses, products, synchronisation is found"
        return f"{estimate.source}, in which {found}"
    least, most = estimate.cycles_between
    return f"{estimate.source}: {least:,.0f} to {most:,.0f} cycles"
