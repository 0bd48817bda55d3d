"""Reduction of an angle: x = q π/2 + r with |r| ≤ π/4, for every finite f64.

In: a scalar f64 that is not negative. Out: r as a sum of two f64, and q modulo 4, at the current insertion point.

Below 2^30 (Cody, Waite): q is x · 2/π rounded, and q π/2 is subtracted with π/2 as three f64. From there on (Payne,
Hanek): x = m 2^e with a 53-bit integer m, and only those bits of 2/π count whose product with x is neither a multiple
of 4 nor too small. 192 of them are taken: 2 for q, 53 that the truncation spoils, and 137 for r · 2/π, which is at
least 2^-62 for an f64. All of that is integer arithmetic.
"""

import functools
import itertools

from tinyc.codegen.software_math.format import Format, compare_to, format_of
from tinyc.mlir import arith, ir, math, scf
from tinyc.mlir.constants import number

#: Angles from 2^_LARGE on are reduced by integer arithmetic.
_LARGE = 30
_WORD = 64


@functools.cache
def _pi(bits: int) -> int:
    """⌊π 2^bits⌋ by Machin's formula, π = 16 arctan(1/5) - 4 arctan(1/239), with 64 guard bits."""

    def arctan_of_inverse(n: int) -> int:
        power, total, k = (1 << bits + 64) // n, 0, 0
        while power:
            total += (-power if k % 2 else power) // (2 * k + 1)
            power, k = power // (n * n), k + 1
        return total

    return (16 * arctan_of_inverse(5) - 4 * arctan_of_inverse(239)) >> 64


@functools.cache
def _half_pi(parts: int) -> list[float]:
    """π/2 as a sum of f64s, each the nearest to what the ones before leave."""
    rest, bits = _pi(1280), 1281
    found: list[float] = []
    for _ in range(parts):
        part = rest / (1 << bits)
        numerator, denominator = part.as_integer_ratio()
        found.append(part)
        rest -= (numerator << bits) // denominator
    return found


@functools.cache
def _two_over_pi(words: int) -> list[int]:
    """2/π in words of 64 bits, the first bit of which has weight 2^(_LARGE - 7)."""
    digits = words * _WORD - (_LARGE - 6)
    value = (2 << 2 * digits + 64) // _pi(digits + 64)
    return [value >> _WORD * (words - 1 - k) & (1 << _WORD) - 1 for k in range(words)]


def reduce_angle(x: ir.Value, greatest_exponent: int) -> tuple[ir.Value, ir.Value, ir.Value]:
    """R, what r lacks, and an i64 whose last two bits are those of q; r is NaN for ∞ and NaN.

    A finite x is below 2^(greatest_exponent + 1).
    """
    form = format_of(x.type)
    branch = scf.IfOp(compare_to("OGE", x, 2.0**_LARGE), [form.real, form.real, form.integer], has_else=True)
    with ir.InsertionPoint(branch.then_block):
        scf.yield_(_large(form, x, greatest_exponent))
    assert branch.else_block is not None  # asked for above
    with ir.InsertionPoint(branch.else_block):
        scf.yield_(_moderate(form, x))
    r, rest, quadrant = branch.results
    return r, rest, quadrant


def _moderate(form: Format, x: ir.Value) -> list[ir.Value]:
    """Reduce an x below 2^30."""
    first, second, third = (form.constant(-part) for part in _half_pi(3))
    q, quadrant = form.nearest_integer(arith.mulf(x, form.constant(1 / _half_pi(1)[0])))
    # Exact where q is not 0: x and q times the first part are multiples of 2^-53, and they differ by less than 1.
    near = math.fma(q, first, x)
    step = arith.mulf(q, second)
    rest_of_step = math.fma(q, third, math.fma(q, second, arith.negf(step)))
    # The sum and its rounding error (Knuth): either may be the greater one.
    high = arith.addf(near, step)
    added = arith.subf(high, near)
    error = arith.addf(arith.subf(near, arith.subf(high, added)), arith.subf(step, added))
    return [high, arith.addf(error, rest_of_step), quadrant]


