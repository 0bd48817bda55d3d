"""Logic and shifts: and or xor not cnot lop3 shf shl shr. Source: PTX ISA §9.7.8.

In: an instruction's modifiers. Out: its operation.
"""

from collections.abc import Callable

import numpy as np

from ptxsim.semantics import shift
from ptxsim.semantics.integer_type import BIT_TYPES, INTEGERS, IntegerType, integer_elementwise
from ptxsim.semantics.operation import Builder, Operation, Registry

_LOGIC_TYPES = ("pred", *BIT_TYPES)


def _bitwise(operands: int, function: Callable[..., np.ndarray]) -> Builder:
    def build(modifiers: tuple[str, ...]) -> Operation | None:
        match modifiers:
            case (name,) if name in _LOGIC_TYPES:
                return integer_elementwise(name, operands, function)
        return None

    return build


def _cnot(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case (name,) if name in BIT_TYPES:
            return integer_elementwise(name, 1, lambda a: (a == 0).astype(a.dtype))
    return None


def _lop3(modifiers: tuple[str, ...]) -> Operation | None:
    operands = ("b32",) * 4
    match modifiers:
        case ("b32",):
            return Operation(("b32",), operands, lambda a, b, c, table: (_lookup(a, b, c, table),))
        case ("and" | "or" as name, "b32"):
            combine = np.logical_and if name == "and" else np.logical_or

            def function(
                a: np.ndarray, b: np.ndarray, c: np.ndarray, table: np.ndarray, q: np.ndarray
            ) -> tuple[np.ndarray, ...]:
                value = _lookup(a, b, c, table)
                return value, combine(value != 0, q)

            return Operation(("b32", "pred"), (*operands, "pred"), function)
    return None


def _lookup(a: np.ndarray, b: np.ndarray, c: np.ndarray, table: np.ndarray) -> np.ndarray:
    """The function whose values for (a, b, c) = 000 … 111 are bits 0 … 7 of the table, a constant.

    As f = f0 ^ a & (f0 ^ f1), where f0 is the function for a = 0 and f1 that for a = 1, and so on for b and c.
    """
    return _expand(int(np.ravel(table)[0]), 8, (a, b, c))


def _expand(table: int, size: int, operands: tuple[np.ndarray, ...]) -> np.ndarray:
    all_ones = (1 << size) - 1
    if table in (0, all_ones):
        return np.array(0xFFFFFFFF if table else 0, np.uint32)
    half = size // 2
    operand, rest = operands[0], operands[1:]
    at_zero, flip = table & (all_ones >> half), (table >> half) ^ (table & (all_ones >> half))
    if flip == 0:
        return _expand(at_zero, half, rest)
    flipped = operand if flip == all_ones >> half else operand & _expand(flip, half, rest)
    return flipped if at_zero == 0 else flipped ^ _expand(at_zero, half, rest)


def _shf(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case ("l" | "r" as direction, "clamp" | "wrap" as mode, "b32"):
            half = np.uint64(32)

            def function(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, ...]:
                amount = (np.minimum(c, 32) if mode == "clamp" else c & 31).astype(np.uint64)
                whole = (b.astype(np.uint64) << half) | a
                shifted = whole >> amount if direction == "r" else (whole << amount) >> half
                return (shifted.astype(np.uint32),)

            return Operation(("b32",), ("b32", "b32", "u32"), function)
    return None


def _shl(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case (name,) if name in BIT_TYPES:
            return Operation((name,), (name, "u32"), lambda a, b: (shift.left(a, b),))
    return None


def _shr(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case (name,) if name in BIT_TYPES or name in INTEGERS:
            kind = IntegerType(name)
            if kind.is_signed:
                return Operation((name,), (name, "u32"), lambda a, b: (shift.arithmetic_right(kind, a, b),))
            return Operation((name,), (name, "u32"), lambda a, b: (shift.right(a, b),))
    return None


BUILDERS: Registry = {
    "and": _bitwise(2, np.bitwise_and),
    "or": _bitwise(2, np.bitwise_or),
    "xor": _bitwise(2, np.bitwise_xor),
    "not": _bitwise(1, np.invert),
    "cnot": _cnot,
    "lop3": _lop3,
    "shf": _shf,
    "shl": _shl,
    "shr": _shr,
}
