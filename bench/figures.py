"""The table that a bench prints: where it ran, what was measured, and the bounds that the figures are meant to keep."""

import datetime
import os
import platform
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path

import numpy as np

import tinyc
from tinyc.text.table import Table, print_table

#: A bench compiles what it times.
os.environ["TINYC_CACHE"] = ""


def machine(packages: Iterable[str], *more: str) -> str:
    """Return the date, the processor, and the versions of tinyc, Python and `packages`; `more` is said behind."""
    versions = (f"{package} {metadata.version(package)}" for package in packages)
    cores = f"{os.cpu_count()} cores ({_processor()})"
    date, python = datetime.date.today().isoformat(), f"Python {platform.python_version()}"
    return ", ".join((date, cores, f"tinyc {tinyc.__version__}", python, *versions, *more))


def _processor() -> str:
    """Return the model of the processor as Linux tells it, or the architecture."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


class Figures:
    """Rows of figures with their bounds; `missed` counts those that are not kept."""

    def __init__(self, title: str) -> None:
        self.title, self.note = title, ""
        self.rows: list[tuple[str, ...]] = []
        self.missed = 0

    @property
    def table(self) -> Table:
        """The rows so far."""
        return Table(self.title, ("what", "measured", "bound", "kept"), tuple(self.rows), self.note)

    def row(self, what: str, value: float, unit: str, most: float | None = None, least: float | None = None) -> None:
        """Add a figure, which is meant to be `most` or less, or `least` or more."""
        bound = f"{most:g} {unit}" if most is not None else f"≥ {least:g} {unit}" if least is not None else ""
        kept = (most is None or value <= most) and (least is None or value >= least)
        self._add(what, f"{value:.3g} {unit}", bound, kept)

    def fact(self, what: str, value: bool, expected: bool) -> None:
        """Add what is so or not."""
        self._add(what, "yes" if value else "no", "yes" if expected else "no", value == expected)

    def _add(self, what: str, measured: str, bound: str, kept: bool) -> None:
        self.missed += not kept
        self.rows.append((what, measured, bound, ("yes" if kept else "MISSED") if bound else ""))


def show(heading: str, *tables: Table) -> None:
    """Print where a bench ran, and its tables."""
    print(heading)
    for table in tables:
        print()
        print_table(table)


def rank_correlation(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray) -> float:
    """Spearman's: how far two orders agree, from -1 to 1; no two values are equal."""
    first, second = (np.argsort(np.argsort(each)) for each in (x, y))
    return float(np.corrcoef(first, second)[0, 1])
