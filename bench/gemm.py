"""How fast products on tensor cores are, beside cuBLAS (PyTorch) and Triton, and beside what the clock predicts.

    python bench/gemm.py --record                       # on a GPU; writes bench/results/gemm.txt, .csv and .svg
    python bench/gemm.py --predict --device h100 --shapes 4096x4096x4096 ragged --types f16 --layouts nn
    python bench/gemm.py --part 1/8 --record            # the first of eight parts of the same, in files of its own
    python bench/gemm.py --collect bench/results/gemm_*_of_8.csv --record             # all parts in one

Contenders take turns on normally distributed operands; L2 is written over before each run. Each result is compared
with float64. By default each shape is measured as an f16 product of row-major operands, and in all variants that differ
from that in one way; `--crossed` takes all combinations. The interpreter needs tinyc, PyTorch and Triton.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from figures import machine, show
from gemm_cases import EPILOGUES, KINDS, LAYOUTS, SHAPES, Product, products, shapes_of
from gemm_report import (
    CUBLAS,
    TRITON,
    Row,
    append_row,
    clock_device,
    figures_of,
    read_rows,
    roofline,
    table_of,
    write_rows,
)
from gemm_tinyc import CompiledProduct, clocked_seconds
from ptxsim.clock.devices import DEVICES
from tinyc.diagnostics import TinycError
from tinyc.plan.source import load_plan
from tinyc.plan.table import PlanTable
from tinyc.runtime.cuda_driver import require_gpu
from tinyc.target import DEFAULT_ARCH, TARGETS

if TYPE_CHECKING:  # it imports PyTorch and Triton, which predictions do without
    from gemm_device import Stage

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("numba-cuda-mlir",)
CLOCK = "clock"


def read_options(argv: Sequence[str]) -> argparse.Namespace:
    """The options of a command line, checked."""
    parser = argparse.ArgumentParser(description="Measure products beside cuBLAS and Triton.")
    sets = f"{', '.join(SHAPES)}, or 4096x4096x1024"
    parser.add_argument("--shapes", nargs="+", default=[*SHAPES], metavar="SHAPE", help=f"{sets} (default: all sets)")
    parser.add_argument("--types", nargs="+", default=[*KINDS], choices=KINDS, help="default: all, the first is usual")
    parser.add_argument("--layouts", nargs="+", default=[*LAYOUTS], choices=LAYOUTS, help="likewise")
    parser.add_argument("--epilogues", nargs="+", default=[*EPILOGUES], choices=EPILOGUES, help="likewise")
    parser.add_argument("--crossed", action="store_true", help="all combinations of types, layouts and epilogues")
    parser.add_argument(
        "--part", type=_part, default=(1, 1), metavar="I/N", help="only each N-th product, from the I-th"
    )
    parser.add_argument("--plan", help="a plan for all products, as a file, JSON or DSL (default: the compiler's)")
    parser.add_argument("--predict", action="store_true", help="tell what the clock predicts; needs no GPU")
    parser.add_argument("--device", choices=DEVICES, help="what --predict is for (default: h100)")
    parser.add_argument("--without", nargs="+", default=[], choices=(CUBLAS, TRITON, CLOCK), help="leave these out")
    parser.add_argument("--seconds", type=float, default=1.0, help="of a product's rounds (default: 1)")
    parser.add_argument("--record", action="store_true", help=f"write {RESULTS.name}/gemm.txt, .csv and .svg as well")
    parser.add_argument("--output", type=Path, metavar="STEM", help="write STEM.txt, STEM.csv and STEM.svg instead")
    shown = "tell of rows that are in these files, all together"
    parser.add_argument("--collect", nargs="+", default=[], type=Path, metavar="FILE.csv", help=shown)
    options = parser.parse_args(argv)
    try:
        options.shapes = shapes_of(options.shapes)
    except ValueError as error:
        parser.error(f"argument --shapes: {error}")
    if options.device is not None and not options.predict:
        parser.error("argument --device: it is what --predict is for; what is measured is on the GPU that there is")
    if options.output is None and options.record:
        part, parts = options.part
        stem = "gemm_predicted" if options.predict else "gemm"
        options.output = RESULTS / (stem if parts == 1 else f"{stem}_{part}_of_{parts}")
    return options


def _part(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text)
    if found is None or int(found[1]) > int(found[2]):
        raise argparse.ArgumentTypeError(f"{text!r} does not read as a part, such as 1/8")
    return int(found[1]), int(found[2])


def chosen_products(options: argparse.Namespace) -> list[Product]:
    """The products that a command line asks for."""
    part, parts = options.part
    every = products(options.shapes, options.types, options.layouts, options.epilogues, options.crossed)
    return [*every][part - 1 :: parts]


class Bench:
    """What all products of a run have in common: the plan, the clock's device, and the GPU, unless it is predicted."""

    def __init__(self, options: argparse.Namespace, stage: "Stage | None") -> None:
        plan = load_plan(options.plan)
        if isinstance(plan, PlanTable):
            raise TinycError("InvalidPlan", "the plan is a table, by region; give one plan, which is for all products")
        self._plan, self._without, self._seconds, self.stage = plan, options.without, options.seconds, stage
        self.device: str | None = options.device or "h100"
        self.arch, self.title = _arch_of(options.device or "h100"), f"{self.device}, predicted"
        if stage is not None:
            self.device, self.arch, self.title = clock_device(stage.name), stage.arch, stage.name

    @property
    def heading(self) -> str:
        """What the rows are of."""
        stage = self.stage
        return "by the clock alone: nothing was measured" if stage is None else f"{stage.heading}, {driver()}"

    def row(self, product: Product) -> Row:
        """Compile a product, predict it, and measure it; what fails is told in its row."""
        row = Row(product, self.title, self.arch)
        try:
            compiled = CompiledProduct.of(product, self.arch, self._plan)
            row = replace(row, told=compiled.told)
            if self.device is not None and CLOCK not in self._without:
                row = replace(row, clocked=clocked_seconds(compiled, self.device))
            return row if self.stage is None else self._measured(row, compiled, self.stage)
        except (TinycError, RuntimeError) as error:  # PyTorch's are of the second type
            return replace(row, note=" ".join(str(error).split()))

    def _measured(self, row: Row, compiled: CompiledProduct, stage: "Stage") -> Row:
        from gemm_device import contest

        product, every = row.product, [compiled]
        if product.plain != product:
            every.append(CompiledProduct.of(product.plain, self.arch, self._plan))
        return row.with_measured(*contest(product, every, stage, self._without, self._seconds))


