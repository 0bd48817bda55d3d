"""The values of axis expressions: over numpy index grids, the symbols bound to numbers.

The numbers are those of numpy's int64: an expression whose values leave it is not evaluated right.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tinyc.analysis import extents
from tinyc.analysis.axes.expression import Axis, AxisExpr, FloorDiv, Index


def evaluate(expression: AxisExpr, indices: Sequence[Any], symbols: Mapping[str, int]) -> Any:
    """Return the value at `indices`: one number for each axis, or arrays that broadcast against each other.

    Raises:
        ExtentError: a symbol has no value.
    """
    return _Evaluation(indices, symbols).of(expression)


def evaluate_on_grid(index: Index, shape: Sequence[int], symbols: Mapping[str, int]) -> list[np.ndarray]:
    """Return each row of `index` at every point of the box of `shape`.

    Raises:
        ExtentError: a symbol has no value.
    """
    evaluation = _Evaluation(np.indices(shape, sparse=True), symbols)
    return [np.broadcast_to(np.asarray(evaluation.of(row), np.int64), shape) for row in index]


class _Evaluation:
    """Each division is evaluated once, however often it appears."""

    def __init__(self, indices: Sequence[Any], symbols: Mapping[str, int]) -> None:
        self._indices, self._symbols = indices, symbols
        self._quotients: dict[FloorDiv, Any] = {}

    def of(self, expression: AxisExpr) -> Any:
        total: Any = extents.evaluate(expression.constant, self._symbols)
        for atom, coefficient in expression.terms:
            value = self._indices[atom.position] if isinstance(atom, Axis) else self._quotient(atom)
            total = total + value * coefficient
        return total

    def _quotient(self, atom: FloorDiv) -> Any:
        if atom not in self._quotients:
            self._quotients[atom] = self.of(atom.numerator) // atom.divisor
        return self._quotients[atom]
