"""Floating point for the tests of the simulator, in rational arithmetic: slow, and sharing nothing with numpy.

A format is (bits of the exponent, bits of the fraction); a number is a `Fraction`, or one of the texts "nan", "inf",
"-inf", "-0". Rounding looks for the two neighbours of a rational number among the format's own.
"""

import functools
import itertools
import random
from fractions import Fraction

import numpy as np

from ptxsim.semantics import operation

FORMATS = {
    "f64": (11, 52),
    "f32": (8, 23),
    "f16": (5, 10),
    "bf16": (8, 7),
    "tf32": (8, 10),
    "e4m3": (4, 3),
    "e5m2": (5, 2),
}
NAN = {"f32": 0x7FFFFFFF, "f16": 0x7FFF, "bf16": 0x7FFF, "tf32": 0x7FFFFFFF, "e4m3": 0x7F, "e5m2": 0x7F}
DTYPES = {"f64": np.uint64, "f32": np.uint32, "f16": np.uint16, "bf16": np.uint16, "e4m3": np.uint8, "e5m2": np.uint8}


@functools.cache
def number(name, bits):
    """What a bit pattern stands for."""
    exponent_bits, fraction_bits = FORMATS[name]
    sign = -1 if bits >> (exponent_bits + fraction_bits) else 1
    exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1)
    fraction = bits & ((1 << fraction_bits) - 1)
    if name == "e4m3" and bits & 0x7F == 0x7F:
        return "nan"
    if name != "e4m3" and exponent == (1 << exponent_bits) - 1:
        return "nan" if fraction else "inf" if sign > 0 else "-inf"
    if exponent == 0 and fraction == 0:
        return Fraction(0) if sign > 0 else "-0"
    bias = (1 << (exponent_bits - 1)) - 1
    hidden = (1 << fraction_bits) if exponent else 0
    return sign * (hidden + fraction) * Fraction(2) ** (max(exponent, 1) - bias - fraction_bits)


def pattern(name, value, direction="rn", negative_zero=False):
    """The bit pattern of a value, rounded; IEEE 754 overflow. A NaN is the canonical one, for f64 None."""
    exponent_bits, fraction_bits = FORMATS[name]
    sign_bit = 1 << (exponent_bits + fraction_bits)
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    if value == "nan":
        return NAN.get(name)
    if value in ("inf", "-inf"):
        return infinity | (sign_bit if value == "-inf" else 0)
    if value == "-0" or (value == 0 and negative_zero):
        return sign_bit
    sign = sign_bit if value < 0 else 0
    magnitude = abs(value)
    # Magnitudes of a format are in the order of their patterns: search the greatest that is not above.
    low, high = 0, infinity if name != "e4m3" else 0x7F
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if number(name, middle) <= magnitude else (low, middle)
    below = number(name, low)
    if below == magnitude:
        return sign | low
    # One above the greatest number stands for the power of two that would come next.
    above = number(name, low + 1) if low + 1 < (infinity if name != "e4m3" else 0x7F) else _beyond(name)
    middle = (below + above) / 2
    up = {
        "rn": magnitude > middle or (magnitude == middle and low & 1 == 1),
        "rna": magnitude >= middle,
        "rz": False,
        "rm": sign != 0,
        "rp": sign == 0,
    }[direction]
    return sign | (low + 1 if up else low)


def _beyond(name):
    if name == "e4m3":
        return Fraction(480)
    return Fraction(2) ** (1 << (FORMATS[name][0] - 1))


def rational(value):
    return Fraction(0) if value == "-0" else value


def is_negative(value):
    return value in ("-0", "-inf") or (not isinstance(value, str) and value < 0)


def special_patterns(name):
    """Zeros, subnormal numbers, 1, the ends of the range, infinities and NaNs, with their neighbours and signs."""
    exponent_bits, fraction_bits = FORMATS[name]
    sign = 1 << (exponent_bits + fraction_bits)
    one = ((1 << (exponent_bits - 1)) - 1) << fraction_bits
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    least_normal = 1 << fraction_bits
    special = [0, 1, 2, 3, least_normal - 1, least_normal, least_normal + 1, one - 1, one, one + 1, one + least_normal]
    special += [infinity - 1, infinity, infinity + 1, infinity + (1 << (fraction_bits - 1)), sign - 1]
    return special + [each | sign for each in special]


