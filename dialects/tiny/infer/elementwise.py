"""Typing of the element-wise ops: equal shapes, equal element types (001 §3, rules 1 and 2), no cast but `cast`."""

from collections.abc import Callable

from tinyc.diagnostics import TinycError
from tinyc.dialects.tiny.infer.rule import (
    Arguments,
    Inferred,
    Operands,
    Rule,
    is_number,
    require_kind,
    require_same,
    typed,
)
from tinyc.dialects.tiny.types import BOOL, DTYPE_NAMES, SIGNED, TensorType, is_float, is_integer

UNARY_FLOAT = ("exp2", "log2", "sqrt", "rsqrt", "recip", "sin", "erf", "tanh", "floor")
UNARY = ("neg", *UNARY_FLOAT, "relu", "not")
BINARY = ("add", "sub", "mul", "fdiv", "idiv", "mod", "max", "min", "and", "or", "xor", "cmp_lt", "cmp_eq")
ELEMENTWISE = (*UNARY, *BINARY, "where", "cast")


def _unary(operands: Operands, arguments: Arguments) -> Inferred:
    return Inferred((operands[0],))


def _unary_of(kinds: str, allowed: Callable[[str], bool]) -> Rule:
    def rule(operands: Operands, arguments: Arguments) -> Inferred:
        require_kind(operands[0], kinds, allowed)
        return _unary(operands, arguments)

    return rule


def _is_bitwise(element: str) -> bool:
    return not is_float(element)


def _any_element(element: str) -> bool:
    return True


def _binary_of(kinds: str, allowed: Callable[[str], bool], gives: str | None = None) -> Rule:
    def rule(operands: Operands, arguments: Arguments) -> Inferred:
        lhs, rhs = operands
        require_same(lhs, rhs)
        require_kind(lhs, kinds, allowed)
        return typed(gives or lhs.element, lhs.shape)

    return rule


def _where(operands: Operands, arguments: Arguments) -> Inferred:
    condition, if_true, if_false = operands
    if condition.element != BOOL:
        raise TinycError(
            "DtypeMismatch", f"the condition of WHERE is {DTYPE_NAMES[condition.element]}, not bool; insert a CAST"
        )
    require_same(if_true, if_false)
    require_same(TensorType(if_true.element, condition.shape), if_true)
    return Inferred((if_true,))


def _cast(operands: Operands, arguments: Arguments) -> Inferred:
    return typed(arguments["element"], operands[0].shape)


_number = _binary_of("numbers", is_number)
_integer = _binary_of("integers", is_integer)
_bitwise = _binary_of("integers and bool", _is_bitwise)
_compare = _binary_of("any type", _any_element, gives=BOOL)

RULES: dict[str, Rule] = {
    "neg": _unary_of("floats and signed integers", lambda e: is_float(e) or e in SIGNED),
    **dict.fromkeys(UNARY_FLOAT, _unary_of("floats", is_float)),
    "relu": _unary_of("numbers", is_number),
    "not": _unary_of("integers and bool", _is_bitwise),
    **dict.fromkeys(("add", "sub", "mul"), _number),
    "fdiv": _binary_of("floats (IDIV divides integers)", is_float),
    **dict.fromkeys(("idiv", "mod"), _integer),
    **dict.fromkeys(("max", "min"), _binary_of("any type", _any_element)),
    **dict.fromkeys(("and", "or", "xor"), _bitwise),
    **dict.fromkeys(("cmp_lt", "cmp_eq"), _compare),
    "where": _where,
    "cast": _cast,
}
