"""`exp2`, and what is made from it: `tanh` and `erf`, in the arithmetic of the argument's own type.

In: a scalar f32 or f64. Out: the value of the function, at the current insertion point.
"""

from math import log

from tinyc.codegen.software_math.format import coefficients, compare_to, format_of, polynomial
from tinyc.mlir import arith, ir, math

#: Fraction bits → P of 2^f = 1 + f P(f), |f| ≤ 1/2; relative error of 2^f: 2^-28.9 (degree 5), 2^-58 (degree 10).
_EXP2 = {
    23: coefficients("0x1.62e43p-1 0x1.ebfbdcp-3 0x1.c6aeeep-5 0x1.3b2d52p-7 0x1.5f3c4cp-10 0x1.41f64cp-13"),
    52: coefficients(
        "0x1.62e42fefa39efp-1 0x1.ebfbdff82c5a4p-3 0x1.c6b08d7049feep-5 0x1.3b2ab6fba028dp-7 0x1.5d87fe78ccc14p-10 "
        "0x1.4309130e98913p-13 0x1.ffcbfbab37dc7p-17 0x1.62bfc82d27e2ep-20 0x1.b5267b4e83d2fp-24 0x1.e61a6ddd5889fp-28 "
        "0x1.e79c0289bf66p-32"
    ),
}

#: Fraction bits → P of tanh x = x + x³ P(x²), |x| ≤ 0.55; relative error 2^-29.6 (degree 4), 2^-60 (degree 10).
_TANH = {
    23: coefficients("-0x1.55554ep-2 0x1.110ddcp-3 -0x1.b94262p-5 0x1.59fce8p-6 -0x1.9f13e4p-8"),
    52: coefficients(
        "-0x1.5555555555554p-2 0x1.1111111110d13p-3 -0x1.ba1ba1b9c2b54p-5 0x1.664f48674ad2dp-6 -0x1.226e30b24695dp-7 "
        "0x1.d6d2d7ec238d2p-9 -0x1.7d92a8e051449p-10 0x1.34999dfea143bp-11 -0x1.ea433fd2f3407p-13 "
        "0x1.5fb5bce3196ep-14 -0x1.4c6531bcca84bp-16"
    ),
}
_TANH_SMALL = 0.55
#: Fraction bits → where tanh has become 1.
_TANH_ONE = {23: 10.0, 52: 20.0}

#: Fraction bits → P of erf x = x + x P(x²), |x| ≤ 1; relative error 2^-29.4 (degree 6), 2^-56.7 (degree 11).
_ERF_SMALL = {
    23: coefficients(
        "0x1.06eba8p-3 -0x1.81273ep-2 0x1.ce2d2p-4 -0x1.b7fbb6p-6 0x1.5419fap-8 -0x1.a485f8p-11 0x1.4ae4c6p-14"
    ),
    52: coefficients(
        "0x1.06eba8214db68p-3 -0x1.812746b0379c2p-2 0x1.ce2f21a041018p-4 -0x1.b82ce312062bcp-6 0x1.565bccfa9a825p-8 "
        "-0x1.c02db072f3fep-11 0x1.f9a2bf73f0c68p-14 -0x1.f4ca94990cb86p-17 0x1.b9827b1885f9bp-20 "
        "-0x1.5c16e30fb0d45p-23 0x1.d784936618cc2p-27 -0x1.acdff90b8ebd8p-31"
    ),
}

