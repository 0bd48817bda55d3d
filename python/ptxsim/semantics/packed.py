"""Two 16-bit integers in one register: add min max of u16x2 and s16x2. Source: PTX ISA §9.7.1.1, .12 and .13.

In: an instruction's modifiers. Out: its operation.
"""

from collections.abc import Callable

import numpy as np

from ptxsim.semantics.integer_type import IntegerType, integer_elementwise
from ptxsim.semantics.operation import Builder, Operation, Registry

_HALF = np.uint32(16)


def _both_halves(name: str, function: Callable[..., np.ndarray]) -> Operation:
    """The operation that applies a function of 16-bit values to the low and the high halves."""
    kind = IntegerType(name.removesuffix("x2"))

    def halves(bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return kind.values(bits.astype(np.uint16)), kind.values((bits >> _HALF).astype(np.uint16))

    def apply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        low, high = (kind.pattern(function(x, y)).astype(np.uint32) for x, y in zip(halves(a), halves(b), strict=True))
        return low | (high << _HALF)

    return integer_elementwise(name, 2, apply)


def _packed(function: Callable[..., np.ndarray], has_relu: bool) -> Builder:
    def build(modifiers: tuple[str, ...]) -> Operation | None:
        match modifiers:
            case ("u16x2" | "s16x2" as name,):
                return _both_halves(name, function)
            case ("relu", "s16x2" as name) | ("s16x2" as name, "relu") if has_relu:
                return _both_halves(name, lambda a, b: np.maximum(function(a, b), np.int16(0)))
        return None

    return build


BUILDERS: Registry = {
    "add": _packed(np.add, has_relu=False),
    "min": _packed(np.minimum, has_relu=True),
    "max": _packed(np.maximum, has_relu=True),
}
