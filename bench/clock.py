"""How near the clock comes to speeds that others published: their kernels, compiled, recorded, replayed. Prints tables.

    .venv/bin/python bench/clock.py --kernels ../kernels --record       # writes bench/results/clock.txt

DIR has a checkout of each repository that `bench/clock_kernels` names, at its commit; nothing of it is part of tinyc.
nvcc, ptxas and nvdisasm are needed, no GPU. Published speeds are those of the authors' machines; predicted ones are at
the nominal clock of the device's table, and nothing is fitted. A bound that is not kept is shown as MISSED, as is what
is not modelled yet.
"""

import argparse
import itertools
import sys
import time
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import ptxsim
from clock_kernels import FAST_CU, TENSOR_GEMM, PublishedKernel
from figures import Figures, machine, show
from ptxsim.clock.devices import device_of
from ptxsim.clock.estimate import Estimate
from ptxsim.clock.kernel_launch import KernelLaunch
from ptxsim.clock.sass.toolchain import find_sass_tools
from ptxsim.clock.timing import estimate_launch
from ptxsim.errors import InputError, PtxError
from tinyc.text.table import Table

RESULTS = Path(__file__).parent / "results" / "clock.txt"
PACKAGES = ("numpy",)
COLUMNS = ("kernel", "n", "published", "predicted", "ratio", "tensor", "CTAs of an SM", "rounds", "matched", "s")
#: Sets by the name of their folder, the sizes at which they are predicted, and those for which `--all-sizes` asks.
SETS = {"fast.cu": (FAST_CU, (4096,), (4096,)), "GEMM": (TENSOR_GEMM, (2048,), (2048, 4096, 8192))}
#: Times that are nearer to each other are not asked to be in order.
APART = 1.05
LIMITS = (
    "nothing is fitted. Not modelled: L2 by lines and partitions, the order of tiles, the clock under power (times are "
    "at the nominal clock), CTAs that start as others end (those of a round start together), what differs between "
    "clusters (the first one is recorded). Not predicted: SGEMM_CUDA (there is no table of the RTX A6000 yet), sums, "
    "softmax"
)


@dataclass(frozen=True)
class Prediction:
    """A kernel at a size: TFLOP/s as published and as predicted, and what the prediction took, in seconds."""

    kernel: PublishedKernel
    size: int
    published: float
    predicted: float
    estimate: Estimate
    seconds: float

    @property
    def ratio(self) -> float:
        """Predicted over published speed."""
        return self.predicted / self.published

    @property
    def row(self) -> tuple[object, ...]:
        """Its row of the table."""
        each = self.estimate
        shown = (
            f"{self.published:.1f}",
            f"{self.predicted:.1f}",
            f"{self.ratio:.3f}",
            f"{each.shares.get('tensor', 0):.0%}",
        )
        ctas = f"{each.occupancy.ctas} ({each.occupancy.limiter})"
        return (
            self.kernel.name,
            self.size,
            *shown,
            ctas,
            each.schedule.rounds,
            f"{each.matched:.3f}",
            f"{self.seconds:.0f}",
        )


def predict(kernel: PublishedKernel, text: str, size: int, published: float) -> Prediction:
    """The prediction of a kernel, whose PTX is `text`, at one size.

    Raises:
        InputError, PtxError: the simulator or the clock refuses it.
    """
    begun = time.perf_counter()
    launch, entry = kernel.launch(size), kernel.entry_of(ptxsim.load(text))
    shape = launch.grid, launch.block, launch.args, launch.dynamic_shared_bytes, launch.cluster
    estimate = estimate_launch(KernelLaunch(text, entry, *shape), kernel.device)
    speed = 2 * size**3 / estimate.seconds / 1e12
    return Prediction(kernel, size, published, speed, estimate, time.perf_counter() - begun)


def rank_correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's: how far two orders agree, from -1 to 1; no two values are equal."""
    first, second = (np.argsort(np.argsort(each)) for each in (x, y))
    return float(np.corrcoef(first, second)[0, 1])


