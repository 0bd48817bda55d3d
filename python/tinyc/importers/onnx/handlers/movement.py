"""Reshapes, permutations, and what depends on shapes."""

import numpy as np

from tinyc.diagnostics import TinycError
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.importers.onnx.node import Handler, Node
from tinyc.importers.onnx.values import Known, Tensor, Value, known_dims
from tinyc.vocabulary.element_type import BY_NAME


def _constant(node: Node) -> Known:
    for name, dtype in (("value", None), ("value_int", np.int64), ("value_ints", np.int64)):
        if (value := node.attribute(name)) is not None:
            return _known(np.asarray(value, dtype))
    for name in ("value_float", "value_floats"):
        if (value := node.attribute(name)) is not None:
            return _known(np.asarray(value, np.float32))
    raise node.unsupported("its value is a string or sparse")


def _known(array: np.ndarray) -> Known:
    return Known(array, next(each for each in BY_NAME.values() if each.dtype == array.dtype))


def _reshape(node: Node) -> Value:
    """0 keeps an extent unless `allowzero`, -1 is what is left."""
    wanted, value = list(node.dims(1)), node.input(0)
    if not node.attribute("allowzero", 0):
        wanted = [value.shape[at] if each == 0 and at < value.rank else each for at, each in enumerate(wanted)]
    shape = _completed(node, value.shape, wanted)
    if isinstance(value, Known) and all(isinstance(each, int) for each in shape):
        return Known(value.array.reshape([int(str(each)) for each in shape]), value.element)
    return node.add("movement reshape", node.as_tensor(value), shape=shape)


def _completed(node: Node, shape: tuple[Dim, ...], wanted: list[Dim]) -> tuple[Dim, ...]:
    """A shape with the extent in place of its -1."""
    if -1 not in wanted:
        return tuple(wanted)
    rest = [each for each in wanted if each != -1]
    if len(rest) < len(wanted) - 1:
        raise TinycError("ShapeContradiction", f"{node.op_type}: the shape {wanted} has more than one -1")
    count, known = extents.product(shape), extents.product(rest)
    if known == 0:
        raise TinycError("ShapeContradiction", f"{node.op_type}: the shape {wanted} has a 0 beside its -1")
    left = extents.divide(count, known) if not isinstance(count, int) or not isinstance(known, int) else count // known
    return tuple((extents.floordiv(count, known) if left is None else left) if each == -1 else each for each in wanted)


def _shape(node: Node) -> Known:
    shape = node.input(0).shape
    return known_dims(tuple(shape[slice(node.attribute("start", 0), node.attribute("end"))]))


def _transpose(node: Node) -> Tensor:
    x = node.tensor(0)
    return node.add("movement permute", x, perm=node.attribute("perm", tuple(reversed(range(x.rank)))))


HANDLERS: dict[str, Handler] = {
    "Constant": _constant,
    "Reshape": _reshape,
    "Shape": _shape,
    "Transpose": _transpose,
}
