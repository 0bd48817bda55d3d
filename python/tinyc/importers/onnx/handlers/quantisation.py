"""Quantisation, and products of quantised numbers: int8 products accumulate in i32, zero points taken off before."""

from typing import Any

from tinyc.importers.onnx.attributes import element_of_onnx
from tinyc.importers.onnx.handlers.windows import numbers, pads_of, reach_of
from tinyc.importers.onnx.node import Handler, OnnxNode
from tinyc.importers.onnx.values import Tensor
from tinyc.vocabulary.element_type import ElementType


def _quantize(node: OnnxNode) -> Tensor:
    x, scale, zero_point = node.tensor(0), node.tensor(1), node.optional(2)
    node.attribute("saturate")  # says something of 8-bit floats only
    asked = _element(node, "output_dtype")
    element = asked or (ElementType.UI8 if zero_point is None else zero_point.element)
    if zero_point is not None and element != zero_point.element:
        raise node.unsupported(f"output_dtype is {element}, and the zero point {zero_point.element}; they are the same")
    precision = _element(node, "precision") or scale.element
    return node.add("quantize", x, scale, zero_point, element=element, precision=precision, **_granularity(node, scale))


def _dequantize(node: OnnxNode) -> Tensor:
    x, scale, zero_point = node.tensor(0), node.tensor(1), node.optional(2)
    element = _element(node, "output_dtype") or scale.element
    return node.add("dequantize", x, scale, zero_point, element=element, **_granularity(node, scale))


def _element(node: OnnxNode, name: str) -> ElementType | None:
    """An attribute that is an element type, 0 where it is not given."""
    number = node.attribute(name, 0)
    return element_of_onnx(number) if number else None


def _granularity(node: OnnxNode, scale: Tensor) -> dict[str, Any]:
    """What the elements of a scale are for; one number is for all."""
    axis, block_size = node.attribute("axis", 1), node.attribute("block_size", 0)
    return {"axis": axis, "block_size": block_size} if scale.rank else {}


def _dynamic_quantize(node: OnnxNode) -> tuple[Tensor, ...]:
    return node.add_all("dynamic_quantize", node.tensor(0))


# --- products ---------------------------------------------------------------------------------------------------------


def _offset(node: OnnxNode, x: Tensor, zero_point: Tensor | None, axis: int) -> Tensor:
    """`x - zero_point` in i32; a vector of zero points stands along an axis."""
    wide = node.add("cast", x, element=ElementType.I32)
    if zero_point is None:
        return wide
    return node.add("elementwise sub", wide, _aligned(node, zero_point, x.rank, axis, ElementType.I32))


def _aligned(node: OnnxNode, x: Tensor, rank: int, axis: int, element: ElementType) -> Tensor:
    """A vector along an axis of a tensor of that rank, or a number for all of it, in a type."""
    return node.add("movement reshape", node.add("cast", x, element=element), shape=_along(x, rank, axis))


def _along(vector: Tensor, rank: int, axis: int) -> tuple[Any, ...]:
    """The shape in which a vector, or a number, stands along an axis."""
    if vector.rank > 1:
        return vector.shape
    extent = vector.shape[0] if vector.rank else 1
    return tuple(extent if each == axis % rank else 1 for each in range(rank)) if rank else ()


def _matmul(node: OnnxNode, a: tuple[int, int], b: tuple[int, int]) -> Tensor:
    """The product of two quantised matrices in i32; operands and zero points are inputs at these places."""
    lhs, rhs = node.tensor(a[0]), node.tensor(b[0])
    left = _offset(node, lhs, node.optional(a[1]), -2 if lhs.rank > 1 else 0)
    return node.add("matmul", left, _offset(node, rhs, node.optional(b[1]), -1))


def _matmul_integer(node: OnnxNode) -> Tensor:
    return _matmul(node, (0, 2), (1, 3))


def _qlinear_matmul(node: OnnxNode) -> Tensor:
    return _requantized(node, _matmul(node, (0, 2), (3, 5)), (-2, -1, -2))


def _requantized(node: OnnxNode, sums: Tensor, axes: tuple[int, int, int]) -> Tensor:
    """Sums of products as quantised numbers: by the scales of both operands and that of the result, inputs 1, 4 and 6.

    Those that are vectors stand along these axes, the zero point of the result, input 7, along the last of them.
    """
    x_scale, w_scale, y_scale = (
        _aligned(node, node.tensor(at), sums.rank, axis, ElementType.F32)
        for at, axis in zip((1, 4, 6), axes, strict=True)
    )
    multiplier = node.add("elementwise fdiv", node.add("elementwise mul", x_scale, w_scale), y_scale)
    element = node.tensor(7).element
    zero_point = _aligned(node, node.tensor(7), sums.rank, axes[2], element)
    return node.add("requantize", sums, multiplier, zero_point, element=element)


# --- convolutions -----------------------------------------------------------------------------------------------------


def _conv(node: OnnxNode, x: tuple[int, int], w: tuple[int, int]) -> Tensor:
    """The convolution of quantised numbers in i32; operands and zero points are inputs at these places."""
    data, kernel = node.tensor(x[0]), node.tensor(w[0])
    spatial = data.rank - 2
    shape = node.attribute("kernel_shape")
    if shape is not None and tuple(shape) != kernel.shape[2:]:
        raise node.unsupported(f"kernel_shape = {shape} is not that of the kernel, {kernel.shape[2:]}")
    strides, dilations = (tuple(node.attribute(name, (1,) * spatial)) for name in ("strides", "dilations"))
    reach = reach_of(numbers(node, kernel.shape[2:], "the kernel"), dilations)
    return node.add(
        "conv",
        _offset(node, data, node.optional(x[1]), 1),
        _offset(node, kernel, node.optional(w[1]), 0),
        strides=strides,
        pads=pads_of(node, data.shape[2:], reach, strides),
        dilations=dilations,
        groups=node.attribute("group", 1),
    )


def _conv_integer(node: OnnxNode) -> Tensor:
    return _conv(node, (0, 2), (1, 3))


def _qlinear_conv(node: OnnxNode) -> Tensor:
    sums = _conv(node, (0, 2), (3, 5))
    if node.has(8):
        bias = node.tensor(8)
        sums = node.add("elementwise add", sums, _aligned(node, bias, sums.rank, 1, ElementType.I32))
    return _requantized(node, sums, (1, 1, 1))


HANDLERS: dict[str, Handler] = {
    "ConvInteger": _conv_integer,
    "DequantizeLinear": _dequantize,
    "DynamicQuantizeLinear": _dynamic_quantize,
    "MatMulInteger": _matmul_integer,
    "QLinearConv": _qlinear_conv,
    "QLinearMatMul": _qlinear_matmul,
    "QuantizeLinear": _quantize,
}
