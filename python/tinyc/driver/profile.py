"""What the kernels of a run took, beside what was predicted: the log of specification 000 §9, region by region.

In: a lowered program, and the time of each launch of one run. Out: rows, as a table for people or appended to a CSV
file. Predictions are those of region formation, at the sizes of the run; a cell is empty where there is none: in a
program that was read below the Tiny layer, or where formation at these sizes makes other regions.
"""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np

from tinyc.analysis.graphs import main_function
from tinyc.diagnostics import TinycError, Where
from tinyc.dialects.region.kernel import kernels_of
from tinyc.dialects.region.plan import plan_of_kernel
from tinyc.driver.binding import bind_symbols
from tinyc.driver.lowering import Lowering
from tinyc.fusion.formation import form_regions
from tinyc.fusion.regions import Region
from tinyc.fusion.request import fusion_request
from tinyc.importers.files import read_file, unreadable_file
from tinyc.passes.runner import copy_module
from tinyc.runtime.bound import BoundLaunch, BoundProgram
from tinyc.schemes.completion import summary_of
from tinyc.target import DEFAULT_ARCH, machine_of
from tinyc.target.cpu import GENERIC_CPU
from tinyc.target.target import Target
from tinyc.text.table import Table
from tinyc.vocabulary.run_key import RUN_KEY

LOG_COLUMNS = (
    "region", "kernel", "target", "arch", "sizes", "FLOPs", "bytes", "occupancy", "estimate_us", "actual_us", "plan"
)  # fmt: skip


class LaunchTimes:
    """The time of each launch of a run, None where the device has no clock: what an executable is given to fill."""

    def __init__(self) -> None:
        self.bound: BoundProgram | None = None
        self.launches: list[tuple[BoundLaunch, float | None]] = []

    def note(self, bound: BoundProgram, launch: BoundLaunch, seconds: float | None) -> None:
        """Note how long a launch has taken."""
        self.bound = bound
        self.launches.append((launch, seconds))


@dataclass(frozen=True)
class Profile:
    """The regions of one run, a row each under `LOG_COLUMNS`, and what the run gave."""

    rows: tuple[tuple[object, ...], ...]
    outputs: dict[str, np.ndarray]

    def __str__(self) -> str:
        return str(self.table)

    @property
    def table(self) -> Table:
        """The rows as a table."""
        return Table("regions", LOG_COLUMNS, self.rows)

    def append_to(self, path: Path) -> None:
        """Append the rows to a CSV file, which gets a head where it is new.

        Raises:
            TinycError: `UnreadableFile`: it cannot be written, or has other columns.
        """
        head = StringIO()
        csv.writer(head).writerow(LOG_COLUMNS)
        before = read_file(path).decode(errors="replace") if path.exists() else ""
        if before and before.splitlines()[0] != head.getvalue().strip():
            message = f"the file is no log: it does not begin with {head.getvalue().strip()}; give another one"
            raise TinycError("UnreadableFile", message, Where(file=str(path)))
        try:
            with path.open("a", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows(self.rows if before else [LOG_COLUMNS, *self.rows])
        except OSError as error:
            raise unreadable_file("write", path, error) from None


def profile_rows(lowering: Lowering, times: LaunchTimes, arch: str | None) -> Iterable[tuple[object, ...]]:
    """The rows of a run, in the order of its launches; those that write the same values are one region."""
    bound = times.bound
    if bound is None:
        return
    predicted = _predicted(lowering, bound, arch)
    shapes = ((name, bound.shapes[f"input_{position}"]) for position, name in enumerate(bound.program.inputs))
    sizes = " ".join(f"{name}={'x'.join(map(str, shape))}" for name, shape in shapes)
    for number, (writes, launched) in enumerate(_by_nodes(bound, times).items()):
        taken = [seconds for _, seconds in launched if seconds is not None]
        kernels = [launch.kernel.symbol for launch, _ in launched]
        region = predicted.get(frozenset(writes))
        flops, moved, occupancy, estimate, scheme = _prediction(region, arch)
        actual = round(sum(taken) * 1e6, 1) if len(taken) == len(launched) else ""
        plan = _plan(lowering, kernels) or scheme
        own = (f"r{number}", " ".join(kernels), lowering.target, arch or "", sizes)
        yield (*own, flops, moved, occupancy, estimate, actual, plan)


def _by_nodes(bound: BoundProgram, times: LaunchTimes) -> dict[tuple[str, ...], list[tuple[BoundLaunch, float | None]]]:
    """The launches by the user's nodes that they write: the parts of a long reduction write what it writes."""
    nodes = {buffer.name: buffer.where.node or buffer.name for buffer in bound.program.buffers}
    found: dict[tuple[str, ...], list[tuple[BoundLaunch, float | None]]] = {}
    for launch, seconds in times.launches:
        writes = tuple(dict.fromkeys(nodes[name] for name in launch.kernel.writes))
        found.setdefault(writes, []).append((launch, seconds))
    return found


def _predicted(lowering: Lowering, bound: BoundProgram, arch: str | None) -> Mapping[frozenset[str], Region]:
    """The regions of the program at the sizes of a run, by the nodes that they write."""
    if not lowering.has("tiny"):
        return {}
    module, asked = copy_module(lowering.module("tiny")), lowering.options
    with module.context:
        bind_symbols(module, {name: size for name, size in bound.values.items() if name != RUN_KEY})
        request = fusion_request(asked.get("fuse"), asked.get("no_fuse"), asked.get("fusion"))
        machine = machine_of(GENERIC_CPU.name if lowering.target == "cpu" else arch or DEFAULT_ARCH)
        try:
            formation = form_regions(main_function(module), machine, request)
        except TinycError:  # what was asked for, for all sizes, may be refused at these
            return {}
    labels = formation.graph.labels
    return {frozenset(labels[name] for name in each.results): each for each in formation.regions}


def _prediction(region: Region | None, arch: str | None) -> tuple[object, object, object, object, str]:
    """What is predicted of a region: operations, bytes, the part of the threads that fit, microseconds; its scheme."""
    if region is None:
        return "", "", "", "", ""
    cost, machine = region.priced.cost, None if arch is None else machine_of(arch)
    occupancy: object = ""
    if isinstance(machine, Target):
        resident = cost.ctas_per_sm * region.priced.resources.threads_per_cta
        occupancy = round(min(1.0, resident / machine.threads_per_sm), 3)
    moved = round(cost.read_bytes + cost.written_bytes)
    return round(cost.flops), moved, occupancy, cost.terms["us"], region.priced.scheme


def _plan(lowering: Lowering, kernels: Iterable[str]) -> str:
    """The plans of kernels in one line; nothing on a CPU, and where plans are realised already."""
    if lowering.target == "cpu" or not lowering.has("plan"):
        return ""
    module = lowering.module("plan")
    with module.context:
        known = kernels_of(module)
        plans = [plan for name in kernels if name in known and (plan := plan_of_kernel(known[name])) is not None]
        return "; ".join(summary_of(plan) for plan in plans)
