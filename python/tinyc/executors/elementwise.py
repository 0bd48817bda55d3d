"""The element-wise ops of Tiny in numpy, as their rows say."""

from collections.abc import Callable, Sequence

import numpy as np

from tinyc.executors.elements import Precision, convert
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.elementwise.row import Elementwise


def apply_elementwise(
    row: Elementwise, operands: Sequence[np.ndarray], element: ElementType, precision: Precision
) -> np.ndarray:
    """Apply an op; `element` is the element type of its operands (of the branches of `where`).

    Axes along which every operand is a broadcast are computed once, so that an expanded operand costs no memory.
    """
    if row.as_held:
        return on_distinct_elements(row.meaning, *operands)

    def compute(*core: np.ndarray) -> np.ndarray:
        registers = [convert(operand, precision.arithmetic(element)) for operand in core]
        return precision.round(row.meaning(*registers), element)

    return on_distinct_elements(compute, *operands)


def on_distinct_elements(function: Callable[..., np.ndarray], *operands: np.ndarray) -> np.ndarray:
    """Apply an element-wise function once along the axes on which every operand is a broadcast."""
    shape = operands[0].shape
    kept = tuple(
        slice(0, 1) if extent > 1 and all(operand.strides[axis] == 0 for operand in operands) else slice(None)
        for axis, extent in enumerate(shape)
    )
    return np.broadcast_to(function(*(operand[kept] for operand in operands)), shape)
