"""The two float formats that mathematical functions are computed in, and the code that every function shares.

In and out: scalar values of `arith`, at the current insertion point. Coefficients are written as hexadecimal floats,
lowest power first; they are minimax for the weight and the interval that stand beside them, found by Remez exchange in
220-bit arithmetic.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.mlir import arith, ir, math
from tinyc.mlir.constants import number


@dataclass(frozen=True)
class Format:
    """A float type, and the integer type of the same width that holds its bits."""

    real: ir.Type
    integer: ir.IntegerType
    fraction_bits: int
    exponent_bias: int

    def constant(self, value: float) -> ir.Value:
        """A constant of the float type, rounded to it."""
        return number(value, self.real)

    def pattern(self, value: int) -> ir.Value:
        """An integer constant, taken modulo its width."""
        return number(value, self.integer)

    def bits(self, x: ir.Value) -> ir.Value:
        """The bits of a float."""
        return arith.bitcast(self.integer, x)

    def from_bits(self, pattern: ir.Value) -> ir.Value:
        """The float with these bits."""
        return arith.bitcast(self.real, pattern)

    def power_of_two(self, exponent: ir.Value) -> ir.Value:
        """2^exponent; the integer `exponent` must be that of a normal number."""
        biased = arith.addi(exponent, self.pattern(self.exponent_bias))
        return self.from_bits(arith.shli(biased, self.pattern(self.fraction_bits)))

    def nearest_integer(self, x: ir.Value) -> tuple[ir.Value, ir.Value]:
        """X rounded to an integer, as a float and as an integer.

        1.5 · 2^fraction_bits is so large that the sum has no bits below 1, and its last bits are the integer. Unlike a
        conversion this is defined for NaN, where the integer is some number. |x| must be below 2^(fraction_bits - 2).
        """
        shift = self.constant(1.5 * 2.0**self.fraction_bits)
        shifted = arith.addf(x, shift)
        return arith.subf(shifted, shift), arith.subi(self.bits(shifted), self.bits(shift))


def format_of(mlir_type: ir.Type) -> Format:
    """The format of f32 or f64."""
    if isinstance(mlir_type, ir.F32Type):
        return Format(mlir_type, ir.IntegerType.get_signless(32), 23, 127)
    return Format(mlir_type, ir.IntegerType.get_signless(64), 52, 1023)


def coefficients(text: str) -> list[float]:
    """Read hexadecimal floats."""
    return [float.fromhex(word) for word in text.split()]


def polynomial(values: Sequence[float], x: ir.Value) -> ir.Value:
    """Σ values[k] x^k by Estrin's scheme: terms of x, then of x², of x⁴ and so on, of which many are added at once."""
    terms: list[ir.Value] = [number(value, x.type) for value in values]
    power = x
    while len(terms) > 1:
        pairs = [math.fma(high, power, low) for low, high in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[2 * len(pairs) :]
        power = arith.mulf(power, power) if len(terms) > 1 else power
    return terms[0]


def compare_to(predicate: str, x: ir.Value, y: float) -> ir.Value:
    """The i1 of `x predicate y`, such as "OLT" (ordered: false for NaN)."""
    return arith.cmpf(getattr(arith.CmpFPredicate, predicate), x, number(y, x.type))
