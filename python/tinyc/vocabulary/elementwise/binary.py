"""The element-wise ops of two operands, and `where`."""

from typing import TYPE_CHECKING

from tinyc.vocabulary.deferred import Deferred
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.elementwise.row import (
    ANY,
    BITS,
    INTEGERS,
    NUMBERS,
    Accepted,
    Effort,
    Elementwise,
    binary,
    comparison,
)

if TYPE_CHECKING:
    import numpy as np

    from tinyc import mlir
    from tinyc.mlir import constants
    from tinyc.vocabulary.elementwise.row import NumpyArray, Register
else:
    np, mlir, constants = Deferred("numpy"), Deferred("tinyc.mlir"), Deferred("tinyc.mlir.constants")


def _quotient(x: "NumpyArray", y: "NumpyArray") -> "NumpyArray":
    """Truncate towards 0; ``x idiv 0`` is 0. `fmod` is C's remainder, so the difference divides evenly."""
    divisor = np.where(y == 0, y.dtype.type(1), y)
    quotient = np.floor_divide(x - np.fmod(x, divisor), divisor)
    return np.where(y == 0, y.dtype.type(0), quotient)


def _remainder(x: "NumpyArray", y: "NumpyArray") -> "NumpyArray":
    """Remainder with the sign of the dividend; ``x mod 0`` is x."""
    return np.where(y == 0, x, np.fmod(x, np.where(y == 0, y.dtype.type(1), y)))


def _divide(element: ElementType, x: "Register", y: "Register", remainder: bool) -> "Register":
    """Divide without a trap: by 0 gives 0 (remainder: x), and the least integer by -1 wraps."""
    arith, equal = mlir.arith, mlir.arith.CmpIPredicate.eq
    zero, one = constants.number(0, x.type), constants.number(1, x.type)
    by_zero = arith.cmpi(equal, y, zero)
    unsafe = by_zero
    if element.is_signed:
        least = constants.number(element.integer_range[0], x.type)
        wraps = arith.andi(arith.cmpi(equal, x, least), arith.cmpi(equal, y, constants.number(-1, x.type)))
        unsafe = arith.ori(by_zero, wraps)
    divisor = arith.select(unsafe, one, y)
    if remainder:
        rest = arith.remsi(x, divisor) if element.is_signed else arith.remui(x, divisor)
        return arith.select(by_zero, x, rest)
    quotient = arith.divsi(x, divisor) if element.is_signed else arith.divui(x, divisor)
    return arith.select(by_zero, zero, quotient)


def greater(element: ElementType, x: "Register", y: "Register") -> "Register":
    """Emit the greater of two registers; NaN if either is."""
    if element.is_float:
        return mlir.arith.maximumf(x, y)
    return mlir.arith.maxsi(x, y) if element.is_signed else mlir.arith.maxui(x, y)


def _smaller(element: ElementType, x: "Register", y: "Register") -> "Register":
    if element.is_float:
        return mlir.arith.minimumf(x, y)
    return mlir.arith.minsi(x, y) if element.is_signed else mlir.arith.minui(x, y)


def _is_less(element: ElementType, x: "Register", y: "Register") -> "Register":
    if element.is_float:
        return mlir.arith.cmpf(mlir.arith.CmpFPredicate.OLT, x, y)
    predicates = mlir.arith.CmpIPredicate
    return mlir.arith.cmpi(predicates.slt if element.is_signed else predicates.ult, x, y)


def _is_equal(element: ElementType, x: "Register", y: "Register") -> "Register":
    if element.is_float:
        return mlir.arith.cmpf(mlir.arith.CmpFPredicate.OEQ, x, y)
    return mlir.arith.cmpi(mlir.arith.CmpIPredicate.eq, x, y)


def _chosen(condition: "NumpyArray", if_true: "NumpyArray", if_false: "NumpyArray") -> "NumpyArray":
    return np.where(condition, if_true, if_false)


def _select(element: ElementType, condition: "Register", if_true: "Register", if_false: "Register") -> "Register":
    return mlir.arith.select(condition, if_true, if_false)


ROWS: tuple[Elementwise, ...] = (
    binary(
        "add",
        "Sum; integers wrap.",
        NUMBERS,
        meaning=lambda x, y: np.add(x, y),
        code=lambda e, x, y: mlir.arith.addf(x, y) if e.is_float else mlir.arith.addi(x, y),
    ),
    binary(
        "sub",
        "Difference; integers wrap.",
        NUMBERS,
        meaning=lambda x, y: np.subtract(x, y),
        code=lambda e, x, y: mlir.arith.subf(x, y) if e.is_float else mlir.arith.subi(x, y),
    ),
    binary(
        "mul",
        "Product; integers wrap. Where a `sum` is its only use, the product is formed in the accumulator's type.",
        NUMBERS,
        meaning=lambda x, y: np.multiply(x, y),
        code=lambda e, x, y: mlir.arith.mulf(x, y) if e.is_float else mlir.arith.muli(x, y),
    ),
    binary(
        "fdiv",
        "Quotient of floats.",
        Accepted("floats (IDIV divides integers)", lambda e: e.is_float),
        meaning=lambda x, y: np.divide(x, y),
        code=lambda e, x, y: mlir.arith.divf(x, y),
        effort=Effort.DIVISION,
    ),
    binary(
        "idiv",
        "Quotient of integers, truncated; a division by 0 gives 0.",
        INTEGERS,
        meaning=_quotient,
        code=lambda e, x, y: _divide(e, x, y, remainder=False),
        effort=Effort.DIVISION,
    ),
    binary(
        "mod",
        "Remainder of `idiv`, with the sign of the dividend; `x mod 0` is `x`.",
        INTEGERS,
        meaning=_remainder,
        code=lambda e, x, y: _divide(e, x, y, remainder=True),
        effort=Effort.DIVISION,
    ),
    binary("max", "The greater; NaN if either is.", ANY, lambda x, y: np.maximum(x, y), greater, rounds=False),
    binary("min", "The smaller; NaN if either is.", ANY, lambda x, y: np.minimum(x, y), _smaller, rounds=False),
    binary(
        "and",
        "Bitwise and of integers; conjunction of bool.",
        BITS,
        meaning=lambda x, y: np.bitwise_and(x, y),
        code=lambda e, x, y: mlir.arith.andi(x, y),
        rounds=False,
    ),
    binary(
        "or",
        "Bitwise or of integers; disjunction of bool.",
        BITS,
        meaning=lambda x, y: np.bitwise_or(x, y),
        code=lambda e, x, y: mlir.arith.ori(x, y),
        rounds=False,
    ),
    binary(
        "xor",
        "Bitwise exclusive or of integers and bool.",
        BITS,
        meaning=lambda x, y: np.bitwise_xor(x, y),
        code=lambda e, x, y: mlir.arith.xori(x, y),
        rounds=False,
    ),
    comparison(
        "cmp_lt", "`lhs < rhs` as bool; false where either is NaN.", meaning=lambda x, y: np.less(x, y), code=_is_less
    ),
    comparison(
        "cmp_eq",
        "`lhs == rhs` as bool; false where either is NaN.",
        meaning=lambda x, y: np.equal(x, y),
        code=_is_equal,
    ),
    Elementwise(
        "where",
        "`if_true` where the condition holds, else `if_false`; the untaken side may hold anything.",
        3,
        ANY,
        meaning=_chosen,
        code=_select,
        rounds=False,
        as_held=True,
    ),
)
