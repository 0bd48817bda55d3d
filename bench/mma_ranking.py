"""The plan that region-plan picks beside 32 others by the clock, on 12 shapes: what `bench/mma.py` prints of it.

In: an architecture. Out: tables and figures with their bound.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import tinyc
from figures import Figures
from gemm_cases import Product
from mma_launches import DEVICES, RANKED_BY, candidates_of
from ptxsim.clock.ranking.candidates import Candidate
from ptxsim.clock.ranking.rank import RankedKernel, rank_kernels
from tinyc.schemes.mma.choice import RankedTiling
from tinyc.text.table import Table

sys.path.insert(0, str(Path(__file__).parent.parent / "test"))

from mma_kernels.plans import Sizes, named, plan_of, ranked

COLUMNS = ("m × n × k", "chosen", "TFLOP/s", "best by the clock", "TFLOP/s", "time over best", "place", "plans")
NOTE = (
    "plans: the first by the cost model, and others from all of its list; those that are refused, by tinyc or by the "
    "clock, are not counted. Of slices of k in turn (splitk_serial) the clock times the first CTA, which waits for no "
    "other: what it takes to hand sums on is not in their times"
)
#: Of the plans, the share that is the first of the list; the others are spread over the rest of it.
_OF_THE_FIRST = 0.6


@dataclass(frozen=True)
class ShapeRanking:
    """The plans of a shape by the clock, the fastest first; `chosen` is what the cost model ranks first."""

    sizes: Sizes
    chosen: str
    kernels: tuple[RankedKernel, ...]

    @property
    def picked(self) -> RankedKernel | None:
        """The plan that was chosen; None where it is refused."""
        return next((each for each in self.kernels if each.name == self.chosen), None)

    @property
    def loss(self) -> float:
        """The time of the chosen plan over that of the best; infinite where it is not known."""
        return self.picked.seconds / self.kernels[0].seconds if self.picked else math.inf

    @property
    def row(self) -> tuple[object, ...]:
        """Its row of the table."""
        m, n, k = self.sizes
        best, flops = self.kernels[0], 2.0 * m * n * k
        speeds = [f"{flops / each.seconds / 1e12:.4g}" if each else "not known" for each in (self.picked, best)]
        place = 1 + self.kernels.index(self.picked) if self.picked else "-"
        counted = sum(not each.error for each in self.kernels)
        shown = self.chosen, speeds[0], best.name, speeds[1], f"{self.loss:.3f}"
        return f"{m} × {n} × {k}", *shown, place, counted


def ranking_of(arch: str, sizes: Sizes, plans: int, jobs: int, cache: Path | None) -> ShapeRanking:
    """The ranking of a shape."""
    product, tilings = Product(*sizes, epilogue="bias_relu"), plans_to_try(ranked(arch, sizes), plans)
    candidates: dict[str, tuple[Candidate, ...]] = {}
    for each in tilings:
        try:
            tiling = each.tiling
            candidates[named(tiling)] = candidates_of(named(tiling), product, arch, plan_of(tiling), tiling.tile[2])
        except tinyc.TinycError as error:
            print(f"{named(each.tiling)} is refused: {error.message}", file=sys.stderr)
    kernels = [kernel for each in candidates.values() for kernel in each]
    ranked_kernels = {
        each.name: each for each in rank_kernels(kernels, DEVICES[arch], jobs, cache, few=RANKED_BY[arch])
    }
    plans_found = [
        _in_turn(name, [ranked_kernels[kernel.name] for kernel in each]) for name, each in candidates.items()
    ]
    found = tuple(sorted(plans_found, key=lambda each: each.seconds))
    for each in found:
        print(sizes, each.name, each.error or f"{each.seconds * 1e6:.1f} us", file=sys.stderr)
    return ShapeRanking(sizes, named(tilings[0].tiling), found)


def _in_turn(name: str, kernels: Sequence[RankedKernel]) -> RankedKernel:
    """A plan's kernels, one after the other: two where slices of k are added up or their semaphores are zeroed."""
    cycles, seconds = sum(each.cycles for each in kernels), sum(each.seconds for each in kernels)
    error = next((each.error for each in kernels if each.error), "")
    return replace(kernels[-1], name=name, cycles=cycles, seconds=seconds, error=error)


def plans_to_try(found: tuple[RankedTiling, ...], count: int) -> list[RankedTiling]:
    """So many plans: the first, and others in equal distances behind them."""
    first = list(found[: round(count * _OF_THE_FIRST)])
    rest, wanted = found[len(first) :], count - len(first)
    return first + [rest[at * len(rest) // wanted] for at in range(wanted) if len(rest) >= wanted]


def ranking_tables(
    arch: str, shapes: tuple[Sizes, ...], plans: int, jobs: int, cache: Path | None
) -> tuple[Table, Figures]:
    """The chosen plan of each shape beside the best."""
    found = [ranking_of(arch, sizes, plans, jobs, cache) for sizes in shapes]
    figures = Figures(f"{DEVICES[arch]}: the plan that is chosen beside the best of {plans} by the clock")
    for each in found:
        figures.row("{} × {} × {}: time over best".format(*each.sizes), each.loss, "", most=1.03)
    rows = tuple(each.row for each in found)
    return Table(f"{DEVICES[arch]}: plans of f16 products with bias and ReLU", COLUMNS, rows, NOTE), figures