def _arch_of(device: str) -> str:
    """What is compiled for a device of the clock."""
    arch = DEVICES[device].arch
    return arch if arch in [each.chip for each in TARGETS] else DEFAULT_ARCH


def opened_stage() -> "Stage":
    """The GPU.

    Raises:
        TinycError: `NoDriver`: there is none; `UnsupportedTarget`: PyTorch or Triton is missing.
    """
    require_gpu()
    try:
        from gemm_device import Stage
    except ImportError as error:
        message = f"{error}; what is compared with is PyTorch's cuBLAS and Triton: install them beside tinyc"
        raise TinycError("UnsupportedTarget", message) from None
    return Stage()


def main() -> int:
    """Measure, predict or collect; print the table and the figures, and return 1 if a bound is missed."""
    options = read_options(sys.argv[1:])
    if options.collect:
        rows = read_rows(options.collect)
        if options.output is not None:
            write_rows(options.output.with_suffix(".csv"), rows)
        about = f"{rows[0].device}, collected from {len(options.collect)} files"
    else:
        try:
            bench = Bench(options, None if options.predict else opened_stage())
        except TinycError as error:
            print(f"{error}\n--predict tells what the clock predicts, without a GPU", file=sys.stderr)
            return 2
        rows = found_rows(bench, chosen_products(options), options.output)
        about = bench.heading
    figures, heading = figures_of(rows), machine(PACKAGES, about)
    show(heading, table_of(rows), figures.table)
    if options.output is not None:
        with options.output.with_suffix(".txt").open("w", encoding="utf-8") as file, redirect_stdout(file):
            show(heading, table_of(rows), figures.table)
        options.output.with_suffix(".svg").write_text(roofline(rows), encoding="utf-8")
    return int(figures.missed > 0)


def found_rows(bench: Bench, chosen: Sequence[Product], output: Path | None) -> list[Row]:
    """The rows of products, each told, and written to a CSV, when it is there."""
    rows: list[Row] = []
    if output is not None:
        output.with_suffix(".csv").unlink(missing_ok=True)
    for number, product in enumerate(chosen, 1):
        rows.append(bench.row(product))
        print(f"{number} of {len(chosen)}:", *rows[-1].cells.values(), file=sys.stderr)
        if output is not None:
            append_row(output.with_suffix(".csv"), rows[-1])
    return rows


def driver() -> str:
    """The version of the GPU's driver, as nvidia-smi tells it."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return "driver unknown"
    return f"driver {told[0]}"


if __name__ == "__main__":
    sys.exit(main())
