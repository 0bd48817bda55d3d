"""32-bit index arithmetic as code, written as expressions: ``(row * 128 + chunk) ^ 16``.

A `Word` is a number or a value of type i32 that is not negative. Expressions of numbers are numbers; others are emitted
where they are written, without what does nothing. So one formula serves whoever computes a place and whoever emits it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tinyc.mlir import arith, ir
from tinyc.mlir.constants import number

_I32 = 32


@dataclass(frozen=True)
class Word:
    """A value of type i32 in an expression."""

    value: ir.Value

    @classmethod
    def of(cls, value: ir.Value) -> "Word":
        """The word that an index or an i32 is."""
        i32 = ir.IntegerType.get_signless(_I32)
        return cls(value if value.type == i32 else arith.index_cast(i32, value))

    def _with(self, other: "AnyWord", emit: Callable[[ir.Value, ir.Value], ir.Value], neutral: int | None) -> "Word":
        return self if other == neutral else Word(emit(self.value, as_i32(other)))

    def __add__(self, other: "AnyWord") -> "Word":
        return self._with(other, arith.addi, 0)

    __radd__ = __add__

    def __sub__(self, other: "AnyWord") -> "Word":
        return self._with(other, arith.subi, 0)

    def __rsub__(self, other: int) -> "Word":
        return Word(arith.subi(as_i32(other), self.value))

    def __mul__(self, other: "AnyWord") -> "AnyWord":
        return 0 if isinstance(other, int) and other == 0 else self._with(other, arith.muli, 1)

    __rmul__ = __mul__

    def __xor__(self, other: "AnyWord") -> "Word":
        return self._with(other, arith.xori, 0)

    __rxor__ = __xor__

    def __or__(self, other: "AnyWord") -> "Word":
        return self._with(other, arith.ori, 0)

    def __floordiv__(self, other: "AnyWord") -> "Word":
        if isinstance(other, int) and other & (other - 1) == 0:
            return self._with(other.bit_length() - 1, arith.shrui, 0)
        return self._with(other, arith.divui, 1)

    def __mod__(self, other: "AnyWord") -> "AnyWord":
        if other == 1:
            return 0
        if isinstance(other, int) and other & (other - 1) == 0:
            return self._with(other - 1, arith.andi, None)
        return self._with(other, arith.remui, None)

    def __divmod__(self, other: "AnyWord") -> tuple["Word", "AnyWord"]:
        return self // other, self % other


#: A number that is known, or a value.
AnyWord: TypeAlias = int | Word


def rest(word: Word, by: int) -> Word:
    """What is left of a word that is divided by a number above 1."""
    left = word % by
    assert isinstance(left, Word), "nothing is left where a number is divided by 1"
    return left


def parted(word: AnyWord, by: AnyWord) -> tuple[AnyWord, AnyWord]:
    """How often a word is in another, and what is left."""
    if isinstance(word, int):
        if isinstance(by, int):
            return divmod(word, by)
        word = Word(as_i32(word))
    return word // by, word % by


def as_i32(word: AnyWord) -> ir.Value:
    """A word as an i32."""
    return word.value if isinstance(word, Word) else number(word, ir.IntegerType.get_signless(_I32))


def as_index(word: AnyWord) -> ir.Value:
    """A word as an index."""
    index = ir.IndexType.get()
    return arith.index_cast(index, word.value) if isinstance(word, Word) else number(word, index)


def is_below(word: AnyWord, limit: AnyWord) -> ir.Value:
    """Emit whether a word is below another."""
    return arith.cmpi(arith.CmpIPredicate.ult, as_i32(word), as_i32(limit))


def equals(word: AnyWord, other: AnyWord) -> ir.Value:
    """Emit whether two words are equal."""
    return arith.cmpi(arith.CmpIPredicate.eq, as_i32(word), as_i32(other))


def smaller(word: AnyWord, other: AnyWord) -> AnyWord:
    """The smaller of two words."""
    if isinstance(word, int) and isinstance(other, int):
        return min(word, other)
    return Word(arith.minui(as_i32(word), as_i32(other)))


def word_where(condition: ir.Value, word: AnyWord, other: AnyWord) -> Word:
    """One word where a condition holds, else the other."""
    return Word(arith.select(condition, as_i32(word), as_i32(other)))