#: Fraction bits → P of erf x = 1 - 2^P(x-1), 1 ≤ x ≤ `_ERF_ONE`; relative error 2^-29.8 (degree 6), 2^-57 (degree 17).
_ERF_LARGE = {
    23: coefficients(
        "-0x1.558eaep+1 -0x1.e75322p+1 -0x1.37637ap+0 -0x1.ea82fp-5 0x1.d3ccep-7 -0x1.59ee46p-9 0x1.19f32cp-12"
    ),
    52: coefficients(
        "-0x1.558eada6637f3p+1 -0x1.e75328fe78c3p+1 -0x1.37627e9b5d725p+0 -0x1.eb31368620b8cp-5 0x1.da5764188c406p-7 "
        "-0x1.7603da9f849a9p-9 0x1.6701cbade87c6p-12 0x1.3e3b661894e46p-15 -0x1.49257f7c5579p-15 0x1.d4119dc6df15cp-17 "
        "-0x1.9c63e42449feep-19 0x1.3ad85f74df5cbp-22 0x1.6c7916770641ap-24 -0x1.a18a06556b525p-25 "
        "0x1.aa2b187d0042fp-27 -0x1.083c8de0bf2e7p-29 0x1.7ef5121aa053p-33 -0x1.f45c522dd2769p-38"
    ),
}
#: Fraction bits → where erf has become 1: erfc is below half of the distance from 1 to the float before it.
_ERF_ONE = {23: 4.0, 52: 6.0}


def exp2(x: ir.Value) -> ir.Value:
    """2^x = 2^n 2^f, n the integer next to x.

    2^n is two factors that are normal numbers each: only the last product is out of range where the result is, and it
    rounds to a subnormal number, to 0 or to infinity.
    """
    form = format_of(x.type)
    # Beyond these the result is 0 or infinity, and n stays so small that each factor is a normal number.
    least = float(1 - form.exponent_bias - form.fraction_bits - 3)
    greatest = float(form.exponent_bias + 2)
    above = arith.select(compare_to("OLT", x, least), form.constant(least), x)
    mantissa, n = _mantissa(_at_most(above, greatest))
    half = arith.shrsi(n, form.pattern(1))
    scaled = arith.mulf(mantissa, form.power_of_two(half))
    return arith.mulf(scaled, form.power_of_two(arith.subi(n, half)))


def _normal_exp2(x: ir.Value) -> ir.Value:
    """2^x, where that is a normal number: n is added to the exponent of 2^f. Of NaN it is some number."""
    form = format_of(x.type)
    mantissa, n = _mantissa(x)
    return form.from_bits(arith.addi(form.bits(mantissa), arith.shli(n, form.pattern(form.fraction_bits))))


def _mantissa(x: ir.Value) -> tuple[ir.Value, ir.Value]:
    """2^f and n, of which 2^x is made."""
    form = format_of(x.type)
    whole, n = form.nearest_integer(x)
    f = arith.subf(x, whole)
    return math.fma(f, polynomial(_EXP2[form.fraction_bits], f), form.constant(1.0)), n


def tanh(x: ir.Value) -> ir.Value:
    """Tanh x: an odd polynomial near 0 and of NaN, elsewhere 1 - 2 / (e^2|x| + 1)."""
    form = format_of(x.type)
    size = math.absf(x)
    square = arith.mulf(size, size)
    small = math.fma(arith.mulf(size, square), polynomial(_TANH[form.fraction_bits], square), size)
    one, two_log2_e = form.constant(1.0), form.constant(2 / log(2))
    power = _normal_exp2(arith.mulf(_at_most(size, _TANH_ONE[form.fraction_bits]), two_log2_e))
    large = arith.subf(one, arith.divf(form.constant(2.0), arith.addf(power, one)))
    return math.copysign(arith.select(compare_to("OGE", size, _TANH_SMALL), large, small), x)


def erf(x: ir.Value) -> ir.Value:
    """Erf x: an odd polynomial near 0 and of NaN, elsewhere 1 - 2^P.

    An error of the polynomial P counts in proportion to erfc, which falls so quickly that one polynomial is enough.
    """
    form = format_of(x.type)
    size = math.absf(x)
    small = math.fma(size, polynomial(_ERF_SMALL[form.fraction_bits], arith.mulf(size, size)), size)
    one = form.constant(1.0)
    bounded = _at_most(size, _ERF_ONE[form.fraction_bits])
    exponent = polynomial(_ERF_LARGE[form.fraction_bits], arith.subf(bounded, one))
    large = arith.subf(one, _normal_exp2(exponent))
    return math.copysign(arith.select(compare_to("OGE", size, 1.0), large, small), x)


def _at_most(x: ir.Value, limit: float) -> ir.Value:
    """The smaller one of x and a limit."""
    return arith.select(compare_to("OGT", x, limit), format_of(x.type).constant(limit), x)
