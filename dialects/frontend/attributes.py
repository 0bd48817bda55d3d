"""Attributes of Frontend ops as plain data, and back, as the schema of the op says."""

from collections.abc import Mapping
from typing import Any

from tinyc.diagnostics import TinycError
from tinyc.formulas.schema import AttributeKind, Schema
from tinyc.mlir import ir
from tinyc.mlir.constants import i64
from tinyc.vocabulary.attributes import decode, extents_attribute
from tinyc.vocabulary.element_type import BY_NAME, ElementType

#: What each kind of attribute is in MLIR, and how messages show that.
_FORMS: dict[AttributeKind, tuple[type[ir.Attribute], str]] = {
    AttributeKind.BOOL: (ir.BoolAttr, "true or false"),
    AttributeKind.INT: (ir.IntegerAttr, "an integer"),
    AttributeKind.FLOAT: (ir.FloatAttr, "a float"),
    AttributeKind.TEXT: (ir.StringAttr, "a string"),
    AttributeKind.ELEMENT: (ir.TypeAttr, "an element type"),
    AttributeKind.INTS: (ir.DenseI64ArrayAttr, "array<i64: …>"),
    AttributeKind.FLOATS: (ir.DenseF64ArrayAttr, "array<f64: …>"),
    AttributeKind.TEXTS: (ir.ArrayAttr, '["…", …]'),
    AttributeKind.DIMS: (ir.ArrayAttr, '[0, "M", …]'),
}


def decode_attributes(schema: Schema, found: Mapping[str, ir.Attribute]) -> dict[str, Any]:
    """The attributes of an op that are those of its schema, as plain data.

    Raises:
        TinycError: `InvalidAttribute`: there is no such attribute, or it is of another form.
    """
    values: dict[str, Any] = {}
    for name, attribute in found.items():
        if name not in schema.attributes:
            known = ", ".join(schema.attributes) or "none"
            raise TinycError("InvalidAttribute", f"{schema.name} has no attribute '{name}'; it has {known}")
        kind = schema.attributes[name].kind
        form, shown = _FORMS[kind]
        if not isinstance(attribute, form) or (kind is AttributeKind.INT and isinstance(attribute, ir.BoolAttr)):
            raise TinycError("InvalidAttribute", f"attribute '{name}' is {attribute}; it must be {shown}")
        values[name] = _decoded(kind, name, attribute)
    return values


def _decoded(kind: AttributeKind, name: str, attribute: ir.Attribute) -> Any:
    if kind is AttributeKind.ELEMENT:
        return _element(name, str(attribute))
    if kind is AttributeKind.FLOATS:
        assert isinstance(attribute, ir.DenseF64ArrayAttr)
        return tuple(attribute)
    if kind is AttributeKind.TEXTS:
        assert isinstance(attribute, ir.ArrayAttr)
        texts = [each.value for each in attribute if isinstance(each, ir.StringAttr)]
        if len(texts) != len(attribute):
            raise TinycError("InvalidAttribute", f"attribute '{name}' is {attribute}; it must be {_FORMS[kind][1]}")
        return tuple(texts)
    return decode(attribute)


def _element(name: str, text: str) -> ElementType:
    if text not in BY_NAME:
        raise TinycError("InvalidAttribute", f"attribute '{name}' is {text}; it must be one of {', '.join(BY_NAME)}")
    return BY_NAME[text]


def encode_attributes(schema: Schema, values: Mapping[str, Any]) -> dict[str, ir.Attribute]:
    """Plain data as the attributes of an op; what is at its default is left out."""
    given = {name: value for name, value in values.items() if value != schema.attributes[name].default}
    return {name: _encoded(schema.attributes[name].kind, value) for name, value in given.items()}


def _encoded(kind: AttributeKind, value: Any) -> ir.Attribute:
    match kind:
        case AttributeKind.BOOL:
            return ir.BoolAttr.get(value)
        case AttributeKind.INT:
            return i64(value)
        case AttributeKind.FLOAT:
            return ir.FloatAttr.get(ir.F64Type.get(), value)
        case AttributeKind.TEXT:
            return ir.StringAttr.get(value)
        case AttributeKind.ELEMENT:
            return ir.TypeAttr.get(ir.Type.parse(value))
        case AttributeKind.INTS:
            return ir.DenseI64ArrayAttr.get(list(value))
        case AttributeKind.FLOATS:
            return ir.DenseF64ArrayAttr.get(list(value))
        case AttributeKind.TEXTS:
            return ir.ArrayAttr.get([ir.StringAttr.get(each) for each in value])
        case AttributeKind.DIMS:
            return extents_attribute(value)
