"""Plans on regions: each kernel gets the decisions that its code is built by, as the attribute `plan`."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from tinyc.analysis.candidate import Candidate
from tinyc.analysis.host_names import host_names
from tinyc.analysis.kernel_candidate import kernel_candidate
from tinyc.diagnostics import TinycError, remark
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.kernel import Kernel, kernels_of
from tinyc.dialects.region.launches import kept_operands
from tinyc.mlir import ir
from tinyc.mlir.locations import where
from tinyc.passes import Pass
from tinyc.plan.attribute import plan_attribute, plan_of_attribute
from tinyc.plan.fields import FORMED_FIELDS, Plan
from tinyc.plan.json_text import plan_to_json
from tinyc.plan.key import region_key
from tinyc.plan.source import load_plan
from tinyc.plan.table import PlanTable
from tinyc.schemes.completion import (
    completed_plan,
    default_plan,
    degradation_of,
    fields_by_scheme,
    first_few,
    fits,
    require_fit,
    summary_of,
)
from tinyc.target import DEFAULT_ARCH, GENERIC_CPU, CpuTarget, Machine, target_of

_ATTRIBUTE = "plan"


@dataclass(frozen=True)
class RegionPlan(Pass):
    """Attach a complete plan to each region, checked against the region and the target.

    `plan` is the path of a plan or of a table of plans, in JSON or the DSL, or its text in quotes. One plan is for
    every region that its scheme fits, a table's plan for the region with its key, {"<key>": {…}}; the remarks of this
    pass tell the keys. What a table says of `fusion` is for --tiny-to-region.
    A region that is given none keeps the plan that it has, or gets the default.

    Requires:
        1. The module holds `region.kernel`s.
    Ensures:
        1. Each kernel has an attribute `plan` with every decision that its scheme needs, legal for `arch`.
        2. A remark `plan-given` or `plan-default` for each kernel says which, and why; `plan-degraded`, for which other
           one the machine has no room.
    Before:
        !buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
        "region.kernel"() ({
        ^bb0(%x: !buffer, %y: !buffer):
          %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
          "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
          omp.terminator
        }) {sym_name = "copy"} : () -> ()
    After:
        !buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
        "region.kernel"() ({
        ^bb0(%x: !buffer, %y: !buffer):
          %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
          "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
          omp.terminator
        }) {plan = {arch = "sm_80", precision = "ieee", scheme = "elementwise",
                    vectorize = {axis = "n", width = 4 : i64}}, sym_name = "copy"} : () -> ()
    Source: specification 000 §1.7, 002 §5.
    """

    arch: str = field(default=DEFAULT_ARCH, metadata={"doc": "what to plan for: sm_80, sm_90a, or cpu"})
    plan: str | None = field(
        default=None,
        metadata={"doc": f"a plan or a table of plans: a path, or JSON or DSL text; {fields_by_scheme()}"},
    )

    name: ClassVar[str] = "region-plan"
    consumes: ClassVar[tuple[str, ...]] = ("region",)
    produces: ClassVar[tuple[str, ...]] = ("region",)
    works_on: ClassVar[tuple[type[ir.OpView], ...]] = (region.KernelOp,)

    def alone(self) -> "RegionPlan":
        """The pass with the content of the plan's file in place of its path."""
        source = load_plan(self.plan)
        return self if source is None else dataclasses.replace(self, plan=plan_to_json(source))

    def run(self, module: ir.Module) -> None:
        """Give every kernel of `module` a plan, or none of them one if a plan is refused."""
        target = GENERIC_CPU if self.arch in GENERIC_CPU.names else target_of(self.arch)
        candidates = candidates_of(module, target)
        given = given_plans(self.plan, candidates, target)
        plans: dict[Kernel, Plan] = {}
        errors: list[TinycError] = []
        for kernel, candidate in candidates.items():
            try:
                plans[kernel] = planned(kernel, candidate, target, given.get(kernel))
            except TinycError as error:
                errors += error.errors
        if errors:
            raise TinycError.several(errors)
        for kernel, plan in plans.items():
            kernel.op.attributes[_ATTRIBUTE] = plan_attribute(plan)


def candidates_of(module: ir.Module, target: Machine) -> dict[Kernel, Candidate]:
    """The facts about each kernel of a module; on a CPU also what its weights are, which may be packed once."""
    names, kernels = host_names(module), kernels_of(module)
    kept = kept_operands(module, kernels) if isinstance(target, CpuTarget) else {}
    found = {kernel: kernel_candidate(kernel, names) for kernel in kernels.values()}
    return {kernel: dataclasses.replace(each, kept=kept.get(kernel.name, each.kept)) for kernel, each in found.items()}


