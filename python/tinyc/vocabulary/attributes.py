"""Between MLIR and plain data for Tiny: tensor types, attributes, affine maps.

`tensor_type` and `arguments` read what the verifier, the executors and the analyses need; `to_type` and `encode` write
it. Malformed attributes raise `TinycError` (`InvalidAttribute`), never an exception of the bindings.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from tinyc.diagnostics import TinycError
from tinyc.expr import extents
from tinyc.expr.affine_map import NotQuasiAffine, from_affine, to_map
from tinyc.expr.assumption import Assumption
from tinyc.expr.axes import AxisExpr, Index
from tinyc.expr.extents import Dim, ExtentError
from tinyc.mlir import ir
from tinyc.mlir.locations import where
from tinyc.vocabulary.element_type import BY_NAME, ElementType
from tinyc.vocabulary.elements import TensorValue, elements_attribute, is_elements
from tinyc.vocabulary.types import TensorType

#: Ops whose result shape and element type are part of the program, not inferred from the operands.
SHAPED = frozenset(("reshape", "expand", "view", "const", "iota", "rand"))
TYPED = frozenset(("const", "iota", "rand", "reduce", "cast"))


@functools.lru_cache(maxsize=4096)  # reading #tiny.dims takes 0.1 ms, and a program has few distinct types
def tensor_type(mlir_type: ir.Type) -> TensorType:
    """The tensor type that an MLIR type means.

    Raises:
        TinycError: it is not a ranked tensor of a Tiny element type, or its `#tiny.dims` does not fit its shape.
    """
    if not isinstance(mlir_type, ir.RankedTensorType):
        raise TinycError("InvalidAttribute", f"{mlir_type} is not a ranked tensor; Tiny values are tensors")
    name = str(mlir_type.element_type)
    if name not in BY_NAME:
        raise TinycError("DtypeMismatch", f"{mlir_type}: {name} is not an element type; use {', '.join(BY_NAME)}")
    element, encoding = BY_NAME[name], mlir_type.encoding
    if encoding is None:
        if not mlir_type.has_static_shape:
            raise TinycError("InvalidExtent", f'{mlir_type} has unnamed extents; name them with #tiny.dims<["M", …]>')
        return TensorType(element, tuple(mlir_type.shape))
    return TensorType(element, _dims(mlir_type, encoding))


def _dims(mlir_type: ir.RankedTensorType, encoding: ir.Attribute) -> tuple[Dim, ...]:
    """The extents of `#tiny.dims`, checked against the shape: `?` for each symbolic one, and canonical text."""
    parameters: list[ir.Attribute] | None = getattr(encoding, "params", None)
    if not str(encoding).startswith("#tiny.dims<") or not parameters or len(parameters) != 1:
        raise TinycError("InvalidAttribute", f"{mlir_type}: the encoding must be #tiny.dims<[…]>, not {encoding}")
    shape = decode(parameters[0].maybe_downcast())
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


def _dims_attribute(shape: Sequence[Dim]) -> ir.Attribute:
    return ir.DynamicAttr.get("tiny.dims", [extents_attribute(shape)])


def extents_attribute(shape: Sequence[Dim]) -> ir.ArrayAttr:
    """`["M", 3]` for a shape: integers as `i64`, symbolic extents as canonical text."""
    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get(
        [ir.IntegerAttr.get(i64, n) if isinstance(n, int) else ir.StringAttr.get(str(n)) for n in shape]
    )


def to_type(tensor: TensorType) -> ir.RankedTensorType:
    """The MLIR type of `tensor`, with `#tiny.dims` where an extent is symbolic."""
    dynamic = ir.ShapedType.get_dynamic_size()
    shape = [extent if isinstance(extent, int) else dynamic for extent in tensor.shape]
    encoding = None if tensor.is_static else _dims_attribute(tensor.shape)
    return ir.RankedTensorType.get(shape, ir.Type.parse(tensor.element), encoding, loc=ir.Location.unknown())


def vocabulary_name(op: ir.OpView | ir.Operation) -> str:
    """The name of a Tiny op in the vocabulary: `permute` for a `tiny.permute`."""
    return op.operation.name.removeprefix("tiny.")


def arguments(op: ir.OpView | ir.Operation) -> dict[str, Any]:
    """An op's arguments as plain values: what `infer` takes, and what the executors and analyses read."""
    operation = op.operation
    values = {name: decode(operation.attributes[name]) for name in operation.attributes if "." not in name}
    name = vocabulary_name(op)
    if name in SHAPED or name in TYPED:
        result = tensor_type(operation.results[0].type)
        if name == "view":
            _require_map_rank(operation, result.rank)
        if name in SHAPED:
            values["shape"] = result.shape
        if name in TYPED:
            values["element"] = result.element
    return values


def _require_map_rank(view: ir.Operation, rank: int) -> None:
    """Raise `InvalidAttribute` unless a view's map is over as many axes as its result has."""
    attribute = view.attributes["map"]
    if isinstance(attribute, ir.AffineMapAttr) and attribute.value.n_dims != rank:
        raise TinycError(
            "InvalidAttribute", f"{attribute} is over {attribute.value.n_dims} axes; the result has {rank}"
        )


