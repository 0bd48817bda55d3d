"""What a row of an element-wise op says, and which element types ops accept."""

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from tinyc.vocabulary.element_type import ElementType

if TYPE_CHECKING:
    import numpy as np

    from tinyc.mlir import ir

    NumpyArray: TypeAlias = np.ndarray[Any, np.dtype[Any]]
    Register: TypeAlias = ir.Value


@dataclass(frozen=True)
class Accepted:
    """The element types that an op takes, and the words for them in a message."""

    words: str
    holds: Callable[[ElementType], bool]


FLOATS = Accepted("floats", lambda e: e.is_float)
NUMBERS = Accepted("numbers", lambda e: not e.is_bool)
INTEGERS = Accepted("integers", lambda e: e.is_integer)
BITS = Accepted("integers and bool", lambda e: not e.is_float)
ANY = Accepted("any type", lambda e: True)


class Effort(enum.IntEnum):
    """What one element of an op takes of a processor."""

    SIMPLE = 0  # an instruction or a few
    DIVISION = 1  # a division or a root, which takes many cycles
    FUNCTION = 2  # a polynomial of some 16 terms, or a call: much longer than it takes to load the result again


@dataclass(frozen=True)
class Elementwise:
    """One op: `arity` operands of one of the types that it accepts, and a result of that type, or of `gives`.

    `meaning` takes arrays of the type in which the op computes (`ElementType.accumulator`); `as_held`: of whatever type
    they are held in, since the op computes nothing. `code` takes the operands' element type and a register for each.
    `rounds` says whether a result on floats may need rounding to its type: not where the op only chooses among its
    operands, negates or compares them. `c_functions` are those math ops in the code that CUDA C++ writes as a function
    of the C library. `effort` is what prices and decisions what to keep go by.
    """

    name: str
    doc: str
    arity: int
    accepts: Accepted
    meaning: Callable[..., "NumpyArray"]
    code: Callable[..., "Register"]
    gives: ElementType | None = None
    rounds: bool = True
    as_held: bool = False
    c_functions: Mapping[str, str] = field(default_factory=dict[str, str])
    effort: Effort = Effort.SIMPLE

    @property
    def json_name(self) -> str:
        """Its name in Tiny JSON."""
        return self.name.upper()


def unary(
    name: str,
    doc: str,
    accepts: Accepted,
    meaning: "Callable[[NumpyArray], NumpyArray]",
    code: "Callable[[ElementType, Register], Register]",
    rounds: bool = True,
    c_functions: Mapping[str, str] | None = None,
    effort: Effort = Effort.SIMPLE,
) -> Elementwise:
    """Make the row of an op of one operand."""
    return Elementwise(
        name, doc, 1, accepts, meaning, code, rounds=rounds, c_functions=c_functions or {}, effort=effort
    )


def binary(
    name: str,
    doc: str,
    accepts: Accepted,
    meaning: "Callable[[NumpyArray, NumpyArray], NumpyArray]",
    code: "Callable[[ElementType, Register, Register], Register]",
    rounds: bool = True,
    effort: Effort = Effort.SIMPLE,
) -> Elementwise:
    """Make the row of an op of two operands of the same type."""
    return Elementwise(name, doc, 2, accepts, meaning, code, rounds=rounds, effort=effort)


def comparison(
    name: str,
    doc: str,
    meaning: "Callable[[NumpyArray, NumpyArray], NumpyArray]",
    code: "Callable[[ElementType, Register, Register], Register]",
) -> Elementwise:
    """Make the row of an op that compares two operands of any one type."""
    return Elementwise(name, doc, 2, ANY, meaning, code, gives=ElementType.BOOL, rounds=False, as_held=True)
