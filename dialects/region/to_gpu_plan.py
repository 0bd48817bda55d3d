"""The plan of each kernel, complete and checked: its own, or the default, of which a remark tells.

In: the kernels of a module, some with an attribute `plan`, and the architecture that was asked for. Out: the target,
and for each kernel a `Planned`. A plan may be written by hand, so nothing of it is taken on trust.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tinyc.analysis.host_names import HostNames
from tinyc.diagnostics import TinycError
from tinyc.dialects.region.plan import plan_of, planned
from tinyc.plan.fields import ARCHITECTURES, NAIVE, Plan
from tinyc.plan.validate import completed
from tinyc.plan.workload import Product, workload_of
from tinyc.target import DEFAULT_ARCH, target_of
from tinyc.target.target import Target


@dataclass(frozen=True)
class Planned:
    """A complete plan, and the matrix product that it tiles, if its scheme is one for matrix products."""

    plan: Plan
    product: Product | None


def plans_for(kernels: Mapping[str, Any], arch: str | None, names: HostNames) -> tuple[Target, dict[str, Planned]]:
    """Return the target and the plan of each kernel; `names` are what the host calls the buffers.

    The target is `arch`, or what the first plan that names one architecture is for.

    Raises:
        TinycError: `UnsupportedTarget`; `InvalidPlan`, `PlanMismatch`, `ResourceExceeded`, `UnsupportedPlan`: all that
            is wrong with any plan.
    """
    given = {name: plan_of(kernel) for name, kernel in kernels.items()}
    asked = [ARCHITECTURES[plan.arch] for plan in given.values() if plan is not None and plan.arch is not None]
    definite = [targets[0] for targets in asked if len(targets) == 1]
    target = target_of(arch or next(iter(definite), DEFAULT_ARCH))
    plans: dict[str, Planned] = {}
    errors: list[TinycError] = []
    for name, kernel in kernels.items():
        try:
            plans[name] = _complete(kernel, given[name], target, names)
        except TinycError as error:
            errors += error.errors
    if errors:
        raise TinycError.several(errors)
    return target, plans


def _complete(kernel: Any, plan: Plan | None, target: Target, names: HostNames) -> Planned:
    workload = workload_of(kernel, names)
    complete = planned(kernel, workload, target) if plan is None else completed(plan, workload, target)
    return Planned(complete, workload.product if complete.scheme == NAIVE else None)
