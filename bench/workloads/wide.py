"""Programs whose values have many readers, or that have many outputs, with at least as many nodes as are asked for."""

import random

from .graph import Graph, Program

_SHAPE = (64, 64)


def fan_out(nodes: int) -> Program:
    """One value that all others read, each of which is an output."""
    graph = Graph()
    shared = graph.input("x", "fp32", *_SHAPE).apply("EXP2")
    return graph.program(*(shared * float(number + 2) for number in range(nodes)))


def fan_out_sums(nodes: int) -> Program:
    """One value that is scaled, and summed up along its rows, in many ways."""
    graph = Graph()
    shared = graph.input("x", "fp32", *_SHAPE).apply("EXP2")
    return graph.program(*((shared * float(number + 2)).reduce("SUM", 1) for number in range(nodes // 2)))


def fan_out_tree(nodes: int) -> Program:
    """A tree in which two ops read every value; its leaves are the outputs."""
    graph = Graph()
    level = [graph.input("x", "fp32", *_SHAPE)]
    while len(graph.nodes) < nodes:
        level = [value.apply(uop) for value in level for uop in ("RELU", "EXP2")]
    return graph.program(*level)


def tangled(nodes: int, seed: int = 0) -> Program:
    """Ops of near and of far values by chance: unary ones, sums of two, row sums, transposes; 1 in 50 is an output."""
    chance, graph = random.Random(seed), Graph()
    values = [graph.input(name, "fp32", *_SHAPE) for name in "xy"]
    while len(graph.nodes) < nodes:
        one, other = (chance.choice(values[-chance.choice((3, 30, nodes)) :]) for _ in range(2))
        kind = chance.choices(("unary", "add", "sum", "transpose"), (3, 5, 1, 1))[0]
        made = {
            "unary": lambda one=one: one.apply(chance.choice(("RELU", "EXP2", "NEG"))),
            "add": lambda one=one, other=other: one + other,
            "sum": lambda one=one: one.spread("SUM", 1),
            "transpose": lambda one=one: one.permute(1, 0),
        }
        values.append(made[kind]())
    return graph.program(*chance.sample(values[2:-1], nodes // 50), values[-1])
