"""The ops that `tiny.reduce` applies over axes, one row each."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from tinyc.vocabulary.element_type import ElementType


@dataclass(frozen=True)
class ReductionRow:
    """One: `combine` is the element-wise op that takes a term in, `neutral` the value of a reduction over nothing."""

    name: str
    combine: str
    neutral: Callable[[ElementType], int | float]


def _least(element: ElementType) -> int | float:
    return -math.inf if element.is_float else element.integer_range[0]


def _greatest(element: ElementType) -> int | float:
    return math.inf if element.is_float else element.integer_range[1]


#: The rows by name, in the order in which messages list them.
REDUCTIONS: dict[str, ReductionRow] = {
    row.name: row
    for row in (
        ReductionRow("sum", "add", lambda element: 0),
        ReductionRow("max", "max", _least),
        ReductionRow("min", "min", _greatest),
        ReductionRow("prod", "mul", lambda element: 1),
    )
}
