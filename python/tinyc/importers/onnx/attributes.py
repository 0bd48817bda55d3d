"""Attributes and types of ONNX as Python has them."""

from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from tinyc.diagnostics import TinycError
from tinyc.vocabulary.element_type import ElementType

#: ONNX's element types by their numbers.
ELEMENTS: dict[int, ElementType] = {
    onnx.TensorProto.FLOAT16: ElementType.F16,
    onnx.TensorProto.BFLOAT16: ElementType.BF16,
    onnx.TensorProto.FLOAT: ElementType.F32,
    onnx.TensorProto.DOUBLE: ElementType.F64,
    onnx.TensorProto.INT8: ElementType.I8,
    onnx.TensorProto.INT16: ElementType.I16,
    onnx.TensorProto.INT32: ElementType.I32,
    onnx.TensorProto.INT64: ElementType.I64,
    onnx.TensorProto.UINT8: ElementType.UI8,
    onnx.TensorProto.UINT16: ElementType.UI16,
    onnx.TensorProto.UINT32: ElementType.UI32,
    onnx.TensorProto.UINT64: ElementType.UI64,
    onnx.TensorProto.BOOL: ElementType.BOOL,
}
#: The numbers that ONNX has for element types.
ONNX_NUMBERS = {element: number for number, element in ELEMENTS.items()}


def element_of_onnx(number: int) -> ElementType:
    """The element type that ONNX has a number for.

    Raises:
        TinycError: `UnsupportedOnnx`.
    """
    if number not in ELEMENTS:
        known = onnx.TensorProto.DataType.values()
        name = onnx.TensorProto.DataType.Name(number).lower() if number in known else f"number {number}"
        raise TinycError("UnsupportedOnnx", f"tensors of type {name} are out of scope")
    return ELEMENTS[number]


def array_of(tensor: onnx.TensorProto) -> np.ndarray:
    """The elements of a tensor that stands in the model.

    Raises:
        TinycError: `UnsupportedOnnx`, `InvalidOnnx`.
    """
    element = element_of_onnx(tensor.data_type)
    if tensor.data_location == onnx.TensorProto.EXTERNAL:  # onnx would look for it from the current folder on
        raise TinycError("InvalidOnnx", f"tensor '{tensor.name}' lies in a file; it must stand in the model")
    if min(tensor.dims, default=0) < 0:
        raise TinycError("InvalidOnnx", f"tensor '{tensor.name}' has the shape {list(tensor.dims)}, which is negative")
    try:
        return numpy_helper.to_array(tensor).astype(element.dtype, copy=False)
    except (ValueError, TypeError, RuntimeError) as error:
        raise TinycError("InvalidOnnx", f"tensor '{tensor.name}' is damaged: {error}") from None


def attribute_value(attribute: onnx.AttributeProto) -> Any:
    """An attribute: texts as `str`, lists as tuples, tensors as arrays, graphs as they are.

    Raises:
        TinycError: `UnsupportedOnnx`, `InvalidOnnx`.
    """
    kinds = onnx.AttributeProto
    match attribute.type:
        case kinds.STRING:
            return attribute.s.decode("utf-8", errors="replace")
        case kinds.STRINGS:
            return tuple(each.decode("utf-8", errors="replace") for each in attribute.strings)
        case kinds.TENSOR:
            return array_of(attribute.t)
        case kinds.FLOAT:
            return attribute.f
        case kinds.FLOATS:
            return tuple(attribute.floats)
        case kinds.INT:
            return attribute.i
        case kinds.INTS:
            return tuple(attribute.ints)
        case kinds.GRAPH:
            return attribute.g
    raise TinycError("UnsupportedOnnx", f"attribute '{attribute.name}' is of a kind that is out of scope")
