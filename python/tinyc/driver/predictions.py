"""What was predicted of the regions of a program at the sizes of a run: the estimates of their formation, and plans.

In: a lowered program, bound to sizes. Out: a prediction for each region; none in a program that was read below the Tiny
layer, and none of what formation at these sizes makes other regions of.
"""

from collections.abc import Iterable, Mapping, Sequence

from tinyc.analysis.graphs import main_function
from tinyc.diagnostics import TinycError
from tinyc.dialects.region.kernel import kernels_of
from tinyc.dialects.region.plan import plan_of_kernel
from tinyc.driver.binding import bind_symbols
from tinyc.driver.lowering import Lowering
from tinyc.driver.profile import Prediction, WrittenNodes
from tinyc.fusion.formation import form_regions
from tinyc.fusion.regions import Region
from tinyc.fusion.request import fusion_request
from tinyc.passes.runner import copy_module
from tinyc.runtime.bound import BoundProgram
from tinyc.schemes.completion import summary_of
from tinyc.target import DEFAULT_ARCH, Machine, machine_of
from tinyc.target.cpu import GENERIC_CPU
from tinyc.target.target import Target
from tinyc.vocabulary.run_key import RUN_KEY


def predictions(
    lowering: Lowering, bound: BoundProgram, kernels: Mapping[WrittenNodes, Sequence[str]]
) -> Mapping[WrittenNodes, Prediction]:
    """The predictions for regions, given by the nodes that they write, with the names of their kernels."""
    if not lowering.has("tiny"):
        return {}
    on_gpu = lowering.target != "cpu"
    machine = machine_of(lowering.options.get("arch", DEFAULT_ARCH) if on_gpu else GENERIC_CPU.name)
    regions = _regions(lowering, bound, machine)
    found: dict[WrittenNodes, Prediction] = {}
    for nodes, names in kernels.items():
        region = regions.get(frozenset(nodes))
        if region is not None:
            found[nodes] = _prediction(region, machine, _plans(lowering, names) if on_gpu else region.priced.scheme)
    return found


def _regions(lowering: Lowering, bound: BoundProgram, machine: Machine) -> Mapping[frozenset[str], Region]:
    """The regions of the program at the sizes of a run, by the nodes that they write."""
    module, asked = copy_module(lowering.module("tiny")), lowering.options
    request = fusion_request(asked.get("fuse"), asked.get("no_fuse"), asked.get("fusion"))
    with module.context:
        bind_symbols(module, {name: size for name, size in bound.values.items() if name != RUN_KEY})
        try:
            formation = form_regions(main_function(module), machine, request)
        except TinycError:  # what was asked for, for all sizes, may be refused at these
            return {}
    labels = formation.graph.labels
    return {frozenset(labels[name] for name in each.results): each for each in formation.regions}


def _prediction(region: Region, machine: Machine, plan: str) -> Prediction:
    cost, occupancy = region.priced.cost, ""
    if isinstance(machine, Target):
        resident = cost.ctas_per_sm * region.priced.resources.threads_per_cta
        occupancy = round(min(1.0, resident / machine.threads_per_sm), 3)
    moved_bytes = round(cost.read_bytes + cost.written_bytes)
    return Prediction(round(cost.flops), moved_bytes, occupancy, cost.terms["us"], plan)


def _plans(lowering: Lowering, kernels: Iterable[str]) -> str:
    """The plans of kernels in one line."""
    module = lowering.module("plan")
    with module.context:
        known = kernels_of(module)
        plans = [plan for name in kernels if name in known and (plan := plan_of_kernel(known[name])) is not None]
        return "; ".join(summary_of(plan) for plan in plans)
