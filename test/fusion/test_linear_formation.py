"""The formation of regions is linear: twice the nodes, about twice the steps; counted, not timed."""

import cProfile

import pytest

import workloads
from tinyc.analysis.graphs import main_function
from tinyc.fusion.formation import form_regions
from tinyc.fusion.graph import fusion_graph
from tinyc.fusion.group import Group, group_of_node, with_producer
from tinyc.fusion.partition import Partition
from tinyc.fusion.pricing import Pricing
from tinyc.importers import tiny_json
from tinyc.schemes.registry import CPU_KINDS
from tinyc.target import GENERIC_CPU, SM80

GRAPHS = ["chain", "deep", "movements", "fan_out", "fan_out_sums", "fan_out_tree", "tangled"]
#: How much more than four times as many steps four times as many nodes may take: large groups are met later.
SLACK = 1.6


def calls_for(graph, nodes, machine):
    """How many calls of functions the formation takes for each op of a graph."""
    module, profile = tiny_json.import_program(getattr(workloads, graph)(nodes)), cProfile.Profile()
    with module.context:
        function = main_function(module)
        form_regions(function, machine)  # caches of expressions are warm for both sizes
        profile.runcall(form_regions, function, machine)
    return sum(each.callcount for each in profile.getstats()) / len(function.body.blocks[0].operations)


@pytest.mark.parametrize("graph", GRAPHS)
def test_steps_for_a_node_do_not_grow_with_the_graph(graph):
    small, large = (calls_for(graph, nodes, SM80) for nodes in (500, 2000))  # below, large groups are not met yet
    assert large <= SLACK * small


class Asked:
    """A kind of kernel that counts how often it is asked."""

    def __init__(self, kind):
        self.kind, self.name, self.count = kind, kind.name, 0

    def accepts(self, candidate, target):
        self.count += 1
        return self.kind.accepts(candidate, target)


def test_a_scheme_is_asked_once_for_a_form():
    kinds = [Asked(kind) for kind in CPU_KINDS]
    module = tiny_json.import_program(workloads.chain(300))
    with module.context:
        graph = fusion_graph(main_function(module))
        pricing = Pricing(GENERIC_CPU, kinds)
        costs = [pricing.of(group_of_node(graph, node)).cost for node in graph.nodes.values()]
    assert len(costs) == 300
    assert kinds[0].count == 2  # an op that reads its operand, and one that reads the input, too


def test_groups_of_one_form_differ_by_what_they_compute_where_they_read_it():
    module = tiny_json.import_program(workloads.chain(9))
    with module.context:
        graph, pricing = fusion_graph(main_function(module)), Pricing(GENERIC_CPU)
        last, before, *_ = reversed(list(graph.nodes.values()))
        group = group_of_node(graph, last)
        grown = with_producer(group, before, False)
        assert isinstance(grown, Group)
        one, two = pricing.of(group).cost, pricing.of(grown).cost
    assert (two.read_bytes, two.written_bytes) == (one.read_bytes, one.written_bytes)
    assert two.flops == 2 * one.flops


def test_a_group_that_grows_keeps_its_place_and_one_that_shrinks_leaves_what_it_lacks():
    module = tiny_json.import_program(workloads.chain(9))
    with module.context:
        graph = fusion_graph(main_function(module))
        last, before, *_ = reversed(list(graph.nodes.values()))
        group, partition = group_of_node(graph, last), Partition(graph)
        grown = with_producer(group, before, False)
        assert isinstance(grown, Group)
        partition.add(group)
        partition.replace([group], grown)
        assert partition.of(before.name) == partition.of(last.name) == partition.groups == [grown]
        partition.replace([grown], group)
        assert (partition.of(before.name), partition.of(last.name)) == ([], [group])
