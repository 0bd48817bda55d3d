"""Code for random numbers: Philox-4x32-10 (Salmon et al., SC 2011), one element at a time.

Element e of a tensor takes word ``e mod 4`` of the block with counter ``(e div 4, stream)`` and key `seed`.
"""

import math as host_math
from typing import Any

from tinyc.codegen import scalars
from tinyc.dialects.tiny.types import uniform_bits
from tinyc.mlir import arith, ir, math

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10
_MASK = 0xFFFFFFFF


def _halves(value: int) -> tuple[int, int]:
    return value & _MASK, value >> 32 & _MASK


def _i32() -> Any:
    return ir.IntegerType.get_signless(32)


def _round(counter: list[Any], key: tuple[int, int]) -> list[Any]:
    """Return the counter after one round."""
    low0, high0 = arith.mului_extended(counter[0], scalars.number(MULTIPLIERS[0], _i32()))
    low1, high1 = arith.mului_extended(counter[2], scalars.number(MULTIPLIERS[1], _i32()))
    first = arith.xori(arith.xori(high1, counter[1]), scalars.number(key[0], _i32()))
    third = arith.xori(arith.xori(high0, counter[3]), scalars.number(key[1], _i32()))
    return [first, low1, third, low0]


def block(quarter: Any, seed: int, stream: int) -> list[Any]:
    """Return the four i32 words of the block with the i64 counter `quarter`."""
    low = arith.trunci(_i32(), quarter)
    high = arith.trunci(_i32(), arith.shrui(quarter, scalars.number(32, quarter.type)))
    counter = [low, high, *(scalars.number(half, _i32()) for half in _halves(stream))]
    key = _halves(seed)
    for _ in range(ROUNDS):
        counter = _round(counter, key)
        key = ((key[0] + WEYL[0]) & _MASK, (key[1] + WEYL[1]) & _MASK)
    return counter


def _select_word(words: list[Any], lane: Any) -> Any:
    """Return ``words[lane]``."""
    chosen = words[0]
    for position, word in enumerate(words[1:], 1):
        here = arith.cmpi(arith.CmpIPredicate.eq, lane, scalars.number(position, lane.type))
        chosen = arith.select(here, word, chosen)
    return chosen


def random_number(element_index: Any, distribution: str, seed: int, stream: int, element: str) -> Any:
    """Return the random number of the element with the i64 row-major index `element_index`, in its register type."""
    kind = element_index.type
    quarter = arith.shrui(element_index, scalars.number(2, kind))
    lane = arith.andi(element_index, scalars.number(3, kind))
    words = block(quarter, seed, stream)
    if distribution == "uniform":
        digits = uniform_bits(element)
        fraction = arith.shrui(_select_word(words, lane), scalars.number(32 - digits, _i32()))
        number = arith.mulf(arith.uitofp(ir.F32Type.get(), fraction), scalars.number(2.0**-digits, ir.F32Type.get()))
        return scalars.cast(number, "f32", element)
    return scalars.cast(_normal(words, lane), "f64", element)


def _normal(words: list[Any], lane: Any) -> Any:
    """Return a standard normal number by Box and Muller, in f64: the lanes of a pair share a radius and an angle."""
    f64 = ir.F64Type.get()
    second_pair = arith.cmpi(arith.CmpIPredicate.uge, lane, scalars.number(2, lane.type))
    radius_word, angle_word = (arith.select(second_pair, words[k + 2], words[k]) for k in (0, 1))
    fractions = [arith.uitofp(f64, arith.shrui(word, scalars.number(8, _i32()))) for word in (radius_word, angle_word)]
    unit = scalars.number(2.0**-24, f64)
    first = arith.mulf(arith.addf(fractions[0], scalars.number(1.0, f64)), unit)
    angle = arith.mulf(arith.mulf(fractions[1], unit), scalars.number(2 * host_math.pi, f64))
    radius = math.sqrt(arith.mulf(scalars.number(-2.0, f64), math.log(first)))
    odd = arith.cmpi(
        arith.CmpIPredicate.eq, arith.andi(lane, scalars.number(1, lane.type)), scalars.number(1, lane.type)
    )
    return arith.mulf(radius, arith.select(odd, math.sin(angle), math.cos(angle)))
