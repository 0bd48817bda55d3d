"""Scalar code for the element-wise Tiny ops: what one element costs in `arith` and `math` ops.

A value of element type e is held in a *register type*: f32 for f16 and bf16 (always rounded to the 16-bit type after
an op), i1 for bool, the signless integer for integers, otherwise e itself. Buffers hold the *storage type*: bool is a
byte of 0 or 1, unsigned integers are signless.
"""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tinyc.dialects.tiny.types import BOOL, UNSIGNED, bits, integer_range, is_float
from tinyc.mlir import arith, ir, math

SMALL_FLOATS = ("f16", "bf16")


def register_type(element: str) -> Any:
    """Return the MLIR type in which code holds an element."""
    if element in SMALL_FLOATS:
        return ir.F32Type.get()
    return ir.Type.parse(element) if is_float(element) else ir.IntegerType.get_signless(bits(element))


def storage_type(element: str) -> Any:
    """Return the MLIR type in which a buffer holds an element."""
    return ir.IntegerType.get_signless(8) if element == BOOL else _stored(element)


def _stored(element: str) -> Any:
    return ir.Type.parse(element) if is_float(element) else ir.IntegerType.get_signless(bits(element))


def from_storage(element: str, stored: Any) -> Any:
    """Return a loaded element in its register type."""
    if element in SMALL_FLOATS:
        return arith.extf(ir.F32Type.get(), stored)
    if element == BOOL:
        return arith.cmpi(arith.CmpIPredicate.ne, stored, number(0, stored.type))
    return stored


def to_storage(element: str, value: Any) -> Any:
    """Return a register value as a buffer stores it."""
    if element in SMALL_FLOATS:
        producer = value.owner
        if isinstance(value, ir.OpResult) and producer.operation.name == "arith.extf":
            return producer.operation.operands[0]  # rounded just now
        return arith.truncf(ir.Type.parse(element), value)
    return arith.extui(ir.IntegerType.get_signless(8), value) if element == BOOL else value


def rounded(element: str, value: Any) -> Any:
    """Round an f32 register to the 16-bit type that it stands for; leave every other type alone."""
    if element not in SMALL_FLOATS:
        return value
    return arith.extf(ir.F32Type.get(), arith.truncf(ir.Type.parse(element), value))


def number(value: bool | int | float, mlir_type: Any) -> Any:
    """Return a constant of a scalar type; integers are taken modulo their width."""
    if isinstance(mlir_type, ir.IndexType):
        return arith.constant(mlir_type, int(value))
    if isinstance(mlir_type, ir.IntegerType):
        width = mlir_type.width
        wrapped = (int(value) + 2 ** (width - 1)) % 2**width - 2 ** (width - 1) if width > 1 else int(bool(value))
        return arith.constant(mlir_type, ir.IntegerAttr.get(mlir_type, wrapped))
    return arith.constant(mlir_type, ir.FloatAttr.get(mlir_type, float(value)))


def constant(element: str, value: bool | int | float) -> Any:
    """Return a constant element, rounded to its type."""
    if element in SMALL_FLOATS:
        with np.errstate(over="ignore"):
            value = float(np.float32(value).astype(ml_dtypes.bfloat16 if element == "bf16" else np.float16))
    return number(value, register_type(element))


# --- element-wise ops -------------------------------------------------------------------------------------------------


def _is_signed(element: str) -> bool:
    return element not in UNSIGNED and element != BOOL


def _by_kind(on_float: Any, on_signed: Any, on_unsigned: Any = None) -> Callable[..., Any]:
    def emit(element: str, *operands: Any) -> Any:
        if is_float(element):
            return on_float(*operands)
        return (on_signed if _is_signed(element) else on_unsigned or on_signed)(*operands)

    return emit


def _neg(element: str, x: Any) -> Any:
    return arith.negf(x) if is_float(element) else arith.subi(number(0, x.type), x)


def _not(element: str, x: Any) -> Any:
    return arith.xori(x, number(-1 if element != BOOL else 1, x.type))


def _relu(element: str, x: Any) -> Any:
    return _MAX(element, x, number(0, x.type))


def _recip(element: str, x: Any) -> Any:
    return arith.divf(number(1, x.type), x)


def _rsqrt(element: str, x: Any) -> Any:
    return arith.divf(number(1, x.type), math.sqrt(x))


