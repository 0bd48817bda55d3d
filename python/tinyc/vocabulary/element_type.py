"""The element types of Tiny, one row each: everything that depends on whether a number is an `f16` or a `ui8`.

A member is a text too, the name that IR and messages call it by (`"f32" == ElementType.F32`), so that it can be
written into IR as it is. Everything else about it is asked of it. No MLIR here, and numpy when a `dtype` is asked for.
"""

import enum
import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


class NumberKind(enum.Enum):
    """The meaning of the bits of a number."""

    FLOAT = enum.auto()
    SIGNED = enum.auto()
    UNSIGNED = enum.auto()
    BOOL = enum.auto()


class ElementType(enum.StrEnum):
    """An element type, by its name in IR.

    `bits` is the width of a number and `precision` the digits of its significand (0 where there is none). `json_name`
    and `c_name` are what Tiny JSON and CUDA C++ call it. `register` and `storage` are the MLIR types in which code
    computes with it and in which a buffer holds it: 16-bit floats compute in f32 and are rounded after each op,
    integers are signless, and a bool in memory is a byte of 0 or 1.
    """

    bits: int
    kind: NumberKind
    precision: int
    json_name: str
    c_name: str
    numpy_name: str
    register: str
    storage: str

    #      name   bits  kind           precision JSON    C++              numpy       register storage
    F16 = "f16", 16, NumberKind.FLOAT, 11, "fp16", "half", "float16", "f32", "f16"
    BF16 = "bf16", 16, NumberKind.FLOAT, 8, "bf16", "__nv_bfloat16", "bfloat16", "f32", "bf16"
    F32 = "f32", 32, NumberKind.FLOAT, 24, "fp32", "float", "float32", "f32", "f32"
    F64 = "f64", 64, NumberKind.FLOAT, 53, "fp64", "double", "float64", "f64", "f64"
    I8 = "i8", 8, NumberKind.SIGNED, 0, "i8", "int8_t", "int8", "i8", "i8"
    I16 = "i16", 16, NumberKind.SIGNED, 0, "i16", "int16_t", "int16", "i16", "i16"
    I32 = "i32", 32, NumberKind.SIGNED, 0, "i32", "int32_t", "int32", "i32", "i32"
    I64 = "i64", 64, NumberKind.SIGNED, 0, "i64", "int64_t", "int64", "i64", "i64"
    UI8 = "ui8", 8, NumberKind.UNSIGNED, 0, "u8", "uint8_t", "uint8", "i8", "i8"
    UI16 = "ui16", 16, NumberKind.UNSIGNED, 0, "u16", "uint16_t", "uint16", "i16", "i16"
    UI32 = "ui32", 32, NumberKind.UNSIGNED, 0, "u32", "uint32_t", "uint32", "i32", "i32"
    UI64 = "ui64", 64, NumberKind.UNSIGNED, 0, "u64", "uint64_t", "uint64", "i64", "i64"
    BOOL = "i1", 1, NumberKind.BOOL, 0, "bool", "uint8_t", "bool", "i1", "i8"

    def __new__(cls, name: str, *facts: Any) -> "ElementType":
        """Make the member of one row."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.bits, member.kind, member.precision = facts[:3]
        member.json_name, member.c_name, member.numpy_name, member.register, member.storage = facts[3:]
        return member

    @property
    def is_float(self) -> bool:
        """Whether it is a floating-point type."""
        return self.kind is NumberKind.FLOAT

    @property
    def is_small_float(self) -> bool:
        """Whether it is a float of 16 bits, which computes in f32."""
        return self.kind is NumberKind.FLOAT and self.register != self.storage

    @property
    def is_integer(self) -> bool:
        """Whether it is an integer type; bool is not."""
        return self.kind is NumberKind.SIGNED or self.kind is NumberKind.UNSIGNED

    @property
    def is_signed(self) -> bool:
        """Whether it is a signed integer type."""
        return self.kind is NumberKind.SIGNED

    @property
    def is_unsigned(self) -> bool:
        """Whether it is an unsigned integer type; bool is not."""
        return self.kind is NumberKind.UNSIGNED

    @property
    def is_bool(self) -> bool:
        """Whether it is bool."""
        return self.kind is NumberKind.BOOL

    @property
    def size_bytes(self) -> int:
        """The size of one element in memory in bytes; a bool takes one."""
        return max(1, self.bits // 8)

    @property
    def integer_range(self) -> tuple[int, int]:
        """The least and the greatest value of an integer type or bool."""
        if self.is_signed:
            return -(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1
        return 0, 2**self.bits - 1

    @property
    def overflow(self) -> int:
        """The least magnitude that rounds to infinity: the largest number of a float type, and half a unit more."""
        exponent = 2 ** (self.bits - self.precision - 1)  # that of the first power of two beyond the type
        return 2**exponent - 2 ** (exponent - 1 - self.precision)

    @property
    def accumulator(self) -> "ElementType":
        """The type in which an op on such elements computes, and a reduction to such elements runs."""
        return ElementType.F32 if self.is_small_float else self

    @property
    def unit_roundoff(self) -> float:
        """How much of itself a rounded float is off by at most: 2^-24 for f32."""
        return 2.0**-self.precision

    @property
    def uniform_bits(self) -> int:
        """How many bits a uniform random number has: as many as the type holds exactly, so that none rounds to 1."""
        return min(self.precision, 24)

    @functools.cached_property
    def dtype(self) -> "np.dtype[Any]":
        """The numpy type of its arrays; a bool is a byte."""
        import numpy as np  # a tenth of a second, and who types or prints a program asks for no dtype

        if self is ElementType.BF16:
            import ml_dtypes

            return np.dtype(ml_dtypes.bfloat16)
        return np.dtype(self.numpy_name)


#: The element types by what IR calls them, and by what Tiny JSON calls them.
BY_NAME = {str(element): element for element in ElementType}
BY_JSON_NAME = {element.json_name: element for element in ElementType}


def element_of(dtype: "np.dtype[Any]") -> ElementType | None:
    """The element type of a numpy dtype, None where there is none (a foreign byte order included)."""
    return next((element for element in ElementType if element.dtype == dtype), None)
