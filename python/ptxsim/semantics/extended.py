"""Extended-precision integer arithmetic: add.cc addc sub.cc subc mad.cc madc. Source: PTX ISA §9.7.2.

In: an instruction's modifiers. Out: its operation, with the flag `cc` as its last operand (addc, subc, madc) and as its
last result (`.cc`). The flag is a carry after an addition and a borrow after a subtraction; signedness makes no
difference to it.
"""

import numpy as np

from ptxsim.semantics import product
from ptxsim.semantics.integer_type import IntegerType
from ptxsim.semantics.operation import BitFunction, Builder, Operation, Registry

_TYPES = ("u32", "s32", "u64", "s64")


def _add(a: np.ndarray, b: np.ndarray, carry: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    partial = a + b
    total = partial + carry.astype(partial.dtype)
    return total, (partial < a) | (total < partial)


def _subtract(a: np.ndarray, b: np.ndarray, borrow: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    partial = a - b
    total = partial - borrow.astype(partial.dtype)
    return total, (a < b) | (total > partial)


def _addition(subtracts: bool, reads_flag: bool) -> Builder:
    """`add.cc` and `sub.cc`, or with `reads_flag` `addc{.cc}` and `subc{.cc}`."""
    function = _subtract if subtracts else _add

    def build(modifiers: tuple[str, ...]) -> Operation | None:
        match modifiers:
            case ("cc", name) if name in _TYPES:
                return _with_flag(name, reads_flag, True, function)
            case (name,) if name in _TYPES and reads_flag:
                return _with_flag(name, True, False, function)
        return None

    return build


def _multiplication(reads_flag: bool) -> Builder:
    """`mad.cc`, or with `reads_flag` `madc{.cc}`."""

    def build(modifiers: tuple[str, ...]) -> Operation | None:
        match modifiers:
            case ("hi" | "lo" as mode, "cc", name) if name in _TYPES:
                return _mad(name, mode, reads_flag, True)
            case ("hi" | "lo" as mode, name) if name in _TYPES and reads_flag:
                return _mad(name, mode, True, False)
        return None

    return build


def _mad(name: str, mode: str, reads_flag: bool, writes_flag: bool) -> Operation:
    kind = IntegerType(name)

    def function(a: np.ndarray, b: np.ndarray, c: np.ndarray, carry: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _add(product.half(kind, mode, a, b), c, carry)

    return _with_flag(name, reads_flag, writes_flag, function, operands=3)


def _with_flag(name: str, reads_flag: bool, writes_flag: bool, function: BitFunction, operands: int = 2) -> Operation:
    def apply(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        value, flag = function(*arrays) if reads_flag else function(*arrays, np.False_)
        return (value, flag) if writes_flag else (value,)

    results = (name, "cc") if writes_flag else (name,)
    return Operation(results, (name,) * operands + (("cc",) if reads_flag else ()), apply)


BUILDERS: Registry = {
    "add": _addition(subtracts=False, reads_flag=False),
    "addc": _addition(subtracts=False, reads_flag=True),
    "sub": _addition(subtracts=True, reads_flag=False),
    "subc": _addition(subtracts=True, reads_flag=True),
    "mad": _multiplication(reads_flag=False),
    "madc": _multiplication(reads_flag=True),
}
