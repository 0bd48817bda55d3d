"""Between MLIR and plain data for Tiny: tensor types, attributes, affine maps.

`tensor_type` and `arguments` read what the verifier, the executors and the analyses need; `to_type` and `encode` write
it. Malformed attributes raise `TinycError` (`InvalidAttribute`), never an exception of the bindings.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from tinyc.analysis import extents, index_map
from tinyc.analysis.extents import Dim, ExtentError
from tinyc.diagnostics import TinycError
from tinyc.dialects.tiny.types import BOOL, ELEMENTS, UNSIGNED, TensorType, bits, is_float
from tinyc.mlir import ir

#: Ops whose result shape and element type are part of the program, not inferred from the operands.
SHAPED = frozenset(("reshape", "expand", "view", "const", "iota", "rand"))
TYPED = frozenset(("const", "iota", "rand", "reduce", "cast"))


@functools.lru_cache(maxsize=4096)  # reading #tiny.dims takes 0.1 ms, and a program has few distinct types
def tensor_type(mlir_type: Any) -> TensorType:
    """Return the tensor type that an MLIR type means.

    Raises:
        TinycError: it is not a ranked tensor of a Tiny element type, or its `#tiny.dims` does not fit its shape.
    """
    if not isinstance(mlir_type, ir.RankedTensorType):
        raise TinycError("InvalidAttribute", f"{mlir_type} is not a ranked tensor; Tiny values are tensors")
    element = str(mlir_type.element_type)
    if element not in ELEMENTS:
        raise TinycError("DtypeMismatch", f"{mlir_type}: {element} is not an element type; use {', '.join(ELEMENTS)}")
    encoding = mlir_type.encoding
    if encoding is None:
        if not mlir_type.has_static_shape:
            raise TinycError("InvalidExtent", f'{mlir_type} has unnamed extents; name them with #tiny.dims<["M", …]>')
        return TensorType(element, tuple(mlir_type.shape))
    shape = _dims(mlir_type, encoding)
    return TensorType(element, shape)


def _dims(mlir_type: Any, encoding: Any) -> tuple[Dim, ...]:
    """Return the extents of `#tiny.dims`, checked against the shape: `?` for each symbolic one, and canonical text."""
    parameters = getattr(encoding, "params", None)
    if not str(encoding).startswith("#tiny.dims<") or not parameters or len(parameters) != 1:
        raise TinycError("InvalidAttribute", f"{mlir_type}: the encoding must be #tiny.dims<[…]>, not {encoding}")
    entries = parameters[0].maybe_downcast()
    shape = decode(entries)
    if len(shape) != mlir_type.rank:
        raise TinycError("InvalidExtent", f"{mlir_type}: #tiny.dims must list an extent for each of the axes")
    for axis, extent in enumerate(shape):
        expected = None if mlir_type.is_dynamic_dim(axis) else mlir_type.get_dim_size(axis)
        if (expected is None) != isinstance(extent, extents.Extent) or (expected is not None and expected != extent):
            raise TinycError(
                "InvalidExtent",
                f"{mlir_type}: axis {axis} is {'?' if expected is None else expected} in the shape and {extent} in "
                "#tiny.dims; write ? exactly where the extent is symbolic",
            )
    if not any(isinstance(extent, extents.Extent) for extent in shape):
        raise TinycError("InvalidExtent", f"{mlir_type} is static and must carry no #tiny.dims")
    if str(encoding) != str(_dims_attribute(shape)):
        raise TinycError(
            "InvalidExtent", f"{mlir_type}: the extents are not in canonical form; write {_dims_attribute(shape)}"
        )
    return shape


def _dims_attribute(shape: Sequence[Dim]) -> Any:
    return ir.DynamicAttr.get("tiny.dims", [extents_attribute(shape)])


def extents_attribute(shape: Sequence[Dim]) -> Any:
    """Return `["M", 3]` for a shape: integers as `i64`, symbolic extents as canonical text."""
    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get(
        [ir.IntegerAttr.get(i64, n) if isinstance(n, int) else ir.StringAttr.get(str(n)) for n in shape]
    )


def to_type(tensor: TensorType) -> Any:
    """Return the MLIR type of `tensor`, with `#tiny.dims` where an extent is symbolic."""
    dynamic = ir.ShapedType.get_dynamic_size()
    shape = [extent if isinstance(extent, int) else dynamic for extent in tensor.shape]
    encoding = None if tensor.is_static else _dims_attribute(tensor.shape)
    return ir.RankedTensorType.get(shape, element_type(tensor.element), encoding, loc=ir.Location.unknown())


def element_type(element: str) -> Any:
    """Return the MLIR scalar type of an element type."""
    return ir.Type.parse(element)


def arguments(op: Any) -> dict[str, Any]:
    """Return an op's arguments as plain values: what `infer` takes, and what the executors and analyses read."""
    operation = op.operation
    values = {name: decode(operation.attributes[name]) for name in operation.attributes if "." not in name}
    name = operation.name.removeprefix("tiny.")
    if name in SHAPED or name in TYPED:
        result = tensor_type(operation.results[0].type)
        if name == "view":
            _require_map_rank(operation, result.rank)
        if name in SHAPED:
            values["shape"] = result.shape
        if name in TYPED:
            values["element"] = result.element
    return values


