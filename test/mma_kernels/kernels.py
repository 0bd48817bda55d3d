"""GEMM + bias + ReLU in f16 by scheme `mma`: the PTX of some plans, and what comes out of a text of it."""

import functools
import math
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

    `source` is what X is cast from, in Tiny's and in numpy's terms; None where it is f16 already. With `adds_residual`
    R, as large as the result, is added before the ReLU.
    """

    name: str
    arch: str
    plan: Mapping[str, Any]
    sizes: tuple[int, int, int]
    ctas: int = 0
    source: tuple[str, type[np.generic]] | None = None
    adds_residual: bool = False

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
        program = with_residual(program) if self.adds_residual else program
        model = tinyc.compile(program, target="sim", arch=self.arch, plan={"scheme": "mma", **self.plan}, bind=bound)
        text = model.text("ptx")
        if not self.ctas:
            return text
        of_product = max(model.lowering.program().kernels, key=lambda kernel: math.prod(map(int, kernel.grid)))
        whole = ", ".join(map(str, of_product.grid))
        assert text.count(f"grid = [{whole}]") == 1
        return text.replace(f"grid = [{whole}]", f"grid = [{self.ctas}, 1, 1]")

    @functools.cached_property
    def operands(self) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Random inputs by name, and what numpy makes of them."""
        m, n, k = self.sizes
        random = np.random.default_rng(m * n * k)
        x, w, bias = (random.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n), (n,)))
        if self.source is not None:
            x = np.round(4 * x).astype(self.source[1])
        given, total = {"X": x, "W": w, "bias": bias}, x.astype(np.float32) @ w.astype(np.float32) + bias
        if self.adds_residual:
            given["R"] = random.standard_normal((m, n)).astype(np.float16)
            total += given["R"]
        return given, np.maximum(total, 0)


def with_cast(program: str, element: str) -> str:
    """GEMM with X of another element type, cast to f16."""
    view, value = '"src":["X"],"out":"X0"}', '"X": {"dtype":"fp16"'
    assert view in program
    assert value in program
    cast = f'{view.replace("X0", "Xs")},\n    {{"uop":"CAST","src":["Xs"],"arg":{{"to":"fp16"}},"out":"X0"}}'
    return program.replace(view, cast).replace(value, value.replace("fp16", element))


def with_residual(program: str) -> str:
    """GEMM with R, as large as the result, added behind the bias."""
    sums, value = '"out":"Yb"}', '"bias": {"dtype":"fp16","shape":["N"]}'
    assert sums in program
    assert value in program
    added = '"out":"Yb0"},\n    {"uop":"ADD","src":["Yb0","R"],"out":"Yb"}'
    return program.replace(sums, added).replace(value, f'{value},\n    "R": {{"dtype":"fp16","shape":["M","N"]}}')


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
_WARPS = {"tile": [64, 64, 32], "warp_tile": "32x32", "stages": 4}
_SERIAL, _PARALLEL = ({"algo_choice": {"matmul": f"splitk_{order}"}} for order in ("serial", "parallel"))
MULTISTAGE = ProductKernel("multistage", "sm_80", _WARPS, (64, 128, 192))
SIMPLE = ProductKernel("simple", "sm_90a", {**_SMALL, "schedule": "simple"}, (64, 128, 512))
#: A CTA has several tiles, a tile more steps along k than there are stages.
COOPERATIVE = ProductKernel("cooperative", "sm_90a", {**_LARGE, "cluster": [1, 1]}, (256, 256, 256), 2)
PINGPONG = ProductKernel(
    "pingpong", "sm_90a", {**_SMALL, "schedule": "pingpong", "cluster": [1, 1]}, (256, 128, 256), 1
)
CLUSTER = ProductKernel("cluster of two", "sm_90a", {**_LARGE, "cluster": [2, 1]}, (256, 256, 256), 2)
CLUSTER_ALONG_N = ProductKernel("cluster along n", "sm_90a", {**_LARGE, "cluster": [1, 2]}, (256, 256, 256), 2)
#: A product is in flight while the next one is started.
IN_FLIGHT = ProductKernel(
    "one in flight",
    "sm_90a",
    {**_SMALL, "schedule": "cooperative", "cluster": [1, 1], "wait_depth": 1},
    (64, 128, 512),
    1,
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
#: R comes to the epilogue by TMA, to buffers of two slabs in turn.
RESIDUAL = ProductKernel("residual", "sm_90a", {**_LARGE, "cluster": [1, 1]}, (256, 256, 128), 2, adds_residual=True)
#: Here by cp.async, to where the circular buffer was: the last copies, of zeros, are to where R comes to.
RESIDUAL_OF_WARPS = ProductKernel("residual of warps", "sm_80", _WARPS, (64, 128, 160), adds_residual=True)
#: The CTAs of a tile take turns, or a kernel behind adds what they leave; a slice has more steps than there are stages.
SERIAL_OF_WARPS, PARALLEL_OF_WARPS = (
    ProductKernel(f"{name} slices of warps", "sm_80", {**_WARPS, **order, "split_k": 3}, (64, 128, 576))
    for name, order in (("serial", _SERIAL), ("parallel", _PARALLEL))
)
#: A CTA has slices of several tiles, and other slices of these are other CTAs'.
SERIAL, PARALLEL = (
    ProductKernel(
        f"{name} slices",
        "sm_90a",
        {**_SMALL, **order, "schedule": "cooperative", "cluster": [1, 1], "split_k": 3},
        (128, 128, 384),
        3,
    )
    for name, order in (("serial", _SERIAL), ("parallel", _PARALLEL))
)
KERNELS = (
    MULTISTAGE,
    SIMPLE,
    COOPERATIVE,
    PINGPONG,
    CLUSTER,
    FRAGMENTS,
    CLUSTER_ALONG_N,
    IN_FLIGHT,
    RESIDUAL,
    RESIDUAL_OF_WARPS,
    SERIAL_OF_WARPS,
    PARALLEL_OF_WARPS,
    SERIAL,
    PARALLEL,
)
