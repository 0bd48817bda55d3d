"""A plan against its candidate and its target: every refusal at once, or the plan with all decisions made.

In: a plan as somebody wrote it (or none), the facts about a kernel, the numbers of a target. Out: the plan in which
every field that its scheme decides by is filled in; completing it again changes nothing.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from tinyc.analysis.candidate import Candidate
from tinyc.diagnostics import TinycError, either
from tinyc.expr.extents import ExtentError
from tinyc.plan.fields import ARCHITECTURES, ATTRIBUTES, Plan
from tinyc.plan.refusals import PlanRefusals
from tinyc.schemes.registry import CPU_KINDS, SCHEMES, kind_of_plan, kinds_of
from tinyc.schemes.scheme import FIELDS_OF_ALL, Acceptance, KernelKind, Refusal
from tinyc.target import Machine

#: What builds kernels, on whatever machine a plan is for.
AnyKind: TypeAlias = KernelKind[Any]


def answer_of(scheme: AnyKind, candidate: Candidate, target: Machine, precision: str = "ieee") -> Acceptance | Refusal:
    """A scheme's answer to a candidate, for a plan that asks for `precision`."""
    try:
        if precision in scheme.precisions:
            return scheme.accepts_in(precision, candidate, target)
        return scheme.accepts(candidate, target)
    except ExtentError as error:
        return _unrepresentable(error)


def _refusal_of(scheme: AnyKind, candidate: Candidate, target: Machine, precision: str) -> Refusal | None:
    """Why no plan makes a candidate a kernel of a scheme, whatever room the target has; None where one may."""
    try:
        return scheme.refuses(precision if precision in scheme.precisions else "ieee", candidate, target)
    except ExtentError as error:
        return _unrepresentable(error)


def _unrepresentable(error: ExtentError) -> Refusal:
    return Refusal("NoGpuKernel", f"its element count is not a representable extent: {error}; bind some of the symbols")


@dataclasses.dataclass(frozen=True)
class DefaultPlan:
    """The plan for a candidate that was given none; `reason` completes "since …"."""

    plan: Plan
    reason: str


def default_plan(candidate: Candidate, target: Machine, formed: Plan | None = None) -> DefaultPlan:
    """The complete plan of the first scheme that accepts `candidate`; `formed` is what its formation has decided.

    Raises:
        TinycError: the last scheme's refusal, where none accepts it; what speaks against `formed`.
    """
    refused: list[Refusal] = []
    for scheme in kinds_of(target):
        answer = answer_of(scheme, candidate, target)
        if isinstance(answer, Acceptance):
            plan = completed_plan(dataclasses.replace(formed or Plan(), scheme=scheme.name), candidate, target)
            return DefaultPlan(plan, answer.reason or "; ".join(dict.fromkeys(each.reason for each in refused)))
        refused.append(answer)
    raise _unbuildable(candidate, refused[-1])


def summary_of(plan: Plan) -> str:
    """What a remark says of a complete plan."""
    return kind_of_plan(plan).summary(plan)


def degradation_of(plan: Plan | None, complete: Plan, candidate: Candidate, target: Machine) -> str | None:
    """Why a complete plan is not the fastest that `plan` leaves: what the machine has no room for, if there is such."""
    return kind_of_plan(complete).degradation(plan or Plan(), candidate, target)