def _require_map_rank(view: Any, rank: int) -> None:
    """Raise `InvalidAttribute` unless a view's map is over as many axes as its result has."""
    attribute = view.attributes["map"]
    if isinstance(attribute, ir.AffineMapAttr) and attribute.value.n_dims != rank:
        raise TinycError(
            "InvalidAttribute", f"{attribute} is over {attribute.value.n_dims} axes; the result has {rank}"
        )


def decode(attribute: Any) -> Any:
    """Return an attribute as a plain value: int, bool, float, str, a tuple of extents, of ints or of index trees."""
    if isinstance(attribute, ir.DenseI64ArrayAttr):
        return tuple(attribute)
    if isinstance(attribute, ir.BoolAttr | ir.IntegerAttr | ir.FloatAttr | ir.StringAttr):
        return attribute.value
    if isinstance(attribute, ir.ArrayAttr):
        return tuple(_decode_extent(entry) for entry in attribute)
    if isinstance(attribute, ir.AffineMapAttr):
        return decode_map(attribute.value)
    raise TinycError("InvalidAttribute", f"the attribute {attribute} has no meaning here")


def _decode_extent(entry: Any) -> Dim:
    if isinstance(entry, ir.IntegerAttr):
        return entry.value
    if not isinstance(entry, ir.StringAttr):
        raise TinycError("InvalidExtent", f'{entry} is not an extent; write an integer or text such as "M + 1"')
    try:
        return extents.parse(entry.value)
    except ExtentError as error:
        raise TinycError("InvalidExtent", str(error)) from None


def decode_map(affine_map: Any) -> tuple[index_map.Index, ...]:
    """Return the results of an affine map without symbols as index trees over `i0, i1, …`."""
    if affine_map.n_symbols:
        raise TinycError("InvalidAttribute", f"{affine_map} has symbols; a view's map has only the result axes")
    return tuple(_decode_index(result) for result in affine_map.results)


def _decode_index(expression: Any) -> index_map.Index:
    if isinstance(expression, ir.AffineConstantExpr):
        return expression.value
    if isinstance(expression, ir.AffineDimExpr):
        return index_map.Axis(expression.position)
    left, right = _decode_index(expression.lhs), _decode_index(expression.rhs)
    if isinstance(expression, ir.AffineAddExpr):
        return index_map.add(left, right)
    if isinstance(right, int) and isinstance(expression, ir.AffineMulExpr):
        return index_map.scale(left, right)
    if isinstance(right, int) and right > 0 and isinstance(expression, ir.AffineFloorDivExpr):
        return index_map.Quotient(left, right)
    if isinstance(right, int) and right > 0 and isinstance(expression, ir.AffineModExpr):
        return index_map.Remainder(left, right)
    raise TinycError("InvalidAttribute", f"{expression} is not made of + - * floordiv mod with positive divisors")


def encode_map(indices: Sequence[index_map.Index], rank: int) -> Any:
    """Return the affine map `(d0, …) -> (indices)` as an attribute."""
    return ir.AffineMapAttr.get(ir.AffineMap.get(rank, 0, [_encode_index(index) for index in indices]))


def _encode_index(index: index_map.Index) -> Any:
    if isinstance(index, int):
        return ir.AffineConstantExpr.get(index)
    if isinstance(index, index_map.Axis):
        return ir.AffineDimExpr.get(index.position)
    if isinstance(index, index_map.Sum):
        return _encode_index(index.left) + _encode_index(index.right)
    inner = _encode_index(index.operand)
    if isinstance(index, index_map.Scaled):
        return inner * index.factor
    if isinstance(index, index_map.Quotient):
        return ir.AffineExpr.get_floor_div(inner, index.divisor)
    return ir.AffineExpr.get_mod(inner, index.divisor)


def scalar(value: bool | int | float, element: str) -> Any:
    """Return a number as an attribute of an element type: `0.5 : f16`, `3 : ui8`, `true`."""
    kind = element_type(element)
    if is_float(element):
        return ir.FloatAttr.get(kind, float(value))
    if element == BOOL:
        return ir.BoolAttr.get(bool(value))
    wrap = element in UNSIGNED and value >= 2 ** (bits(element) - 1)
    return ir.IntegerAttr.get(kind, int(value) - 2 ** bits(element) if wrap else int(value))


def encode(op: str, values: Mapping[str, Any], element: str, rank: int) -> dict[str, Any]:
    """Return the attribute dictionary of the Tiny op named `op`, the inverse of `arguments`.

    `element` is the element type of the op's first result, `rank` the rank of its result.
    """
    i64 = ir.IntegerType.get_signless(64)
    attributes = {}
    for name, value in values.items():
        if name in ("shape", "element"):
            continue
        if name == "value":
            attributes[name] = scalar(value, element)
        elif name == "map":
            attributes[name] = encode_map(value, rank)
        elif op == "shrink" and name in ("lo", "hi"):
            attributes[name] = extents_attribute(value)
        elif isinstance(value, tuple):
            attributes[name] = ir.DenseI64ArrayAttr.get(value)
        elif isinstance(value, bool):
            attributes[name] = ir.BoolAttr.get(value)
        else:
            attributes[name] = ir.StringAttr.get(value) if isinstance(value, str) else ir.IntegerAttr.get(i64, value)
    return attributes
