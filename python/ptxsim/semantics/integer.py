"""Integer arithmetic: add sub mul mad mul24 mad24 sad div rem abs neg min max. Source: PTX ISA §9.7.1.

In: an instruction's modifiers. Out: its operation. The forms with a carry are in `extended`, the packed ones in
`packed`.
"""

import operator
from collections.abc import Callable

import numpy as np

from ptxsim.semantics import product
from ptxsim.semantics.division import quotient, remainder
from ptxsim.semantics.integer_type import INTEGERS, NARROW, SIGNED, IntegerType, integer_elementwise
from ptxsim.semantics.operation import Builder, Operation, Registry

_S32 = IntegerType("s32")


def _sum(function: Callable[..., np.ndarray]) -> Builder:
    """`add` and `sub`: modulo 2^n, or `.sat.s32` within the range."""

    def saturating(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return _S32.saturated(function(_S32.values(a).astype(np.int64), _S32.values(b).astype(np.int64)))

    def build(modifiers: tuple[str, ...]) -> Operation | None:
        match modifiers:
            case (name,) if name in INTEGERS:
                return integer_elementwise(name, 2, function)
            case ("sat", "s32"):
                return integer_elementwise("s32", 2, saturating)
        return None

    return build


def _mul(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case ("hi" | "lo" as mode, name) if name in INTEGERS:
            kind = IntegerType(name)
            return integer_elementwise(name, 2, lambda a, b: product.half(kind, mode, a, b))
        case ("wide", name) if name in NARROW:
            kind = IntegerType(name)
            return Operation((kind.twice.name,), (name, name), lambda a, b: (product.wide(kind, a, b),))
    return None


def _mad(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case ("hi" | "lo" as mode, name) if name in INTEGERS:
            kind = IntegerType(name)
            return integer_elementwise(name, 3, lambda a, b, c: product.half(kind, mode, a, b) + c)
        case ("hi", "sat", "s32"):
            return integer_elementwise("s32", 3, lambda a, b, c: _saturating_sum(product.high(_S32, a, b), c))
        case ("wide", name) if name in NARROW:
            kind, double = IntegerType(name), IntegerType(name).twice.name
            return Operation((double,), (name, name, double), lambda a, b, c: (product.wide(kind, a, b) + c,))
    return None


def _saturating_sum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return _S32.saturated(_S32.values(a).astype(np.int64) + _S32.values(b))


def _product24(kind: IntegerType, mode: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Bits 31..0 (lo) or 47..16 (hi) of the product of the operands' low 24 bits."""
    unused = kind.dtype.type(8)
    a_value, b_value = (kind.values(x << unused) >> kind.value_dtype.type(8) for x in (a, b))
    exact = a_value.astype(np.int64) * b_value
    return kind.pattern(exact >> np.int64(16) if mode == "hi" else exact)


def _mul24(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case ("hi" | "lo" as mode, "u32" | "s32" as name):
            kind = IntegerType(name)
            return integer_elementwise(name, 2, lambda a, b: _product24(kind, mode, a, b))
    return None


def _mad24(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case ("hi" | "lo" as mode, "u32" | "s32" as name):
            kind = IntegerType(name)
            return integer_elementwise(name, 3, lambda a, b, c: _product24(kind, mode, a, b) + c)
        case ("hi", "sat", "s32"):
            return integer_elementwise("s32", 3, lambda a, b, c: _saturating_sum(_product24(_S32, "hi", a, b), c))
    return None


def _sad(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case (name,) if name in INTEGERS:
            kind = IntegerType(name)
            return integer_elementwise(
                name, 3, lambda a, b, c: c + np.where(kind.values(a) < kind.values(b), b - a, a - b)
            )
    return None


def _division(function: Callable[..., np.ndarray]) -> Builder:
    def build(modifiers: tuple[str, ...]) -> Operation | None:
        match modifiers:
            case (name,) if name in INTEGERS:
                kind = IntegerType(name)
                return integer_elementwise(name, 2, lambda a, b: function(kind, a, b))
        return None

    return build


def _sign(function: Callable[..., np.ndarray]) -> Builder:
    """`abs` and `neg`: of the most negative number, it is itself."""

    def build(modifiers: tuple[str, ...]) -> Operation | None:
        match modifiers:
            case (name,) if name in SIGNED:
                kind = IntegerType(name)
                return integer_elementwise(name, 1, lambda a: kind.pattern(function(kind.values(a))))
        return None

    return build


def _extremum(function: Callable[..., np.ndarray]) -> Builder:
    """`min` and `max`; `.relu`, before the type or behind it as nvcc writes it, makes a negative result zero."""

    def build(modifiers: tuple[str, ...]) -> Operation | None:
        match modifiers:
            case (name,) if name in INTEGERS:
                kind = IntegerType(name)
                return integer_elementwise(name, 2, lambda a, b: kind.pattern(function(kind.values(a), kind.values(b))))
            case ("relu", "s32") | ("s32", "relu"):
                zero = np.int32(0)
                return integer_elementwise(
                    "s32", 2, lambda a, b: _S32.pattern(np.maximum(function(_S32.values(a), _S32.values(b)), zero))
                )
        return None

    return build


BUILDERS: Registry = {
    "add": _sum(operator.add),
    "sub": _sum(operator.sub),
    "mul": _mul,
    "mad": _mad,
    "mul24": _mul24,
    "mad24": _mad24,
    "sad": _sad,
    "div": _division(quotient),
    "rem": _division(remainder),
    "abs": _sign(np.abs),
    "neg": _sign(np.negative),
    "min": _extremum(np.minimum),
    "max": _extremum(np.maximum),
}
