"""What a value of an ONNX graph is: a tensor that the program computes, or one that is known when it is imported."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tinyc.expr.extents import Dim, Extent
from tinyc.vocabulary.element_type import ElementType, element_of
from tinyc.vocabulary.types import TensorType


@dataclass(frozen=True, eq=False)
class Tensor:
    """A value of the program, by its number."""

    number: int
    type: TensorType

    @property
    def shape(self) -> tuple[Dim, ...]:
        """The extents."""
        return self.type.shape

    @property
    def rank(self) -> int:
        """The number of axes."""
        return self.type.rank

    @property
    def element(self) -> ElementType:
        """The element type."""
        return self.type.element


@dataclass(frozen=True, eq=False)
class Known:
    """An initialiser, or a value of a subgraph of shapes: its elements are numbers, or extents.

    The array's dtype is that of the element type, or `object` where some element is a symbolic extent; those of floats
    are then all whole numbers. `name` is that of an initialiser, or of the node that has been folded.
    """

    array: np.ndarray
    element: ElementType
    name: str | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return self.array.shape

    @property
    def rank(self) -> int:
        """The number of axes."""
        return self.array.ndim

    @property
    def is_symbolic(self) -> bool:
        """Whether some element is not a number."""
        return self.array.dtype == object

    def dims(self) -> tuple[Dim, ...]:
        """The elements, in row-major order, as extents."""
        return tuple(each if isinstance(each, Extent) else int(each) for each in self.array.ravel().tolist())


#: An input that an ONNX node leaves out is None.
OnnxValue: TypeAlias = Tensor | Known


def known_array(array: np.ndarray, name: str | None = None) -> Known:
    """An array as a value; its dtype is that of an element type."""
    element = element_of(array.dtype)
    assert element is not None, array.dtype
    return Known(array, element, name)


def known_dims(dims: Sequence[Dim] | Dim, element: ElementType = ElementType.I64) -> Known:
    """Extents as a vector, or one as a scalar."""
    if isinstance(dims, Dim):
        held = np.empty((), object)
        held[()] = dims
    else:
        held = np.empty(len(dims), object)
        held[:] = dims
    return Known(settled(held, element), element)


def settled(array: np.ndarray, element: ElementType) -> np.ndarray:
    """An array of numbers and extents in the dtype of its element type, where all are numbers; integers wrap."""
    if array.dtype != object:
        return array.astype(element.dtype)
    if any(isinstance(each, Extent) for each in array.ravel().tolist()):
        return array
    if element.is_integer:
        least, count = element.integer_range[0], 1 << element.bits
        array = (array - least) % count + least
    return np.asarray(array, element.dtype)
