"""A complete plan's numbers: what the resource model, the cost model and the builder compute with."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from tinyc.analysis.candidate import MatrixProduct
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.plan.fields import Plan
from tinyc.target.role_registers import WARPGROUP_THREADS
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

Schedule = Literal["simple", "cooperative", "pingpong"]
Along = Literal["m", "n"]
Algorithm = Literal["implicit_gemm", "splitk_serial", "splitk_parallel"]
#: How many warpgroups have a tile each in the schedule `pingpong`.
PINGPONG_UNITS = 2
#: The workspaces of slices of k.
PARTIAL_SUMS, SEMAPHORES = "partial_sums", "semaphores"


@dataclass(frozen=True)
class MmaTiling:
    """How a product is cut, and who computes what.

    `tile` is [BM, BN, BK]; `unit_tile` the accumulators, rows and columns, of one unit: a warp, or a warpgroup where
    there is wgmma, of `unit_threads`. Tiles are walked along the axis `along` in bands of `group` tiles of the other
    one. `registers` are what producers and consumers set, None where warps are not specialised.
    """

    tile: tuple[int, int, int]
    unit_tile: tuple[int, int]
    unit_threads: int
    stages: int
    schedule: Schedule = "simple"
    cluster: tuple[int, int] = (1, 1)
    along: Along = "n"
    group: int = 1
    wait_depth: int = 0
    registers: tuple[int, int] | None = None
    algorithm: Algorithm = "implicit_gemm"
    slices: int = 1

    @property
    def units(self) -> tuple[int, int]:
        """The units of a tile along m and n; in the schedule `pingpong` each unit has a tile of its own."""
        return self.tile[0] // self.unit_tile[0], self.tile[1] // self.unit_tile[1]

    @property
    def units_of_role(self) -> tuple[int, int]:
        """The units that run a statement together: those of the tile, or one where warps are specialised."""
        return (1, 1) if self.is_persistent else self.units

    @property
    def cluster_tile(self) -> tuple[int, int, int]:
        """What the CTAs of a cluster compute at a time, of m, n and k."""
        return self.tile[0] * self.cluster[0], self.tile[1] * self.cluster[1], self.tile[2]

    @property
    def consumers(self) -> int:
        """The units of a CTA that multiply."""
        return PINGPONG_UNITS if self.schedule == "pingpong" else self.units[0] * self.units[1]

    @property
    def is_persistent(self) -> bool:
        """Whether a CTA computes one tile after the other, its loads running ahead."""
        return self.schedule != "simple"

    @property
    def threads(self) -> int:
        """The threads of a CTA."""
        return self.consumers * self.unit_threads + (WARPGROUP_THREADS if self.is_persistent else 0)

    @property
    def accumulators_per_thread(self) -> int:
        """The accumulators of a thread."""
        return self.unit_tile[0] * self.unit_tile[1] // self.unit_threads

    def tiles_of(self, product: MatrixProduct) -> tuple[Dim, Dim]:
        """The tiles along m and n."""
        return extents.ceildiv(product.m, self.tile[0]), extents.ceildiv(product.n, self.tile[1])

    def cluster_tiles_of(self, product: MatrixProduct) -> tuple[Dim, Dim]:
        """The tiles along m and n, those that a cluster computes at a time taken as one."""
        rows, columns, _ = self.cluster_tile
        return extents.ceildiv(product.m, rows), extents.ceildiv(product.n, columns)

    def work_of(self, product: MatrixProduct) -> Dim:
        """How many of these tiles clusters take, of all batches and slices of k."""
        return extents.product([*self.cluster_tiles_of(product), product.batch, self.slices])

    def grid(self, product: MatrixProduct, sms: int, rows_along_x: bool | None) -> tuple[Dim, Dim, Dim]:
        """The CTAs along x, y and z: a tile each, or as many as the SMs have room for.

        Tiles below each other are CTAs beside each other along x or y, or, where `rows_along_x` is None, one index of
        CTAs walks over all tiles.
        """
        if self.is_persistent:
            ctas, work = math.prod(self.cluster), self.work_of(product)
            at_once = sms // ctas
            return ctas * (min(at_once, work) if isinstance(work, int) else at_once), 1, 1
        (m, n), above = self.tiles_of(product), extents.product([product.batch, self.slices])
        if rows_along_x is None:
            return extents.product([m, n]), 1, above
        return (m, n, above) if rows_along_x else (n, m, above)

    @property
    def finishes(self) -> bool:
        """Whether the kernel that multiplies finishes the sums, too."""
        return self.algorithm != "splitk_parallel"

    @property
    def transposed(self) -> "MmaTiling":
        """The tiling of the transposed output."""
        (bm, bn, bk), (m, n) = self.tile, self.cluster
        along: Along = "m" if self.along == "n" else "n"
        return replace(self, tile=(bn, bm, bk), unit_tile=self.unit_tile[::-1], cluster=(n, m), along=along)


def workspaces_of(
    product: MatrixProduct, tilings: Sequence[MmaTiling], limits: Mapping[str, int]
) -> dict[str, TensorType]:
    """What CTAs hand on between slices of k, in kernels of each of some tilings that slice it alike.

    There are sums of whole tiles, and, where they take turns, a semaphore for those of each unit. `limits` are what
    symbols are at most: memory for larger sizes, which are another kernel's, is not asked for.
    """
    first = tilings[0]
    if first.slices == 1:
        return {}
    steps = (math.lcm(*sides) for sides in zip(*(each.cluster_tile[:2] for each in tilings), strict=True))
    units = (math.gcd(*sides) for sides in zip(*(each.unit_tile for each in tilings), strict=True))
    rows, columns = (
        extents.ceildiv(extents.at_most(side, limits), step) * step
        for side, step in zip((product.m, product.n), steps, strict=True)
    )
    batch = extents.at_most(product.batch, limits)
    planes = batch * (1 if first.finishes else first.slices)
    sums = {PARTIAL_SUMS: TensorType(product.accumulator, (planes, rows, columns))}
    if not first.finishes:
        return sums
    counts = (extents.floordiv(length, unit) for length, unit in zip((rows, columns), units, strict=True))
    return {**sums, SEMAPHORES: TensorType(ElementType.I32, (extents.product([batch, *counts]),))}


def unit_sides(text: str) -> tuple[int, int]:
    """The rows and columns of a `warp_tile` such as "64x32"."""
    rows, _, columns = text.partition("x")
    return int(rows), int(columns)


def tiling_of(plan: Plan, unit_threads: int) -> MmaTiling:
    """The numbers of a complete plan; `unit_threads` is of its `MatrixUnit`."""
    assert plan.tile is not None
    assert plan.warp_tile is not None
    assert plan.stages is not None
    assert plan.raster is not None
    algorithm = (plan.algo_choice or {}).get("matmul", "implicit_gemm")
    return MmaTiling(
        tile=plan.tile,
        unit_tile=unit_sides(plan.warp_tile),
        unit_threads=unit_threads,
        stages=plan.stages,
        schedule=cast("Schedule", plan.schedule or "simple"),
        cluster=plan.cluster or (1, 1),
        along=plan.raster["along"],
        group=plan.raster["group"],
        wait_depth=plan.wait_depth or 0,
        registers=plan.registers,
        algorithm=cast("Algorithm", algorithm),
        slices=plan.split_k or 1,
    )
