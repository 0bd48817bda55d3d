"""Dominators, loops and blocks that are executed equally often."""

from ptxsim.clock.sass.graph import FlowGraph


def blocks(bits):
    return {each for each in range(bits.bit_length()) if bits >> each & 1}


def test_the_join_of_a_branch_is_dominated_by_the_branch_and_executed_as_often():
    graph = FlowGraph([(1, 2), (3,), (3,), ()])
    assert blocks(graph.dominators[3]) == {0, 3}
    assert blocks(graph.postdominators[0]) == {0, 3}
    assert graph.equals == (0, 1, 2, 0)


def test_a_loop_is_executed_more_often_than_what_is_around_it():
    graph = FlowGraph([(1,), (2,), (1, 3), ()])
    assert [graph.depth(block) for block in range(4)] == [0, 1, 1, 0]
    assert graph.equals == (0, 1, 1, 0)
    assert graph.chain(2) == (1, 0)


def test_the_innermost_loop_is_that_of_the_nearest_head():
    graph = FlowGraph([(1,), (2,), (2, 3), (1, 4), ()])
    assert [graph.innermost(block) for block in range(5)] == [None, 1, 2, 1, None]


def test_what_no_way_leads_to_is_not_reached_and_a_function_is_an_entry():
    graph = FlowGraph([(), (2,), (), (3,)], entries=(0, 1))
    assert graph.reached == {0, 1, 2}
    assert blocks(graph.dominators[2]) == {1, 2}
