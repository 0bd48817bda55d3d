"""`log` and `log2`, in the arithmetic of the argument's own type.

In: a scalar f32 or f64. Out: the value of the function, at the current insertion point.
"""

from tinyc.codegen.software_math.format import Format, coefficients, compare_to, format_of, polynomial
from tinyc.mlir import arith, ir, math

#: Fraction bits → Q of ln(1+f) = f + f² Q(f), √½ ≤ 1+f < √2; relative error 2^-27.7 (degree 8), 2^-56.6 (degree 19).
_LOG = {
    23: coefficients(
        "-0x1.fffffap-2 0x1.55555p-2 -0x1.0003dp-2 0x1.99a416p-3 -0x1.5434d4p-3 0x1.22756ap-3 -0x1.0ed95ep-3 "
        "0x1.081436p-3 -0x1.395ab4p-4"
    ),
    52: coefficients(
        "-0x1.0000000000002p-1 0x1.555555555552dp-2 -0x1.fffffffffe32fp-3 0x1.999999999f7c8p-3 -0x1.55555556be34fp-3 "
        "0x1.24924922ee46ep-3 -0x1.ffffff08bca95p-4 0x1.c71c71a523b3ep-4 -0x1.9999c6850f1d9p-4 0x1.745d48f4526e3p-4 "
        "-0x1.5550a9e18f903p-4 0x1.3b0aabf924fa3p-4 -0x1.24d99bbde0401p-4 0x1.11d79f1fd4a7bp-4 -0x1.fb96977b115fcp-5 "
        "0x1.cfd5569d5f46dp-5 -0x1.d0bd23dc4fd1p-5 0x1.0af949e69ccf4p-4 -0x1.ec2c2886b7e54p-5 0x1.ae79c0461ad08p-6"
    ),
}
#: Fraction bits → ln 2 and log2 e, each as the sum of two floats.
_LN_2 = {23: ("0x1.62e43p-1", "-0x1.05c61p-29"), 52: ("0x1.62e42fefa39efp-1", "0x1.abc9e3b39803fp-56")}
_LOG2_E = {23: ("0x1.715476p+0", "0x1.4ae0cp-26"), 52: ("0x1.71547652b82fep+0", "0x1.777d0ffda0d24p-56")}
#: Fraction bits → the bits of √½.
_ROOT_OF_HALF = {23: 0x3F3504F3, 52: 0x3FE6A09E667F3BCD}


def log(x: ir.Value) -> ir.Value:
    """Ln x = k ln 2 + ln(1+f) for x = 2^k (1+f)."""
    form = format_of(x.type)
    k, f = _split(form, x)
    ln_2, rest = (form.constant(float.fromhex(word)) for word in _LN_2[form.fraction_bits])
    mantissa = arith.addf(f, _beyond_first_order(form, f))
    return _with_special_values(form, x, math.fma(k, ln_2, math.fma(k, rest, mantissa)))


def log2(x: ir.Value) -> ir.Value:
    """The binary logarithm, k + log2 e · ln(1+f) for x = 2^k (1+f): exact where f is 0."""
    form = format_of(x.type)
    k, f = _split(form, x)
    log2_e, rest = (form.constant(float.fromhex(word)) for word in _LOG2_E[form.fraction_bits])
    small = math.fma(f, rest, arith.mulf(_beyond_first_order(form, f), log2_e))
    return _with_special_values(form, x, arith.addf(k, math.fma(f, log2_e, small)))


def _split(form: Format, x: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The floats k and f of x = 2^k (1+f), √½ ≤ 1+f < √2, for a positive x."""
    subnormal = compare_to("OLT", x, 2.0 ** (1 - form.exponent_bias))
    width = form.pattern(form.fraction_bits)
    normal = arith.select(subnormal, arith.mulf(x, form.constant(2.0**form.fraction_bits)), x)
    # Counted from √½, the bits of a float change their exponent where the mantissa comes to √½ again.
    root = form.pattern(_ROOT_OF_HALF[form.fraction_bits])
    above_root = arith.subi(form.bits(normal), root)
    exponent = arith.shrsi(above_root, width)
    fraction = arith.andi(above_root, form.pattern(2**form.fraction_bits - 1))
    mantissa = form.from_bits(arith.addi(fraction, root))
    lowered = arith.select(subnormal, arith.subi(exponent, width), exponent)
    return arith.sitofp(form.real, lowered), arith.subf(mantissa, form.constant(1.0))


def _beyond_first_order(form: Format, f: ir.Value) -> ir.Value:
    """ln(1+f) - f."""
    return arith.mulf(arith.mulf(f, f), polynomial(_LOG[form.fraction_bits], f))


def _with_special_values(form: Format, x: ir.Value, regular: ir.Value) -> ir.Value:
    """`regular` for a positive finite x, -∞ for ±0, ∞ for ∞, NaN for a negative number and for NaN."""
    infinity = form.constant(float("inf"))
    positive = compare_to("OGT", x, 0.0)
    finite = arith.andi(positive, compare_to("OLT", x, float("inf")))
    beyond = arith.select(positive, infinity, form.constant(float("nan")))
    special = arith.select(compare_to("OEQ", x, 0.0), form.constant(float("-inf")), beyond)
    return arith.select(finite, regular, special)
