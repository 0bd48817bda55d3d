"""Programs of products and sums that are drawn: many of their values are read much later, so that memory is scarce."""

import random

from .graph import Extent, Graph, Program, Tensor


def random_graph(seed: int, rows: Extent) -> Program:
    """About 20 products and sums over rows of several widths; all that nothing reads is a result."""
    draw, graph = random.Random(seed), Graph()
    weights: dict[tuple[Extent, Extent], Tensor] = {}
    values = [graph.input(f"x{width}", "fp32", rows, width) for width in (10, 48, 130)]
    for _ in range(20):
        one = draw.choice(values)
        alike = [each for each in values if each.shape == one.shape and each is not one]
        if alike and draw.random() < 0.5:
            values.append(one + draw.choice(alike))
        else:
            shape = one.shape[1], draw.choice((10, 48, 130, 300))
            weights[shape] = weights.get(shape) or graph.weights("fp32", *shape)
            factors = one, weights[shape]
            values.append(graph.add("fp32", (rows, shape[1]), "MATMUL", *factors, dtype="fp32"))
    read = {name for node in graph.nodes for name in node["src"]}
    return graph.program(*(each for each in values[3:] if each.name not in read))
