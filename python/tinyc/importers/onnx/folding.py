"""Subgraphs of shapes: ops whose inputs are known when the model is imported, on arrays of numbers and extents.

Only these are evaluated at import: what follows from shapes and small constants. A handler here takes a node whose
inputs are all known, and returns a known value, or None where it does not fold.
"""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tinyc.diagnostics import TinycError
from tinyc.expr import extents
from tinyc.expr.extents import Extent
from tinyc.importers.onnx.attributes import element_of_onnx
from tinyc.importers.onnx.folding_movements import MAX_ELEMENTS, MOVEMENTS
from tinyc.importers.onnx.node import OnnxNode
from tinyc.importers.onnx.values import Known, known_array, settled
from tinyc.vocabulary.element_type import ElementType

ShapeFold = Callable[[OnnxNode, list[np.ndarray]], np.ndarray | None]


def fold(node: OnnxNode) -> Known | None:
    """The value of a node whose inputs are all known, None where it has to be computed when the model runs.

    Raises:
        TinycError: a value that there cannot be, such as a division by zero.
    """
    values = [each for each in node.inputs if each is not None]
    if node.op_type not in FOLDS or not all(isinstance(each, Known) for each in values):
        return None
    known = [each for each in values if isinstance(each, Known)]
    if not known or any(each.array.size > MAX_ELEMENTS for each in known):
        return None
    if any(each.is_symbolic and each.element.is_float for each in known):
        known = _whole(node.op_type, known)
        if known is None:
            return None
    element = _result_element(node, known)
    with np.errstate(all="ignore"):
        try:
            array = FOLDS[node.op_type](node, [each.array for each in known])
        except (ValueError, IndexError, ZeroDivisionError, extents.ExtentError) as error:
            raise TinycError("ShapeContradiction", f"{node.op_type} of constants: {error}") from None
        except _NotFoldable:
            return None
    return None if array is None else Known(settled(np.asarray(array), element), element)


def _whole(op_type: str, known: list[Known]) -> list[Known] | None:
    """The operands of an op some of which are extents as floats, with integers for floats; None where it does not fold.

    Such an extent is exact, so that an op folds that makes whole numbers of whole numbers.
    """
    if op_type not in _OF_WHOLE_FLOATS:
        return None
    found: list[Known] = []
    for each in known:
        if each.element.is_float and not each.is_symbolic:
            if not np.all(np.isfinite(each.array) & (np.floor(each.array) == each.array)):
                return None
            each = Known(each.array.astype(np.int64).astype(object), each.element)
        found.append(each)
    return found


def _result_element(node: OnnxNode, known: list[Known]) -> ElementType:
    if node.op_type == "Cast":
        return element_of_onnx(node.required("to"))
    if node.op_type == "ConstantOfShape":
        return known_array(np.asarray(node.attribute("value", np.zeros(1, np.float32)))).element
    if node.op_type in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Not", "And", "Or"):
        return ElementType.BOOL
    return known[1].element if node.op_type == "Where" else known[0].element


class _NotFoldable(Exception):
    """An extent meets what extents cannot say."""


def _each(function: Callable[..., Any]) -> ShapeFold:
    """Apply a function of numbers and extents to each element of broadcast arrays."""

    def apply(node: OnnxNode, arrays: list[np.ndarray]) -> np.ndarray | None:
        if all(each.dtype != object for each in arrays) and all(each.dtype.kind != "f" for each in arrays):
            arrays = [each.astype(object) for each in arrays]
        if math.prod(np.broadcast_shapes(*(each.shape for each in arrays))) > MAX_ELEMENTS:
            return None
        broadcast = np.broadcast_arrays(*arrays)
        result = np.empty(broadcast[0].shape, object)
        for at in np.ndindex(result.shape):
            operands = [each[at] for each in broadcast]
            result[at] = function(*(each.item() if isinstance(each, np.generic) else each for each in operands))
        return result

    return apply


def _no_floats(*operands: Any) -> None:
    """Extents mix with integers only."""
    if any(isinstance(each, Extent) for each in operands) and any(isinstance(each, float) for each in operands):
        raise _NotFoldable


def _add(a: Any, b: Any) -> Any:
    _no_floats(a, b)
    return a + b


def _sub(a: Any, b: Any) -> Any:
    _no_floats(a, b)
    return a - b


def _mul(a: Any, b: Any) -> Any:
    _no_floats(a, b)
    return a * b


def _div(a: Any, b: Any) -> Any:
    _no_floats(a, b)
    if isinstance(a, float) or isinstance(b, float):
        return (np.float64(a) / np.float64(b)).item()  # by zero it is infinite or NaN
    if isinstance(a, Extent) or isinstance(b, Extent):
        return extents.floordiv(a, b)  # sizes are not negative
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _mod(a: Any, b: Any) -> Any:
    if isinstance(a, float) or isinstance(b, float):
        raise _NotFoldable
    if isinstance(a, Extent) or isinstance(b, Extent):
        return a - extents.floordiv(a, b) * b
    return a % b


