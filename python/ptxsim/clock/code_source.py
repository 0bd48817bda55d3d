"""What the time of a launch is made of: the SASS of its kernel, or where there is no ptxas the weights of classes.

In: what is asked for, and found. Out: "sass" or "weights"; for weights one estimate of three: expected and its bounds.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from math import sqrt

from ptxsim.clock.estimate import Estimate
from ptxsim.clock.sass.toolchain import find_program, find_sass_tools
from ptxsim.errors import InputError

CODES = ("sass", "weights")
#: Names one of `CODES`, for launches that name none.
CODE_VARIABLE = "TINYC_CLOCK_CODE"
#: The range between the bounds, in standard deviations: any time between them is taken to be as likely.
_RANGE_DEVIATIONS = sqrt(12)


def code_in_use(asked: str | None) -> str:
    """One of `CODES`: the one that is asked for, else that of the environment, else SASS if it can be made.

    Raises:
        InputError: it is none of them.
    """
    asked = asked or os.environ.get(CODE_VARIABLE) or None
    if asked is None:
        return "weights" if _missing() else "sass"
    if asked not in CODES:
        raise InputError(
            f"the time of a kernel is made of {' or '.join(CODES)}, not '{asked}'; correct it, or leave it out"
        )
    return asked


def versions_in_use(asked: str | None = None) -> str:
    """What a time is made of, with the versions of the programs that make it.

    Raises:
        InputError: SASS is asked for, and ptxas or nvdisasm is missing: says which, and how to get it.
        FileError: one cannot be run.
    """
    if code_in_use(asked) == "weights":
        return "class weights"
    tools = find_sass_tools()
    return f"SASS of ptxas {tools.ptxas_version} by nvdisasm {tools.nvdisasm_version}"


def between_bounds(found: Mapping[str, Estimate]) -> Estimate:
    """The expected estimate, as uncertain as the "lower" and the "upper" one make it."""
    expected = found["expected"]
    cycles = sorted(each.cycles for each in found.values())
    missing = _missing()
    why = f"no {' and no '.join(missing)}" if missing else "no SASS asked for"
    spread = (cycles[-1] - cycles[0]) / _RANGE_DEVIATIONS / expected.cycles
    by_weights = (
        f"{why}: what instructions cost is told by the weights of their classes, registers are counted in the PTX and "
        f"spills are not known; it takes {cycles[0]:.0f} to {cycles[-1]:.0f} cycles"
    )
    advice = "; pip install 'tinyc[clock]' brings both programs" if missing else ""
    return replace(
        expected,
        cycles_between=(cycles[0], cycles[-1]),
        uncertainties={**expected.uncertainties, f"{why}: class weights": spread},
        cautions=(by_weights + advice, *expected.cautions),
    )


def _missing() -> list[str]:
    return [name for name in ("ptxas", "nvdisasm") if find_program(name) is None]
