"""A `tiny.reduce` as the detections of patterns see it: over which axes it goes, what it reads, what its result has.

IR in, frozen data out. Each detection (`contraction`, `scan`, `fold`) starts from a `Reduce` and raises `NoPattern`;
`attempt` runs one.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from tinyc.analysis.access import Access, DimAxes, shape_of, trace_affine
from tinyc.analysis.index_book.axis_arguments import axis_arguments
from tinyc.analysis.patterns.rejection import NoPattern, Reason, Rejected
from tinyc.dialects.tiny.ops import ReduceOp
from tinyc.expr import axes
from tinyc.expr.axes import Index, Shape
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import arguments

_Pattern = TypeVar("_Pattern")


@dataclass(frozen=True)
class Reduce:
    """A reduction by `op` over the positions `reduced` of the axes of its operand, whose sizes are `domain`.

    With `dims`, axes are those that the dimensions of the values are split into.
    """

    reduce: ReduceOp
    op: str
    domain: Shape
    reduced: tuple[int, ...]
    dims: DimAxes | None

    @classmethod
    def of(cls, reduce: ReduceOp, dims: DimAxes | None) -> "Reduce":
        """The facts that a `tiny.reduce` states."""
        values = arguments(reduce)
        if dims is not None:
            values = axis_arguments("reduce", values, dims(reduce.operand), dims(reduce.output))
        return cls(reduce, values["op"], shape_of(reduce.operand, dims), values["axes"], dims)

    @property
    def operand(self) -> ir.Value:
        """The value that is reduced."""
        return self.reduce.operand

    @functools.cached_property
    def kept(self) -> tuple[int, ...]:
        """The positions of the operand's axes that the result has, in the result's order."""
        return tuple(position for position in range(len(self.domain)) if position not in self.reduced)

    @property
    def result(self) -> Shape:
        """The sizes of the result's axes."""
        return tuple(self.domain[position] for position in self.kept)

    @property
    def first(self) -> Index:
        """The index, over the result's axes, of the first element that each element of the result takes."""
        index = [axes.constant(0)] * len(self.domain)
        for new, old in enumerate(self.kept):
            index[old] = axes.axis(new, self.result)
        return tuple(index)

    @functools.cached_property
    def access(self) -> Access:
        """How the operand reads the value below its movements."""
        return trace_affine(self.operand, self.dims)

    def require_sum(self) -> None:
        """Raise `NoPattern` for anything but a sum."""
        if self.op != "sum":
            raise NoPattern(Reason.NOT_A_SUM, f"the reduction is a {self.op}, not a sum")


def attempt(
    detection: Callable[[Reduce], _Pattern], reduce: "ReduceOp | Reduce", dims: DimAxes | None = None
) -> _Pattern | Rejected:
    """The pattern that a detection finds in a `tiny.reduce`, or the reason why that is not of the pattern.

    With `dims`, axes are those that the dimensions of the values are split into. A `Reduce` may stand for the op.
    """
    try:
        return detection(reduce if isinstance(reduce, Reduce) else Reduce.of(reduce, dims))
    except NoPattern as error:
        return error.rejected
