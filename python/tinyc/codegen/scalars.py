"""Scalar code: elements between memory and registers, the element-wise ops, casts, and steps of reductions.

Code holds an element in its *register type*, a buffer in its *storage type* (`ElementType.register`, `.storage`): f32
stands for f16 and bf16 and is rounded to the 16-bit type after an op, bool is an i1 and in memory a byte of 0 or 1.
"""

from collections.abc import Sequence

from tinyc.mlir import arith, ir, math
from tinyc.mlir.constants import number
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.elementwise import ROWS
from tinyc.vocabulary.reductions import REDUCTIONS


def register_type(element: ElementType) -> ir.Type:
    """The MLIR type in which code holds an element."""
    return ir.Type.parse(element.register)


def storage_type(element: ElementType) -> ir.Type:
    """The MLIR type in which a buffer holds an element."""
    return ir.Type.parse(element.storage)


def from_storage(element: ElementType, stored: ir.Value) -> ir.Value:
    """A loaded element in its register type."""
    if element.is_small_float:
        return arith.extf(ir.F32Type.get(), stored)
    if element.is_bool:
        return arith.cmpi(arith.CmpIPredicate.ne, stored, number(0, stored.type))
    return stored


def to_storage(element: ElementType, value: ir.Value) -> ir.Value:
    """A register value as a buffer stores it."""
    if element.is_small_float:
        if isinstance(value.owner, arith.ExtFOp):
            return value.owner.operands[0]  # rounded just now
        return arith.truncf(storage_type(element), value)
    return arith.extui(storage_type(element), value) if element.is_bool else value


def rounded(element: ElementType, value: ir.Value) -> ir.Value:
    """Round an f32 register to the 16-bit type that it stands for; leave every other type alone."""
    if not element.is_small_float:
        return value
    return arith.extf(ir.F32Type.get(), arith.truncf(storage_type(element), value))


def element_constant(element: ElementType, value: bool | int | float) -> ir.Value:
    """A constant element, rounded to its type."""
    if element.is_small_float:
        import numpy as np  # a tenth of a second, and few programs have constants of 16 bits

        with np.errstate(over="ignore"):
            value = float(np.float32(value).astype(element.dtype))
    return number(value, register_type(element))


def elementwise(op: str, element: ElementType, operands: Sequence[ir.Value]) -> ir.Value:
    """Emit the element-wise op named `op` on registers of type `element` (of the value operands); return the result."""
    row = ROWS[op]
    result = row.code(element, *operands)
    return rounded(element, result) if row.rounds else result


# --- casts ------------------------------------------------------------------------------------------------------------


def cast(value: ir.Value, source: ElementType, target: ElementType) -> ir.Value:
    """Convert a register from element type `source` to `target` (semantics of the CAST of Tiny JSON)."""
    if source == target:
        return value
    if target.is_bool:
        zero = number(0, value.type)
        if source.is_float:
            return arith.cmpf(arith.CmpFPredicate.UNE, value, zero)
        return arith.cmpi(arith.CmpIPredicate.ne, value, zero)
    if source.is_float:
        return _from_float(value, source, target)
    return _int_to_float(value, source, target) if target.is_float else _resize(value, source, target)


def _resize(value: ir.Value, source: ElementType, target: ElementType) -> ir.Value:
    if target.bits == source.bits:
        return value
    wanted = register_type(target)
    if target.bits < source.bits:
        return arith.trunci(wanted, value)
    return arith.extsi(wanted, value) if source.is_signed else arith.extui(wanted, value)


def _from_float(value: ir.Value, source: ElementType, target: ElementType) -> ir.Value:
    if not target.is_float:
        return _saturated(value, target)
    if target.is_small_float:
        return rounded(target, _to_odd(value) if source is ElementType.F64 else value)
    if target is ElementType.F64:
        return arith.extf(ir.F64Type.get(), value)
    return arith.truncf(ir.F32Type.get(), value) if source is ElementType.F64 else value


def _saturated(value: ir.Value, target: ElementType) -> ir.Value:
    """Truncate a float to an integer; out of range gives the nearest end, NaN gives 0."""
    least, greatest = target.integer_range
    below = number(least, value.type)  # a power of two or 0: exact in every float type
    above = number(greatest + 1, value.type)
    too_low = arith.cmpf(arith.CmpFPredicate.OLT, value, below)
    too_high = arith.cmpf(arith.CmpFPredicate.OGE, value, above)
    outside = arith.ori(arith.ori(too_low, too_high), arith.cmpf(arith.CmpFPredicate.UNO, value, value))
    inside = arith.select(outside, number(0, value.type), value)
    result = register_type(target)
    whole = (arith.fptosi if target.is_signed else arith.fptoui)(result, inside)
    at_least = arith.select(too_low, number(least, result), whole)
    return arith.select(too_high, number(greatest, result), at_least)


def _int_to_float(value: ir.Value, source: ElementType, target: ElementType) -> ir.Value:
    """Convert with one rounding; to bf16 by way of round-to-odd, since f32 already rounds integers above 2^24."""
    if source.is_bool:
        value, source = arith.extui(storage_type(source), value), ElementType.UI8
    convert = arith.sitofp if source.is_signed else arith.uitofp
    if source.bits <= target.precision:
        return convert(register_type(target), value)  # exact
    if target is not ElementType.BF16 or source.bits < 32:
        return rounded(target, convert(register_type(target), value))
    if source.bits == 64:
        value = _sticky(value)
    return rounded(target, _to_odd(convert(ir.F64Type.get(), value)))


def _sticky(value: ir.Value) -> ir.Value:
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


def _to_odd(value: ir.Value) -> ir.Value:
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


# --- reductions -------------------------------------------------------------------------------------------------------


def combine(op: str, element: ElementType, accumulator: ir.Value, value: ir.Value) -> ir.Value:
    """Emit one step of a reduction."""
    return elementwise(REDUCTIONS[op].combine, element, [accumulator, value])


def neutral(op: str, element: ElementType) -> ir.Value:
    """Emit the value of a reduction over nothing."""
    return element_constant(element, REDUCTIONS[op].neutral(element))