def _division(element: str, x: Any, y: Any, remainder: bool) -> Any:
    """Divide without a trap: by 0 gives 0 (remainder: x), and the least integer by -1 wraps."""
    zero, one = number(0, x.type), number(1, x.type)
    by_zero = arith.cmpi(arith.CmpIPredicate.eq, y, zero)
    unsafe = by_zero
    if _is_signed(element):
        least = number(integer_range(element)[0], x.type)
        wraps = arith.andi(
            arith.cmpi(arith.CmpIPredicate.eq, x, least), arith.cmpi(arith.CmpIPredicate.eq, y, number(-1, x.type))
        )
        unsafe = arith.ori(by_zero, wraps)
    divisor = arith.select(unsafe, one, y)
    if remainder:
        rest = arith.remsi(x, divisor) if _is_signed(element) else arith.remui(x, divisor)
        return arith.select(by_zero, x, rest)
    quotient = arith.divsi(x, divisor) if _is_signed(element) else arith.divui(x, divisor)
    return arith.select(by_zero, zero, quotient)


def _compare(on_float: str, on_signed: str, on_unsigned: str) -> Callable[..., Any]:
    def emit(element: str, x: Any, y: Any) -> Any:
        if is_float(element):
            return arith.cmpf(getattr(arith.CmpFPredicate, on_float), x, y)
        return arith.cmpi(getattr(arith.CmpIPredicate, on_signed if _is_signed(element) else on_unsigned), x, y)

    return emit


def _where(element: str, condition: Any, if_true: Any, if_false: Any) -> Any:
    return arith.select(condition, if_true, if_false)


_MAX = _by_kind(lambda x, y: arith.maximumf(x, y), lambda x, y: arith.maxsi(x, y), lambda x, y: arith.maxui(x, y))
_MIN = _by_kind(lambda x, y: arith.minimumf(x, y), lambda x, y: arith.minsi(x, y), lambda x, y: arith.minui(x, y))

#: Ops whose result on 16-bit floats needs no rounding: they only choose among or negate their operands, or compare.
EXACT = frozenset(("neg", "relu", "max", "min", "where", "floor", "cmp_lt", "cmp_eq", "and", "or", "xor", "not"))

EMIT: dict[str, Callable[..., Any]] = {
    "neg": _neg,
    "exp2": lambda element, x: math.exp2(x),
    "log2": lambda element, x: math.log2(x),
    "sqrt": lambda element, x: math.sqrt(x),
    "rsqrt": _rsqrt,
    "recip": _recip,
    "relu": _relu,
    "sin": lambda element, x: math.sin(x),
    "erf": lambda element, x: math.erf(x),
    "tanh": lambda element, x: math.tanh(x),
    "floor": lambda element, x: math.floor(x),
    "not": _not,
    "add": _by_kind(lambda x, y: arith.addf(x, y), lambda x, y: arith.addi(x, y)),
    "sub": _by_kind(lambda x, y: arith.subf(x, y), lambda x, y: arith.subi(x, y)),
    "mul": _by_kind(lambda x, y: arith.mulf(x, y), lambda x, y: arith.muli(x, y)),
    "fdiv": lambda element, x, y: arith.divf(x, y),
    "idiv": lambda element, x, y: _division(element, x, y, remainder=False),
    "mod": lambda element, x, y: _division(element, x, y, remainder=True),
    "max": _MAX,
    "min": _MIN,
    "and": lambda element, x, y: arith.andi(x, y),
    "or": lambda element, x, y: arith.ori(x, y),
    "xor": lambda element, x, y: arith.xori(x, y),
    "cmp_lt": _compare("OLT", "slt", "ult"),
    "cmp_eq": _compare("OEQ", "eq", "eq"),
    "where": _where,
}


def elementwise(op: str, element: str, operands: list[Any]) -> Any:
    """Emit the element-wise op named `op` on registers of type `element` (of the value operands); return the result."""
    result = EMIT[op](element, *operands)
    return result if op in EXACT else rounded(element, result)


# --- casts ------------------------------------------------------------------------------------------------------------


def cast(value: Any, source: str, target: str) -> Any:
    """Convert a register from element type `source` to `target` (semantics of the CAST of Tiny JSON)."""
    if source == target:
        return value
    if target == BOOL:
        zero = number(0, value.type)
        if is_float(source):
            return arith.cmpf(arith.CmpFPredicate.UNE, value, zero)
        return arith.cmpi(arith.CmpIPredicate.ne, value, zero)
    if is_float(source):
        return _from_float(value, source, target)
    return _int_to_float(value, source, target) if is_float(target) else _resize(value, source, bits(target))


