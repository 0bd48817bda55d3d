"""Code for random numbers: Philox-4x32-10 (Salmon et al., SC 2011), one element at a time.

Element e of a tensor takes word ``e mod 4`` of the block with counter ``(e div 4, stream)`` and key `seed`.
"""

import math as host_math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tinyc.codegen import scalars
from tinyc.mlir import arith, ir, math
from tinyc.mlir.constants import number
from tinyc.vocabulary.element_type import ElementType

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10
_MASK = 0xFFFFFFFF


@dataclass(frozen=True)
class Stream:
    """Which random numbers: of a `distribution`, "uniform" or "normal", by a key and the number of a stream."""

    distribution: str
    seed: int
    number: int


def _halves(value: int) -> tuple[int, int]:
    return value & _MASK, value >> 32 & _MASK


def _i32() -> ir.IntegerType:
    return ir.IntegerType.get_signless(32)


def _round(counter: Sequence[ir.Value], key: Sequence[ir.Value]) -> list[ir.Value]:
    """The counter after one round."""
    low0, high0 = arith.mului_extended(counter[0], number(MULTIPLIERS[0], _i32()))
    low1, high1 = arith.mului_extended(counter[2], number(MULTIPLIERS[1], _i32()))
    first = arith.xori(arith.xori(high1, counter[1]), key[0])
    third = arith.xori(arith.xori(high0, counter[3]), key[1])
    return [first, low1, third, low0]


def _words(value: ir.Value) -> list[ir.Value]:
    """The lower and the upper i32 of an i64."""
    return [arith.trunci(_i32(), each) for each in (value, arith.shrui(value, number(32, value.type)))]


def _round_keys(seed: int, run_key: ir.Value | None) -> Iterator[list[ir.Value]]:
    """The key of each round; numbers where no key of the run is known."""
    halves = _halves(seed)
    run = None if run_key is None else _words(run_key)
    start = None if run is None else [arith.xori(each, number(h, _i32())) for each, h in zip(run, halves, strict=True)]
    for turn in range(ROUNDS):
        steps = [turn * weyl & _MASK for weyl in WEYL]
        if start is None:
            yield [number((half + step) & _MASK, _i32()) for half, step in zip(halves, steps, strict=True)]
        else:
            yield [arith.addi(each, number(step, _i32())) for each, step in zip(start, steps, strict=True)]


def block(quarter: ir.Value, seed: int, stream: int, run_key: ir.Value | None = None) -> list[ir.Value]:
    """The four i32 words of the block with the i64 counter `quarter`; the i64 `run_key` is xored to the seed."""
    counter = [*_words(quarter), *(number(half, _i32()) for half in _halves(stream))]
    for key in _round_keys(seed, run_key):
        counter = _round(counter, key)
    return counter


def _select_word(words: Sequence[ir.Value], word: ir.Value) -> ir.Value:
    """``words[word]``."""
    chosen = words[0]
    for position, value in enumerate(words[1:], 1):
        here = arith.cmpi(arith.CmpIPredicate.eq, word, number(position, word.type))
        chosen = arith.select(here, value, chosen)
    return chosen


def random_number(
    element_index: ir.Value, stream: Stream, element: ElementType, run_key: ir.Value | None = None
) -> ir.Value:
    """The random number of the element with the i64 row-major index `element_index`, in its register type."""
    kind = element_index.type
    quarter = arith.shrui(element_index, number(2, kind))
    word = arith.andi(element_index, number(3, kind))
    words = block(quarter, stream.seed, stream.number, run_key)
    if stream.distribution == "uniform":
        digits = element.uniform_bits
        fraction = arith.shrui(_select_word(words, word), number(32 - digits, _i32()))
        uniform = arith.mulf(arith.uitofp(ir.F32Type.get(), fraction), number(2.0**-digits, ir.F32Type.get()))
        return scalars.cast(uniform, ElementType.F32, element)
    return scalars.cast(_normal(words, word), ElementType.F64, element)


def _normal(words: Sequence[ir.Value], word: ir.Value) -> ir.Value:
    """A standard normal number by Box and Muller, in f64: the words of a pair share a radius and an angle."""
    f64 = ir.F64Type.get()
    second_pair = arith.cmpi(arith.CmpIPredicate.uge, word, number(2, word.type))
    radius_word, angle_word = (arith.select(second_pair, words[k + 2], words[k]) for k in (0, 1))
    fractions = [arith.uitofp(f64, arith.shrui(each, number(8, _i32()))) for each in (radius_word, angle_word)]
    unit = number(2.0**-24, f64)
    first = arith.mulf(arith.addf(fractions[0], number(1.0, f64)), unit)
    angle = arith.mulf(arith.mulf(fractions[1], unit), number(2 * host_math.pi, f64))
    radius = math.sqrt(arith.mulf(number(-2.0, f64), math.log(first)))
    odd = arith.cmpi(arith.CmpIPredicate.eq, arith.andi(word, number(1, word.type)), number(1, word.type))
    return arith.mulf(radius, arith.select(odd, math.sin(angle), math.cos(angle)))
