"""GEMM + bias + ReLU in f16 by scheme `mma`: the PTX of some plans, and what comes out of a text of it."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import tinyc
from installed import ROOT
from tinyc.runtime.sim import SimulationError
from tinyc.simulator import Report

GEMM = ROOT / "examples" / "gemm_bias_relu.json"
_TOLERANCE = 2e-3


@dataclass(frozen=True, eq=False)
class ProductKernel:
    """A kernel by its plan: `sizes` are m, n and k; `ctas` how many are launched of a persistent one, 0 for all."""

    name: str
    arch: str
    plan: Mapping[str, Any]
    sizes: tuple[int, int, int]
    ctas: int = 0

    @property
    def stage_bytes(self) -> int:
        """The bytes of a stage of either operand: tiles of these kernels are as wide as they are high."""
        rows, columns, depth = self.plan["tile"]
        assert rows == columns
        return rows * depth * 2

    @functools.cached_property
    def ptx(self) -> str:
        """Its PTX, with the program that launches it behind."""
        bound = dict(zip("MNK", self.sizes, strict=True))
        model = tinyc.compile(GEMM, target="sim", arch=self.arch, plan={"scheme": "mma", **self.plan}, bind=bound)
        text, (kernel,) = model.text("ptx"), model.lowering.program().kernels
        if not self.ctas:
            return text
        whole = ", ".join(map(str, kernel.grid))
        assert f"grid = [{whole}]" in text
        return text.replace(f"grid = [{whole}]", f"grid = [{self.ctas}, 1, 1]")

    @functools.cached_property
    def operands(self) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Random inputs by name, and what numpy makes of them."""
        m, n, k = self.sizes
        random = np.random.default_rng(m * n * k)
        x, w, bias = (random.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n), (n,)))
        expected = np.maximum(x.astype(np.float32) @ w.astype(np.float32) + bias.astype(np.float32), 0)
        return {"X": x, "W": w, "bias": bias}, expected


@functools.cache
def report_of(kernel: ProductKernel) -> Report:
    """What a run of the kernel has counted.

    Raises:
        SimulationError: it has findings.
    """
    model = tinyc.compile(kernel.ptx, target="sim")
    model.run(**kernel.operands[0])
    (report,) = model.reports
    return report


def defect(kernel: ProductKernel, text: str) -> str:
    """What the simulator finds in a text of a kernel: the kinds of its findings, or "wrong result"; "" for nothing."""
    inputs, expected = kernel.operands
    model = tinyc.compile(text, target="sim")
    try:
        (given,) = model.run(**inputs).values()
    except SimulationError as error:
        return ", ".join(sorted({finding.kind for finding in error.report.findings})) or "stray writes"
    except tinyc.TinycError as error:
        return f"refused: {error.message}"
    is_right = np.allclose(given.astype(np.float32), expected, rtol=_TOLERANCE, atol=_TOLERANCE)
    return "" if is_right else "wrong result"


_SMALL = {"tile": [64, 64, 64], "warp_tile": "64x64", "stages": 3}
_LARGE = {"tile": [128, 128, 64], "warp_tile": "64x128", "stages": 3, "schedule": "cooperative"}
MULTISTAGE = ProductKernel(
    "multistage", "sm_80", {"tile": [64, 64, 32], "warp_tile": "32x32", "stages": 4}, (64, 128, 192)
)
SIMPLE = ProductKernel("simple", "sm_90a", {**_SMALL, "schedule": "simple"}, (64, 128, 512))
#: A CTA has several tiles, a tile more steps along k than there are stages.
COOPERATIVE = ProductKernel("cooperative", "sm_90a", {**_LARGE, "cluster": [1, 1]}, (256, 256, 256), 2)
PINGPONG = ProductKernel(
    "pingpong", "sm_90a", {**_SMALL, "schedule": "pingpong", "cluster": [1, 1]}, (256, 128, 256), 1
)
CLUSTER = ProductKernel(
    "cluster of two",
    "sm_90a",
    {**_LARGE, "cluster": [2, 1]},
    (256, 256, 256),
    2,
)
KERNELS = (MULTISTAGE, SIMPLE, COOPERATIVE, PINGPONG, CLUSTER)
