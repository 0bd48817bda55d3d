"""Reshapes, permutations, repetitions, and what depends on shapes."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tinyc.diagnostics import TinycError
from tinyc.expr import extents
from tinyc.expr.extents import Dim, Extent
from tinyc.formulas.value import broadcast_shape
from tinyc.importers.onnx.attributes import element_of_onnx
from tinyc.importers.onnx.node import Handler, OnnxNode
from tinyc.importers.onnx.values import Known, OnnxValue, Tensor, known_array, known_dims
from tinyc.vocabulary.element_type import ElementType

#: What has a finer unit does not count the elements of a range whose limit is a dynamic extent.
_MAX_UNIT = 2**32


def _constant(node: OnnxNode) -> Known:
    for name, dtype in (("value", None), ("value_int", np.int64), ("value_ints", np.int64)):
        if (value := node.attribute(name)) is not None:
            return known_array(np.asarray(value, dtype))
    for name in ("value_float", "value_floats"):
        if (value := node.attribute(name)) is not None:
            return known_array(np.asarray(value, np.float32))
    raise node.unsupported("its value is a string or sparse")


# --- the same elements under another shape ----------------------------------------------------------------------------


def _reshape(node: OnnxNode) -> OnnxValue:
    """0 keeps an extent unless `allowzero`, -1 is what is left."""
    wanted, value = list(node.dims(1)), node.input(0)
    if not node.attribute("allowzero", 0):
        wanted = [value.shape[at] if each == 0 and at < value.rank else each for at, each in enumerate(wanted)]
    return _reshaped(node, value, _completed(node, value.shape, wanted))


def _reshaped(node: OnnxNode, value: OnnxValue, shape: tuple[Dim, ...]) -> OnnxValue:
    numbers = tuple(each for each in shape if isinstance(each, int))
    if isinstance(value, Known) and len(numbers) == len(shape):
        if math.prod(numbers) != value.array.size or min(numbers, default=0) < 0:
            message = f"{node.op_type}: {value.array.size} elements have no shape {list(numbers)}"
            raise TinycError("ShapeContradiction", message)
        return Known(value.array.reshape(numbers), value.element)
    return node.add("movement reshape", node.as_tensor(value), shape=shape)


def _completed(node: OnnxNode, shape: tuple[Dim, ...], wanted: list[Dim]) -> tuple[Dim, ...]:
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


def _flatten(node: OnnxNode) -> OnnxValue:
    x, axis = node.input(0), node.attribute("axis", 1)
    axis += x.rank if axis < 0 else 0
    return _reshaped(node, x, (extents.product(x.shape[:axis]), extents.product(x.shape[axis:])))


def _squeeze(node: OnnxNode) -> OnnxValue:
    """Without axes, all of extent 1; one that is symbolic stays."""
    x = node.input(0)
    axes = {axis % x.rank for axis in node.ints(1)} if node.has(1) else {at for at in range(x.rank) if x.shape[at] == 1}
    return _reshaped(node, x, tuple(extent for axis, extent in enumerate(x.shape) if axis not in axes))


def _unsqueeze(node: OnnxNode) -> OnnxValue:
    x, axes = node.input(0), node.ints(1)
    rank = x.rank + len(axes)
    new = {axis % rank for axis in axes}
    kept = iter(x.shape)
    return _reshaped(node, x, tuple(1 if axis in new else next(kept) for axis in range(rank)))


def _transpose(node: OnnxNode) -> Tensor:
    x = node.tensor(0)
    return node.add("movement permute", x, perm=node.attribute("perm", tuple(reversed(range(x.rank)))))


def _depth_to_space(node: OnnxNode) -> Tensor:
    x, block = node.tensor(0), node.required("blocksize")
    batch, depth, *space = x.shape
    rest = extents.divide(depth, block * block)
    if rest is None:
        raise TinycError("ShapeContradiction", f"{node.op_type}: {block}*{block} does not divide {depth} channels")
    first_is_depth = node.attribute("mode", "DCR") == "CRD"
    split = (rest, block, block) if first_is_depth else (block, block, rest)
    blocks = node.add("movement reshape", x, shape=(batch, *split, *space))
    perm = (0, 1, 4, 2, 5, 3) if first_is_depth else (0, 3, 4, 1, 5, 2)
    moved = node.add("movement permute", blocks, perm=perm)
    return node.add("movement reshape", moved, shape=(batch, rest, *(extent * block for extent in space)))


def _space_to_depth(node: OnnxNode) -> Tensor:
    """Of several channels that a block becomes those of one place are together (DCR), or those of one channel (CRD)."""
    x, block = node.tensor(0), node.required("blocksize")
    perm = (0, 1, 3, 5, 2, 4) if node.attribute("mode", "DCR") == "CRD" else (0, 3, 5, 1, 2, 4)
    batch, depth, *space = x.shape
    places = [extents.divide(extent, block) for extent in space]
    height, width = (
        extents.floordiv(n, block) if each is None else each for n, each in zip(space, places, strict=True)
    )
    blocks = node.add("movement reshape", x, shape=(batch, depth, height, block, width, block))
    moved = node.add("movement permute", blocks, perm=perm)
    return node.add("movement reshape", moved, shape=(batch, depth * (block * block), height, width))


# --- repetition -------------------------------------------------------------------------------------------------------


def _expand(node: OnnxNode) -> Tensor:
    x = node.tensor(0)
    return node.add("movement expand", x, shape=broadcast_shape([x.shape, node.dims(1)]))


def _tile(node: OnnxNode) -> Tensor:
    return node.add("movement tile", node.tensor(0), repeats=node.dims(1))


def _concat(node: OnnxNode) -> OnnxValue:
    return _joined(node, [node.input(at) for at in range(len(node.inputs))], node.required("axis"))


def _joined(node: OnnxNode, values: Sequence[OnnxValue], axis: int) -> OnnxValue:
    """Values one after another; halves are joined, so that no element asks for all of them."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    one, other = (node.as_tensor(_joined(node, each, axis)) for each in (values[:half], values[half:]))
    return node.add("concat", one, other, axis=axis)


