"""Products by scheme `mma` as the clock takes them: launches of whole ones, and candidates of a ranking.

In: a product, a plan. Out: `KernelLaunch`, `Candidate`, estimates.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import tinyc
from gemm_cases import Product
from ptxsim.clock.estimate import Estimate
from ptxsim.clock.kernel_launch import KernelLaunch
from ptxsim.clock.ranking.candidates import Candidate
from ptxsim.clock.ranking.rank import FEW_STEPS
from ptxsim.clock.timing import estimate_launch

sys.path.insert(0, str(Path(__file__).parent.parent / "test"))

from mma_kernels.launches import launches_of

Plan = dict[str, object]
#: The GPU that a kernel of an architecture is timed on.
DEVICES = {"sm_90a": "h100", "sm_80": "a100"}
#: The steps along k by which a ranking predicts longer launches. CTAs of an A100 share an SM, and take turns in an
#: order that changes over many steps: from 12 and 24 of them a product comes out 20 % too fast.
RANKED_BY = {"sm_90a": FEW_STEPS, "sm_80": (64, 128)}


def launch_of(product: Product, arch: str, plan: Plan) -> KernelLaunch:
    """The launch of a product's kernel by a plan.

    Raises:
        tinyc.TinycError: the plan is refused, or makes several kernels.
    """
    found = launches_of(tinyc.compile(product.program, target="sim", arch=arch, plan=plan))
    if len(found) != 1:
        raise tinyc.TinycError("UnsupportedPlan", f"the plan makes {len(found)} kernels, and the clock takes one")
    return found[0]


def candidates_of(name: str, product: Product, arch: str, plan: Plan, depth: int) -> tuple[Candidate, ...]:
    """A product's kernels for a ranking; `depth` is that of the plan's tiles.

    One is predicted by few steps where these are of the same kernel, which a k that tiles do not divide is not.

    Raises:
        tinyc.TinycError: the plan is refused.
    """
    whole = launches_of(tinyc.compile(product.program, target="sim", arch=arch, plan=plan))
    steps, (fewer, few) = product.k // depth, RANKED_BY[arch]
    if len(whole) > 1 or product.k % depth or steps <= few:
        return tuple(Candidate(f"{name}, kernel {at}", launch) for at, launch in enumerate(whole))
    short = {each: launch_of(replace(product, k=each * depth), arch, plan) for each in (fewer, few)}
    return (Candidate(name, short[few], short.__getitem__, steps),)


def estimate_of(launch: KernelLaunch, arch: str, recorded: int = 1, warm: bool = True) -> Estimate:
    """The time of a launch, whole, with what the same launch has left in L2 before it if `warm`."""
    return estimate_launch(launch, DEVICES[arch], recorded, warm=warm)


def steady_share(product: Product, arch: str, plan: Plan, depth: int) -> float:
    """For which part of the time the tensor pipes are busy in the loop along k: what few more steps of it add."""
    launches = [launch_of(replace(product, k=few * depth), arch, plan) for few in RANKED_BY[arch]]
    short, long = (estimate_of(each, arch, warm=False) for each in launches)
    return (_busy(long) - _busy(short)) / (long.cycles - short.cycles)


def _busy(estimate: Estimate) -> float:
    return estimate.shares["tensor"] * (estimate.cycles - estimate.device.cta_start)


def fastest(estimates: Sequence[tuple[str, Estimate]]) -> tuple[str, Estimate]:
    """The name and the estimate of the kernel that takes least time."""
    return min(estimates, key=lambda each: each[1].seconds)
