"""f16 ↔ f32 as integer arithmetic, so that the code needs no F16C instructions and no library call.

Runs on the loops of the kernels, after --region-to-loops. (bf16 is upstream's: `arith-expand{include-bf16=true}`, which
knows the conversions from and to f32.) The result is the same on every x86-64, and LLVM vectorises it.
"""

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from tinyc.analysis.tiny_ops import producer_of
from tinyc.mlir import arith, func, ir
from tinyc.mlir.bodies import nested
from tinyc.passes import Pass
from tinyc.vocabulary.element_type import ElementType

#: The functions that stand for the two conversions, and for one to f16 and back.
WIDEN, NARROW, ROUND = "f16.to_f32", "f16.from_f32", "f16.round"

_WIDEN = """
// Shifted to the place of an f32's exponent, an f16 is 2^-112 times too small: one exact product mends that for normal
// and subnormal numbers alike. Infinity and NaN get the greatest exponent, and a NaN becomes a quiet one.
func.func private @f16.to_f32(%half: i16) -> f32 attributes {llvm.linkage = #llvm.linkage<internal>} {
  %sign_mask = arith.constant 0x8000 : i32
  %rest_mask = arith.constant 0x7FFF : i32
  %infinity = arith.constant 0x7C00 : i32
  %c13 = arith.constant 13 : i32
  %c16 = arith.constant 16 : i32
  %rebias = arith.constant 0x77800000 : f32 // 2^112
  %special = arith.constant 0x7F800000 : i32
  %quiet = arith.constant 0x00400000 : i32
  %zero = arith.constant 0 : i32
  %bits = arith.extui %half : i16 to i32
  %sign = arith.andi %bits, %sign_mask : i32
  %sign_bit = arith.shli %sign, %c16 : i32
  %rest = arith.andi %bits, %rest_mask : i32
  %shifted = arith.shli %rest, %c13 : i32
  %tiny = arith.bitcast %shifted : i32 to f32
  %finite_value = arith.mulf %tiny, %rebias : f32
  %finite = arith.bitcast %finite_value : f32 to i32
  %is_special = arith.cmpi uge, %rest, %infinity : i32
  %is_nan = arith.cmpi ugt, %rest, %infinity : i32
  %quieted = arith.select %is_nan, %quiet, %zero : i32
  %payload = arith.ori %shifted, %quieted : i32
  %not_finite = arith.ori %payload, %special : i32
  %magnitude = arith.select %is_special, %not_finite, %finite : i32
  %all = arith.ori %magnitude, %sign_bit : i32
  %single = arith.bitcast %all : i32 to f32
  return %single : f32
}
"""

_NARROW = """
// Nearest, ties to even. Normal results: add half of the dropped part, less one if the kept part is even, and shift; a
// carry into the exponent is right, up to infinity. Below 2^-14: adding 0.5 makes the sum round to multiples of 2^-24.
func.func private @f16.from_f32(%single: f32) -> i16 attributes {llvm.linkage = #llvm.linkage<internal>} {
  %magnitude_mask = arith.constant 0x7FFFFFFF : i32
  %c1 = arith.constant 1 : i32
  %c13 = arith.constant 13 : i32
  %c16 = arith.constant 16 : i32
  %sign_mask = arith.constant 0x8000 : i32
  %rebias_and_half = arith.constant 0xC8000FFF : i32 // (15 - 127) << 23, and half of the dropped part less one
  %least_normal = arith.constant 0x38800000 : i32 // 2^-14
  %overflow = arith.constant 0x477FF000 : i32 // 65520, which rounds to infinity
  %nan_from = arith.constant 0x7F800000 : i32
  %infinity = arith.constant 0x7C00 : i32
  %nan = arith.constant 0x7E00 : i32
  %half = arith.constant 5.0e-01 : f32
  %half_bits = arith.constant 0x3F000000 : i32
  %bits = arith.bitcast %single : f32 to i32
  %magnitude = arith.andi %bits, %magnitude_mask : i32
  %high = arith.shrui %bits, %c16 : i32
  %sign = arith.andi %high, %sign_mask : i32
  %kept = arith.shrui %magnitude, %c13 : i32
  %odd = arith.andi %kept, %c1 : i32
  %rebiased = arith.addi %magnitude, %rebias_and_half : i32
  %rounded = arith.addi %rebiased, %odd : i32
  %normal = arith.shrui %rounded, %c13 : i32
  %absolute = arith.bitcast %magnitude : i32 to f32
  %sum = arith.addf %absolute, %half : f32
  %sum_bits = arith.bitcast %sum : f32 to i32
  %subnormal = arith.subi %sum_bits, %half_bits : i32
  %is_normal = arith.cmpi uge, %magnitude, %least_normal : i32
  %finite = arith.select %is_normal, %normal, %subnormal : i32
  %overflows = arith.cmpi uge, %magnitude, %overflow : i32
  %number = arith.select %overflows, %infinity, %finite : i32
  %is_nan = arith.cmpi ugt, %magnitude, %nan_from : i32
  %result = arith.select %is_nan, %nan, %number : i32
  %signed = arith.ori %result, %sign : i32
  %half_value = arith.trunci %signed : i32 to i16
  return %half_value : i16
}
"""

