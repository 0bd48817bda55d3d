"""Reductions, and what is made of them along an axis."""

from tinyc.importers.onnx.node import Handler, Node
from tinyc.importers.onnx.values import Tensor


def _reduce(fn: str) -> Handler:
    def handler(node: Node) -> Tensor:
        x = node.tensor(0)
        axes = node.ints(1) if node.has(1) else node.attribute("axes", ())
        if not axes and node.attribute("noop_with_empty_axes", 0):
            return x
        every = tuple(range(x.rank))
        return node.add(f"reduce {fn}", x, axes=axes or every, keepdims=bool(node.attribute("keepdims", 1)))

    return handler


def _softmax(node: Node) -> Tensor:
    return node.add("softmax", node.tensor(0), axis=node.attribute("axis", -1))


HANDLERS: dict[str, Handler] = {
    "ReduceMax": _reduce("max"),
    "ReduceMin": _reduce("min"),
    "ReduceProd": _reduce("prod"),
    "ReduceSum": _reduce("sum"),
    "Softmax": _softmax,
}
