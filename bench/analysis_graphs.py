"""The graphs that the analyses are measured on, as Tiny JSON in the spelling of specification 001."""

from typing import Any

#: Sequence, model width, heads, width of the inner layer.
SEQUENCE, WIDTH, HEADS, INNER = 128, 64, 4, 256


class Graph:
    """A program under construction; a method adds nodes and returns the id of the last."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []

    def add(self, uop: str, *sources: str, **arguments: Any) -> str:
        """Add a node."""
        name = f"n{len(self.nodes)}"
        self.nodes.append({"id": name, "uop": uop, "src": list(sources), "arg": arguments})
        return name

    def input(self, *shape: int) -> str:
        """Add an input."""
        return self.add("INPUT", tensor_id=f"t{len(self.nodes)}", dtype="fp32", shape=list(shape))

    def product(self, left: str, right: str, shape: list[int], lhs: list[int], rhs: list[int]) -> str:
        """Add the sum of products over the last axis of `shape`; `lhs` and `rhs` are the operands' axes in it."""
        spread = [
            self.add("EXPAND", operand, result_shape=shape, broadcast_dimensions=where)
            for operand, where in ((left, lhs), (right, rhs))
        ]
        return self.add("REDUCE", self.add("MUL", *spread), op="SUM", axes=[len(shape) - 1], dtype="fp32")

    def linear(self, x: str, inner: int, outer: int) -> str:
        """Add the product of `x` with a matrix of weights."""
        weights = self.add("PERMUTE", self.input(inner, outer), perm=[1, 0])
        return self.product(x, weights, [SEQUENCE, outer, inner], [0, 2], [1, 2])

    def reduced(self, x: str, op: str, shape: list[int]) -> str:
        """Add a reduction over the last axis, spread over it again."""
        value = self.add("REDUCE", x, op=op, axes=[len(shape) - 1], dtype="fp32")
        return self.add("EXPAND", value, result_shape=shape, broadcast_dimensions=list(range(len(shape) - 1)))

    def normalised(self, x: str) -> str:
        """Add a layer normalisation, without its scale."""
        shape = [SEQUENCE, WIDTH]
        centred = self.add("SUB", x, self.reduced(x, "SUM", shape))
        variance = self.reduced(self.add("MUL", centred, centred), "SUM", shape)
        return self.add("MUL", centred, self.add("RSQRT", variance))

    def heads(self, x: str) -> str:
        """Add the split of the width into heads, which come first."""
        parts = self.add("RESHAPE", x, result_shape=[SEQUENCE, HEADS, WIDTH // HEADS])
        return self.add("PERMUTE", parts, perm=[1, 0, 2])

    def attention(self, x: str) -> str:
        """Add attention with its four linear layers."""
        query, key, value = (self.heads(self.linear(x, WIDTH, WIDTH)) for _ in range(3))
        depth = WIDTH // HEADS
        scores = self.product(query, key, [HEADS, SEQUENCE, SEQUENCE, depth], [0, 1, 3], [0, 2, 3])
        shape = [HEADS, SEQUENCE, SEQUENCE]
        exponential = self.add("EXP2", self.add("SUB", scores, self.reduced(scores, "MAX", shape)))
        weights = self.add("FDIV", exponential, self.reduced(exponential, "SUM", shape))
        columns = self.add("PERMUTE", value, perm=[0, 2, 1])
        mixed = self.product(weights, columns, [HEADS, SEQUENCE, depth, SEQUENCE], [0, 1, 3], [0, 2, 3])
        rows = self.add("PERMUTE", mixed, perm=[1, 0, 2])
        return self.linear(self.add("RESHAPE", rows, result_shape=[SEQUENCE, WIDTH]), WIDTH, WIDTH)


def transformer(ops: int) -> dict[str, Any]:
    """Return a program of layers with attention and a linear network, of at least `ops` nodes."""
    graph = Graph()
    x = graph.input(SEQUENCE, WIDTH)
    while True:
        x = graph.add("ADD", x, graph.attention(graph.normalised(x)))
        inner = graph.add("RELU", graph.linear(graph.normalised(x), WIDTH, INNER))
        x = graph.add("ADD", x, graph.linear(inner, INNER, WIDTH))
        if len(graph.nodes) >= ops:
            return {"uops": graph.nodes}


def movements(ops: int) -> dict[str, Any]:
    """Return a program of chains of ten movements, with an addition behind each, of at least `ops` nodes."""
    graph = Graph()
    first = x = graph.input(8, 12)
    while len(graph.nodes) < max(ops, 2):
        x = graph.add("RESHAPE", x, result_shape=[4, 24])
        x = graph.add("PERMUTE", x, perm=[1, 0])
        x = graph.add("PAD", x, pad=[[1, 1], [1, 1]], value=0.0)
        x = graph.add("SHRINK", x, lo=[1, 0], hi=[25, 4])
        x = graph.add("FLIP", x, axes=[0])
        x = graph.add("RESHAPE", x, result_shape=[12, 8])
        x = graph.add("POOL", x, kernel=[3], stride=[1], dilation=[1])
        x = graph.add("SHRINK", x, lo=[0, 0, 1], hi=[12, 6, 2])
        x = graph.add("PAD", graph.add("RESHAPE", x, result_shape=[6, 12]), pad=[[1, 1], [0, 0]], value=1.0)
        x = graph.add("ADD", x, first)
    return {"uops": graph.nodes}
