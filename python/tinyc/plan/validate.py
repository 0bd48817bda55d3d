"""A plan against its region and its target: every refusal at once, or the plan with all decisions made.

In: a plan as somebody wrote it (or none), the facts about a region, the numbers of a target. Out: the plan in which
every field that its scheme decides by is filled in; completing it again changes nothing. The rules of
`naive_2x2_per_thread` are in `validate_naive`.
"""

import dataclasses

from tinyc.diagnostics import TinycError
from tinyc.plan.fields import ARCHITECTURES, ATTRIBUTES, NAIVE, Plan
from tinyc.plan.validate_case import Case, Refusals
from tinyc.plan.validate_naive import complete_naive
from tinyc.plan.workload import Workload
from tinyc.target.target import Target

_ANY = ("scheme", "arch", "precision")
#: Scheme that there is → the fields that it takes, by their names in a text; any other one is refused.
USED: dict[str, tuple[str, ...]] = {
    NAIVE: (
        *_ANY,
        *("tile", "stages", "pipeline", "order", "split", "bind", "cache", "predicate_tail", "epilogue", "async"),
    ),
    "generic": _ANY,
}


def fits(plan: Plan, workload: Workload) -> bool:
    """Say whether the scheme of `plan` is one for the region; without a scheme, whether the region's has its fields."""
    if plan.scheme is None:
        return set(plan.values()) <= set(USED[workload.scheme])
    return plan.scheme in ("generic", workload.scheme)


def completed(plan: Plan | None, workload: Workload, target: Target) -> Plan:
    """Return `plan` with every decision that its scheme needs; the default for the region where it is None.

    Raises:
        TinycError: what the plan asks for and cannot have: `PlanMismatch`, `ResourceExceeded`, `UnsupportedPlan`.
    """
    if plan is not None:
        return _completed(plan, workload, target)
    try:
        return _completed(Plan(), workload, target)
    except TinycError as error:
        if any(each.name != "ResourceExceeded" for each in error.errors):
            raise
        return _completed(Plan(scheme="generic"), workload, target)  # no launch is too large for it: threads take turns


def _completed(plan: Plan, workload: Workload, target: Target) -> Plan:
    scheme = plan.scheme or workload.scheme
    refusals = Refusals(workload)
    if scheme not in USED:
        message = f"is '{scheme}', which this version has no kernel builder for; choose {' or '.join(USED)}"
        refusals.add("UnsupportedPlan", "scheme", message)
        raise refusals.error()
    unused = [field for field in plan.values() if field not in USED[scheme]]
    for field in unused:
        message = f"is not used by scheme '{scheme}', which takes {', '.join(USED[scheme])}; leave it out"
        refusals.add("UnsupportedPlan", field, message)
    plan = dataclasses.replace(
        plan,
        scheme=scheme,
        arch=_arch(plan, target, refusals),
        precision=_precision(plan, scheme, refusals),
        **{ATTRIBUTES[field]: None for field in unused},
    )
    if scheme == NAIVE:
        if workload.product is None:
            message = f"is '{scheme}', and @{workload.name} is no contraction: {workload.reason}; choose generic"
            refusals.add("PlanMismatch", "scheme", message)
        else:
            plan = complete_naive(plan, Case(workload.product, target, refusals))
    if refusals:
        raise refusals.error()
    return plan


def _arch(plan: Plan, target: Target, refusals: Refusals) -> str:
    arch = plan.arch or target.name
    if target.name not in ARCHITECTURES[arch]:
        message = f"is '{arch}', and the plan is used for {target.name}; write {target.name}, or compile for {arch}"
        refusals.add("PlanMismatch", "arch", message)
    return arch


def _precision(plan: Plan, scheme: str, refusals: Refusals) -> str:
    precision = plan.precision or "ieee"
    if precision != "ieee":
        message = f"is '{precision}', and scheme '{scheme}' does not use tensor cores; write \"ieee\""
        refusals.add("UnsupportedPlan", "precision", message)
    return precision