def _modulo(node: OnnxNode, arrays: list[np.ndarray]) -> np.ndarray | None:
    return None if node.attribute("fmod", 0) else _each(_mod)(node, arrays)


def _compare(function: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """A comparison of numbers, and of extents whose difference is a number."""

    def compare(a: Any, b: Any) -> bool:
        if not isinstance(a, Extent) and not isinstance(b, Extent):
            return function(a, b)
        _no_floats(a, b)
        difference = a - b
        if isinstance(difference, Extent):
            raise _NotFoldable
        return function(difference, 0)

    return compare


def _equal(a: Any, b: Any) -> bool:
    _no_floats(a, b)
    if isinstance(a, Extent) or isinstance(b, Extent):
        if extents.differ(a, b):
            return False
        if a != b:
            raise _NotFoldable
        return True
    return a == b


def _extreme(is_first: Callable[[Any], bool]) -> ShapeFold:
    """The first by order of several elements: of numbers, and of extents whose difference is a number."""

    def extreme(*operands: Any) -> Any:
        found = operands[0]
        for each in operands[1:]:
            _no_floats(found, each)
            difference = each - found
            if isinstance(difference, Extent | float):
                raise _NotFoldable
            found = each if is_first(difference) else found
        return found

    return _each(extreme)


def _cast(node: OnnxNode, arrays: list[np.ndarray]) -> np.ndarray | None:
    """Extents stay what they are as integers, and as floats that are exact up to 2^24."""
    element = element_of_onnx(node.required("to"))
    node.attribute("saturate")  # of 8-bit floats, which are no shapes
    node.attribute("round_mode")  # of those, too
    (array,) = arrays
    if array.dtype != object:
        return array.astype(element.dtype)
    if node.input(0).element == ElementType.F32 and element.is_integer:
        node.assume_exact(array.ravel().tolist())
    return array if element.is_integer or element in (ElementType.F32, ElementType.F64) else None


def _rounded(function: Callable[[np.ndarray], np.ndarray]) -> ShapeFold:
    """Rounding: extents are whole numbers."""
    return lambda node, arrays: arrays[0] if arrays[0].dtype == object else function(arrays[0])


def _gather(node: OnnxNode, arrays: list[np.ndarray]) -> np.ndarray | None:
    data, index = arrays
    if index.dtype == object:
        return None
    return np.take(data, index.astype(np.int64), axis=node.attribute("axis", 0))


def _range(node: OnnxNode, arrays: list[np.ndarray]) -> np.ndarray | None:
    start, limit, step = (node.known(at, count=1).array.item() for at in range(3))
    if any(isinstance(each, Extent) for each in (start, limit, step)):
        return None
    count = max(0, -((start - limit) // step)) if step else 0
    return np.arange(start, limit, step) if step and count <= MAX_ELEMENTS else None


def _reduce(function: Callable[[Any, Any], Any], of_nothing: int) -> ShapeFold:
    """A reduction of a vector to one number."""

    def apply(node: OnnxNode, arrays: list[np.ndarray]) -> np.ndarray | None:
        if len(arrays) > 1 or arrays[0].ndim != 1 or node.attribute("axes", (0,)) not in ((0,), (-1,)):
            return None
        if node.attribute("noop_with_empty_axes", 0):
            return None
        keep = node.attribute("keepdims", 1)
        held = arrays[0].astype(object).tolist()
        total: Any = held[0] if held else of_nothing
        for each in held[1:]:
            total = function(total, each)
        result = np.empty((1,) if keep else (), object)
        result[...] = total
        return result

    return apply


FOLDS: dict[str, ShapeFold] = {
    "Add": _each(_add),
    "Sub": _each(_sub),
    "Mul": _each(_mul),
    "Div": _each(_div),
    "Equal": _each(_equal),
    "Less": _each(_compare(operator.lt)),
    "LessOrEqual": _each(_compare(operator.le)),
    "Greater": _each(_compare(operator.gt)),
    "GreaterOrEqual": _each(_compare(operator.ge)),
    "Max": _extreme(lambda d: d > 0),
    "Min": _extreme(lambda d: d < 0),
    "Mod": _modulo,
    "Neg": _each(lambda a: -a),
    "Not": _each(lambda a: not a),
    "And": _each(lambda a, b: bool(a and b)),
    "Or": _each(lambda a, b: bool(a or b)),
    "Where": _each(lambda c, a, b: a if c else b),
    "Cast": _cast,
    "Ceil": _rounded(np.ceil),
    "Floor": _rounded(np.floor),
    "Gather": _gather,
    "Range": _range,
    "Identity": lambda node, arrays: arrays[0],
    "ReduceProd": _reduce(_mul, 1),
    "ReduceSum": _reduce(_add, 0),
    **MOVEMENTS,
}

#: What folds where some operand is an extent as a float: what makes whole numbers of whole numbers.
_OF_WHOLE_FLOATS = {"Add", "Cast", "Ceil", "Floor", "Gather", "Identity", "Mul", "Neg", "Sub", *MOVEMENTS}
