"""The values of axis expressions: over numpy index grids, the symbols bound to numbers.

The numbers are those of numpy's int64: an expression whose values leave it is not evaluated right.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tinyc.expr import extents
from tinyc.expr.axes.expression import AxisExpr, Index
from tinyc.expr.interpretation import Interpretation
from tinyc.expr.terms import AnyDivision, FloorDiv


def evaluate_at(expression: AxisExpr, indices: Sequence[Any], symbols: Mapping[str, int]) -> Any:
    """The value at `indices`: one number for each axis, or arrays that broadcast against each other.

    Raises:
        ExtentError: a symbol has no value.
    """
    return _evaluation(indices, symbols).of(expression)


def evaluate_on_grid(index: Index, shape: Sequence[int], symbols: Mapping[str, int]) -> list[np.ndarray]:
    """Each row of `index` at every point of the box of `shape`.

    Raises:
        ExtentError: a symbol has no value.
    """
    evaluation = _evaluation(np.indices(shape, sparse=True), symbols)
    return [np.broadcast_to(np.asarray(evaluation.of(row), np.int64), shape) for row in index]


def _evaluation(indices: Sequence[Any], symbols: Mapping[str, int]) -> Interpretation[Any]:
    def divide(division: AnyDivision, numerator: Any, divisor: int) -> Any:
        return numerator // divisor if isinstance(division, FloorDiv) else numerator % divisor

    return Interpretation[Any](
        int, divide, axis=indices.__getitem__, extent=lambda extent: extents.evaluate(extent, symbols)
    )
