"""32-bit index arithmetic as code, written as expressions: ``(row * 128 + chunk) ^ 16``.

A `Word` is a number or a value of type i32 that is not negative. Expressions of numbers are numbers; others are emitted
where they are written, once, and without what does nothing. So one formula serves whoever computes a place and whoever
emits it.

A word knows the number that is added to its value, and what its value is below: ``(x + 64) // 32 % 2`` is
``x // 32 % 2``, and 0 where x is below 32. So the places that a thread computes for one copy after the other have one
value, and numbers that instructions take as offsets.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tinyc.codegen.once import once
from tinyc.mlir import arith, ir
from tinyc.mlir.constants import number

_I32 = 32
#: Above every word.
_UNBOUNDED = 1 << 31


@dataclass(frozen=True)
class Word:
    """The sum of a value of type i32, which is not negative and below `below`, and the number `plus`."""

    varying: ir.Value
    plus: int = 0
    below: int = _UNBOUNDED

    @classmethod
    def of(cls, value: ir.Value, below: int = _UNBOUNDED) -> "Word":
        """The word that an index or an i32 is, which is known to be below a number."""
        i32 = ir.IntegerType.get_signless(_I32)
        return cls(value if value.type == i32 else once(arith.index_cast, i32, value), below=below)

    @property
    def value(self) -> ir.Value:
        """The word as one value."""
        return _sum(self.varying, self.plus)

    def _with(self, other: "AnyWord", emit: Callable[[ir.Value, ir.Value], ir.Value], neutral: int | None) -> "Word":
        return self if other == neutral else Word(once(emit, self.value, as_i32(other)))

    def __add__(self, other: "AnyWord") -> "Word":
        if isinstance(other, int):
            return Word(self.varying, self.plus + other, self.below)
        below = min(self.below + other.below - 1, _UNBOUNDED)
        return Word(once(arith.addi, self.varying, other.varying), self.plus + other.plus, below)

    __radd__ = __add__

    def __sub__(self, other: "AnyWord") -> "Word":
        return self + -other if isinstance(other, int) else self._with(other, arith.subi, 0)

    def __rsub__(self, other: int) -> "Word":
        return Word(once(arith.subi, as_i32(other), self.value))

    def __mul__(self, other: "AnyWord") -> "AnyWord":
        if isinstance(other, Word):
            return self._with(other, arith.muli, None)
        if other in (0, 1):
            return self if other else 0
        below = min((self.below - 1) * other + 1, _UNBOUNDED)
        return Word(once(arith.muli, self.varying, as_i32(other)), self.plus * other, below)

    __rmul__ = __mul__

    def __xor__(self, other: "AnyWord") -> "Word":
        return self._with(other, arith.xori, 0)

    __rxor__ = __xor__

    def __or__(self, other: "AnyWord") -> "Word":
        return self._with(other, arith.ori, 0)

    def __floordiv__(self, other: "AnyWord") -> "AnyWord":
        if isinstance(other, Word):
            return self._with(other, arith.divui, None)
        times, left = divmod(self.plus, other)
        if other == 1 or self.below + left <= other:
            return self if other == 1 else times
        return self._quotient(other) + times if left == 0 else Word.of(self.value, self._end)._quotient(other)

    def __mod__(self, other: "AnyWord") -> "AnyWord":
        if isinstance(other, Word):
            return self._with(other, arith.remui, None)
        left = self.plus % other
        if other == 1 or self.below + left <= other:
            return 0 if other == 1 else Word(self.varying, left, self.below)
        return self._left(other) if left == 0 else Word.of(self.value, self._end)._left(other)

    def __divmod__(self, other: "AnyWord") -> tuple["AnyWord", "AnyWord"]:
        return self // other, self % other

    @property
    def _end(self) -> int:
        return min(self.below + self.plus, _UNBOUNDED)

    def _quotient(self, by: int) -> "Word":
        """Emit how often a number is in the value."""
        is_power = by & (by - 1) == 0
        emit, operand = (arith.shrui, by.bit_length() - 1) if is_power else (arith.divui, by)
        return Word(once(emit, self.varying, as_i32(operand)), below=-(-self.below // by))

    def _left(self, by: int) -> "Word":
        """Emit what a number leaves of the value."""
        emit, operand = (arith.andi, by - 1) if by & (by - 1) == 0 else (arith.remui, by)
        return Word(once(emit, self.varying, as_i32(operand)), below=by)


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
    return word.value if isinstance(word, Word) else once(number, word, ir.IntegerType.get_signless(_I32))


def as_index(word: AnyWord) -> ir.Value:
    """A word as an index."""
    index = ir.IndexType.get()
    if isinstance(word, int):
        return once(number, word, index)
    return _sum(once(arith.index_cast, index, word.varying), word.plus)


def _sum(value: ir.Value, plus: int) -> ir.Value:
    """Emit the sum of a value and a number, or a difference: those who print words have no numbers below 0."""
    if plus == 0:
        return value
    emit = arith.addi if plus > 0 else arith.subi
    return once(emit, value, once(number, abs(plus), value.type))


def is_below(word: AnyWord, limit: AnyWord) -> ir.Value:
    """Emit whether a word is below another."""
    return once(arith.cmpi, arith.CmpIPredicate.ult, as_i32(word), as_i32(limit))


def equals(word: AnyWord, other: AnyWord) -> ir.Value:
    """Emit whether two words are equal."""
    return once(arith.cmpi, arith.CmpIPredicate.eq, as_i32(word), as_i32(other))


def smaller(word: AnyWord, other: AnyWord) -> AnyWord:
    """The smaller of two words."""
    if isinstance(word, int) and isinstance(other, int):
        return min(word, other)
    return Word(once(arith.minui, as_i32(word), as_i32(other)))


def word_where(condition: ir.Value, word: AnyWord, other: AnyWord) -> Word:
    """One word where a condition holds, else the other."""
    return Word(once(arith.select, condition, as_i32(word), as_i32(other)))