_ROUND = """
// As above, with the bits of an f32 all along, in half as many steps.
func.func private @f16.round(%single: f32) -> f32 attributes {llvm.linkage = #llvm.linkage<internal>} {
  %magnitude_mask = arith.constant 0x7FFFFFFF : i32
  %kept_mask = arith.constant 0xFFFFE000 : i32
  %c1 = arith.constant 1 : i32
  %c13 = arith.constant 13 : i32
  %below_half = arith.constant 0x0FFF : i32
  %least_normal = arith.constant 0x38800000 : i32 // 2^-14
  %overflow = arith.constant 0x47800000 : i32 // 65536
  %infinity = arith.constant 0x7F800000 : i32
  %nan = arith.constant 0x7FC00000 : i32
  %half = arith.constant 5.0e-01 : f32
  %bits = arith.bitcast %single : f32 to i32
  %magnitude = arith.andi %bits, %magnitude_mask : i32
  %sign = arith.xori %bits, %magnitude : i32
  %kept = arith.shrui %magnitude, %c13 : i32
  %odd = arith.andi %kept, %c1 : i32
  %raised = arith.addi %magnitude, %below_half : i32
  %rounded = arith.addi %raised, %odd : i32
  %normal = arith.andi %rounded, %kept_mask : i32
  %absolute = arith.bitcast %magnitude : i32 to f32
  %sum = arith.addf %absolute, %half : f32
  %difference = arith.subf %sum, %half : f32
  %subnormal = arith.bitcast %difference : f32 to i32
  %is_normal = arith.cmpi uge, %magnitude, %least_normal : i32
  %finite = arith.select %is_normal, %normal, %subnormal : i32
  %overflows = arith.cmpi uge, %finite, %overflow : i32
  %number = arith.select %overflows, %infinity, %finite : i32
  %is_nan = arith.cmpi ugt, %magnitude, %infinity : i32
  %result = arith.select %is_nan, %nan, %number : i32
  %signed = arith.ori %result, %sign : i32
  %value = arith.bitcast %signed : i32 to f32
  return %value : f32
}
"""

_DEFINITIONS = {WIDEN: _WIDEN, NARROW: _NARROW, ROUND: _ROUND}


