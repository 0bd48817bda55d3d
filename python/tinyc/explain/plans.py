"""`tinyc explain --plan`: the plan of each kernel, which schemes would build it, and what there was to choose from.

In: a program at the Region layer, what is given of plans, a GPU. Out: `KernelPlan`s, and those as tables or JSON.
Nothing is decided here: the plans are those of `region-plan`.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tinyc.analysis.candidate import Candidate
from tinyc.diagnostics import counted
from tinyc.dialects.region.kernel import Kernel
from tinyc.dialects.region.plan import candidates_of, given_plans, is_planned, plan_of_kernel
from tinyc.mlir import ir
from tinyc.plan.fields import Plan
from tinyc.plan.key import region_key
from tinyc.schemes.completion import answer_of, completed_plan, default_plan, summary_of
from tinyc.schemes.registry import kind_of_plan, kinds_of
from tinyc.schemes.scheme import Acceptance
from tinyc.schemes.search import PlanSearch, PrunedPlan, RankedPlan
from tinyc.target import Machine
from tinyc.target.target import Target
from tinyc.text.table import Table

#: How many of the plans that can be built a table has; JSON has all.
_SHOWN = 10
#: What tables call the terms that have another name there.
_TERMS = {"registers_per_thread": "registers", "ctas_per_sm": "CTAs per SM"}


@dataclass(frozen=True)
class SchemeVerdict:
    """Whether a scheme builds a kernel (`accepts`), whether it does so by this plan (`taken`), and why."""

    scheme: str
    accepts: bool
    taken: bool
    reason: str


@dataclass(frozen=True)
class KernelPlan:
    """A kernel with its region's key, its complete plan and the reason for it.

    `schemes` are what each says, in the order in which they are asked, and `search` what the plan was chosen from; of
    a kernel that is no contraction there is neither.
    """

    kernel: str
    key: str
    plan: Plan
    reason: str
    schemes: tuple[SchemeVerdict, ...]
    search: PlanSearch | None


def kernel_plans(module: ir.Module, source: object, target: Machine) -> tuple[KernelPlan, ...]:
    """The plans of the kernels of a module, in their order.

    Raises:
        TinycError: what is wrong with the source of plans; a plan that is refused.
    """
    candidates = candidates_of(module, target)
    given = given_plans(source, candidates, target)
    return tuple(_planned(kernel, candidate, target, given.get(kernel)) for kernel, candidate in candidates.items())


def _planned(kernel: Kernel, candidate: Candidate, target: Machine, given: Plan | None) -> KernelPlan:
    own = plan_of_kernel(kernel)
    asked = given or (own if is_planned(kernel, target) else None)
    formed = None if is_planned(kernel) else own
    if asked is None:
        default = default_plan(candidate, target, formed)
        plan, reason = default.plan, default.reason
    else:
        plan, reason = completed_plan(asked, candidate, target), "the plan is given"
    key, scheme = region_key(kernel.op), kind_of_plan(plan)
    if candidate.product is None:
        return KernelPlan(kernel.name, key, plan, reason, (), None)
    verdicts = tuple(_verdicts(plan, asked is not None, candidate, target))
    return KernelPlan(
        kernel.name, key, plan, reason, verdicts, scheme.search(asked or formed or Plan(), candidate, target)
    )


def _verdicts(plan: Plan, is_given: bool, candidate: Candidate, target: Machine) -> Iterator[SchemeVerdict]:
    """What each scheme says of a kernel of `plan`, which is given or the default."""
    for scheme in kinds_of(target):
        precision = plan.precision or "ieee"
        answer, taken = answer_of(scheme, candidate, target, precision), scheme.name == plan.scheme
        accepts = isinstance(answer, Acceptance) or (
            answer.error == "PlanMismatch" and scheme.refuses(precision, candidate, target) is None  # if a plan says so
        )
        reason = answer.reason or "it builds any region"
        if accepts and not isinstance(answer, Acceptance):
            reason = "its loops may have that form, where a plan says so"
        elif accepts and not taken:
            reason += f"; the plan is for {plan.scheme}" if is_given else f"; {plan.scheme} comes before it"
        yield SchemeVerdict(scheme.name, accepts, taken, reason)


# --- tables -----------------------------------------------------------------------------------------------------------


def plan_tables(plans: Sequence[KernelPlan], target: Machine) -> Iterator[Table]:
    """Yield the plans of all kernels, and for each contraction its schemes and what its plan was chosen from."""
    rows = tuple((each.kernel, each.key, summary_of(each.plan), each.reason) for each in plans)
    title = f"{counted(len(plans), 'kernel')} for {_called(target)}"
    yield Table(title, ("kernel", "region", "plan", "since"), rows)
    for each in plans:
        if each.schemes:
            yield _schemes(each)
        if each.search is not None:
            yield _ranked(each.kernel, each.search)
            if each.search.pruned:
                yield _pruned(each.kernel, each.search.pruned)


def _called(machine: Machine) -> str:
    """A machine, and the product whose numbers stand for it, if there is one."""
    return f"{machine.name} ({machine.product})" if isinstance(machine, Target) else machine.name


def _schemes(plan: KernelPlan) -> Table:
    said = {(True, True): "taken", (True, False): "would build it", (False, False): "refuses it"}
    rows = ((each.scheme, said[each.accepts, each.taken], each.reason) for each in plan.schemes)
    return Table(
        f"@{plan.kernel}: schemes, in the order in which they are asked", ("scheme", "verdict", "why"), tuple(rows)
    )


def _ranked(kernel: str, search: PlanSearch) -> Table:
    shown = search.ranked[:_SHOWN]
    fields = [dict(_decisions(each.plan)) for each in shown]
    rows = (
        (number, *decided.values(), _microseconds(each), each.limiter, *each.terms.values())
        for number, (decided, each) in enumerate(zip(fields, shown, strict=True), start=1)
    )
    built = counted(len(search.ranked), "plan") + " can be built"
    some = f", the {len(shown)} fastest" if len(shown) < len(search.ranked) else ""
    title = f"@{kernel}: {built}{some}; predicted for {search.problem}"
    terms = (_TERMS.get(name, name.replace("_percent", " %").replace("_", " ")) for name in shown[0].terms)
    return Table(title, ("", *fields[0], "us", "limited by", *terms), tuple(rows))


def _decisions(plan: Plan) -> Iterator[tuple[str, str]]:
    """The fields that a row has, with short texts: those that the searches of its scheme decide."""
    assert plan.tile is not None
    yield "tile", "x".join(map(str, plan.tile))
    if plan.pack is not None:
        yield "C_stride", (plan.layout_hints or {})["C_stride"]
        yield "packed", ", ".join(side for side, is_packed in plan.pack.items() if is_packed) or "none"
        return
    assert plan.cluster is not None
    assert plan.raster is not None
    yield from (("warp_tile", str(plan.warp_tile)), ("schedule", str(plan.schedule)), ("stages", str(plan.stages)))
    yield "cluster", "x".join(map(str, plan.cluster))
    yield "raster", f"{plan.raster['along']} by {plan.raster['group']}"
    yield "split_k", "1" if plan.split_k == 1 else f"{plan.split_k} ({', '.join((plan.algo_choice or {}).values())})"


def _microseconds(plan: RankedPlan) -> float:
    return float(f"{plan.seconds * 1e6:.4g}")


def _pruned(kernel: str, pruned: Sequence[PrunedPlan]) -> Table:
    """A row for each kind of fault: how many plans have it, and the first of them."""
    first: dict[tuple[str, str], tuple[PrunedPlan, str]] = {}
    counts: dict[tuple[str, str], int] = {}
    for plan in pruned:
        for kind, messages in _by_kind(plan).items():
            first.setdefault(kind, (plan, messages[0]))
            counts[kind] = counts.get(kind, 0) + 1
    rows = (
        (error, counts[error, field], "x".join(map(str, plan.plan.tile or ())), f"'{field}' {message}")
        for (error, field), (plan, message) in first.items()
    )
    title = f"@{kernel}: {counted(len(pruned), 'plan')} pruned, by their faults, of which one may have several"
    return Table(title, ("error", "plans", "the first one's tile", "why"), tuple(rows))


def _by_kind(plan: PrunedPlan) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for error, field, message in plan.faults:
        found.setdefault((error, field), []).append(message)
    return found


# --- JSON -------------------------------------------------------------------------------------------------------------


def plans_to_json(plans: Iterable[KernelPlan], target: Machine) -> str:
    """The same as text for programs, with all plans that were considered, and times in microseconds."""
    value = {"target": target.name, "kernels": [_kernel_value(each) for each in plans]}
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _kernel_value(plan: KernelPlan) -> dict[str, Any]:
    value: dict[str, Any] = {
        "kernel": plan.kernel,
        "region": plan.key,
        "plan": plan.plan.values(),
        "since": plan.reason,
    }
    if plan.schemes:
        value["schemes"] = [vars(each) for each in plan.schemes]
    if plan.search is not None:
        value["problem"] = plan.search.problem
        value["ranked"] = [_ranked_value(each) for each in plan.search.ranked]
        value["pruned"] = [_pruned_value(each) for each in plan.search.pruned]
    return value


def _ranked_value(plan: RankedPlan) -> dict[str, Any]:
    return {"plan": plan.plan.values(), "us": _microseconds(plan), "limiter": plan.limiter, **plan.terms}


def _pruned_value(plan: PrunedPlan) -> dict[str, Any]:
    faults = [dict(zip(("error", "field", "message"), each, strict=True)) for each in plan.faults]
    return {"plan": plan.plan.values(), "faults": faults}