def completed_plan(plan: Plan, candidate: Candidate, target: Machine) -> Plan:
    """`plan` with every decision that its scheme needs.

    Raises:
        TinycError: what the plan asks for and cannot have: `PlanMismatch`, `ResourceExceeded`, `UnsupportedPlan`; or
            `NoGpuKernel`.
    """
    refusals = PlanRefusals(candidate.name, candidate.where)
    name = plan.scheme or _scheme_without_name(plan, candidate, target).name
    scheme = next((each for each in kinds_of(target) if each.name == name), None)
    if scheme is None:
        known = either(each.name for each in kinds_of(target))
        message = f"is '{name}', which this version has no kernel builder for on {target.name}; choose {known}"
        refusals.add("UnsupportedPlan", "scheme", message)
        raise TinycError.several(refusals.errors)
    unused = [field for field in plan.values() if not _takes(scheme, [field])]
    for field in unused:
        taken = ", ".join((*FIELDS_OF_ALL, *scheme.fields))
        refusals.add("UnsupportedPlan", field, f"is not used by scheme '{name}', which takes {taken}; leave it out")
    plan = dataclasses.replace(
        plan,
        scheme=name,
        arch=_arch(plan, target, refusals),
        precision=_precision(plan, scheme, refusals),
        algo_choice=_algorithms(plan, candidate, scheme, refusals),
        local_edges=_local_edges(plan, candidate, refusals),
        **{ATTRIBUTES[field]: None for field in unused},
    )
    refusal = _refusal_of(scheme, candidate, target, plan.precision or "ieee")
    if refusal is not None and refusal.error == "NoGpuKernel":
        raise _unbuildable(candidate, refusal)
    if refusal is not None:
        others = either(each.name for each in _schemes_for(candidate, target) if each is not scheme)
        message = f"is '{name}', which does not accept @{candidate.name}: {refusal.reason}; choose {others}"
        refusals.add("PlanMismatch", "scheme", message)
    else:
        plan = scheme.complete(plan, candidate, target, refusals)
    refusals.raise_all()
    return plan


def fits(plan: Plan, candidate: Candidate, target: Machine) -> bool:
    """Whether the scheme of `plan` is one for the candidate; without a scheme, whether one for it has the fields.

    The plan may still ask for more than the target has.
    """
    suited = _schemes_for(candidate, target, plan)
    if plan.scheme is None:
        return any(_takes_all(scheme, plan, candidate) for scheme in suited)
    return plan.scheme in [scheme.name for scheme in suited]


def require_fit(plan: Plan, candidates: Sequence[Candidate], target: Machine) -> None:
    """Refuse a plan that fits none of `candidates`, of which there is one at least.

    Raises:
        TinycError: `PlanMismatch` with every candidate's reason; or what is wrong with the plan for any of them.
    """
    kinds = kinds_of(target)
    for scheme in kinds:
        if plan.scheme in (None, scheme.name) and any(_takes_all(scheme, plan, each) for each in candidates):
            precision = plan.precision or "ieee"
            answers = ((each.name, answer_of(scheme, each, target, precision).reason) for each in candidates)
            reasons = first_few(f"@{name} ({reason})" for name, reason in answers)
            message = f"the plan is for scheme '{scheme.name}', which accepts no region of the module: {reasons}"
            raise TinycError("PlanMismatch", f"{message}; leave the plan out")
    # No scheme has its name and its fields: this is said of the most particular candidate.
    completed_plan(plan, min(candidates, key=lambda each: kinds.index(_schemes_for(each, target, plan)[0])), target)


def fields_by_scheme() -> str:
    """Which fields the schemes take, for help texts."""
    kinds: tuple[AnyKind, ...] = (*SCHEMES, *CPU_KINDS)
    own = [f"scheme {each.name} takes {', '.join(each.fields)}" for each in kinds if each.fields]
    return "; ".join([*own, f"every scheme takes {', '.join(FIELDS_OF_ALL)}"])


def first_few(texts: Iterable[str]) -> str:
    """A list for a message, which names 8 entries and counts the others."""
    entries = list(texts)
    more = f" and {len(entries) - 8} more" if len(entries) > 8 else ""
    return ", ".join(entries[:8]) + more


def _schemes_for(candidate: Candidate, target: Machine, plan: Plan | None = None) -> list[AnyKind]:
    """The schemes for such a candidate, whether or not the target has room for their default plans.

    A scheme may accept it only in the precision that `plan` asks for.
    """
    precision = (plan and plan.precision) or "ieee"
    refusals = [(scheme, _refusal_of(scheme, candidate, target, precision)) for scheme in kinds_of(target)]
    return [scheme for scheme, refusal in refusals if refusal is None or refusal.error != "PlanMismatch"]


