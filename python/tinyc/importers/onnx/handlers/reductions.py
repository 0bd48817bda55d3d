"""Reductions, and what is made of them along an axis."""

from tinyc.importers.onnx.node import Handler, OnnxNode
from tinyc.importers.onnx.values import Tensor


def _reduce(fn: str) -> Handler:
    def handler(node: OnnxNode) -> Tensor:
        x, axes = node.tensor(0), _axes(node)
        is_noop = bool(node.attribute("noop_with_empty_axes", 0)) and not axes
        every = () if is_noop else axes or tuple(range(x.rank))
        return node.add(f"reduce {fn}", x, axes=every, keepdims=bool(node.attribute("keepdims", 1)))

    return handler


def _axes(node: OnnxNode) -> tuple[int, ...]:
    """The axes, an attribute before they became an input.

    They are distinct, so they need not be known where there are none, or as many as there can be.
    """
    if not node.has(1):
        return tuple(node.attribute("axes", ()))
    given, rank = node.input(1), node.input(0).rank
    if isinstance(given, Tensor) and given.shape in ((0,), (rank,)):
        return tuple(range(rank)) if given.shape != (0,) else ()
    return node.ints(1)


def _along_axis(op: str) -> Handler:
    def handler(node: OnnxNode) -> Tensor:
        return node.add(op, node.tensor(0), axis=node.attribute("axis", -1))

    return handler


def _cumulative(fn: str) -> Handler:
    def handler(node: OnnxNode) -> Tensor:
        x = node.tensor(0)
        (axis,) = (0,) if x.rank == 1 else node.ints(1, count=1)
        order = {name: bool(node.attribute(name, 0)) for name in ("exclusive", "reverse")}
        return node.add(f"cumulative {fn}", x, axis=axis, **order)

    return handler


def _loss(op: str) -> Handler:
    def handler(node: OnnxNode) -> Tensor | tuple[Tensor, ...]:
        attributes = {name: node.attribute(name) for name in ("ignore_index", "reduction")}
        return node.add_all(op, node.tensor(0), node.tensor(1), node.optional(2), **attributes)

    return handler


HANDLERS: dict[str, Handler] = {
    "CumProd": _cumulative("prod"),
    "CumSum": _cumulative("sum"),
    "Hardmax": _along_axis("hardmax"),
    "LogSoftmax": _along_axis("log_softmax"),
    "NegativeLogLikelihoodLoss": _loss("nll_loss"),
    "ReduceL1": _reduce("l1"),
    "ReduceL2": _reduce("l2"),
    "ReduceLogSum": _reduce("log_sum"),
    "ReduceLogSumExp": _reduce("log_sum_exp"),
    "ReduceMax": _reduce("max"),
    "ReduceMean": _reduce("mean"),
    "ReduceMin": _reduce("min"),
    "ReduceProd": _reduce("prod"),
    "ReduceSum": _reduce("sum"),
    "ReduceSumSquare": _reduce("sum_square"),
    "SoftmaxCrossEntropyLoss": _loss("cross_entropy_loss"),
    "Softmax": _along_axis("softmax"),
}