@dataclass(frozen=True)
class ExecExpandF16(Pass):
    """Expand conversions between f16 and f32 to integer arithmetic.

    Requires:
        1. Conversions of f16 are scalar, `arith.extf` to f32 or `arith.truncf` from f32, as in --region-to-loops, or
           what --canonicalize makes of two of them: f16 and bf16 to f64, an integer to f16, one of 24 bits at most to
           bf16.
    Ensures:
        1. No conversion of f16 is left; what they compute stands once in a function for each direction, and one for
           both after each other, unless the module has that function already.
        2. The canonicalized ones go by way of f32 again, bf16's too: that rounds nothing twice.
    Before:
        func.func private @f16.to_f32(i16) -> f32
        func.func @f(%x: f16) -> f32 {
          %y = arith.extf %x : f16 to f32
          return %y : f32
        }
    After:
        func.func private @f16.to_f32(i16) -> f32
        func.func @f(%x: f16) -> f32 {
          %0 = arith.bitcast %x : f16 to i16
          %y = call @f16.to_f32(%0) : (i16) -> f32
          return %y : f32
        }
    """

    name: ClassVar[str] = "exec-expand-f16"
    consumes: ClassVar[tuple[str, ...]] = ("arith",)
    produces: ClassVar[tuple[str, ...]] = ("func", "arith")

    def run(self, module: ir.Module) -> None:
        """Rewrite the conversions of `module`."""
        _take_apart(module)
        present = {op.sym_name.value for op in module.body.operations if isinstance(op, func.FuncOp)}
        for op in reversed(_conversions(module)):  # so that one back still sees the one to f16
            if not list(op.out.uses):
                op.erase()
                continue
            name = _stands_for(op)
            if name not in present:
                present.add(name)
                source = ir.Module.parse(_DEFINITIONS[name])
                source.body.operations[0].clone(ir.InsertionPoint(module.body))
            with ir.InsertionPoint(op), op.location:
                op.out.replace_all_uses_with(_CALLS[name](op.in_))
            op.erase()


def _take_apart(module: ir.Module) -> None:
    """Convert to f64 and from integers by way of f32.

    An integer that f32 rounds is above f16's greatest number: infinity, either way.
    """
    f16, f32 = ir.F16Type.get(module.context), ir.F32Type.get(module.context)
    small = (f16, ir.BF16Type.get(module.context))
    for op in [op.opview for op in nested(module)]:
        if isinstance(op, arith.ExtFOp) and op.in_.type in small and op.out.type != f32:
            with ir.InsertionPoint(op), op.location:
                op.operation.operands[0] = arith.extf(f32, op.in_)
        if isinstance(op, arith.SIToFPOp | arith.UIToFPOp) and op.out.type in small:
            if op.out.type != f16 and ir.IntegerType(op.in_.type).width > ElementType.F32.precision:
                continue
            convert = arith.sitofp if isinstance(op, arith.SIToFPOp) else arith.uitofp
            with ir.InsertionPoint(op), op.location:
                op.out.replace_all_uses_with(arith.truncf(op.out.type, convert(f32, op.in_)))
            op.erase()


#: A conversion from or to f16: the other type is f32.
_Conversion: TypeAlias = arith.ExtFOp | arith.TruncFOp


def _conversions(module: ir.Module) -> list[_Conversion]:
    found = [op.opview for op in nested(module)]
    ends = {ir.F16Type.get(module.context), ir.F32Type.get(module.context)}
    return [op for op in found if isinstance(op, _Conversion) and {op.in_.type, op.out.type} == ends]


def _stands_for(op: _Conversion) -> str:
    """The function that a conversion becomes a call of."""
    if isinstance(op, arith.TruncFOp):
        return NARROW
    return ROUND if isinstance(producer_of(op.in_), arith.TruncFOp) else WIDEN


def _widened(half: ir.Value) -> ir.Value:
    bits = arith.bitcast(ir.IntegerType.get_signless(16), half)
    return func.call([ir.F32Type.get()], WIDEN, [bits])


def _narrowed(single: ir.Value) -> ir.Value:
    bits = func.call([ir.IntegerType.get_signless(16)], NARROW, [single])
    return arith.bitcast(ir.F16Type.get(), bits)


def _rounded(half: ir.Value) -> ir.Value:
    narrowing = producer_of(half)
    assert isinstance(narrowing, arith.TruncFOp)  # what tells the call of this function
    return func.call([ir.F32Type.get()], ROUND, [narrowing.in_])


_CALLS = {WIDEN: _widened, NARROW: _narrowed, ROUND: _rounded}
