"""Products by scheme `mma` as the clock takes them: launches of whole ones, and candidates of a ranking.

In: element type, sizes, a plan. Out: `KernelLaunch`, `Candidate`, estimates.
"""

import functools
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tinyc
from ptxsim.clock.estimate import Estimate
from ptxsim.clock.kernel_launch import KernelLaunch
from ptxsim.clock.ranking.candidates import Candidate
from ptxsim.clock.ranking.rank import FEW_STEPS
from ptxsim.clock.timing import estimate_launch

sys.path.insert(0, str(Path(__file__).parent.parent / "test"))

from mma_kernels.launches import launches_of

Plan = dict[str, object]
Sizes = tuple[int, int, int]
#: The GPU that a kernel of an architecture is timed on.
DEVICES = {"sm_90a": "h100", "sm_80": "a100"}


@dataclass(frozen=True)
class Product:
    """A · B in a type ("f16" or "bf16"), with f32 sums; `fused`: max(A · B + bias, 0)."""

    element: str = "f16"
    fused: bool = False

    @functools.cached_property
    def program(self) -> str:
        """Its uops as JSON."""
        held = f"{self.element.rstrip('16')}p16".replace("bfp", "bf")
        uops: list[dict[str, object]] = [
            _uop("RESHAPE", "X", "X1", result_shape=["M", 1, "K"]),
            _uop("RESHAPE", "W", "W1", result_shape=[1, "K", "N"]),
            _uop("PERMUTE", "W1", "W2", dims=[0, 2, 1]),
            {"uop": "MUL", "src": ["X1", "W2"], "out": "P"},
            _uop("REDUCE", "P", "S", op="SUM", axes=[-1], acc_dtype="fp32"),
        ]
        values = {"X": ["M", "K"], "W": ["K", "N"]}
        if self.fused:
            values["bias"] = ["N"]
            uops += [
                _uop("RESHAPE", "bias", "b1", result_shape=[1, "N"]),
                {"uop": "ADD", "src": ["S", "b1"], "out": "B"},
                {"uop": "RELU", "src": ["B"], "out": "R"},
            ]
        uops.append(_uop("CAST", "R" if self.fused else "S", "Y", to=held))
        typed = {name: {"dtype": held, "shape": shape} for name, shape in values.items()}
        return json.dumps({"uops": uops, "values": typed})

    def launch(self, arch: str, plan: Plan, sizes: Sizes) -> KernelLaunch:
        """The launch of its kernel by a plan.

        Raises:
            tinyc.TinycError: the plan is refused, or makes several kernels.
        """
        bound = dict(zip("MNK", sizes, strict=True))
        found = launches_of(tinyc.compile(self.program, target="sim", arch=arch, plan=plan, bind=bound))
        if len(found) != 1:
            raise tinyc.TinycError("UnsupportedPlan", f"the plan makes {len(found)} kernels, and the clock takes one")
        return found[0]

    def candidate(self, name: str, arch: str, plan: Plan, sizes: Sizes, depth: int) -> Candidate:
        """Its kernel for a ranking; `depth` is that of the plan's tiles.

        It is predicted by few steps where these are of the same kernel, which a k that tiles do not divide is not.

        Raises:
            tinyc.TinycError: as for `launch`.
        """
        m, n, k = sizes
        steps = k // depth
        if k % depth or steps <= FEW_STEPS[1]:
            return Candidate(name, self.launch(arch, plan, sizes))
        short = {few: self.launch(arch, plan, (m, n, few * depth)) for few in FEW_STEPS}
        return Candidate(name, short[FEW_STEPS[1]], short.__getitem__, steps)


def _uop(name: str, source: str, out: str, **arguments: object) -> dict[str, object]:
    return {"uop": name, "src": [source], "arg": arguments, "out": out}


def estimate_of(launch: KernelLaunch, arch: str, recorded: int = 1, warm: bool = True) -> Estimate:
    """The time of a launch, whole, with what the same launch has left in L2 before it if `warm`."""
    return estimate_launch(launch, DEVICES[arch], recorded, warm=warm)


def steady_share(product: Product, arch: str, plan: Plan, sizes: Sizes, depth: int) -> float:
    """For which part of the time the tensor pipes are busy in the loop along k: what few more steps of it add."""
    m, n, _ = sizes
    launches = [product.launch(arch, plan, (m, n, few * depth)) for few in FEW_STEPS]
    short, long = (estimate_of(each, arch, warm=False) for each in launches)
    return (_busy(long) - _busy(short)) / (long.cycles - short.cycles)


def _busy(estimate: Estimate) -> float:
    return estimate.shares["tensor"] * (estimate.cycles - estimate.device.cta_start)


def fastest(estimates: Sequence[tuple[str, Estimate]]) -> tuple[str, Estimate]:
    """The name and the estimate of the kernel that takes least time."""
    return min(estimates, key=lambda each: each[1].seconds)
