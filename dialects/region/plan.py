"""Plans on regions: each kernel gets the decisions that its GPU kernel is built by, as the attribute `plan`."""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tinyc.analysis.host_names import host_names
from tinyc.diagnostics import TinycError, remark
from tinyc.dialects.region.verify import kernels
from tinyc.passes import Pass
from tinyc.plan import attribute, json_text
from tinyc.plan.fields import NAIVE, Plan
from tinyc.plan.key import region_key
from tinyc.plan.source import load
from tinyc.plan.table import PlanTable
from tinyc.plan.validate import USED, completed, fits
from tinyc.plan.workload import Workload, workload_of
from tinyc.target import DEFAULT_ARCH, target_of
from tinyc.target.target import Target
from tinyc.text import where

_ATTRIBUTE = "plan"
#: A message names this many regions.
_NAMED = 8


@dataclass(frozen=True)
class RegionPlan(Pass):
    """Attach a complete plan to each region, checked against the region and the target.

    `plan` is the path of a plan or of a table of plans, in JSON or the DSL, or its text in quotes. One plan is for
    every region that its scheme fits, a table's plan for the region with its key, {"<key>": {…}}; the remarks of this
    pass tell the keys. A region that is given none keeps the plan that it has, or gets the default.

    Scheme naive_2x2_per_thread takes tile, stages, bind, cache, predicate_tail, epilogue, order, split, pipeline, arch,
    async and precision; scheme generic takes arch and precision.

    Requires:
        1. The module holds `region.kernel`s.
    Ensures:
        1. Each kernel has an attribute `plan` with every decision that its scheme needs, legal for `arch`.
        2. A remark `plan-given` or `plan-default` for each kernel says which, and why.
    Before:
        !buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
        "region.kernel"() ({
        ^bb0(%x: !buffer, %y: !buffer):
          %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
          "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
          omp.terminator
        }) {sym_name = "copy"} : () -> ()
    After:
        !buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
        "region.kernel"() ({
        ^bb0(%x: !buffer, %y: !buffer):
          %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
          "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
          omp.terminator
        }) {plan = {arch = "sm_80", precision = "ieee", scheme = "generic"}, sym_name = "copy"} : () -> ()
    Source: specification 000 §1.7, 002 §5.
    """

    arch: str = field(default=DEFAULT_ARCH, metadata={"doc": "what to plan for: sm_80 or sm_90a"})
    plan: str | None = field(default=None, metadata={"doc": "a plan or a table of plans: a path, or JSON or DSL text"})

    name: ClassVar[str] = "region-plan"
    consumes: ClassVar[tuple[str, ...]] = ("region",)
    produces: ClassVar[tuple[str, ...]] = ("region",)

    def alone(self) -> "RegionPlan":
        """Return the pass with the content of the plan's file in place of its path."""
        source = load(self.plan)
        return self if source is None else dataclasses.replace(self, plan=json_text.to_text(source))

    def run(self, module: Any) -> None:
        """Give every kernel of `module` a plan, or none of them one if a plan is refused."""
        target = target_of(self.arch)
        source = load(self.plan) or PlanTable()
        names = host_names(module)
        workloads = {kernel: workload_of(kernel, names) for kernel in kernels(module).values()}
        given = _by_key(source, workloads) if isinstance(source, PlanTable) else _by_fit(source, workloads, target)
        plans: dict[Any, Plan] = {}
        errors: list[TinycError] = []
        for kernel, workload in workloads.items():
            try:
                plans[kernel] = planned(kernel, workload, target, given.get(kernel))
            except TinycError as error:
                errors += error.errors
        if errors:
            raise TinycError.several(errors)
        for kernel, plan in plans.items():
            attach(kernel, plan)


def plan_of(kernel: Any) -> Plan | None:
    """Return the plan that a `region.kernel` has, or None.

    Raises:
        TinycError: `InvalidPlan`.
    """
    attributes = kernel.operation.attributes
    if _ATTRIBUTE not in attributes:
        return None
    return attribute.parse(attributes[_ATTRIBUTE], where(kernel.operation.location))


def attach(kernel: Any, plan: Plan) -> None:
    """Make `plan` the plan of a `region.kernel`."""
    kernel.operation.attributes[_ATTRIBUTE] = attribute.to_attribute(plan)


def planned(kernel: Any, workload: Workload, target: Target, given: Plan | None = None) -> Plan:
    """Return the complete plan for a kernel: of the one that is given, the one that it has, or none; a remark says so.

    Raises:
        TinycError: the plan is refused (`completed`), or the kernel's is `InvalidPlan`.
    """
    chosen = given or plan_of(kernel)
    plan = completed(chosen, workload, target)
    key = region_key(kernel)
    evidence = {"kernel": workload.name, "key": key, "plan": plan.values()}
    if chosen is not None:
        message = f"@{workload.name} (region {key}) has the plan that was given: {_described(plan)}"
        remark("plan-given", workload.where, message, **evidence)
        return plan
    reason = _reason(plan, workload, target)
    message = f"@{workload.name} (region {key}) gets the default plan: {_described(plan)}, since {reason}"
    remark("plan-default", workload.where, message, **evidence, reason=reason)
    return plan


def _described(plan: Plan) -> str:
    if plan.tile is None:
        return str(plan.scheme)
    return f"{plan.scheme}, tile {' × '.join(map(str, plan.tile))}, stages {plan.stages}"


def _reason(plan: Plan, workload: Workload, target: Target) -> str:
    if workload.product is None:
        return workload.reason
    if plan.scheme != NAIVE:
        return f"its tiles are more blocks than {target.name} launches at once"
    return "it is a contraction"


def _by_key(table: PlanTable, workloads: Mapping[Any, Workload]) -> dict[Any, Plan]:
    """Return the plan of each kernel that has one in a table.

    Raises:
        TinycError: `PlanMismatch`: a plan is for a region that the module does not have.
    """
    if not table.plans:
        return {}
    keys = {kernel: region_key(kernel) for kernel in workloads}
    unused = [key for key in table.plans if key not in keys.values()]
    if unused:
        known = _listed(f"{key} (@{workloads[kernel].name})" for kernel, key in keys.items())
        message = "the plan table has the key {}, and the module has no such region; its regions are {}"
        raise TinycError.several([TinycError("PlanMismatch", message.format(key, known)) for key in unused])
    return {kernel: table.plans[key] for kernel, key in keys.items() if key in table.plans}


def _by_fit(plan: Plan, workloads: Mapping[Any, Workload], target: Target) -> dict[Any, Plan]:
    """Return `plan` for each kernel that its scheme fits.

    Raises:
        TinycError: there is none; `PlanMismatch`, unless no region at all could have the plan.
    """
    fitting = [kernel for kernel, workload in workloads.items() if fits(plan, workload)]
    if workloads and not fitting:
        if plan.scheme in (None, NAIVE) and set(plan.values()) <= set(USED[NAIVE]):
            regions = _listed(f"@{workload.name} ({workload.reason})" for workload in workloads.values())
            message = f"the plan is for contractions, and the module has none; its regions are {regions}"
            raise TinycError("PlanMismatch", f"{message}; leave the plan out")
        contractions = [workload for workload in workloads.values() if workload.product is not None]
        completed(plan, (contractions or list(workloads.values()))[0], target)  # says why
    return dict.fromkeys(fitting, plan)


def _listed(texts: Iterable[str]) -> str:
    entries = list(texts)
    more = f" and {len(entries) - _NAMED} more" if len(entries) > _NAMED else ""
    return ", ".join(entries[:_NAMED]) + more
