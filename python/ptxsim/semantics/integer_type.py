"""The integer and bit-size types of PTX, as views of bit patterns.

In: a type's name without the dot. Out: its width, signedness and numpy dtypes. Source: PTX ISA §5.2.1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ptxsim.semantics.operation import Operation

SIGNED = ("s16", "s32", "s64")
UNSIGNED = ("u16", "u32", "u64")
BIT_TYPES = ("b16", "b32", "b64")
NARROW = ("u16", "u32", "s16", "s32")  # those whose double width is a type, too
INTEGERS = UNSIGNED + SIGNED


@dataclass(frozen=True)
class IntegerType:
    """A type such as `s32`; the bit-size types are unsigned."""

    name: str

    @cached_property
    def bits(self) -> int:
        """The width in bits."""
        return int(self.name[1:])

    @cached_property
    def is_signed(self) -> bool:
        """Whether the most significant bit is the sign."""
        return self.name[0] == "s"

    @cached_property
    def dtype(self) -> np.dtype:
        """The dtype of bit patterns."""
        return np.dtype(f"u{self.bits // 8}")

    @cached_property
    def value_dtype(self) -> np.dtype:
        """The dtype of values."""
        return np.dtype(f"{'i' if self.is_signed else 'u'}{self.bits // 8}")

    @cached_property
    def twice(self) -> "IntegerType":
        """The type of double width."""
        return IntegerType(f"{self.name[0]}{2 * self.bits}")

    def values(self, bits: np.ndarray) -> np.ndarray:
        """The numbers that bit patterns stand for; no copy is made."""
        return bits.view(self.value_dtype)

    def pattern(self, values: np.ndarray) -> np.ndarray:
        """The low bits of integers of any dtype."""
        return np.asarray(values).astype(self.dtype, copy=False)

    def saturated(self, values: np.ndarray) -> np.ndarray:
        """The bit patterns of int64 values, those out of range at the end of the range."""
        info = np.iinfo(self.value_dtype)
        return self.pattern(np.clip(values, info.min, info.max))


def integer_elementwise(name: str, operands: int, function: Callable[..., np.ndarray]) -> Operation:
    """The operation whose operands and only result are all of type `name`."""

    def apply(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        return (function(*arrays),)

    return Operation((name,), (name,) * operands, apply)