def random_pattern(name, generator):
    """A pattern of any bits, or one near 1 with few bits set, so that sums and products meet ties."""
    exponent_bits, fraction_bits = FORMATS[name]
    one = ((1 << (exponent_bits - 1)) - 1) << fraction_bits
    if generator.random() < 0.5:
        return generator.getrandbits(exponent_bits + fraction_bits + 1)
    fraction = generator.choice((generator.getrandbits(fraction_bits), generator.getrandbits(3), 0))
    exponent = one + (generator.randrange(-4, 5) << fraction_bits)
    return generator.getrandbits(1) << (exponent_bits + fraction_bits) | exponent | fraction


def operands(name, arity, count, seed=0):
    """Patterns for an operation, an array an operand: `count` of special ones, then `count` random ones."""
    generator = random.Random(seed)
    special = special_patterns(name)
    rows = list(itertools.product(special, repeat=arity))
    rows = generator.sample(rows, min(count, len(rows)))
    rows += [tuple(random_pattern(name, generator) for _ in range(arity)) for _ in range(count)]
    return [np.array(column, DTYPES[name]) for column in zip(*rows, strict=True)]


def arithmetic(name, direction, operation, operands):
    """The pattern of add, sub, mul, div, sqrt or fma of patterns, as IEEE 754 defines it."""
    values = [number(name, each) for each in operands]
    if "nan" in values:
        return pattern(name, "nan")
    if operation == "sub":
        return _sum(name, direction, values[0], _negated(values[1]))
    if operation == "add":
        return _sum(name, direction, *values)
    if operation == "mul":
        return _finish(name, direction, *_product(*values))
    if operation == "fma":
        product, negative = _product(values[0], values[1])
        return _sum(name, direction, "-0" if product == 0 and negative else product, values[2])
    if operation == "div":
        return _finish(name, direction, *_quotient(*values))
    return _root(name, direction, values[0])


def _negated(value):
    opposites = {"inf": "-inf", "-inf": "inf", "-0": Fraction(0)}
    if isinstance(value, str):
        return opposites[value]
    return "-0" if value == 0 else -value


def _finish(name, direction, value, negative):
    return pattern(name, value, direction, negative_zero=negative)


def _sum(name, direction, a, b):
    if a == "nan" or b == "nan" or {a, b} == {"inf", "-inf"}:
        return pattern(name, "nan")
    for each in (a, b):
        if each in ("inf", "-inf"):
            return pattern(name, each)
    total = rational(a) + rational(b)
    negative = (a == "-0" and b == "-0") or (direction == "rm" and not (a == 0 and b == 0))
    return pattern(name, total, direction, negative_zero=negative)


def _product(a, b):
    negative = is_negative(a) != is_negative(b)
    if {a, b} & {"inf", "-inf"}:
        if rational(a) == 0 or rational(b) == 0:
            return "nan", False
        return ("-inf" if negative else "inf"), negative
    return rational(a) * rational(b), negative


def _quotient(a, b):
    negative = is_negative(a) != is_negative(b)
    infinite = [each in ("inf", "-inf") for each in (a, b)]
    if all(infinite) or (rational(a) == 0 and rational(b) == 0):
        return "nan", False
    if infinite[0] or rational(b) == 0:
        return ("-inf" if negative else "inf"), negative
    if infinite[1]:
        return Fraction(0), negative
    return rational(a) / rational(b), negative


def _root(name, direction, value):
    if value in ("inf", "-0"):
        return pattern(name, value)
    if value == "-inf" or value < 0:
        return pattern(name, "nan")
    # The greatest pattern whose square is not above; then the neighbours decide as in `pattern`.
    low, high = 0, pattern(name, "inf")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if number(name, middle) ** 2 <= value else (low, middle)
    below = number(name, low)
    if below**2 == value or direction in ("rz", "rm"):
        return low
    between = (below + number(name, low + 1)) / 2
    return low + 1 if direction == "rp" or between**2 < value else low


def computed(instruction, *arrays):
    opcode, *modifiers = instruction.split(".")
    (result,) = operation(opcode, tuple(modifiers)).function(*arrays)
    return result


def assert_bits(name, result, expected, arrays):
    """`None` among the expected patterns stands for any NaN."""
    for index, (bits, right) in enumerate(zip(result.tolist(), expected, strict=True)):
        same = number(name, bits) == "nan" if right is None else bits == right
        assert same, ([hex(each[index]) for each in arrays], hex(bits), right if right is None else hex(right))
