"""The clock's verdict on scheme `mma`, in one run: its products beside published kernels, and its choice of plans.

    .venv/bin/python bench/mma.py --kernels ../kernels --record       # writes bench/results/mma_*_*.txt; takes hours

DIR has the checkouts that `bench/clock.py` takes, and in triton/ what clock_kernels/matmul_in_triton.py writes. ptxas,
nvdisasm and nvcc are needed, no GPU: all times are predictions by one model. Products are f16 or bf16 with f32 sums; A
and B of tinyc's and of Triton's are row-major, fast.cu's lie along k. What is fused is max(A · B + bias, 0).

Launches are predicted whole. Where many are compared, some steps along k of each are carried on, as
`ptxsim.clock.ranking` does: 12 and 24 on an H100, 64 and 128 on an A100. A bound that is not kept is shown as MISSED,
and then the exit status is 1.
"""

import argparse
import itertools
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import ptxsim
from clock_kernels import FAST_CU, TENSOR_GEMM
from clock_kernels.triton_matmul import triton_products
from figures import Figures, machine, show
from gemm_cases import Product
from mma_launches import DEVICES, estimate_of, fastest, launch_of, steady_share
from mma_ranking import ranking_tables
from ptxsim.clock.estimate import Estimate
from ptxsim.clock.kernel_launch import KernelLaunch
from ptxsim.clock.ranking.candidates import Candidate
from ptxsim.clock.ranking.rank import FEW_STEPS, rank_kernels
from ptxsim.clock.sass.toolchain import find_sass_tools
from tinyc.text.table import Table

sys.path.insert(0, str(Path(__file__).parent.parent / "test"))

from mma_kernels.plans import SHAPES, named, plan_of, ranked

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("numpy",)
PARTS = ("products", "plans")
#: The best kernels of each publication, of which the clock's best counts.
PUBLISHED = {
    "sm_90a": ("fast.cu", ("matmul 10", "matmul 11", "matmul 12")),
    "sm_80": ("GEMM", ("k10-mma_stage_dbreg-stage32x4", "k11-mma_swizzle-stage64x3", "k12-mma_swizzle_opt")),
}
#: What the chosen plan's time may be of theirs.
MOST_OF_PUBLISHED, MOST_OF_TRITON, MOST_OF_PLAIN, LEAST_BUSY = 1.0, 0.9, 1.03, 94.0
COLUMNS = ("kernel", "n", "us", "TFLOP/s", "tensor", "limiter", "CTAs of an SM", "± %")
NOTE = "n × n × n; tensor: the part of the whole time for which the tensor pipes are busy"


