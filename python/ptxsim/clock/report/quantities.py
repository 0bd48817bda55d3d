"""Times, rates and shares as text, with three digits.

In: seconds, things a second, parts of one. Out: "12.3 us", "4.56 TB/s", "78.9 %".
"""

from collections.abc import Sequence

from ptxsim.clock.estimate import CAUSES

_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))
#: What units of an SM are called where their names alone say too little.
_PIPES = ("fma", "alu", "half", "double", "mufu", "tensor")


def seconds_text(seconds: float) -> str:
    """A time: "12.3 us"."""
    scale, unit = next((each for each in _UNITS if seconds >= each[0]), (1e-9, "ns"))
    return f"{_three(seconds / scale)} {unit}"


def rate_text(rate: float, unit: str) -> str:
    """So many of a unit in a second: "4.56 TB/s"."""
    scale, prefix = next((each for each in _PREFIXES if rate >= each[0]), (1.0, ""))
    return f"{_three(rate / scale)} {prefix}{unit}/s"


def share_text(share: float) -> str:
    """A part of one: "78.9 %"."""
    return f"{100 * share:.1f} %"


def clock_text(hertz: float) -> str:
    """A clock: "1755 MHz"."""
    return f"{hertz / 1e6:.0f} MHz"


def unit_text(unit: str) -> str:
    """What a unit of an SM is called in a sentence: "the tensor pipe", "HBM"."""
    if unit in _PIPES:
        return f"the {unit} pipe"
    return {"issue": "the issue port", "L2 port": "the port to L2", "mbarriers": "the unit of mbarriers"}.get(
        unit, unit
    )


def cause_text(cause: str) -> str:
    """What a warp waits for: "results of earlier instructions", "the tensor pipe"."""
    return CAUSES.get(cause) or unit_text(cause)


def line_text(lines: Sequence[str], number: int, longest: int = 80) -> str:
    """The text of a line of PTX, blanks made one, cut where it is long; "" where there is none."""
    text = " ".join(lines[number - 1].split()) if 1 <= number <= len(lines) else ""
    return text if len(text) <= longest else f"{text[:longest]}…"


def _three(value: float) -> str:
    """Three digits of a number, more where it has more in front of its point."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"
