"""The `reduce` op of Tiny in numpy: block by block, so that a broadcast product is never materialised whole.

Accumulation runs in the arithmetic of the result's element type (f32 for 16-bit floats) and is rounded to it at the
end. A product whose only use is a sum comes in as its two factors and is formed in the accumulator's type.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tinyc.executors.elements import Precision, convert
from tinyc.executors.elementwise import on_distinct_elements
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.reductions import REDUCTIONS

#: Elements of one block; a larger operand is halved along its longest axis.
BLOCK_ELEMENTS = 2**18


@dataclass(frozen=True)
class FactoredProduct:
    """The value of a `mul` that is formed only where it is summed."""

    lhs: np.ndarray
    rhs: np.ndarray

    @property
    def factors(self) -> tuple[np.ndarray, ...]:
        """The two operands."""
        return (self.lhs, self.rhs)


def reduce(
    source: np.ndarray | FactoredProduct, op: str, axes: tuple[int, ...], element: ElementType, precision: Precision
) -> np.ndarray:
    """Reduce over `axes`, which are removed; `element` is the result's element type.

    **Shapes** `source: [a0, …, an]` → the axes that are left, in order.
    """
    factors = source.factors if isinstance(source, FactoredProduct) else (source,)
    accumulator = precision.arithmetic(element)
    factors = tuple(_converted_once(factor, accumulator) for factor in factors)
    total = _reduce_block(factors, op, axes, accumulator, REDUCTIONS[op].neutral(element))
    return precision.round(total, element)


def _converted_once(values: np.ndarray, accumulator: np.dtype) -> np.ndarray:
    """Convert a broadcast before it is cut into blocks; anything else is cheaper to convert block by block."""
    if 0 not in values.strides:
        return values
    return on_distinct_elements(lambda x: convert(x, accumulator), values)


def _reduce_block(
    factors: tuple[np.ndarray, ...], op: str, axes: tuple[int, ...], accumulator: np.dtype, neutral: Any
) -> np.ndarray:
    shape = factors[0].shape
    if factors[0].size <= BLOCK_ELEMENTS:
        values = convert(factors[0], accumulator)
        for factor in factors[1:]:
            values = values * convert(factor, accumulator)
        return np.asarray(_UFUNC[op].reduce(values, axis=axes, dtype=accumulator, initial=accumulator.type(neutral)))
    axis = int(np.argmax(shape))
    middle = shape[axis] // 2
    first, second = (
        _reduce_block(tuple(_part(f, axis, part) for f in factors), op, axes, accumulator, neutral)
        for part in (slice(middle), slice(middle, None))
    )
    if axis in axes:
        return _UFUNC[op](first, second)
    return np.concatenate([first, second], axis=axis - sum(removed < axis for removed in axes))


def _part(values: np.ndarray, axis: int, part: slice) -> np.ndarray:
    return values[(slice(None),) * axis + (part,)]


_UFUNC: dict[str, Any] = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}
