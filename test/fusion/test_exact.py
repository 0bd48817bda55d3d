"""The exact choice of kernels: the least of all, and greedy hardly ever slower, by predicted time."""

import random

import pytest

from analysis_oracles.kernel_oracle import all_kernels
from analysis_programs.group_programs import windows_program
from analysis_programs.tiny_programs import Program
from parameters import seeds
from programs.strategies import fusion_programs
from tinyc.analysis.graphs import main_function
from tinyc.dialects.registry import context
from tinyc.driver.sources import read_program
from tinyc.fusion.exact import best_choice, exact_choice
from tinyc.fusion.formation import form_regions
from tinyc.fusion.graph import NodeKind, fusion_graph
from tinyc.fusion.group import group_of_node
from tinyc.fusion.judge import Judge
from tinyc.fusion.pricing import Pricing
from tinyc.fusion.request import FusionRequest
from tinyc.fusion.requested_edges import requested_edges
from tinyc.target import GENERIC_CPU, SM80
from workloads import WORKLOADS

#: How much slower than the best choice greedy may be, and how exactly times are compared.
LIMIT, EXACT = 1.05, 1e-9
MACHINES = pytest.mark.parametrize("machine", [GENERIC_CPU, SM80], ids=lambda each: each.name)


#: Nodes of a random graph all of whose kernels are looked at.
FEW_NODES = 6
LARGE = ("transformer_gelu", "transformer_swiglu", "resnet", "attention", "gelu_mlp", "gemm_epilogue", "chain")
SLOW = ("layer_norm", "group_norm", "instance_norm", "gelu_tanh", "rotary_pairs")  # of eight nodes and more
SMALL = [name for name in WORKLOADS if name not in (*LARGE, *SLOW)]


def is_small(function):
    """Whether a graph has so few nodes that all kernels can be looked at, and none that is always one by itself."""
    nodes = fusion_graph(function).nodes.values()
    by_itself = (NodeKind.ORDERED, NodeKind.VIEW)
    if any(node.kind in by_itself or (node.kind is NodeKind.LEAF and node.is_output) for node in nodes):
        return False
    return 0 < sum(node.kind is not NodeKind.LEAF for node in nodes) <= FEW_NODES


def wanted(graph):
    """The nodes that are returned, or read where data says."""
    whole = {name for node in graph.nodes.values() for name in node.wholes}
    return [name for name, node in graph.nodes.items() if node.is_output or name in whole]


def ratio_to_exact(function, machine):
    """Greedy's predicted time over the least of all choices among all kernels that keep to the limits."""
    graph, pricing = fusion_graph(function), Pricing(machine)
    judge = Judge(graph, pricing, requested_edges(FusionRequest(), graph))
    alone = {name: group_of_node(graph, node) for name, node in graph.nodes.items()}
    allowed = (each for each in all_kernels(graph) if judge.allows([alone[name] for name in each.sequence], each))
    times = {group: pricing.of(group).cost.seconds for group in allowed}
    chosen = best_choice(list(graph.nodes), wanted(graph), times)
    assert chosen is not None
    greedy = sum(region.priced.cost.seconds for region in form_regions(function, machine).regions)
    return greedy / sum(times[group] for group in chosen)


def assert_near(ratio, record_property):
    """Check that greedy is hardly worse than the best, and no better, which is impossible; report by how much."""
    record_property("greedy_over_exact", ratio)
    assert 1 - EXACT <= ratio <= LIMIT


@MACHINES
@pytest.mark.parametrize("name", SMALL)
def test_greedy_is_as_good_as_the_best_choice(name, machine, record_property):
    module = read_program(WORKLOADS[name].build(), {})
    with module.context:
        assert_near(ratio_to_exact(main_function(module), machine), record_property)


@MACHINES
@seeds(20, 60)
def test_greedy_is_as_good_on_random_programs(seed, machine, record_property):
    program = windows_program(random.Random(seed))
    with context():
        assert_near(ratio_to_exact(program.function.opview, machine), record_property)


@MACHINES
def test_greedy_is_as_good_on_random_programs_of_all_ops(machine, random_examples, record_property):
    ratios = []

    @random_examples(fusion_programs(), 60)
    def check(program):
        module = read_program(program.document, program.bind)
        with module.context:
            function = main_function(module)
            if is_small(function):
                ratios.append(ratio_to_exact(function, machine))
                assert 1 - EXACT <= ratios[-1] <= LIMIT

    check()
    record_property("greedy_over_exact", max(ratios))
    assert len(ratios) > 10


def test_what_is_chosen_computes_all_that_is_returned_once():
    p = Program(x="f32 64 64")
    y = p.neg(p["x"], name="y")
    with context():
        graph = fusion_graph(p.result(y, p.sum(p.relu(y, name="r"), 1, name="s")).function.opview)
        pricing = Pricing(GENERIC_CPU)
        chosen = exact_choice(graph, list(graph.nodes), wanted(graph), lambda group: pricing.of(group).cost.seconds)
    assert sorted(name for group in chosen for name in group.results) == ["s", "y"]


def test_a_window_with_too_many_candidates_is_left_alone():
    p = Program(x="f32 64 64")
    value = p["x"]
    for number in range(14):
        value = p.add(p.neg(value, name=f"n{number}"), p.relu(value, name=f"r{number}"), name=f"a{number}")
    with context():
        graph = fusion_graph(p.result(value).function.opview)
        assert exact_choice(graph, list(graph.nodes), wanted(graph), lambda group: 1.0) is None
