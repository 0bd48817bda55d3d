"""Rounding as the modifiers of PTX ask for it: .rn (nearest, ties to even), .rz, .rm, .rp, and .rna (ties away).

A result for a format of at most 24 bits is found in float64 first, *rounded to odd*: if it is inexact, its last bit is
set. Such a value lies on the same side of every number and of every midpoint of the format as the exact result does, so
rounding it once more gives what rounding the exact result would have.
Source: S. Boldo, G. Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to
odd", IEEE Transactions on Computers 57(4), 2008. PTX ISA § Floating-point instructions, rounding modifiers.
"""

import numpy as np

from ptxsim.semantics.float_format import F16, F32, Format, encode

DIRECTIONS = ("rn", "rz", "rm", "rp")


def two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest float64 of `a + b`, and its error: both together are the exact sum (D. Knuth, TAOCP 4.2.2)."""
    total = a + b
    b_part = total - a
    return total, (a - (total - b_part)) + (b - b_part)


def odd_sum(a: np.ndarray, b: np.ndarray, direction: str = "rn") -> np.ndarray:
    """`a + b` of finite, infinite or NaN float64, rounded to odd; `direction` decides the sign of a zero."""
    total, error = two_sum(a, b)
    bits = total.view(np.int64)
    outward = np.where((error > 0) == (total > 0), 1, -1)
    moved = (bits + np.where((np.abs(error) > 0) & (bits & 1 == 0), outward, 0)).view(np.float64)
    return signed_zero(moved, a, b, direction)


def signed_zero(total: np.ndarray, a: np.ndarray, b: np.ndarray, direction: str) -> np.ndarray:
    """The sum with the zero that `direction` asks for: downwards, only +0 + +0 is +0."""
    if direction != "rm":
        return total
    return np.where((total == 0) & (np.signbit(a) | np.signbit(b)), -0.0, total)


def nudged(nearest: np.ndarray, error: np.ndarray, direction: str) -> np.ndarray:
    """Float64 results rounded in `direction`, given the nearest ones and the sign of exact minus nearest."""
    if direction == "rn":
        return nearest
    down = (error < 0) & {"rm": True, "rp": False, "rz": nearest > 0}[direction]
    up = (error > 0) & {"rm": False, "rp": True, "rz": nearest < 0}[direction]
    return np.where(down, np.nextafter(nearest, -np.inf), np.where(up, np.nextafter(nearest, np.inf), nearest))


def integral(values: np.ndarray, direction: str) -> np.ndarray:
    """The values rounded to integers; a zero keeps the sign of its value."""
    if direction == "rna":
        whole = np.trunc(values)
        return np.where(np.abs(values - whole) >= 0.5, whole + np.copysign(1.0, values), whole)
    return {"rn": np.rint, "rz": np.trunc, "rm": np.floor, "rp": np.ceil}[direction](values)


def rounded(form: Format, values: np.ndarray, direction: str) -> np.ndarray:
    """Float64 values rounded to the numbers of a narrower format, as float64; beyond its range as IEEE 754 says.

    An infinity stays one; a finite value becomes one where `direction` leads away from zero, else the greatest number.
    """
    _, exponent = np.frexp(values)
    last_bit = np.maximum(exponent - form.precision, form.least_exponent - form.precision + 1)
    result = np.ldexp(integral(np.ldexp(values, -last_bit), direction), last_bit)
    outwards = {"rn": True, "rna": True, "rz": False, "rm": values < 0, "rp": values > 0}[direction]
    limit = np.where(outwards | np.isinf(values), np.inf, form.greatest)
    return np.where(np.abs(result) > form.greatest, np.copysign(limit, values), result)


def rounded_bits(form: Format, values: np.ndarray, direction: str) -> np.ndarray:
    """The bit patterns of float64 values, rounded to the format."""
    if form.precision == 53 or (direction == "rn" and form in (F32, F16)):  # numpy's own conversion rounds to nearest
        return encode(form, values)
    return encode(form, rounded(form, values, direction))


def shortened(bits: np.ndarray, dropped: int, direction: str) -> np.ndarray:
    """Patterns of f32 rounded to `dropped` fewer bits, which are then clear; a NaN may turn into any pattern.

    A format with the exponents of f32 (bf16, tf32) takes a carry out of the fraction into the exponent as it is, from
    the greatest subnormal to a normal number and from the greatest number to infinity.
    """
    rest = np.uint32((1 << dropped) - 1)
    negative = bits >> np.uint32(31)
    carry = {
        "rn": lambda: (rest >> np.uint32(1)) + ((bits >> np.uint32(dropped)) & np.uint32(1)),
        "rna": lambda: np.uint32(1 << (dropped - 1)),
        "rz": lambda: np.uint32(0),
        "rm": lambda: negative * rest,
        "rp": lambda: (negative ^ np.uint32(1)) * rest,
    }[direction]()
    return (bits + carry) & ~rest
