"""A kernel beside another: which is faster, whether the model can tell, and where they differ.

In: two estimates, and the lines of their PTX. Out: `EstimatePair`, and text.

What is wrong in the device's table is wrong for both kernels alike where one unit limits both; then a difference of 5 %
is told: published kernels that are closer are not in order. Where other units limit them, nothing cancels.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from typing import NamedTuple

from ptxsim.clock.estimate import Estimate
from ptxsim.clock.report.estimate_text import limiter_text
from ptxsim.clock.report.quantities import cause_text, line_text, seconds_text, share_text, unit_text
from ptxsim.counters import CounterTable

#: The relative difference that is told of two kernels with one limiter.
_TOLD = 0.05
#: Differences of waits that are shown: at least so much of the longer time, and so many.
_LEAST_SHARE, _MOST_WAITS = 0.003, 12


class WaitDifference(NamedTuple):
    """Seconds that a resident warp waits for something at instructions of one kind, in both kernels.

    `first_line` and `second_line` are those that wait longest, 0 where none does.
    """

    cause: str
    instruction: str
    first_seconds: float
    second_seconds: float
    first_line: int
    second_line: int


@dataclass(frozen=True)
class EstimatePair:
    """Two kernels on one device, and the lines of their PTX."""

    first: Estimate
    second: Estimate
    first_lines: Sequence[str] = ()
    second_lines: Sequence[str] = ()

    @property
    def ratio(self) -> float:
        """The second one's time over the first one's."""
        return self.second.seconds / self.first.seconds

    @property
    def told_from(self) -> float:
        """The relative difference of times from which the model can tell which is faster."""
        if self.first.limiter == self.second.limiter:
            return _TOLD
        return max(_TOLD, hypot(self.first.uncertainty, self.second.uncertainty))

    @property
    def is_told(self) -> bool:
        """Whether the difference of their times is more than what the model may be wrong by."""
        return max(self.ratio, 1 / self.ratio) >= 1 + self.told_from

    @property
    def waits(self) -> list[WaitDifference]:
        """What warps wait for, at instructions of a kind, by how much the kernels differ in it."""
        sides = [
            _by_instruction(self.first, self.first_lines),
            _by_instruction(self.second, self.second_lines),
        ]
        nothing = (0.0, 0)
        found = []
        for key in sorted(sides[0].keys() | sides[1].keys()):
            (first, at_first), (second, at_second) = (side.get(key, nothing) for side in sides)
            found.append(WaitDifference(*key, first, second, at_first, at_second))
        return sorted(found, key=lambda each: -abs(each.second_seconds - each.first_seconds))


def pair_text(pair: EstimatePair, names: tuple[str, str]) -> str:
    """Where two kernels, which are called so, differ."""
    first, second = pair.first, pair.second
    faster, slower = (names[0], names[1]) if pair.ratio >= 1 else (names[1], names[0])
    times = max(pair.ratio, 1 / pair.ratio)
    same = first.limiter == second.limiter
    why = "both have one limiter" if same else "their limiters are different, so that errors do not cancel"
    told = f"the model tells differences from {share_text(pair.told_from)} on, as {why}"
    verdict = f"{faster} is {times:.3f} times as fast as {slower}"
    result = f"{verdict}; {told}" if pair.is_told else f"not told: {verdict}, and {told}"
    head = [f"{'faster':<9}{result}"]
    head += [f"{'limiter':<9}{name}: {limiter_text(each)}" for name, each in zip(names, (first, second), strict=True)]
    tables = [str(each) for each in pair_tables(pair, names) if each.rows]
    return "\n\n".join(("\n".join(head), *tables))


def pair_tables(pair: EstimatePair, names: tuple[str, str]) -> list[CounterTable]:
    """Times and shares side by side; then waits by cause, and by kind of instruction, in order of the difference."""
    first, second = pair.first, pair.second
    least = _LEAST_SHARE * max(first.seconds, second.seconds)
    causes = {*first.causes, *second.causes}
    waited = [
        {cause: each.causes.get(cause, 0.0) * _resident_seconds(each) for cause in causes} for each in (first, second)
    ]
    by_cause = [(cause, waited[0][cause], waited[1][cause]) for cause in sorted(causes)]
    by_cause.sort(key=lambda row: -abs(row[2] - row[1]))
    of_causes = [
        (cause_text(cause), seconds_text(one), seconds_text(other), _more(other - one))
        for cause, one, other in by_cause
        if max(one, other) >= least
    ]
    waits = [
        (
            cause_text(each.cause),
            seconds_text(each.first_seconds),
            seconds_text(each.second_seconds),
            _more(each.second_seconds - each.first_seconds),
            *(str(line or "") for line in (each.first_line, each.second_line)),
            each.instruction,
        )
        for each in pair.waits[:_MOST_WAITS]
        if abs(each.second_seconds - each.first_seconds) >= least
    ]
    lines = (f"line of {names[0]}", f"line of {names[1]}")
    return [
        CounterTable("side by side", ("what", *names), tuple(_side_by_side(first, second))),
        CounterTable("waits of a resident warp by cause", ("waits for", *names, "more"), tuple(of_causes)),
        CounterTable(
            "waits by instruction, where they differ most; the lines wait longest",
            ("waits for", *names, "more", *lines, "instruction"),
            tuple(waits),
        ),
    ]


def pair_object(pair: EstimatePair) -> dict[str, object]:
    """The difference for JSON; the estimates stand beside it."""
    return {
        "ratio": pair.ratio,
        "told_from": pair.told_from,
        "is_told": pair.is_told,
        "waits": [each._asdict() for each in pair.waits],
    }


def _side_by_side(first: Estimate, second: Estimate) -> list[tuple[str, str, str]]:
    both = first, second
    units = [unit for unit in {**first.shares, **second.shares} if max(e.shares.get(unit, 0.0) for e in both) >= 0.01]
    facts = [
        ("time", [f"{seconds_text(each.seconds)} ± {share_text(each.uncertainty)}" for each in both]),
        ("cycles", [f"{each.cycles:,.0f}" for each in both]),
        ("CTAs of an SM", [f"{each.occupancy.ctas} ({each.occupancy.limiter})" for each in both]),
        ("rounds", [str(each.schedule.rounds) for each in both]),
    ]
    facts += [(f"{name} of the peak", [share_text(each.peaks[name]) for each in both]) for name in first.peaks]
    facts += [(f"{unit_text(unit)} busy", [share_text(each.shares.get(unit, 0.0)) for each in both]) for unit in units]
    return [(what, one, other) for what, (one, other) in facts]


def _by_instruction(estimate: Estimate, lines: Sequence[str]) -> dict[tuple[str, str], tuple[float, int]]:
    """Seconds that a warp waits, and the line that waits longest, by cause and kind of instruction."""
    found: dict[tuple[str, str], float] = defaultdict(float)
    longest: dict[tuple[str, str], int] = {}
    for (cause, line), share in estimate.waits.items():  # the longest first
        key = cause, _instruction(lines, line)
        found[key] += share * _resident_seconds(estimate)
        longest.setdefault(key, line)
    return {key: (seconds, longest[key]) for key, seconds in found.items()}


def _instruction(lines: Sequence[str], line: int) -> str:
    """The opcode with its modifiers, without labels, guards and operands."""
    words = [word for word in line_text(lines, line).split() if not word.endswith(":") and word[0] not in "@{"]
    return words[0].rstrip(";") if words else f"line {line}"


def _resident_seconds(estimate: Estimate) -> float:
    return estimate.cycles / estimate.clock_hz


def _more(seconds: float) -> str:
    return f"{'-' if seconds < 0 else '+'}{seconds_text(abs(seconds))}"
