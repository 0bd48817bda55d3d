"""What the kernels of a run took, beside what was predicted: the log of specification 000 §9, region by region.

In: the time of each launch of one run, and what was predicted. Out: rows, as a table for people or appended to a CSV
file. No MLIR here: a model that was saved has times, too, and no predictions.
"""

import csv
import fcntl
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tinyc.diagnostics import TinycError, Where
from tinyc.importers.files import unreadable_file
from tinyc.runtime.bound import BoundLaunch, BoundProgram
from tinyc.text.table import Table

if TYPE_CHECKING:  # the simulator takes longer to import than all the rest
    from tinyc.simulator import Estimate

LOG_COLUMNS = (
    "region", "kernel", "target", "arch", "sizes", "FLOPs", "bytes", "occupancy", "estimate_us", "actual_us", "plan"
)  # fmt: skip


#: The user's nodes that the kernels of a region write.
WrittenNodes = tuple[str, ...]


class Prediction(NamedTuple):
    """What was predicted of a region: operations, bytes, the part of the threads that fit, time, and how it is made.

    A cell is empty where there is no such thing.
    """

    flops: float | str = ""
    moved_bytes: float | str = ""
    occupancy: float | str = ""
    microseconds: float | str = ""
    plan: str = ""


#: What was predicted at the sizes of a run, of regions with the names of their kernels.
Predict = Callable[[BoundProgram, Mapping[WrittenNodes, Sequence[str]]], Mapping[WrittenNodes, Prediction]]


class LaunchTimes:
    """The time of each launch of a run, None where the device has no clock: what an executable is given to fill."""

    def __init__(self) -> None:
        self.bound: BoundProgram | None = None
        self.launches: list[tuple[BoundLaunch, float | None]] = []
        self.estimates: list[tuple[BoundLaunch, Estimate | TinycError]] = []

    def note(self, bound: BoundProgram, launch: BoundLaunch, seconds: float | None) -> None:
        """Note how long a launch has taken."""
        self.bound = bound
        self.launches.append((launch, seconds))

    def estimate(self, launch: BoundLaunch, told: "Estimate | TinycError") -> None:
        """Note how long a launch would take by the clock, or why that is not told."""
        self.estimates.append((launch, told))


@dataclass(frozen=True)
class Profile:
    """The regions of one run, a row each under `LOG_COLUMNS`; what the run gave; times of its launches by the clock.

    On a CPU each row has its share of the machine's peak, as `roofline` tells it.
    """

    rows: tuple[tuple[object, ...], ...]
    outputs: dict[str, np.ndarray]
    estimates: "tuple[tuple[BoundLaunch, Estimate | TinycError], ...]" = ()
    shares: tuple[str, ...] | None = None

    def __str__(self) -> str:
        return str(self.table)

    @property
    def table(self) -> Table:
        """The rows as a table, with the rates that were reached, and shares of the peak, in front of the plan."""
        reached = ("GFLOP/s", "GB/s", *(() if self.shares is None else ("of peak",)))
        shares = [()] * len(self.rows) if self.shares is None else [(each,) for each in self.shares]
        rows = ((*row[:-1], *_rates(row), *share, row[-1]) for row, share in zip(self.rows, shares, strict=True))
        return Table("regions", (*LOG_COLUMNS[:-1], *reached, LOG_COLUMNS[-1]), tuple(rows))

    @property
    def clock_table(self) -> Table:
        """The time of each kernel by the clock, launches of one shape together, and their sum."""
        from tinyc.driver.clock_table import clock_table

        return clock_table(self.estimates)

    def append_to(self, path: Path) -> None:
        """Append the rows to a CSV file, which gets a head where it is new.

        Raises:
            TinycError: `UnreadableFile`: it cannot be written, or has other columns.
        """
        _append(path, self.rows)