def _resize(value: Any, source: str, width: int) -> Any:
    target = ir.IntegerType.get_signless(width)
    if width < bits(source):
        return arith.trunci(target, value)
    if width == bits(source):
        return value
    return arith.extsi(target, value) if _is_signed(source) else arith.extui(target, value)


def _from_float(value: Any, source: str, target: str) -> Any:
    if not is_float(target):
        return _saturated(value, target)
    if target in SMALL_FLOATS:
        return rounded(target, _to_odd(value) if source == "f64" else value)
    if target == "f64":
        return arith.extf(ir.F64Type.get(), value)
    return arith.truncf(ir.F32Type.get(), value) if source == "f64" else value


def _saturated(value: Any, target: str) -> Any:
    """Truncate a float to an integer; out of range gives the nearest end, NaN gives 0."""
    least, greatest = integer_range(target)
    below = number(least, value.type)  # a power of two or 0: exact in every float type
    above = number(greatest + 1, value.type)
    too_low = arith.cmpf(arith.CmpFPredicate.OLT, value, below)
    too_high = arith.cmpf(arith.CmpFPredicate.OGE, value, above)
    outside = arith.ori(arith.ori(too_low, too_high), arith.cmpf(arith.CmpFPredicate.UNO, value, value))
    inside = arith.select(outside, number(0, value.type), value)
    result = ir.IntegerType.get_signless(bits(target))
    whole = (arith.fptosi if _is_signed(target) else arith.fptoui)(result, inside)
    at_least = arith.select(too_low, number(least, result), whole)
    return arith.select(too_high, number(greatest, result), at_least)


def _int_to_float(value: Any, source: str, target: str) -> Any:
    """Convert with one rounding; to bf16 by way of round-to-odd, since f32 already rounds integers above 2^24."""
    if source == BOOL:
        value, source = arith.extui(ir.IntegerType.get_signless(8), value), "ui8"
    convert = arith.sitofp if _is_signed(source) else arith.uitofp
    if target != "bf16" or bits(source) < 32:
        return rounded(target, convert(register_type(target), value))
    if bits(source) == 64:
        value = _sticky(value)
    return rounded(target, _to_odd(convert(ir.F64Type.get(), value)))


def _sticky(value: Any) -> Any:
    """Fold the low 12 bits of an i64 into bit 12, so that f64 holds it exactly and a later rounding is still right."""
    low = arith.andi(value, number(0xFFF, value.type))
    inexact = arith.cmpi(arith.CmpIPredicate.ne, low, number(0, value.type))
    odd = arith.ori(arith.xori(value, low), number(0x1000, value.type))
    large = arith.cmpi(
        arith.CmpIPredicate.ugt,
        arith.addi(value, number(2**53, value.type)),
        number(2**54, value.type),
    )
    return arith.select(arith.andi(inexact, large), odd, value)


def _to_odd(value: Any) -> Any:
    """Convert f64 to f32, rounding an inexact value to the neighbour with an odd last bit.

    Rounding that once more to a 16-bit float gives the same as rounding the f64 itself (no double rounding).
    """
    f32, i32 = ir.F32Type.get(), ir.IntegerType.get_signless(32)
    nearest = arith.truncf(f32, value)
    back = arith.extf(ir.F64Type.get(), nearest)
    pattern = arith.bitcast(i32, nearest)
    even = arith.cmpi(arith.CmpIPredicate.eq, arith.andi(pattern, number(1, i32)), number(0, i32))
    inexact = arith.cmpf(arith.CmpFPredicate.ONE, back, value)
    too_large = arith.cmpf(arith.CmpFPredicate.OGT, math.absf(back), math.absf(value))
    step = arith.select(too_large, number(-1, i32), number(1, i32))
    odd = arith.bitcast(f32, arith.addi(pattern, step))
    return arith.select(arith.andi(even, inexact), odd, nearest)


# --- accumulation -----------------------------------------------------------------------------------------------------

_COMBINE = {"sum": "add", "prod": "mul", "max": "max", "min": "min"}


def combine(op: str, element: str, accumulator: Any, value: Any) -> Any:
    """Emit one step of a reduction."""
    return elementwise(_COMBINE[op], element, [accumulator, value])


def neutral(op: str, element: str) -> bool | int | float:
    """Return the value of a reduction over nothing."""
    if op in ("sum", "prod"):
        return 0 if op == "sum" else 1
    if is_float(element):
        return float("-inf") if op == "max" else float("inf")
    low, high = integer_range(element)
    return low if op == "max" else high
