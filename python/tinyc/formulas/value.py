"""Values of Tiny as formulas: `x * 0.5 * (tanh(y) + 1)` adds the steps that compute it.

In: values of `Steps`. Out: values of the same steps. Arithmetic broadcasts as numpy's does, by explicit expands; both
sides have one element type, and a number takes that of the value beside it. Nothing is cast unless `to` says so.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tinyc.diagnostics import TinycError, Where
from tinyc.expr import extents
from tinyc.expr.assumption import Assumption
from tinyc.expr.extents import Dim
from tinyc.formulas.steps import Steps
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.infer.rule import listed
from tinyc.vocabulary.types import TensorType

Extents: TypeAlias = Sequence[Dim]


@dataclass(frozen=True)
class Builder:
    """Where a formula adds its steps; `where` is the node that they compute."""

    steps: Steps = field(repr=False)
    where: Where

    def value(self, number: int) -> "Value":
        """The value with a number."""
        return Value(self, number)

    def add(self, op: str, /, *operands: "Value", **arguments: Any) -> "Value":
        """Add a Tiny op; of several results it is the first (`result` has the others).

        Raises:
            TinycError: the broken typing rule.
        """
        return Value(self, self.steps.add(op, [each.number for each in operands], arguments, self.where))

    def full(self, number: bool | int | float, element: ElementType, shape: Extents) -> "Value":
        """A tensor of one number."""
        return self.add("const", value=_number(number, element), element=element, shape=tuple(shape))

    def iota(self, element: ElementType, shape: Extents, axis: int) -> "Value":
        """The index along an axis."""
        return self.add("iota", element=element, shape=tuple(shape), axis=axis)

    def extent(self, extent: Dim, element: ElementType) -> "Value":
        """An extent as a number, a tensor without axes; one that a run tells is the last place of an iota."""
        if isinstance(extent, int):
            return self.full(extent, element, ())
        places = self.iota(ElementType.I64, (extent + 1,), 0)
        return places.slice(0, extent, extent + 1).reshape().to(element)

    def assume_equal(self, one: Dim, other: Dim, what: str) -> None:
        """State that two extents are equal at run time; `what` is what they are, for a message.

        Raises:
            TinycError: `BroadcastMismatch`: they never are.
        """
        if extents.differ(one, other):
            raise TinycError("BroadcastMismatch", f"{what} must be equal; they are {one} and {other}")
        if one != other:
            self.steps.assume(Assumption(one, "eq", other, self.where))


@dataclass(frozen=True, eq=False)
class Value:
    """A value of a Tiny program in the making."""

    builder: Builder = field(repr=False)
    number: int

    @property
    def type(self) -> TensorType:
        """Element type and shape."""
        return self.builder.steps.types[self.number]

    @property
    def element(self) -> ElementType:
        """The element type."""
        return self.type.element

    @property
    def shape(self) -> tuple[Dim, ...]:
        """The extents."""
        return self.type.shape

    @property
    def rank(self) -> int:
        """The number of axes."""
        return self.type.rank

    def result(self, position: int) -> "Value":
        """Another result of the op that this is the first result of."""
        return Value(self.builder, self.number + position)

    def axis(self, axis: int) -> int:
        """An axis counted from the front; a negative one counts from the end.

        Raises:
            TinycError: `InvalidAxis`.
        """
        if not -self.rank <= axis < self.rank:
            message = f"axis {axis} is none of the {self.rank} axes of {self.type}"
            remedy = f"choose one from {-self.rank} to {self.rank - 1}" if self.rank else "reshape it to have some"
            raise TinycError("InvalidAxis", f"{message}; {remedy}")
        return axis % self.rank

    def match(self, axis: int, other: "Value", other_axis: int) -> None:
        """State that an axis is as long as an axis of another value at run time.

        Raises:
            TinycError: `BroadcastMismatch`: it never is.
        """
        axis, other_axis = self.axis(axis), other.axis(other_axis)
        what = f"axis {axis} of {self.type} and axis {other_axis} of {other.type}"
        self.builder.assume_equal(self.shape[axis], other.shape[other_axis], what)

    # --- element by element -------------------------------------------------------------------------------------------

    def apply(self, op: str, *others: "Operand") -> "Value":
        """An element-wise op of this value and others, broadcast to one shape."""
        operands = broadcast(self, *(self._value(other) for other in others))
        return self.builder.add(op, *operands)

    def _value(self, other: "Operand") -> "Value":
        return other if isinstance(other, Value) else self.builder.full(other, self.element, self.shape)

    def __add__(self, other: "Operand") -> "Value":
        return self.apply("add", other)

    def __radd__(self, other: float) -> "Value":
        return self._value(other).apply("add", self)

    def __sub__(self, other: "Operand") -> "Value":
        return self.apply("sub", other)

    def __rsub__(self, other: float) -> "Value":
        return self._value(other).apply("sub", self)

    def __mul__(self, other: "Operand") -> "Value":
        return self.apply("mul", other)

    def __rmul__(self, other: float) -> "Value":
        return self._value(other).apply("mul", self)

    def __truediv__(self, other: "Operand") -> "Value":
        return self.apply("fdiv", other)

    def __rtruediv__(self, other: float) -> "Value":
        return self._value(other).apply("fdiv", self)

    def __neg__(self) -> "Value":
        return self.apply("neg")

    def __lt__(self, other: "Operand") -> "Value":
        return self.apply("cmp_lt", other)

    def __gt__(self, other: "Operand") -> "Value":
        return self._value(other).apply("cmp_lt", self)

    def __invert__(self) -> "Value":
        return self.apply("not")

    def __and__(self, other: "Operand") -> "Value":
        return self.apply("and", other)

    def __or__(self, other: "Operand") -> "Value":
        return self.apply("or", other)

    def equals(self, other: "Operand") -> "Value":
        """Where both are equal."""
        return self.apply("cmp_eq", other)

    def where(self, condition: "Value", otherwise: "Operand") -> "Value":
        """The value itself where a condition holds, `otherwise` elsewhere; all three broadcast."""
        held, kept, other = broadcast(condition, self, self._value(otherwise))
        return self.builder.add("where", held, kept, other)

    def to(self, element: ElementType) -> "Value":
        """Cast, where that changes the element type."""
        return Value(self.builder, self.builder.steps.cast(self.number, element, self.builder.where))

    # --- movements ----------------------------------------------------------------------------------------------------

    def reshape(self, *shape: Dim) -> "Value":
        """The elements in row-major order under another shape."""
        return self if shape == self.shape else self.builder.add("reshape", self, shape=shape)

    def permute(self, *perm: int) -> "Value":
        """Result axis k is axis `perm[k]`."""
        return self if perm == tuple(range(self.rank)) else self.builder.add("permute", self, perm=perm)

    def expand(self, shape: Extents, axes: Sequence[int] | None = None) -> "Value":
        """Repeat along axes of extent 1, and new ones; axis k becomes `axes[k]`, by default counted from the end.

        A symbolic extent that is not known to be that of the result is assumed to be.
        """
        shape = tuple(shape)
        axes = tuple(range(len(shape) - self.rank, len(shape)) if axes is None else axes)
        kept = [1 if extent == 1 else shape[axis] for axis, extent in zip(axes, self.shape, strict=True)]
        for extent, wanted in zip(self.shape, kept, strict=True):
            self.builder.assume_equal(extent, wanted, f"extents of {self.type}, expanded to {listed(shape)},")
        operand = self.reshape(*kept)
        if shape == operand.shape and axes == tuple(range(self.rank)):
            return operand
        return self.builder.add("expand", operand, shape=shape, broadcast_dimensions=axes)

    def unsqueeze(self, *axes: int) -> "Value":
        """New axes of extent 1 at these places of the result."""
        rank = self.rank + len(axes)
        new = {axis % rank for axis in axes}
        kept = iter(self.shape)
        return self.reshape(*(1 if axis in new else next(kept) for axis in range(rank)))

    def pad(self, before: Sequence[int], after: Sequence[int], value: float = 0) -> "Value":
        """More elements before and after each axis."""
        if not any((*before, *after)):
            return self
        number = _number(value, self.element)
        return self.builder.add("pad", self, lo=tuple(before), hi=tuple(after), value=number)

    def pad_axis(self, axis: int, before: int, after: int, value: float = 0) -> "Value":
        """More elements before and after one axis."""
        lo, hi = ([n if each == axis else 0 for each in range(self.rank)] for n in (before, after))
        return self.pad(lo, hi, value)

    def slice(self, axis: int, low: Dim, high: Dim, step: int = 1) -> "Value":
        """The elements `low`, `low + step`, … below `high` of an axis."""
        if (low, high, step) == (0, self.shape[axis], 1):
            return self
        lo: list[Dim] = [0] * self.rank
        hi, steps = list(self.shape), [1] * self.rank
        lo[axis], hi[axis], steps[axis] = low, high, step
        return self.builder.add("shrink", self, lo=tuple(lo), hi=tuple(hi), step=tuple(steps))

    def flip(self, *axes: int) -> "Value":
        """The axes reversed."""
        return self.builder.add("flip", self, axes=tuple(axes)) if axes else self

    def windows(self, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> "Value":
        """Sliding windows over the last axes: `[lead…, places…, kernel…]`."""
        sizes = {"kernel": tuple(kernel), "stride": tuple(stride), "dilation": tuple(dilation)}
        return self.builder.add("pool", self, **sizes)

    # --- reductions ---------------------------------------------------------------------------------------------------

    def reduce(self, op: str, *axes: int, element: ElementType | None = None, keep: bool = False) -> "Value":
        """Reduce axes, in an accumulator of type `element`; with `keep` they stay, of extent 1."""
        axes = tuple(self.axis(axis) for axis in axes)
        result = self.builder.add("reduce", self, op=op, axes=axes, element=element or self.element.accumulator)
        return result.unsqueeze(*axes) if keep else result

    def gather(self, index: "Value", axis: int) -> "Value":
        """Elements along an axis by index; the axes of `index` take the place of the axis."""
        return self.builder.add("gather", self, index, axis=axis)


#: What stands beside a value: another one, or a number of its element type.
Operand: TypeAlias = Value | float


def _number(number: float, element: ElementType) -> bool | int | float:
    """A number as a constant of a type has it.

    Raises:
        TinycError: `DtypeMismatch`: it is infinite, and the type is of integers.
    """
    if not element.is_float and not math.isfinite(number):
        message = f"{number} is no number of {element.json_name}; it takes floats, cast the operand"
        raise TinycError("DtypeMismatch", message)
    return float(number) if element.is_float else bool(number) if element.is_bool else int(number)


def broadcast(*values: Value) -> list[Value]:
    """Values expanded to one shape, as numpy broadcasts: axes are matched from the last one, an extent of 1 repeats.

    Two symbolic extents that are not known to be equal are assumed to be.

    Raises:
        TinycError: `BroadcastMismatch`.
    """
    shape = broadcast_shape([each.shape for each in values])
    return [each.expand(shape) for each in values]


def broadcast_shape(shapes: Sequence[Extents]) -> tuple[Dim, ...]:
    """The shape that shapes broadcast to.

    Raises:
        TinycError: `BroadcastMismatch`.
    """
    rank = max(map(len, shapes))
    aligned = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    found: list[Dim] = []
    for axis in zip(*aligned, strict=True):
        extent = next((each for each in axis if isinstance(each, int) and each != 1), None)
        if extent is None:
            extent = next((each for each in axis if each != 1), 1)
        if any(each != 1 and extents.differ(each, extent) for each in axis):
            shown = ", ".join(map(listed, shapes))
            raise TinycError("BroadcastMismatch", f"the shapes {shown} do not broadcast: only an extent of 1 repeats")
        found.append(extent)
    return tuple(found)
