"""MLIR's scalar types and constants as CUDA C++: what each is called, and how a number of it is written exactly.

Integers are signless in MLIR; here they are the signed types, and an op that means them unsigned converts. i1 is
`bool`, `index` is `int64_t`. f16 and bf16 are storage: nothing is computed in them.
"""

import math

import numpy as np

from tinyc.diagnostics import TinycError
from tinyc.mlir import arith, ir
from tinyc.vocabulary.element_type import ElementType

_NAMES = {
    **{str(element): element.c_name for element in ElementType if not element.is_unsigned},
    **{"i1": "bool", "index": "int64_t"},
}
_FLOATS = tuple(str(element) for element in ElementType if element.is_float)
_LITERAL_LIMIT = 2**31


def type_name(mlir_type: ir.Type) -> str:
    """The C++ name of a scalar type.

    Raises:
        TinycError: `InvalidIr`: it is none that a kernel at the scalar level has.
    """
    text = str(mlir_type)
    if text not in _NAMES:
        raise TinycError("InvalidIr", f"CUDA text has no spelling for the type {text}; run --gpu-expand first")
    return _NAMES[text]


def unsigned_name(mlir_type: ir.Type) -> str:
    """The C++ name of the unsigned type of the same width."""
    return f"u{type_name(mlir_type)}"


def is_float_type(mlir_type: ir.Type) -> bool:
    """Whether a scalar type is floating-point."""
    return str(mlir_type) in _FLOATS


def is_narrow(mlir_type: ir.Type) -> bool:
    """Whether C++ promotes the type to `int` in every expression."""
    return str(mlir_type) in ("i8", "i16")


def constant_text(attribute: ir.Attribute) -> str:
    """A constant, of exactly its value."""
    if isinstance(attribute, ir.FloatAttr):
        return float_text(attribute.value, str(attribute.type))
    return integer_text(value_of(attribute), attribute.type)


def value_of(attribute: ir.Attribute) -> int | float:
    """The number that a constant's attribute is."""
    assert isinstance(attribute, ir.IntegerAttr | ir.FloatAttr | ir.BoolAttr)
    return attribute.value


def constant_of(value: ir.Value) -> int | float | None:
    """The number that a value is, or None."""
    op = value.owner
    return value_of(op.value) if isinstance(op, arith.ConstantOp) else None


def integer_text(value: int | float, kind: ir.Type) -> str:
    """An integer; one that C++ would take for another type says its own, but for an `index`, which widens."""
    if str(kind) == "i1":
        return "true" if value else "false"
    if isinstance(kind, ir.IntegerType):
        value = (int(value) + 2 ** (kind.width - 1)) % 2**kind.width - 2 ** (kind.width - 1)
        if value == -(2 ** (kind.width - 1)) and kind.width >= 32:
            return f"INT{kind.width}_MIN"
        if kind.width != 32:
            return f"{type_name(kind)}({value}{'' if abs(value) < _LITERAL_LIMIT else 'LL'})"
    return str(value) if abs(value) < _LITERAL_LIMIT else f"{value}LL"


def float_text(value: float, kind: str) -> str:
    """A floating-point number: the shortest digits that mean it, and the suffix of its type."""
    if math.isnan(value) or math.isinf(value):
        name = "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
        return name if kind == "f32" else f"double({name})"
    number = np.float64(value) if kind == "f64" else np.float32(value)
    if number == 0 or 1e-4 <= abs(number) < 1e7:
        text = np.format_float_positional(number, unique=True, trim="-")
        text = text if "." in text else f"{text}."
    else:
        text = np.format_float_scientific(number, unique=True, trim="-")
    if kind == "f64":
        return f"{text}0" if text.endswith(".") else text
    return f"{text}f"