def pairs_in_order(found: list[Prediction]) -> float:
    """The share of pairs of one size whose published speeds are apart that are predicted in the same order."""
    right = []
    for a, b in itertools.combinations(found, 2):
        slow, fast = sorted((a, b), key=lambda each: each.published)
        if a.size == b.size and fast.published > APART * slow.published:
            right.append(fast.predicted > slow.predicted)
    return sum(right) / len(right) if right else 1.0


def tables_of(name: str, kernels: Path, every_size: bool) -> tuple[Table, Figures]:
    """The predictions of a set, and what they are meant to keep."""
    published, few, many = SETS[name]
    sizes = many if every_size else few
    found: list[Prediction] = []
    rows: list[tuple[object, ...]] = []
    refused = 0
    for kernel in published:
        text, speeds = kernel.ptx(kernels), kernel.published(kernels)
        for size in sizes:
            try:
                found.append(predict(kernel, text, size, speeds[size]))
                rows.append(found[-1].row)
            except (InputError, PtxError) as error:
                refused += 1
                rows.append((kernel.name, size, f"{speeds[size]:.1f}", f"refused: {error.message}"))
            print(*rows[-1], file=sys.stderr)
    repository, device = published[0].repository, device_of(published[0].device)
    title = f"{repository.name} at {repository.commit[:12]} on {device.title}, TFLOP/s, n × n × n"
    rows = [(*row, *[""] * (len(COLUMNS) - len(row))) for row in rows]
    return Table(title, COLUMNS, tuple(rows), LIMITS), bounds_of(name, found, refused)


def bounds_of(name: str, found: list[Prediction], refused: int) -> Figures:
    """How near a set is, beside what is asked of it."""
    figures = Figures(f"{name}: predicted beside published, {len(found)} predictions")
    errors = np.array([abs(each.ratio - 1) for each in found]) * 100
    figures.row("kernels that are refused", refused, "", most=0)
    if not found:
        return figures
    figures.row("least share of anchors that are found", min(each.estimate.matched for each in found), "", least=0.95)
    if name == "fast.cu":
        speeds = (np.array([getattr(each, which) for each in found]) for which in ("published", "predicted"))
        figures.row("Spearman", rank_correlation(*speeds), "", least=0.95)
        figures.row("mean error", errors.mean(), "%", most=8)
        figures.row("largest error", errors.max(), "%", most=20)
        figures.fact("its first tile order against its later one is predicted", False, True)
    else:
        figures.row("pairs more than 5 % apart that are in order", pairs_in_order(found) * 100, "%", least=95)
        figures.row("mean error", errors.mean(), "%", most=12)
        figures.fact("sizes up to 16384 and the block swizzle there are predicted", False, True)
    return figures


def main() -> int:
    """Predict the sets whose checkouts are there, print the tables, and return 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description="Predict published kernels and compare.")
    parser.add_argument("--kernels", type=Path, required=True, help="the folder of the checkouts")
    parser.add_argument("--set", choices=SETS, action="append", help="predict this set only; may be repeated")
    parser.add_argument("--all-sizes", action="store_true", help="GEMM at 2048, 4096 and 8192, which takes long")
    parser.add_argument("--record", action="store_true", help=f"write {RESULTS.name} as well")
    options = parser.parse_args()
    tools = find_sass_tools()
    heading = machine(PACKAGES, f"ptxas {tools.ptxas_version}", f"nvdisasm {tools.nvdisasm_version}")
    found = [tables_of(name, options.kernels, options.all_sizes) for name in options.set or SETS]
    tables = [table for each, figures in found for table in (each, figures.table)]
    show(heading, *tables)
    if options.record:
        with RESULTS.open("w", encoding="utf-8") as file, redirect_stdout(file):
            show(heading, *tables)
    return int(any(figures.missed for _, figures in found))


if __name__ == "__main__":
    sys.exit(main())
