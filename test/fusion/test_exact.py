"""The exact choice of kernels: what greedy finds is hardly ever slower, by the predicted time."""

import random

import pytest

from analysis_programs.group_programs import windows_program
from analysis_programs.tiny_programs import Program
from tinyc.analysis.graphs import main_function
from tinyc.dialects.registry import context
from tinyc.driver.sources import read_program
from tinyc.fusion.exact import exact_choice
from tinyc.fusion.formation import form_regions
from tinyc.fusion.graph import NodeKind, fusion_graph
from tinyc.fusion.group import group_of_node
from tinyc.fusion.judge import Judge
from tinyc.fusion.pricing import Pricing
from tinyc.fusion.request import FusionRequest, requested_edges
from tinyc.target import GENERIC_CPU, SM80
from workloads import WORKLOADS

#: How much slower than the best choice greedy may be.
LIMIT = 1.05
MACHINES = pytest.mark.parametrize("machine", [GENERIC_CPU, SM80], ids=lambda each: each.name)
SMALL = [name for name in WORKLOADS if not name.startswith(("transformer", "chain", "resnet", "attention", "gelu_mlp"))]


def ratio_to_exact(function, machine):
    """Greedy's predicted time over that of the exact choice."""
    formation = form_regions(function, machine)
    graph, pricing = fusion_graph(function), Pricing(machine)
    judge = Judge(graph, pricing, requested_edges(FusionRequest(), graph))
    alone = [pricing.of(group_of_node(graph, node)) for node in graph.nodes.values() if node.kind is not NodeKind.VIEW]

    def price(group):
        priced = pricing.of(group)
        too_much = len(group.members) > 1 and judge.stops.limit(alone, priced) is not None
        return None if too_much else priced.cost.seconds

    chosen = exact_choice(graph, list(graph.nodes), price)
    assert chosen is not None
    greedy = sum(region.priced.cost.seconds for region in formation.regions)
    return greedy / sum(pricing.of(group).cost.seconds for group in chosen)


@MACHINES
@pytest.mark.parametrize("name", SMALL)
def test_greedy_is_as_good_as_the_exact_choice(name, machine):
    module = read_program(WORKLOADS[name].build(), {})
    with module.context:
        assert ratio_to_exact(main_function(module), machine) <= LIMIT


@MACHINES
@pytest.mark.parametrize("seed", range(25))
def test_greedy_is_as_good_on_random_programs(seed, machine):
    program = windows_program(random.Random(seed))
    with context():
        assert ratio_to_exact(program.function.opview, machine) <= LIMIT


def test_what_is_chosen_computes_all_that_is_returned_once():
    p = Program(x="f32 64 64")
    y = p.neg(p["x"], name="y")
    with context():
        graph = fusion_graph(p.result(y, p.sum(p.relu(y, name="r"), 1, name="s")).function.opview)
        pricing = Pricing(GENERIC_CPU)
        chosen = exact_choice(graph, list(graph.nodes), lambda group: pricing.of(group).cost.seconds)
    assert sorted(name for group in chosen for name in group.results) == ["s", "y"]


def test_a_window_with_too_many_candidates_is_left_alone():
    p = Program(x="f32 64 64")
    value = p["x"]
    for number in range(14):
        value = p.add(p.neg(value, name=f"n{number}"), p.relu(value, name=f"r{number}"), name=f"a{number}")
    with context():
        graph = fusion_graph(p.result(value).function.opview)
        assert exact_choice(graph, list(graph.nodes), lambda group: 1.0) is None
