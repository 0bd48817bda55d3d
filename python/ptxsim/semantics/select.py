"""Comparison of integers, and selection of any type: setp set selp slct. Source: PTX ISA §9.7.6.

In: an instruction's modifiers. Out: its operation. Comparisons of floating-point numbers are in `floating`.
"""

import operator
from collections.abc import Callable

import numpy as np

from ptxsim.semantics.integer_type import BIT_TYPES, INTEGERS, SIGNED, IntegerType
from ptxsim.semantics.operation import Operation, Registry

_EQUALITY = {"eq": operator.eq, "ne": operator.ne}
_ORDER = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}
_UNSIGNED_ORDER = {"lo": operator.lt, "ls": operator.le, "hi": operator.gt, "hs": operator.ge}
_COMBINATIONS = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}

# What `set` writes for true, by the result's type.
_TRUE = {
    "u32": np.uint32(0xFFFFFFFF),
    "s32": np.uint32(0xFFFFFFFF),
    "f32": np.uint32(0x3F800000),
    "f16": np.uint16(0x3C00),
    "bf16": np.uint16(0x3F80),
}
_SELECTABLE = (*BIT_TYPES, *INTEGERS, "f32", "f64")

IntegerComparison = Callable[[np.ndarray, np.ndarray], np.ndarray]


def comparison(name: str, type_name: str) -> IntegerComparison | None:
    """The comparison of two bit patterns, or None if there is no such comparison of integers.

    Bit-size types have equality only; the operators of unsigned numbers are those of no other type.
    """
    if type_name not in BIT_TYPES and type_name not in INTEGERS:
        return None
    operators = dict(_EQUALITY)
    if type_name in INTEGERS:
        operators |= _ORDER
    if type_name in INTEGERS and type_name not in SIGNED:
        operators |= _UNSIGNED_ORDER
    compare = operators.get(name)
    if compare is None:
        return None
    kind = IntegerType(type_name)
    return lambda a, b: compare(kind.values(a), kind.values(b))


def _setp(modifiers: tuple[str, ...]) -> Operation | None:
    """`p|q`: p of the comparison, q of its opposite."""
    match modifiers:
        case (name, kind):
            compare = comparison(name, kind)
            return compare and Operation(("pred", "pred"), (kind, kind), lambda a, b: _both(compare(a, b)))
        case (name, ("and" | "or" | "xor") as how, kind):
            compare, combine = comparison(name, kind), _COMBINATIONS[how]
            return compare and Operation(
                ("pred", "pred"),
                (kind, kind, "pred"),
                lambda a, b, c: tuple(combine(truth, c) for truth in _both(compare(a, b))),
            )
    return None


def _both(truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return truth, np.logical_not(truth)


def _set(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case (name, result, kind) if result in _TRUE:
            compare = comparison(name, kind)
            return compare and Operation((result,), (kind, kind), lambda a, b: (_truth(result, compare(a, b)),))
        case (name, ("and" | "or" | "xor") as how, result, kind) if result in _TRUE:
            compare, combine = comparison(name, kind), _COMBINATIONS[how]
            return compare and Operation(
                (result,), (kind, kind, "pred"), lambda a, b, c: (_truth(result, combine(compare(a, b), c)),)
            )
    return None


def _truth(result: str, truth: np.ndarray) -> np.ndarray:
    true = _TRUE[result]
    return np.where(truth, true, true.dtype.type(0))


def _selp(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case (name,) if name in _SELECTABLE:
            return Operation((name,), (name, name, "pred"), lambda a, b, c: (np.where(c, a, b),))
    return None


def _slct(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case (name, "s32") if name in _SELECTABLE:
            return Operation((name,), (name, name, "s32"), lambda a, b, c: (np.where(c.view(np.int32) >= 0, a, b),))
        case (name, "f32") if name in _SELECTABLE:
            return Operation((name,), (name, name, "f32"), lambda a, b, c: (np.where(c.view(np.float32) >= 0, a, b),))
        case ("ftz", name, "f32") if name in _SELECTABLE:
            return Operation(
                (name,), (name, name, "f32"), lambda a, b, c: (np.where(_flushed(c).view(np.float32) >= 0, a, b),)
            )
    return None


def _flushed(bits: np.ndarray) -> np.ndarray:
    """F32 patterns with zero for subnormal numbers; their sign does not matter here."""
    return np.where(bits & np.uint32(0x7F800000) == 0, np.uint32(0), bits)


BUILDERS: Registry = {"setp": _setp, "set": _set, "selp": _selp, "slct": _slct}