def given_plans(source: object, candidates: Mapping[Kernel, Candidate], target: Machine) -> dict[Kernel, Plan]:
    """The plans that a source gives, for the kernels that they are for; of one plan those that its scheme fits.

    Raises:
        TinycError: what is wrong with the source; there are kernels, and a plan is for none of them.
    """
    loaded = load_plan(source) or PlanTable()
    return _by_key(loaded, candidates) if isinstance(loaded, PlanTable) else _by_fit(loaded, candidates, target)


def plan_of_kernel(kernel: Kernel) -> Plan | None:
    """The plan that a `region.kernel` has, or None.

    Raises:
        TinycError: `InvalidPlan`.
    """
    attributes = kernel.op.attributes
    if _ATTRIBUTE not in attributes:
        return None
    return plan_of_attribute(attributes[_ATTRIBUTE], where(kernel.location))


def is_planned(kernel: Kernel, machine: Machine | None = None) -> bool:
    """Whether a kernel has a plan, for a machine if one is given, and not only what its formation decides of one.

    What is for a CPU is none for a GPU, and the other way around.
    """
    attribute = kernel.op.attributes.get(_ATTRIBUTE, None)
    if not isinstance(attribute, ir.DictAttr):
        return attribute is not None
    arches = [each.attr.value for each in attribute if each.name == "arch" and isinstance(each.attr, ir.StringAttr)]
    if machine is not None and any((arch in GENERIC_CPU.names) != isinstance(machine, CpuTarget) for arch in arches):
        return False
    return not FORMED_FIELDS.issuperset(each.name for each in attribute)


def planned(kernel: Kernel, candidate: Candidate, target: Machine, given: Plan | None = None) -> Plan:
    """The complete plan for a kernel: of the one that is given, the one that it has, or none; a remark says so.

    Raises:
        TinycError: the plan is refused (`completed_plan`), or the kernel's is `InvalidPlan`.
    """
    key, own = region_key(kernel.op), plan_of_kernel(kernel)
    chosen = given or (own if is_planned(kernel, target) else None)
    if chosen is not None:
        plan = completed_plan(chosen, candidate, target)
        message = f"@{candidate.name} (region {key}) has the plan that was given: {summary_of(plan)}"
        remark("plan-given", candidate.where, message, kernel=candidate.name, key=key, plan=plan.values())
        _tell_of_degradation(chosen, plan, candidate, target)
        return plan
    formed = None if is_planned(kernel) else own
    default = default_plan(candidate, target, formed)
    plan, reason = default.plan, default.reason
    message = f"@{candidate.name} (region {key}) gets the default plan: {summary_of(plan)}, since {reason}"
    remark("plan-default", candidate.where, message, kernel=candidate.name, key=key, plan=plan.values(), reason=reason)
    _tell_of_degradation(formed, plan, candidate, target)
    return plan


def _tell_of_degradation(asked: Plan | None, plan: Plan, candidate: Candidate, target: Machine) -> None:
    """Remark on a plan that is not the fastest one that is left, since the machine has no room for that."""
    reason = degradation_of(asked, plan, candidate, target)
    if reason is not None:
        remark("plan-degraded", candidate.where, f"@{candidate.name}: {reason}", kernel=candidate.name)


def _by_key(table: PlanTable, candidates: Mapping[Kernel, Candidate]) -> dict[Kernel, Plan]:
    """The plan of each kernel that has one in a table.

    Raises:
        TinycError: `PlanMismatch`: a plan is for a region that the module does not have.
    """
    if not table.plans:
        return {}
    keys = {kernel: region_key(kernel.op) for kernel in candidates}
    unused = [key for key in table.plans if key not in keys.values()]
    if unused:
        known = first_few(f"{key} (@{kernel.name})" for kernel, key in keys.items())
        message = "the plan table has the key {}, and the module has no such region; its regions are {}"
        raise TinycError.several([TinycError("PlanMismatch", message.format(key, known)) for key in unused])
    return {kernel: table.plans[key] for kernel, key in keys.items() if key in table.plans}


def _by_fit(plan: Plan, candidates: Mapping[Kernel, Candidate], target: Machine) -> dict[Kernel, Plan]:
    """`plan` for each kernel that its scheme fits.

    Raises:
        TinycError: there are kernels, and it fits none (`require_fit`).
    """
    fitting = [kernel for kernel, candidate in candidates.items() if fits(plan, candidate, target)]
    if candidates and not fitting:
        require_fit(plan, list(candidates.values()), target)
    return dict.fromkeys(fitting, plan)
