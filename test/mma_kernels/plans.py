"""Plans of scheme `mma` that the cost model chooses, and the kernels that they make of GEMM + bias + ReLU.

In: an architecture, sizes. Out: ranked tilings, their plans, models.
"""

import tinyc
from mma_kernels.kernels import GEMM
from schemes.candidates import gemm
from tinyc.analysis.candidate import Epilogue
from tinyc.plan.fields import Plan
from tinyc.schemes.mma.case import MmaCase, mma_case
from tinyc.schemes.mma.choice import RankedTiling, choice_of
from tinyc.schemes.mma.given import given_of
from tinyc.schemes.mma.tiling import MmaTiling
from tinyc.target import target_of
from tinyc.vocabulary.broadcast import Broadcast

Sizes = tuple[int, int, int]
#: Large products, those of language models, with few rows, and ragged ones.
SHAPES: tuple[Sizes, ...] = (
    (1024, 1024, 1024),
    (2048, 2048, 2048),
    (4096, 4096, 4096),
    (8192, 8192, 8192),
    (4096, 4096, 14336),
    (8192, 1024, 28672),
    (1, 4096, 4096),
    (16, 4096, 14336),
    (128, 4096, 4096),
    (512, 8192, 4096),
    (4095, 4097, 4096),
    (1000, 3000, 777),
)


def case_of(arch: str, sizes: Sizes) -> MmaCase:
    """GEMM + bias + ReLU in f16 of these sizes, as the models of the scheme see it."""
    epilogue = Epilogue(("add", "relu"), (Broadcast.COLUMN,))
    case = mma_case(gemm(*sizes, epilogue=epilogue), target_of(arch))
    assert not isinstance(case, str)
    return case


def ranked(arch: str, sizes: Sizes, plan: Plan | None = None) -> tuple[RankedTiling, ...]:
    """The tilings that there are, the fastest by the cost model first."""
    return choice_of(given_of(plan or Plan(), case_of(arch, sizes)), case_of(arch, sizes)).ranked


def plan_of(tiling: MmaTiling) -> dict[str, object]:
    """The fields that say all of a tiling."""
    plan: dict[str, object] = {
        "scheme": "mma",
        "tile": list(tiling.tile),
        "warp_tile": "x".join(map(str, tiling.unit_tile)),
        "stages": tiling.stages,
        "raster": {"along": tiling.along, "group": tiling.group},
        "wait_depth": tiling.wait_depth,
        "split_k": tiling.slices,
        "algo_choice": {"matmul": tiling.algorithm},
    }
    if tiling.unit_threads > 32:
        plan |= {"schedule": tiling.schedule, "cluster": list(tiling.cluster)}
    if tiling.registers:
        plan["registers"] = list(tiling.registers)
    return plan


def named(tiling: MmaTiling) -> str:
    """A tiling in a line, which no other one of a ranking has: "128x256x64 by 64x256, 4 stages, cooperative, 2x1"."""
    tile, unit, cluster = ("x".join(map(str, each)) for each in (tiling.tile, tiling.unit_tile, tiling.cluster))
    words = [f"{tile} by {unit}", f"{tiling.stages} stages"]
    if tiling.unit_threads > 32:
        words += [tiling.schedule, cluster]
    if tiling.wait_depth:
        words.append(f"{tiling.wait_depth} in flight")
    if tiling.slices > 1:
        words.append(f"{tiling.slices} slices by {tiling.algorithm}")
    return ", ".join(words)


def model_of(arch: str, plan: dict[str, object], sizes: Sizes) -> tinyc.Model:
    """GEMM + bias + ReLU in f16 by a plan."""
    return tinyc.compile(GEMM, target="sim", arch=arch, plan=plan, bind=dict(zip("MNK", sizes, strict=True)))