def decode(attribute: ir.Attribute) -> Any:
    """An attribute as a plain value: int, bool, float, str, a tuple of extents, of ints or of index trees, a tensor."""
    if isinstance(attribute, ir.DenseI64ArrayAttr):
        return tuple(attribute)
    if isinstance(attribute, ir.BoolAttr | ir.IntegerAttr | ir.FloatAttr | ir.StringAttr):
        return attribute.value
    if isinstance(attribute, ir.ArrayAttr):
        return tuple(_decode_extent(entry) for entry in attribute)
    if isinstance(attribute, ir.AffineMapAttr):
        return decode_map(attribute.value)
    if is_elements(attribute):
        return TensorValue(attribute)
    raise TinycError("InvalidAttribute", f"the attribute {attribute} has no meaning here")


def _decode_extent(entry: ir.Attribute) -> Dim:
    if isinstance(entry, ir.IntegerAttr):
        return entry.value
    if not isinstance(entry, ir.StringAttr):
        raise TinycError("InvalidExtent", f'{entry} is not an extent; write an integer or text such as "M + 1"')
    try:
        return extents.parse_extent(entry.value)
    except ExtentError as error:
        raise TinycError("InvalidExtent", str(error)) from None


def decode_map(affine_map: ir.AffineMap) -> Index:
    """The results of an affine map without symbols as rows over `i0, i1, …`, as they are written."""
    if affine_map.n_symbols:
        raise TinycError("InvalidAttribute", f"{affine_map} has symbols; a view's map has only the result axes")
    return tuple(_decode_row(row) for row in affine_map.results)


def _decode_row(row: ir.AffineExpr) -> AxisExpr:
    try:
        return from_affine(row)
    except NotQuasiAffine:
        message = f"{row} is not made of + - * floordiv mod with positive divisors"
        raise TinycError("InvalidAttribute", message) from None


def encode_map(index: Index, rank: int) -> ir.AffineMapAttr:
    """The affine map `(d0, …) -> (index)` as an attribute."""
    return ir.AffineMapAttr.get(to_map(index, rank, ()))


def scalar(value: bool | int | float, element: ElementType) -> ir.Attribute:
    """A number as an attribute of an element type: `0.5 : f16`, `3 : ui8`, `true`."""
    mlir_type = ir.Type.parse(element)
    if element.is_float:
        return ir.FloatAttr.get(mlir_type, float(value))
    if element.is_bool:
        return ir.BoolAttr.get(bool(value))
    wrap = element.is_unsigned and value >= 2 ** (element.bits - 1)
    return ir.IntegerAttr.get(mlir_type, int(value) - 2**element.bits if wrap else int(value))


def encode(op: str, values: Mapping[str, Any], element: ElementType, rank: int) -> dict[str, ir.Attribute]:
    """The attribute dictionary of the Tiny op named `op`, the inverse of `arguments`.

    `element` is the element type of the op's first result, `rank` the rank of its result.
    """
    i64 = ir.IntegerType.get_signless(64)
    attributes: dict[str, ir.Attribute] = {}
    for name, value in values.items():
        if name in ("shape", "element"):
            continue
        if name == "value":
            is_number = isinstance(value, bool | int | float)
            attributes[name] = scalar(value, element) if is_number else elements_attribute(value)
        elif name == "map":
            attributes[name] = encode_map(value, rank)
        elif op == "shrink" and name in ("lo", "hi"):
            attributes[name] = extents_attribute(value)
        elif isinstance(value, bool):
            attributes[name] = ir.BoolAttr.get(value)
        elif isinstance(value, str):
            attributes[name] = ir.StringAttr.get(value)
        elif isinstance(value, int):
            attributes[name] = ir.IntegerAttr.get(i64, value)
        else:
            attributes[name] = ir.DenseI64ArrayAttr.get(value)
    return attributes


def assumption_of(op: ir.OpView) -> Assumption:
    """The relation that a `tiny.assume` states.

    Raises:
        TinycError: a side is not an extent in canonical text, or the predicate is unknown.
    """
    texts: dict[str, str] = {}
    for name in ("lhs", "predicate", "rhs"):
        attribute = op.attributes[name]
        if not isinstance(attribute, ir.StringAttr):
            raise TinycError("InvalidAttribute", f"'{name}' must be a string, not {attribute}")
        texts[name] = attribute.value
    predicate = texts["predicate"]
    if predicate not in ("eq", "le"):
        raise TinycError("InvalidAttribute", f"predicate {predicate!r} is not 'eq' or 'le'")
    sides: list[Dim] = []
    for text in (texts["lhs"], texts["rhs"]):
        try:
            side = extents.parse_extent(text)
        except ExtentError as error:
            raise TinycError("InvalidExtent", str(error)) from None
        if str(side) != text:
            raise TinycError("InvalidExtent", f"{text!r} is not in canonical form; write {str(side)!r}")
        sides.append(side)
    return Assumption(sides[0], predicate, sides[1], where(op.location))
