"""How near the clock comes to speeds that others published: their kernels, compiled, recorded, replayed. Prints tables.

    .venv/bin/python bench/clock.py --kernels ../kernels --record       # writes bench/results/clock.txt

DIR has a checkout of each repository that `bench/clock_kernels` names, at its commit; nothing of it is part of tinyc.
nvcc, ptxas and nvdisasm are needed, no GPU. Published speeds are those of the authors' machines; predicted ones are at
the clock that the device keeps up under power. What is fitted on some of them the table's note says. A bound that is
not kept is shown as MISSED.
"""

import argparse
import itertools
import sys
import time
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import ptxsim
from clock_kernels import (
    ATTENTION,
    FAST_CU,
    FIRST_ORDER,
    K_SWEEP,
    SGEMM_CUDA,
    SOFTMAX,
    SUMS,
    TENSOR_GEMM,
    Launch,
    PublishedKernel,
)
from figures import Figures, machine, rank_correlation, show
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
SETS = {
    "fast.cu": (FAST_CU, (4096,), (4096,)),
    "GEMM": (TENSOR_GEMM, (2048,), (2048, 4096, 8192, 16384)),
    "SGEMM_CUDA": (SGEMM_CUDA, (4096,), (4096,)),
    "attention": (ATTENTION, (4096,), (4096,)),
    "K sweep": (K_SWEEP, (256, 16384), (256, 16384)),
    "sum": (SUMS, (2**30,), (2**30,)),
    "softmax": (SOFTMAX, (131072,), (131072,)),
}
#: What grows along a straight line with the depth of a product or the rows of a softmax.
CARRIED_ON = ("cycles", "tensor_flops", "other_flops", "memory_bytes", "l2_bytes")
#: Times that are nearer to each other are not asked to be in order.
APART = 1.05
LIMITS = (
    "what is fitted, the device's table calls so: the clock under power (A100: on cuBLAS at 8192; H100: on fast.cu's "
    "kernels 7 to 12) and the cycles of an arriving lane (on fast.cu's kernels 3 to 6); how far the CTAs of a launch "
    "drift apart was chosen with GEMM's k10 and k11 at 16384 in sight. Errors of sums and softmax are partly those of "
    "the bandwidth that their publications reach. GEMM's author ran 2048 before his GPU had come to its clock"
)
#: Kernels of one tile, in order of rows and in blocks: the second one is faster where L2 does not hold the operands.
IN_ROWS, IN_BLOCKS = "k10-mma_stage_dbreg-stage32x4", "k11-mma_swizzle-stage32x4"


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
            f"{self.published:.4g}",
            f"{self.predicted:.4g}",
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
    estimate = estimate_of(kernel, text, size)
    speed = kernel.work(size) / estimate.seconds / 1e12
    return Prediction(kernel, size, published, speed, estimate, time.perf_counter() - begun)


def estimate_of(kernel: PublishedKernel, text: str, size: int) -> Estimate:
    """The estimate of a kernel, whose PTX is `text`: at its size, or along a line from two depths."""
    entry = kernel.entry_of(ptxsim.load(text))

    def estimated(launch: Launch, recorded: int, warm: bool = True) -> Estimate:
        shape = launch.grid, launch.block, launch.args, launch.dynamic_shared_bytes, launch.cluster
        return estimate_launch(KernelLaunch(text, entry, *shape), kernel.device, recorded, warm=warm)

    if kernel.shallow is None:
        return estimated(kernel.launch(size), 3)
    # the arrays of a shallow launch fit in L2, those that it stands for do not
    low, high = (estimated(kernel.shallow(size, depth), 1, warm=False) for depth in kernel.depths)
    steps = (kernel.depth_of(size) - kernel.depths[1]) / (kernel.depths[1] - kernel.depths[0])
    grown = {name: getattr(high, name) + steps * (getattr(high, name) - getattr(low, name)) for name in CARRIED_ON}
    return replace(high, **grown)


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
    for kernel in (*published, *((FIRST_ORDER,) if name == "fast.cu" else ())):
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
    commit = f" at {repository.commit[:12]}" if repository.commit else ""
    title = f"{repository.name}{commit} on {device.title}, {published[0].unit}, of size n (products: n × n × n)"
    rows = [(*row, *[""] * (len(COLUMNS) - len(row))) for row in rows]
    return Table(title, COLUMNS, tuple(rows), LIMITS), bounds_of(name, found, refused)


def bounds_of(name: str, found: list[Prediction], refused: int) -> Figures:
    """How near a set is, beside what is asked of it."""
    figures = Figures(f"{name}: predicted beside published, {len(found)} predictions")
    figures.row("kernels that are refused", refused, "", most=0)
    if not found:
        return figures
    apart = [each for each in found if each.kernel is FIRST_ORDER]
    found = [each for each in found if each.kernel is not FIRST_ORDER]
    errors = np.array([abs(each.ratio - 1) for each in found]) * 100
    figures.row("least share of anchors that are found", min(each.estimate.matched for each in found), "", least=0.95)
    speeds = (np.array([getattr(each, which) for each in found]) for which in ("published", "predicted"))
    if name == "attention":
        figures.row("difference from another version's kernel; reported only", errors.mean(), "%")
    elif name == "K sweep":
        figures.row("mean difference from TileLang on an H800, another kernel; reported only", errors.mean(), "%")
    elif name == "SGEMM_CUDA":
        figures.row("Spearman", rank_correlation(*speeds), "", least=0.9)
        figures.row("mean error", errors.mean(), "%")
        figures.row("largest error", errors.max(), "%")
    elif name in ("sum", "softmax"):
        figures.row("largest error", errors.max(), "%", most=12)
    elif name == "fast.cu":
        figures.row("Spearman", rank_correlation(*speeds), "", least=0.95)
        figures.row("mean error", errors.mean(), "%", most=8)
        figures.row("largest error", errors.max(), "%", most=20)
        later = next(each.predicted for each in found if each.kernel.name == "matmul 6")
        figures.row("its first tile order against its later one", apart[0].predicted / later, "", most=0.75)
    else:
        figures.row("pairs more than 5 % apart that are in order", pairs_in_order(found) * 100, "%", least=95)
        figures.row("mean error", errors.mean(), "%", most=12)
        later = np.array([abs(each.ratio - 1) for each in found if each.size >= 4096]) * 100
        if later.size:
            figures.row("mean error from 4096 on", later.mean(), "%")
        speed = {(each.kernel.name, each.size): each.predicted for each in found}
        for size, bound in ((4096, {"most": 1.02}), (16384, {"least": 1.02})):
            if (IN_BLOCKS, size) in speed:
                gained = speed[IN_BLOCKS, size] / speed[IN_ROWS, size]
                figures.row(f"tiles in blocks against rows of tiles at {size}", gained, "", **bound)
    return figures


def main() -> int:
    """Predict the sets whose checkouts are there, print the tables, and return 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description="Predict published kernels and compare.")
    parser.add_argument("--kernels", type=Path, required=True, help="the folder of the checkouts")
    parser.add_argument("--set", choices=SETS, action="append", help="predict this set only; may be repeated")
    parser.add_argument("--all-sizes", action="store_true", help="GEMM up to 16384 in place of 2048, which takes long")
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
