"""Movements as formulas: each element of the result is one of the operands, or a constant beside them."""

from tinyc.expr.extents import Dim
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Builder, Value
from tinyc.vocabulary.element_type import ElementType


def reshape(x: Value, *, shape: tuple[Dim, ...]) -> Value:
    """The elements in row-major order under another shape."""
    return x.reshape(*shape)


def permute(x: Value, *, perm: tuple[int, ...]) -> Value:
    """Result axis k is operand axis `perm[k]`."""
    return x.permute(*perm)


def expand(x: Value, *, shape: tuple[Dim, ...]) -> Value:
    """Repeat along axes of extent 1, and new leading axes."""
    return x.expand(shape)


def cast(x: Value, *, element: ElementType) -> Value:
    """Conversion: to floats nearest even; float to integer truncates and saturates, NaN to 0; to bool `x != 0`."""
    return x.to(element)


def extents(*, builder: Builder, dims: tuple[Dim, ...], element: ElementType = ElementType.I64) -> Value:
    """Extents as a vector of numbers; those that are not known before the run are counted."""
    place = builder.iota(ElementType.I64, (len(dims),), 0)
    result = builder.full(0, element, (len(dims),))
    for position, extent in enumerate(dims):
        result = builder.extent(extent, element).expand((len(dims),), ()).where(place.equals(position), result)
    return result


FORMULAS: dict[str, Function | dict[str, Function]] = {
    "cast": cast,
    "extents": extents,
    "movement": {"reshape": reshape, "permute": permute, "expand": expand},
}
