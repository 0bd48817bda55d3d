"""`sin` and `cos`, in f64; an f32 goes through f64 too, with shorter polynomials.

In: a scalar f32 or f64. Out: the value of the function, at the current insertion point.
"""

from tinyc.codegen.software_math.angle import reduce_angle
from tinyc.codegen.software_math.format import coefficients, format_of, polynomial
from tinyc.mlir import arith, ir, math

#: S of sin r = r + r³ S(r²) and C of cos r = 1 - r²/2 + r⁴ C(r²), |r| ≤ π/4; relative errors 2^-37.5 and 2^-43.
_SIN_F32 = coefficients("-0x1.5555554d834bdp-3 0x1.11110900d6093p-7 -0x1.a00fe180e3cc4p-13 0x1.6ce5c74e94f0cp-19")
_COS_F32 = coefficients("0x1.5555554f9e6f3p-5 -0x1.6c16b8e0ae366p-10 0x1.a01148ecd940dp-16 -0x1.24323e19bc1b7p-22")
#: The same with relative errors 2^-57.9 and 2^-64.
_SIN = coefficients(
    "-0x1.555555555554bp-3 0x1.111111110fb9p-7 -0x1.a01a019c631f4p-13 0x1.71de35b495858p-19 -0x1.ae5e9067b4dc2p-26 "
    "0x1.5d9e08bfceaacp-33"
)
_COS = coefficients(
    "0x1.555555555554dp-5 -0x1.6c16c16c153acp-10 0x1.a01a019ce2629p-16 -0x1.27e4f829e5258p-22 0x1.1ee9ffede7ba5p-29 "
    "-0x1.8fb84312eea1ap-37"
)


def sin(x: ir.Value) -> ir.Value:
    """Sin x: that of |x| with the sign of x."""
    wide = _in_f64(x)
    form = format_of(wide.type)
    sign = arith.andi(form.bits(wide), form.pattern(1 << form.integer.width - 1))
    value = _sin_of_magnitude(wide, 0, isinstance(x.type, ir.F32Type))
    return _rounded_to(x.type, form.from_bits(arith.xori(form.bits(value), sign)))


def cos(x: ir.Value) -> ir.Value:
    """Cos x = sin(|x| + π/2)."""
    return _rounded_to(x.type, _sin_of_magnitude(_in_f64(x), 1, isinstance(x.type, ir.F32Type)))


def _in_f64(x: ir.Value) -> ir.Value:
    return arith.extf(ir.F64Type.get(), x) if isinstance(x.type, ir.F32Type) else x


def _rounded_to(mlir_type: ir.Type, value: ir.Value) -> ir.Value:
    return arith.truncf(mlir_type, value) if isinstance(mlir_type, ir.F32Type) else value


def _sin_of_magnitude(x: ir.Value, quarters: int, short: bool) -> ir.Value:
    """sin(|x| + quarters · π/2); `short` says that x is an f32, and that the result will be one."""
    form = format_of(x.type)
    r, rest, quadrant = reduce_angle(math.absf(x), greatest_exponent=127 if short else 1023)
    sine, cosine = _short_polynomials(r) if short else _polynomials(r, rest)
    turned = arith.addi(quadrant, form.pattern(quarters))
    odd = arith.trunci(ir.IntegerType.get_signless(1), turned)
    sign = arith.shli(arith.shrui(turned, form.pattern(1)), form.pattern(form.integer.width - 1))
    return form.from_bits(arith.xori(form.bits(arith.select(odd, cosine, sine)), sign))


def _polynomials(r: ir.Value, rest: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Sin and cos of r + rest; 1 - r²/2 is rounded, and its error added."""
    form = format_of(r.type)
    square, one = arith.mulf(r, r), form.constant(1.0)
    half = arith.mulf(square, form.constant(0.5))
    start = arith.subf(one, half)
    correction = math.fma(arith.mulf(r, square), polynomial(_SIN, square), arith.mulf(rest, start))
    error = arith.subf(arith.subf(one, start), half)
    beyond = math.fma(arith.mulf(square, square), polynomial(_COS, square), math.fma(arith.negf(r), rest, error))
    return arith.addf(r, correction), arith.addf(start, beyond)


def _short_polynomials(r: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Sin and cos of r for a result in f32; what r lacks is too little to matter."""
    form = format_of(r.type)
    square = arith.mulf(r, r)
    start = math.fma(square, form.constant(-0.5), form.constant(1.0))
    sine = math.fma(arith.mulf(r, square), polynomial(_SIN_F32, square), r)
    return sine, math.fma(arith.mulf(square, square), polynomial(_COS_F32, square), start)
