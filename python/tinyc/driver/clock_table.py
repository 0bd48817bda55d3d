"""How long the kernels of a run would take on a GPU: what `tinyc run --target sim --time` prints.

In: launches, each with its estimate, or with why there is none. Out: a table. No MLIR here, and no simulator.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tinyc.diagnostics import TinycError
from tinyc.runtime.bound import BoundLaunch
from tinyc.text.table import Table

if TYPE_CHECKING:
    from tinyc.simulator import Estimate

_COLUMNS = ("kernel", "grid", "launches", "cycles of one", "us of all", "±", "limiter")


def clock_table(estimates: "Sequence[tuple[BoundLaunch, Estimate | TinycError]]") -> Table:
    """A row for each kernel and grid, in the order of their first launches; the sum of all stands below.

    The sum is of what is told; the time between launches is in each of them. Errors of kernels are not independent: the
    sum may be off as they all are.
    """
    rows: dict[tuple[str, tuple[int, int, int]], list[Estimate]] = {}
    refused: dict[str, str] = {}
    title = "time by the clock"
    for launch, told in estimates:
        if isinstance(told, TinycError):
            refused.setdefault(launch.kernel.symbol, told.message)
        else:
            title = f"time by the clock, on {told.device.title}"
            rows.setdefault((launch.kernel.symbol, launch.grid), []).append(told)
    told = [each for group in rows.values() for each in group]
    seconds = sum(each.seconds for each in told)
    off = sum(each.seconds * each.uncertainty for each in told) / seconds if seconds else 0.0
    notes = [f"sum of {len(told)} launch{'es' * (len(told) != 1)}: {seconds * 1e6:.1f} us ± {off:.0%}"]
    notes += [f"not told: {kernel}: {why}" for kernel, why in refused.items()]
    cautions: dict[str, dict[str, None]] = {}
    for each in told:
        for caution in each.cautions:
            cautions.setdefault(caution, {})[each.kernel] = None
    notes += [f"caution: {', '.join(kernels)}: {caution}" for caution, kernels in cautions.items()]
    table = tuple(_row(kernel, grid, group) for (kernel, grid), group in rows.items())
    return Table(title, _COLUMNS, table, "\n".join(notes))


def _row(kernel: str, grid: tuple[int, int, int], group: "Sequence[Estimate]") -> tuple[object, ...]:
    first = group[0]
    microseconds = round(sum(each.seconds for each in group) * 1e6, 1)
    shape = "x".join(map(str, grid))
    return kernel, shape, len(group), round(first.cycles), microseconds, f"{first.uncertainty:.0%}", first.limiter