@dataclass(frozen=True)
class Verdict:
    """Products n × n × n of an architecture: where checkouts are, and how many clusters of a launch are recorded."""

    arch: str
    kernels: Path
    recorded: int
    jobs: int

    def judge(self, n: int, figures: Figures) -> list[tuple[object, ...]]:
        """The rows of a size; what they are meant to keep goes to the figures."""
        own = self._own(n)
        published = self._published(n)
        tutorial = self._tutorial(n)
        best, theirs = fastest(published)
        for element in ("f16", "bf16"):
            seconds = dict(own)[f"tinyc, {element}"].seconds
            told = f"{n}, {element}: time over that of"
            figures.row(f"{told} {best}", seconds / theirs.seconds, "", most=MOST_OF_PUBLISHED)
            # A bound for tutorial 03 is asked of the H100 alone.
            bound = MOST_OF_TRITON if self.arch == "sm_90a" else None
            figures.row(f"{told} {tutorial[0]}", seconds / tutorial[1].seconds, "", most=bound)
        fused, plain = (dict(own)[name].seconds for name in ("tinyc, f16, fused", "tinyc, f16"))
        figures.row(f"{n}, f16: fused epilogue over none", fused / plain, "", most=MOST_OF_PLAIN)
        if n == 8192:
            tiling = ranked(self.arch, (n, n, n))[0].tiling
            busy = steady_share(Product(n, n, n), self.arch, plan_of(tiling), tiling.tile[2])
            figures.row(f"{n}, f16: tensor pipes busy in the loop along k", 100 * busy, "%", least=LEAST_BUSY)
        return [_row(name, n, each) for name, each in (*own, *published, tutorial)]

    def _own(self, n: int) -> list[tuple[str, Estimate]]:
        """The estimates of the chosen plan: in both types, and with its epilogue."""
        plan = plan_of(ranked(self.arch, (n, n, n))[0].tiling)
        products = {
            "tinyc, f16": Product(n, n, n),
            "tinyc, bf16": Product(n, n, n, "bf16"),
            "tinyc, f16, fused": Product(n, n, n, epilogue="bias_relu"),
        }
        return [(name, self._estimate(launch_of(each, self.arch, plan))) for name, each in products.items()]

    def _published(self, n: int) -> list[tuple[str, Estimate]]:
        """The estimates of published kernels."""
        repository, names = PUBLISHED[self.arch]
        found = []
        for kernel in (each for each in (*FAST_CU, *TENSOR_GEMM) if each.name in names):
            text, launch = kernel.ptx(self.kernels), kernel.launch(n)
            entry = kernel.entry_of(ptxsim.load(text))
            shape = launch.grid, launch.block, launch.args, launch.dynamic_shared_bytes, launch.cluster
            found.append((f"{repository}, {kernel.name}", self._estimate(KernelLaunch(text, entry, *shape))))
        return found

    def _tutorial(self, n: int) -> tuple[str, Estimate]:
        """The estimate of tutorial 03's kernel in the configuration that is the fastest by few steps of each."""
        products = {each.name: each for each in triton_products(self.kernels, self.arch)}
        candidates = []
        for name, each in products.items():
            short = {few: each.launch(n, n, few * each.tile[2]) for few in FEW_STEPS}
            candidates.append(Candidate(name, short[FEW_STEPS[1]], short.__getitem__, n // each.tile[2]))
        best = rank_kernels(candidates, DEVICES[self.arch], self.jobs)[0].name
        return best, self._estimate(products[best].launch(n, n, n))

    def _estimate(self, launch: KernelLaunch) -> Estimate:
        found = estimate_of(launch, self.arch, self.recorded)
        print(found, file=sys.stderr)
        return found


def _row(name: str, n: int, estimate: Estimate) -> tuple[object, ...]:
    speed = 2.0 * n**3 / estimate.seconds / 1e12
    ctas = f"{estimate.occupancy.ctas} ({estimate.occupancy.limiter})"
    busy, doubt = f"{estimate.shares['tensor']:.1%}", f"{100 * estimate.uncertainty:.0f}"
    return name, n, f"{estimate.seconds * 1e6:.1f}", f"{speed:.1f}", busy, estimate.limiter, ctas, doubt


def product_tables(verdict: Verdict, sizes: list[int]) -> tuple[Table, Figures]:
    """The products of an architecture beside others'."""
    device = DEVICES[verdict.arch]
    figures, rows = Figures(f"{device}: products beside published kernels, by the clock"), []
    for n in sizes:
        rows += verdict.judge(n, figures)
    plans = ", ".join(f"{n}: {named(ranked(verdict.arch, (n, n, n))[0].tiling)}" for n in sizes)
    return Table(f"{device}: predicted times", COLUMNS, tuple(rows), f"{NOTE}. tinyc's plans: {plans}"), figures


def tables_of(arch: str, part: str, options: argparse.Namespace) -> tuple[Table, Figures]:
    """The tables of a part of an architecture."""
    if part == "products":
        verdict = Verdict(arch, options.kernels, options.recorded, options.jobs)
        return product_tables(verdict, options.size or [4096, 8192])
    return ranking_tables(arch, SHAPES[: options.shapes], options.plans, options.jobs, options.cache)


def main() -> int:
    """Print the tables, and return 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description="Compare scheme mma's products and plans by the clock.")
    parser.add_argument("--kernels", type=Path, required=True, help="the folder of the checkouts")
    parser.add_argument("--arch", choices=DEVICES, action="append", help="this architecture only; may be repeated")
    parser.add_argument("--part", choices=PARTS, action="append", help="this part only; may be repeated")
    parser.add_argument("--size", type=int, action="append", help="products of this size, not 4096 and 8192")
    parser.add_argument("--shapes", type=int, default=len(SHAPES), help="rank plans of the first shapes only")
    parser.add_argument("--plans", type=int, default=32, help="rank so many plans")
    parser.add_argument("--recorded", type=int, default=1, help="clusters of a whole launch that are recorded")
    parser.add_argument("--jobs", type=int, default=2, help="processes that rank")
    parser.add_argument("--cache", type=Path, help="a folder in which the estimates of rankings are kept")
    parser.add_argument("--record", action="store_true", help="write results/mma_h100_products.txt … as well")
    options = parser.parse_args()
    tools = find_sass_tools()
    heading = machine(PACKAGES, f"ptxas {tools.ptxas_version}", f"nvdisasm {tools.nvdisasm_version}")
    missed = False
    for arch, part in itertools.product(options.arch or DEVICES, options.part or PARTS):
        table, figures = tables_of(arch, part, options)
        missed |= figures.missed
        show(heading, figures.table, table)
        if options.record:
            path = RESULTS / f"mma_{DEVICES[arch]}_{part}.txt"
            with path.open("w", encoding="utf-8") as file, redirect_stdout(file):
                show(heading, figures.table, table)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
