"""What was predicted of the regions of a program at the sizes of a run: the estimates of their formation, and plans.

In: a lowered program, bound to sizes. Out: a prediction for each region; none in a program that was read below the Tiny
layer. The regions are those that were compiled, whatever formation at these sizes would make, priced at them; one that
is none there is marked as `NOT_PRICED`.
"""

from collections.abc import Iterable, Mapping, Sequence

from tinyc.analysis.graphs import main_function
from tinyc.dialects.region.kernel import kernels_of
from tinyc.dialects.region.plan import plan_of_kernel
from tinyc.dialects.tiny import ops as tiny
from tinyc.driver.binding import bind_symbols
from tinyc.driver.lowering import Lowering
from tinyc.driver.profile import Prediction, WrittenNodes
from tinyc.fusion.formation import form_regions
from tinyc.fusion.graph import FusionGraph, fusion_graph
from tinyc.fusion.group import Group, group_of_nodes
from tinyc.fusion.pricing import Priced, Pricing
from tinyc.fusion.regions import Region
from tinyc.fusion.request import fusion_request
from tinyc.mlir import ir
from tinyc.mlir.locations import value_name
from tinyc.passes.runner import copy_module
from tinyc.plan.source import split_plan
from tinyc.runtime.bound import BoundProgram
from tinyc.schemes.completion import summary_of
from tinyc.target import DEFAULT_ARCH, Machine, machine_of
from tinyc.target.cpu import GENERIC_CPU
from tinyc.target.target import Target
from tinyc.vocabulary.run_key import RUN_KEY

#: Stands for the plan of a region of which nothing was predicted.
NOT_PRICED = "not priced"


def predictions(
    lowering: Lowering, bound: BoundProgram, kernels: Mapping[WrittenNodes, Sequence[str]]
) -> Mapping[WrittenNodes, Prediction]:
    """The predictions for regions, given by the nodes that they write, with the names of their kernels."""
    if not lowering.has("tiny"):
        return {}
    on_gpu = lowering.target != "cpu"
    machine = machine_of(lowering.options.get("arch", DEFAULT_ARCH) if on_gpu else GENERIC_CPU.name)
    priced = _priced_regions(lowering, bound, machine)
    found: dict[WrittenNodes, Prediction] = {}
    for nodes, names in kernels.items():
        plan, region = _plans(lowering, names) if on_gpu else "", priced.get(frozenset(nodes))
        if region is None:
            found[nodes] = Prediction(plan=plan or NOT_PRICED)
        else:
            found[nodes] = _prediction(region, machine, plan if on_gpu else region.scheme)
    return found


def _priced_regions(lowering: Lowering, bound: BoundProgram, machine: Machine) -> Mapping[frozenset[str], Priced]:
    """The regions that the program was compiled as, priced at the sizes of a run, by the nodes that they write."""
    module, asked = lowering.module("tiny"), lowering.options
    request = fusion_request(asked.get("fuse"), asked.get("no_fuse"), asked.get("fusion"))
    request = request.with_edges(split_plan(asked.get("plan"))[1])
    at_sizes = copy_module(module)
    with module.context:
        bind_symbols(at_sizes, {name: size for name, size in bound.values.items() if name != RUN_KEY})
        formation = form_regions(main_function(module), machine, request)
        graph, pricing = fusion_graph(main_function(at_sizes)), Pricing(machine)
        found = ((each, _at_sizes(each, formation.graph, graph)) for each in formation.regions)
        return {_written(each, formation.graph): pricing.of(group) for each, group in found if group is not None}


def _at_sizes(region: Region, compiled: FusionGraph, graph: FusionGraph) -> Group | None:
    """A region of the graph that was compiled in the graph at some sizes; None where it is none there.

    A movement that is affine at these sizes alone is read through there; what it moves is written in its place.
    """
    members = [name for name in region.members if name in graph.nodes]
    results = {_moved(name, compiled, graph) for name in region.results}
    if not results <= {*members}:
        return None
    group = group_of_nodes(graph, members, frozenset(filter(None, results)))
    return group if isinstance(group, Group) and group.members == {*members} else None


def _moved(name: str | None, compiled: FusionGraph, graph: FusionGraph) -> str | None:
    """The node of a graph that a value is, or is a movement of; None where it is of none."""
    while name is not None and name not in graph.nodes:
        op = compiled.values[name].owner
        if not isinstance(op, tiny.MovementOp):
            return None
        name = next((each for each, value in compiled.values.items() if value == op.operands[0]), None)
    return name


def _written(region: Region, graph: FusionGraph) -> frozenset[str]:
    """The names of what the kernel of a region writes: an op with several results writes all."""
    ops = [op for name in region.results if isinstance(op := graph.values[name].owner, ir.OpView)]
    return frozenset(name for op in ops for each in op.results if (name := value_name(each)) is not None)


def _prediction(priced: Priced, machine: Machine, plan: str) -> Prediction:
    cost, occupancy = priced.cost, ""
    if isinstance(machine, Target):
        resident = cost.ctas_per_sm * priced.resources.threads_per_cta
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