def _scheme_without_name(plan: Plan, candidate: Candidate, target: Machine) -> AnyKind:
    """The scheme of a plan that names none: the first for the candidate that takes all of its fields, if any does."""
    suited = _schemes_for(candidate, target, plan)
    return next((scheme for scheme in suited if _takes_all(scheme, plan, candidate)), suited[0])


def _takes_all(scheme: AnyKind, plan: Plan, candidate: Candidate) -> bool:
    """Whether a scheme has every field of a plan for a candidate, and those that all have with these values."""
    algorithms = _algorithms_for(plan, scheme.pattern or candidate.pattern).items()
    return (
        _takes(scheme, plan.values())
        and (plan.precision or "ieee") in scheme.precisions
        and (scheme.copies_asynchronously or not (plan.asynchronous or {}).get("enable", False))
        and all(scheme.why_not_algorithm(pattern, algorithm) is None for pattern, algorithm in algorithms)
    )


def _takes(scheme: AnyKind, fields: Iterable[str]) -> bool:
    return set(fields) <= {*FIELDS_OF_ALL, *scheme.fields}


def _unbuildable(candidate: Candidate, refusal: Refusal) -> TinycError:
    return TinycError(refusal.error, f"@{candidate.name} cannot be a kernel: {refusal.reason}", candidate.where)


def _arch(plan: Plan, target: Machine, refusals: PlanRefusals) -> str:
    arch = plan.arch or target.name
    if target.name not in ARCHITECTURES[arch]:
        message = f"is '{arch}', and the plan is used for {target.name}; write {target.name}, or compile for {arch}"
        refusals.add("PlanMismatch", "arch", message)
    return arch


def _precision(plan: Plan, scheme: AnyKind, refusals: PlanRefusals) -> str:
    precision = plan.precision or "ieee"
    if precision not in scheme.precisions:
        message = f"is '{precision}', and scheme '{scheme.name}' does not use tensor cores; write \"ieee\""
        refusals.add("UnsupportedPlan", "precision", message)
    return precision


def _algorithms_for(plan: Plan, own: str | None) -> dict[str, str]:
    """The algorithms that a plan has for a pattern: that for it, where the plan has one."""
    given = plan.algo_choice or {}
    return {own: given[own]} if own in given else given


def _algorithms(plan: Plan, candidate: Candidate, scheme: AnyKind, refusals: PlanRefusals) -> dict[str, str] | None:
    """The algorithm of the candidate's contraction, if it has one: as given, else the scheme's, if it has only one."""
    own = scheme.pattern or candidate.pattern
    for pattern, algorithm in _algorithms_for(plan, own).items():
        if pattern != own:
            there_is = "it has no contraction" if own is None else f"its contraction is a {own}"
            refusals.add("PlanMismatch", "algo_choice", f"is for a pattern '{pattern}', and {there_is}; leave it out")
        elif (reason := scheme.why_not_algorithm(pattern, algorithm)) is not None:
            refusals.add("UnsupportedPlan", "algo_choice", f"is '{algorithm}', and {reason}")
    if own is None:
        return None
    given = (plan.algo_choice or {}).get(own)
    if given is None and scheme.chooses_algorithm:
        return None
    return {own: given if given and scheme.why_not_algorithm(own, given) is None else scheme.algorithm}


def _local_edges(plan: Plan, candidate: Candidate, refusals: PlanRefusals) -> tuple[dict[str, Any], ...] | None:
    """The local edges of the candidate, where Poly Core says that they live."""
    own = [edge.values for edge in candidate.local_edges]
    shown = first_few(f"{each['from']} to {each['to']} in {each['buffer']}" for each in own) or "none"
    for edge in plan.local_edges or ():
        if edge not in own:
            message = f"has {edge['from']} to {edge['to']} in {edge['buffer']}, and the region's edges are {shown}"
            refusals.add("PlanMismatch", "local_edges", f"{message}; leave it out")
    return tuple(own) or None
