"""The plan of each kernel, complete and checked: its own, or the default, of which a remark tells.

In: the kernels of a module, some with an attribute `plan`, and the architecture that was asked for. Out: the target,
and for each kernel a `PlannedKernel`. A plan may be written by hand, so nothing of it is taken on trust.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tinyc.analysis.candidate import Candidate
from tinyc.analysis.host_names import HostNames
from tinyc.analysis.kernel_candidate import kernel_candidate
from tinyc.diagnostics import TinycError
from tinyc.dialects.region.kernel import Kernel
from tinyc.dialects.region.plan import is_planned, plan_of_kernel, planned
from tinyc.plan.fields import ARCHITECTURES, Plan
from tinyc.schemes.completion import completed_plan
from tinyc.target import DEFAULT_ARCH, target_of
from tinyc.target.target import Target


@dataclass(frozen=True)
class PlannedKernel:
    """A kernel with a complete plan, and the facts that it is checked against."""

    kernel: Kernel
    candidate: Candidate
    plan: Plan


def plans_for(kernels: Mapping[str, Kernel], arch: str | None, names: HostNames) -> tuple[Target, list[PlannedKernel]]:
    """The target, and every kernel with its plan; `names` are what the host calls the buffers.

    The target is `arch`, or what the first plan that names one architecture is for.

    Raises:
        TinycError: `UnsupportedTarget`; `InvalidPlan`, `PlanMismatch`, `ResourceExceeded`, `UnsupportedPlan`,
            `NoGpuKernel`: all that is wrong with any plan.
    """
    given = {name: plan_of_kernel(kernel) for name, kernel in kernels.items()}
    asked = [ARCHITECTURES[plan.arch] for plan in given.values() if plan is not None and plan.arch is not None]
    definite = [targets[0] for targets in asked if len(targets) == 1]
    target = target_of(arch or next(iter(definite), DEFAULT_ARCH))
    found: list[PlannedKernel] = []
    errors: list[TinycError] = []
    for name, kernel in kernels.items():
        plan, candidate = given[name], kernel_candidate(kernel, names)
        try:
            if plan is None or not is_planned(kernel):
                complete = planned(kernel, candidate, target)
            else:
                complete = completed_plan(plan, candidate, target)
        except TinycError as error:
            errors += error.errors
        else:
            found.append(PlannedKernel(kernel, candidate, complete))
    if errors:
        raise TinycError.several(errors)
    return target, found
