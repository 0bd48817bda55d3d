"""The floating-point formats of PTX: their bits as numbers, and numbers as their bits.

In: bit patterns, unsigned arrays of the format's width. Out: float64 arrays of exactly the same values, and back.
A NaN that an instruction makes is the format's canonical one, whatever its operands were.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Format:
    """A binary format; `precision` counts the hidden bit, `least_exponent` is that of the smallest normal number.

    `storage` is the type of its bit patterns: tf32 lies in 32 bits with the last 13 clear.
    Source: PTX ISA § Fundamental types, § Alternate floating-point data formats.
    """

    name: str
    storage: type[np.unsignedinteger]
    precision: int
    least_exponent: int
    greatest: float
    canonical_nan: int

    @property
    def width(self) -> int:
        """The bits of a pattern."""
        return np.dtype(self.storage).itemsize * 8

    @cached_property
    def sign(self) -> np.unsignedinteger:
        """The bit of the sign, the highest."""
        return self.storage(1 << (self.width - 1))

    @cached_property
    def exponent_mask(self) -> np.unsignedinteger:
        """The bits of the exponent: the pattern of infinity, where the format has one."""
        exponent_bits = (1 - self.least_exponent).bit_length() + 1
        return self.storage(((1 << exponent_bits) - 1) << (self.width - 1 - exponent_bits))

    @cached_property
    def nan(self) -> np.unsignedinteger:
        """The canonical NaN as an element of a pattern."""
        return self.storage(self.canonical_nan)

    @cached_property
    def magnitudes(self) -> np.ndarray:
        """What the patterns without a sign stand for, in order, NaN left out; for formats of 8 bits."""
        fraction_bits = self.precision - 1
        codes = np.arange(1 << 7)
        exponent, fraction = codes >> fraction_bits, codes & ((1 << fraction_bits) - 1)
        hidden = np.where(exponent > 0, 1 << fraction_bits, 0)
        values = np.ldexp(
            (hidden + fraction).astype(np.float64), np.maximum(exponent, 1) - 1 + self.least_exponent - fraction_bits
        )
        infinity = [np.inf] if self.name == "e5m2" else []
        return np.concatenate([values[values <= self.greatest], infinity])


F64 = Format("f64", np.uint64, 53, -1022, float(np.finfo(np.float64).max), 0xFFF8000000000000)
F32 = Format("f32", np.uint32, 24, -126, float(np.finfo(np.float32).max), 0x7FFFFFFF)
TF32 = Format("tf32", np.uint32, 11, -126, (2 - 2.0**-10) * 2.0**127, 0x7FFFFFFF)
F16 = Format("f16", np.uint16, 11, -14, 65504.0, 0x7FFF)
BF16 = Format("bf16", np.uint16, 8, -126, (2 - 2.0**-7) * 2.0**127, 0x7FFF)
E4M3 = Format("e4m3", np.uint8, 4, -6, 448.0, 0x7F)
E5M2 = Format("e5m2", np.uint8, 3, -14, 57344.0, 0x7F)

#: The formats that arithmetic instructions name as a type.
FORMATS = {each.name: each for each in (F64, F32, F16, BF16)}
#: Types that hold two values of a format in one register.
PAIRS = {"f16x2": F16, "bf16x2": BF16, "e4m3x2": E4M3, "e5m2x2": E5M2}


def format_of(type_name: str) -> Format | None:
    """The format of a type or of its halves, or None for a type that is not one of floating point."""
    return FORMATS.get(type_name) or PAIRS.get(type_name)


def numbers(form: Format, bits: np.ndarray) -> np.ndarray:
    """The values of f64, f32, f16 or bf16 patterns, exactly: float64 for f64, else float32."""
    if form is F64:
        return bits.view(np.float64)
    if form is F32:
        return bits.view(np.float32)
    if form is F16:
        return bits.view(np.float16).astype(np.float32)
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def decode(form: Format, bits: np.ndarray) -> np.ndarray:
    """The values of bit patterns, exactly, as float64."""
    if form is TF32:
        return bits.view(np.float32).astype(np.float64)
    if form.width > 8:
        return numbers(form, bits).astype(np.float64, copy=False)
    magnitudes = np.full(1 << 7, np.nan)
    magnitudes[: form.magnitudes.size] = form.magnitudes
    return np.where(bits & form.sign, -1.0, 1.0) * magnitudes[bits & np.uint8(0x7F)]


def encode(form: Format, values: np.ndarray) -> np.ndarray:
    """The bit patterns of values that the format has, exactly; a NaN becomes the canonical one."""
    if form is F64:
        bits = values.view(np.uint64)
    elif form is F32 or form is TF32:
        bits = values.astype(np.float32).view(np.uint32)
    elif form is F16:
        bits = values.astype(np.float16).view(np.uint16)
    elif form is BF16:
        bits = (values.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    else:
        code = np.searchsorted(form.magnitudes, np.abs(values)).astype(np.uint8)
        bits = np.where(np.signbit(values), code | form.sign, code)
    return np.where(values != values, form.nan, bits)


def flush(form: Format, bits: np.ndarray) -> np.ndarray:
    """The patterns with every subnormal number as a zero of its sign (`.ftz`)."""
    return np.where(bits & form.exponent_mask, bits, bits & form.sign)


def halves(pattern: type[np.unsignedinteger], bits: np.ndarray) -> np.ndarray:
    """Both halves of packed registers along a new last axis, the low half first."""
    return np.asarray(bits)[..., np.newaxis].view(pattern)


def joined(packed: type[np.unsignedinteger], parts: np.ndarray) -> np.ndarray:
    """Registers with the last axis, low half first, as their halves."""
    return np.ascontiguousarray(parts).view(packed)[..., 0]


def on_halves(form: Format, function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """A function on patterns of `form`, as one that works on both halves of packed registers."""
    packed = {8: np.uint16, 16: np.uint32}[form.width]

    def both(*operands: np.ndarray) -> np.ndarray:
        return joined(packed, function(*(halves(form.storage, each) for each in operands)))

    return both