# --- what depends on shapes -------------------------------------------------------------------------------------------


def _shape(node: OnnxNode) -> Known:
    shape = node.input(0).shape
    return known_dims(tuple(shape[slice(node.attribute("start", 0), node.attribute("end"))]))


def _size(node: OnnxNode) -> Known:
    return known_dims(extents.product(node.input(0).shape))


def _constant_of_shape(node: OnnxNode) -> Tensor:
    value = known_array(np.asarray(node.attribute("value", np.zeros(1, np.float32))))
    return node.full(value.array.ravel()[0].item(), value.element, node.dims(0))


def _eye_like(node: OnnxNode) -> Tensor:
    x, number = node.input(0), node.attribute("dtype")
    element = x.element if number is None else element_of_onnx(number)
    return node.add("eye", shape=x.shape, element=element, k=node.attribute("k", 0))


def _range(node: OnnxNode) -> Tensor:
    """How many numbers there are must be known at import, so that its limits must be; they may be symbolic."""
    start, limit, step = (node.known(at, count=1) for at in range(3))
    numbers = [each.array.item() for each in (start, limit, step)]
    if start.element == ElementType.F32:
        node.assume_exact(numbers)
    count = _range_count(node, *numbers)
    return node.add("arange", node.as_tensor(start), node.as_tensor(step), shape=(count,))


def _range_count(node: OnnxNode, start: Any, limit: Any, step: Any) -> Dim:
    """How many numbers there are: numbers are floats, integers or, where they are not known yet, extents."""
    if step == 0:
        raise TinycError("ShapeContradiction", f"{node.op_type}: the step is 0; it must not be")
    if not all(math.isfinite(each) for each in (start, limit, step) if isinstance(each, float)):
        message = f"{node.op_type}: from {start} to {limit} by {step} there is no number of elements"
        raise TinycError("ShapeContradiction", message)
    if isinstance(step, Extent):
        message = f"its step {step} is not known when the model is imported; bind it: {extents.bind_option(step)}"
        raise node.unsupported(message)
    if isinstance(step, float):
        if not isinstance(start, Extent) and not isinstance(limit, Extent):
            return max(0, math.ceil((limit - start) / step))
        start, limit, step = _in_units(node, start, limit, step)
    count = extents.ceildiv(limit - start, step) if step > 0 else extents.ceildiv(start - limit, -step)
    return max(0, count) if isinstance(count, int) else count


def _in_units(node: OnnxNode, *numbers: Any) -> list[Any]:
    """Floats and extents as whole multiples of what divides all of them."""
    fractions = [None if isinstance(each, Extent) else Fraction(each) for each in numbers]
    unit = math.lcm(*(each.denominator for each in fractions if each is not None))
    if unit > _MAX_UNIT:
        raise node.unsupported(
            f"its numbers {', '.join(map(str, numbers))} have no common unit of 1/{_MAX_UNIT} or more"
        )
    return [
        each * unit if fraction is None else int(fraction * unit)
        for each, fraction in zip(numbers, fractions, strict=True)
    ]


def _trilu(node: OnnxNode) -> Tensor:
    return node.add("trilu", node.tensor(0), node.optional(1), upper=bool(node.attribute("upper", 1)))


HANDLERS: dict[str, Handler] = {
    "Concat": _concat,
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "DepthToSpace": _depth_to_space,
    "Expand": _expand,
    "EyeLike": _eye_like,
    "Flatten": _flatten,
    "Range": _range,
    "Reshape": _reshape,
    "Shape": _shape,
    "Size": _size,
    "SpaceToDepth": _space_to_depth,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Trilu": _trilu,
    "Unsqueeze": _unsqueeze,
}
