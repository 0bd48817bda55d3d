"""The bits of a number as a number of another type, in arithmetic: Tiny has no op that looks at bits.

In f64, which holds the numbers of every float type, and in ui64. Powers of two are products of exact ones.
"""

import math

from tinyc.diagnostics import TinycError
from tinyc.formulas.elementwise import absolute
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Value
from tinyc.vocabulary.element_type import ElementType

_UNSIGNED = {8: ElementType.UI8, 16: ElementType.UI16, 32: ElementType.UI32, 64: ElementType.UI64}


def _bitcast(x: Value, *, element: ElementType) -> Value:
    """The number of another type that has the same bits; a NaN becomes the quiet NaN without a payload."""
    if x.element.size_bytes != element.size_bytes:
        message = f"bitcast of {x.element.json_name} to {element.json_name}: both must have as many bits"
        raise TinycError("DtypeMismatch", message)
    if x.element is element or not (x.element.is_float or element.is_float):
        return x.to(element)
    bits = _bits_of_float(x) if x.element.is_float else x.to(_UNSIGNED[x.element.bits]).to(ElementType.UI64)
    if element.is_float:
        return _float_of_bits(bits, element)
    return bits.to(_UNSIGNED[element.bits]).to(element)


def _fields(element: ElementType) -> tuple[int, int, int]:
    """Bits of the fraction, bits of the exponent, bias of the exponent."""
    fraction = element.precision - 1
    exponent = element.bits - element.precision
    return fraction, exponent, 2 ** (exponent - 1) - 1


def _bits_of_float(x: Value) -> Value:
    """The bits as ui64: fraction, exponent and sign, each found by comparing and scaling."""
    fraction, exponent_bits, bias = _fields(x.element)
    x = x.to(ElementType.F64)
    a = absolute(x)
    scaled, exponent = a, x.builder.full(bias, ElementType.UI64, x.shape)
    for step in (2**bit for bit in reversed(range(exponent_bits - 1))):
        is_large = ~(scaled < 2.0**step)
        exponent = (exponent + step).where(is_large, exponent)
        scaled = (scaled * 2.0**-step).where(is_large, scaled)
        is_small = scaled < 2.0 ** (1 - step)
        exponent = (exponent - step).where(is_small, exponent)
        scaled = (scaled * 2.0**step).where(is_small, scaled)
    normal = exponent * 2**fraction + ((scaled - 1) * 2.0**fraction).to(ElementType.UI64)
    down = (bias - 1 + fraction) // 2
    subnormal = (a * 2.0**down * 2.0 ** (bias - 1 + fraction - down)).to(ElementType.UI64)
    bits = subnormal.where(a < 2.0 ** (1 - bias), normal)
    infinity = (2**exponent_bits - 1) << fraction
    bits = bits.where(a < math.inf, infinity)
    bits = bits.where(a.equals(a), infinity + 2 ** (fraction - 1))
    is_negative = (x < 0) | (x.apply("recip") < 0)  # -0 too
    return (bits + 2 ** (fraction + exponent_bits)).where(is_negative, bits)


def _float_of_bits(bits: Value, element: ElementType) -> Value:
    """The number of a float type with these bits, which are ui64."""
    fraction_bits, exponent_bits, bias = _fields(element)
    sign = bits.apply("idiv", 2 ** (fraction_bits + exponent_bits))
    exponent = bits.apply("idiv", 2**fraction_bits) & (2**exponent_bits - 1)
    fraction = (bits & (2**fraction_bits - 1)).to(ElementType.F64)
    power = bits.builder.full(2.0**-bias, ElementType.F64, bits.shape)
    for bit in range(exponent_bits):
        factor = 2.0**2**bit if bit < 10 else 2.0**512
        scaled = power * factor if bit < 10 else power * factor * factor
        power = scaled.where((exponent & (1 << bit)) > 0, power)
    normal = (fraction * 2.0**-fraction_bits + 1) * power
    down = (bias - 1 + fraction_bits) // 2
    subnormal = fraction * 2.0**-down * 2.0 ** -(bias - 1 + fraction_bits - down)
    value = subnormal.where(exponent.equals(0), normal)
    special = bits.builder.full(math.inf, ElementType.F64, bits.shape).where(fraction.equals(0), math.nan)
    value = special.where(exponent.equals(2**exponent_bits - 1), value)
    return (-value).where(sign > 0, value).to(element)


FORMULAS: dict[str, Function] = {"bitcast": _bitcast}