def _rates(row: Sequence[object]) -> tuple[float | str, float | str]:
    """The operations and the bytes of a region in a nanosecond, where they were predicted and its time was measured."""
    told = dict(zip(LOG_COLUMNS, row, strict=True))
    microseconds = told["actual_us"]
    if not isinstance(microseconds, float) or not microseconds:
        return "", ""
    flops, moved = (told[each] for each in ("FLOPs", "bytes"))
    gflops, gigabytes = (each / microseconds * 1e-3 if isinstance(each, int) else "" for each in (flops, moved))
    return gflops, gigabytes


def start_log(path: Path) -> None:
    """Make a log with its head where there is none, and check one that is there.

    Raises:
        TinycError: `UnreadableFile`: it cannot be written, or has other columns.
    """
    _append(path, ())


def _append(path: Path, rows: Iterable[Sequence[object]]) -> None:
    """Append rows to a log, while no other process does; of what is there only the first line is read."""
    head = ",".join(LOG_COLUMNS)
    try:
        with path.open("a+", newline="", encoding="utf-8", errors="replace") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            first = file.readline(len(head) + 2)
            if first and first not in (f"{head}\n", f"{head}\r\n"):
                message = f"the file is no log: its first line is not {head}; give another one"
                raise TinycError("UnreadableFile", message, Where(file=str(path)))
            file.seek(0, os.SEEK_END)
            csv.writer(file).writerows(rows if first else [LOG_COLUMNS, *rows])
    except (OSError, ValueError) as error:
        raise unreadable_file("write", path, error) from None


def profile_rows(times: LaunchTimes, machine: tuple[str, str], predict: Predict) -> Iterator[tuple[object, ...]]:
    """The rows of a run, in the order of its launches; those that write the same nodes are one region.

    `machine` is the target and the architecture.
    """
    bound = times.bound
    if bound is None:
        return
    shapes = ((name, bound.shapes[f"input_{position}"]) for position, name in enumerate(bound.program.inputs))
    sizes = " ".join(f"{name}={'x'.join(map(str, shape))}" for name, shape in shapes)
    regions = launches_of_regions(times)
    kernels = {nodes: [launch.kernel.symbol for launch, _ in launched] for nodes, launched in regions.items()}
    predicted = predict(bound, kernels)
    for number, (nodes, launched) in enumerate(regions.items()):
        taken = [seconds for _, seconds in launched if seconds is not None]
        actual = round(sum(taken) * 1e6, 1) if len(taken) == len(launched) else ""
        *told, plan = predicted.get(nodes, Prediction())
        if (clocked := _clocked_microseconds(launched, times)) is not None:
            told[-1] = clocked
        yield (f"r{number}", " ".join(kernels[nodes]), *machine, sizes, *told, actual, plan)


def _clocked_microseconds(launched: Iterable[tuple[BoundLaunch, float | None]], times: LaunchTimes) -> float | None:
    """The time of launches by the clock, in place of what was predicted; None where it does not tell that of each."""
    known = {id(launch): told for launch, told in times.estimates}
    told = [known.get(id(launch)) for launch, _ in launched]
    seconds = [each.seconds for each in told if each is not None and not isinstance(each, TinycError)]
    return round(sum(seconds) * 1e6, 1) if seconds and len(seconds) == len(told) else None


def launches_of_regions(times: LaunchTimes) -> dict[WrittenNodes, list[tuple[BoundLaunch, float | None]]]:
    """The launches by the nodes that they write: the parts of a long reduction write what it writes."""
    bound = times.bound
    if bound is None:
        return {}
    nodes = {buffer.name: buffer.where.node or buffer.name for buffer in bound.program.buffers}
    found: dict[WrittenNodes, list[tuple[BoundLaunch, float | None]]] = {}
    for launch, seconds in times.launches:
        own = bound.program.workspaces_of(launch.kernel)
        writes = tuple(dict.fromkeys(nodes[name] for name in launch.kernel.writes if name not in own))
        found.setdefault(writes, []).append((launch, seconds))
    return found
