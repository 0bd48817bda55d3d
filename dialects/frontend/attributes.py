"""Attributes of Frontend ops as plain data, and back, as the schema of the op says."""

from collections.abc import Mapping
from typing import Any

from tinyc.diagnostics import TinycError
from tinyc.formulas.schema import Kind, Schema
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import decode, extents_attribute
from tinyc.vocabulary.element_type import BY_NAME, ElementType

#: What each kind of attribute is in MLIR, and how messages show that.
_FORMS: dict[Kind, tuple[type[ir.Attribute], str]] = {
    Kind.BOOL: (ir.BoolAttr, "true or false"),
    Kind.INT: (ir.IntegerAttr, "an integer"),
    Kind.FLOAT: (ir.FloatAttr, "a float"),
    Kind.TEXT: (ir.StringAttr, "a string"),
    Kind.ELEMENT: (ir.TypeAttr, "an element type"),
    Kind.INTS: (ir.DenseI64ArrayAttr, "array<i64: …>"),
    Kind.FLOATS: (ir.DenseF64ArrayAttr, "array<f64: …>"),
    Kind.TEXTS: (ir.ArrayAttr, '["…", …]'),
    Kind.DIMS: (ir.ArrayAttr, '[0, "M", …]'),
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
        if not isinstance(attribute, form) or (kind is Kind.INT and isinstance(attribute, ir.BoolAttr)):
            raise TinycError("InvalidAttribute", f"attribute '{name}' is {attribute}; it must be {shown}")
        values[name] = _decoded(kind, name, attribute)
    return values


def _decoded(kind: Kind, name: str, attribute: ir.Attribute) -> Any:
    if kind is Kind.ELEMENT:
        return _element(name, str(attribute))
    if kind is Kind.FLOATS:
        assert isinstance(attribute, ir.DenseF64ArrayAttr)
        return tuple(attribute)
    if kind is Kind.TEXTS:
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


def _encoded(kind: Kind, value: Any) -> ir.Attribute:
    match kind:
        case Kind.BOOL:
            return ir.BoolAttr.get(value)
        case Kind.INT:
            return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
        case Kind.FLOAT:
            return ir.FloatAttr.get(ir.F64Type.get(), value)
        case Kind.TEXT:
            return ir.StringAttr.get(value)
        case Kind.ELEMENT:
            return ir.TypeAttr.get(ir.Type.parse(value))
        case Kind.INTS:
            return ir.DenseI64ArrayAttr.get(list(value))
        case Kind.FLOATS:
            return ir.DenseF64ArrayAttr.get(list(value))
        case Kind.TEXTS:
            return ir.ArrayAttr.get([ir.StringAttr.get(each) for each in value])
        case Kind.DIMS:
            return extents_attribute(value)
