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
_TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class ProductKernel:
    """A kernel by its plan: `sizes` are m, n and k; `ctas` how many are launched of a persistent one, 0 for all.

    `source` is what X is cast from, in Tiny's and in numpy's terms; None where it is f16 already.
    """

    name: str
    arch: str
    plan: Mapping[str, Any]
    sizes: tuple[int, int, int]
    ctas: int = 0
    source: tuple[str, type[np.generic]] | None = None

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
        program = GEMM.read_text() if self.source is None else with_cast(GEMM.read_text(), self.source[0])
        model = tinyc.compile(program, target="sim", arch=self.arch, plan={"scheme": "mma", **self.plan}, bind=bound)
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
        if self.source is not None:
            x = np.round(4 * x).astype(self.source[1])
        expected = np.maximum(x.astype(np.float32) @ w.astype(np.float32) + bias.astype(np.float32), 0)
        return {"X": x, "W": w, "bias": bias}, expected


def with_cast(program: str, element: str) -> str:
    """GEMM with X of another element type, cast to f16."""
    view, value = '"src":["X"],"out":"X0"}', '"X": {"dtype":"fp16"'
    assert view in program
    assert value in program
    cast = f'{view.replace("X0", "Xs")},\n    {{"uop":"CAST","src":["Xs"],"arg":{{"to":"fp16"}},"out":"X0"}}'
    return program.replace(view, cast).replace(value, value.replace("fp16", element))


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
#: A is made in registers.
FRAGMENTS = ProductKernel(
    "fragments",
    "sm_90a",
    {**_SMALL, "schedule": "cooperative", "cluster": [1, 1]},
    (64, 128, 256),
    1,
    ("i8", np.int8),
)
KERNELS = (MULTISTAGE, SIMPLE, COOPERATIVE, PINGPONG, CLUSTER, FRAGMENTS)