def _large(form: Format, x: ir.Value, greatest_exponent: int) -> list[ir.Value]:
    """Reduce an x from 2^30 on."""
    i64 = form.integer
    pattern = form.bits(x)
    fraction = arith.andi(pattern, number(2**form.fraction_bits - 1, i64))
    m = arith.ori(fraction, number(2**form.fraction_bits, i64))
    exponent = arith.shrui(pattern, number(form.fraction_bits, i64))
    position = arith.subi(exponent, number(form.exponent_bias + _LARGE, i64))
    high, low = _times_window(m, _window(position, greatest_exponent - _LARGE))
    # In quarters of a turn with the point after 2 bits, `high` and `low` are m times 2/π modulo 4.
    two = number(2, i64)
    upper = arith.ori(arith.shli(high, two), arith.shrui(low, number(_WORD - 2, i64)))
    lower = arith.shli(low, two)
    # Rounded to the nearest quarter, the fraction is the same bits as a signed number.
    quadrant = arith.addi(arith.shrui(high, number(_WORD - 2, i64)), arith.shrui(upper, number(_WORD - 1, i64)))
    r, rest = _times_half_pi(form, upper, lower)
    finite = compare_to("OLT", x, float("inf"))
    return [arith.select(finite, r, form.constant(float("nan"))), rest, quadrant]


def _window(position: ir.Value, greatest_position: int) -> list[ir.Value]:
    """192 bits of the table of 2/π from bit `position` on, as three words."""
    i64 = position.type
    # Four words from word `position / 64` on: for each bit of that number, from the top, move the table or do not.
    stages = (greatest_position // _WORD).bit_length()
    words = [number(word, i64) for word in _two_over_pi((1 << stages) + 3)]
    for stage in reversed(range(stages)):
        digit = arith.andi(position, number(_WORD << stage, i64))
        moved = arith.cmpi(arith.CmpIPredicate.ne, digit, number(0, i64))
        reach = 1 << stage
        words = [arith.select(moved, words[k + reach], words[k]) for k in range(reach + 3)]
    shift = arith.andi(position, number(_WORD - 1, i64))
    left = arith.subi(number(_WORD - 1, i64), shift)  # a shift by 64 is undefined: shift by 1, then by the rest
    return [
        arith.ori(arith.shli(word, shift), arith.shrui(arith.shrui(after, number(1, i64)), left))
        for word, after in itertools.pairwise(words)
    ]


def _times_window(m: ir.Value, window: list[ir.Value]) -> tuple[ir.Value, ir.Value]:
    """The upper two of the last three words of m times the window."""
    _, carried = arith.mului_extended(m, window[2])
    product, above = arith.mului_extended(m, window[1])
    low = arith.addi(product, carried)
    overflow = arith.cmpi(arith.CmpIPredicate.ult, low, carried)
    high = arith.addi(arith.muli(m, window[0]), above)
    return arith.addi(high, arith.extui(m.type, overflow)), low


def _times_half_pi(form: Format, upper: ir.Value, lower: ir.Value) -> tuple[ir.Value, ir.Value]:
    """π/2 times a signed fraction of 128 bits, as a sum of two floats."""
    i64 = upper.type
    sign = arith.shrsi(upper, number(_WORD - 1, i64))
    # The magnitude, but for 2^-128: the complement.
    upper, lower = arith.xori(upper, sign), arith.xori(lower, sign)
    spare = _WORD - form.fraction_bits - 1  # the bits of a word that a float has no room for
    kept = arith.andi(upper, number(-(1 << spare), i64))
    left = arith.ori(arith.shli(upper, number(_WORD - spare, i64)), arith.shrui(lower, number(spare, i64)))
    first = arith.mulf(arith.sitofp(form.real, kept), form.constant(2.0**-_WORD))
    second = arith.mulf(arith.uitofp(form.real, left), form.constant(2.0 ** (spare - 2 * _WORD)))
    fraction = arith.addf(first, second)
    missing = arith.addf(arith.subf(first, fraction), second)
    half_pi, rest = (form.constant(part) for part in _half_pi(2))
    product = arith.mulf(fraction, half_pi)
    error = math.fma(fraction, half_pi, arith.negf(product))
    correction = math.fma(missing, half_pi, math.fma(fraction, rest, error))
    negative = arith.cmpi(arith.CmpIPredicate.ne, sign, number(0, i64))
    return (
        arith.select(negative, arith.negf(product), product),
        arith.select(negative, arith.negf(correction), correction),
    )
