"""Movements as formulas: each element of the result is one of the operands, or a constant beside them."""

from tinyc.diagnostics import TinycError
from tinyc.expr.extents import Dim
from tinyc.formulas.padding import concat, pad
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Builder, Value, broadcast_to
from tinyc.vocabulary.element_type import ElementType


def reshape(x: Value, *, shape: tuple[Dim, ...]) -> Value:
    """The elements in row-major order under another shape."""
    return x.reshape(*shape)


def permute(x: Value, *, perm: tuple[int, ...]) -> Value:
    """Result axis k is operand axis `perm[k]`."""
    return x.permute(*perm)


def expand(x: Value, *, shape: tuple[Dim, ...]) -> Value:
    """Repeat along axes of extent 1, and new leading axes."""
    return broadcast_to(x, shape)


def slice_axes(x: Value, *, lo: tuple[Dim, ...], hi: tuple[Dim, ...], step: tuple[int, ...]) -> Value:
    """Elements `lo`, `lo + step`, … below `hi` of each axis; with a negative step, from `hi - 1` down to `lo`."""
    if not len(lo) == len(hi) == len(step) == x.rank:
        message = f"lo, hi and step have {len(lo)}, {len(hi)} and {len(step)} entries; {x.type} has {x.rank} axes"
        raise TinycError("InvalidAttribute", message)
    if 0 in step:
        raise TinycError("InvalidAttribute", f"the step of axis {step.index(0)} is 0; it must not be")
    backwards = [axis for axis in range(x.rank) if step[axis] < 0]
    for axis in range(x.rank):
        x = x.slice(axis, lo[axis], hi[axis], step[axis] if step[axis] > 0 else 1)
    x = x.flip(*backwards)
    for axis in backwards:
        x = x.slice(axis, 0, x.shape[axis], -step[axis])
    return x


def flip(x: Value, *, axes: tuple[int, ...]) -> Value:
    """The axes reversed."""
    return x.flip(*(x.axis(axis) for axis in axes))


def roll(x: Value, *, shifts: tuple[int, ...], axes: tuple[int, ...]) -> Value:
    """Element i of an axis goes to `(i + shift) mod extent`."""
    if len(shifts) != len(axes):
        raise TinycError("InvalidAttribute", f"there are {len(shifts)} shifts for {len(axes)} axes; give one for each")
    for shift, axis in zip(shifts, map(x.axis, axes), strict=True):
        extent = x.shape[axis]
        if isinstance(extent, int):
            shift = shift % extent if extent else 0
        if shift == 0:
            continue
        cut = extent - shift if shift > 0 else -shift
        x = concat(x.slice(axis, cut, extent), x.slice(axis, 0, cut), axis=axis)
    return x


def tile(x: Value, *, repeats: tuple[Dim, ...]) -> Value:
    """The value repeated along each axis."""
    if len(repeats) != x.rank:
        raise TinycError("InvalidAttribute", f"there are {len(repeats)} repeats; {x.type} has {x.rank} axes")
    repeated: list[Dim] = []  # an axis of repetitions before each axis that has some
    places: list[int] = []
    for extent, count in zip(x.shape, repeats, strict=True):
        repeated += [extent] if count == 1 else [count, extent]
        places.append(len(repeated) - 1)
    shape = [extent * count for extent, count in zip(x.shape, repeats, strict=True)]
    return x.expand(repeated, places).reshape(*shape)


def trilu(x: Value, k: Value | None = None, *, upper: bool = True) -> Value:
    """Of matrices, the upper triangle from the diagonal `k` on, or the lower one up to it; elsewhere 0."""
    if x.rank < 2:
        raise TinycError("InvalidAxis", f"triangles are of matrices, and {x.type} has {x.rank} axes; it needs two")
    row, column = (x.builder.iota(ElementType.I64, x.shape[-2:], axis) for axis in (0, 1))
    if k is not None:
        row = row + k.to(ElementType.I64).reshape()
    kept = ~(column < row) if upper else ~(row < column)
    return x.where(kept, x.builder.full(0, x.element, x.shape))


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


def arange(start: Value, step: Value, *, shape: tuple[Dim, ...]) -> Value:
    """`start`, `start + step`, …: a vector."""
    wide = start.element.accumulator
    place = start.builder.iota(ElementType.I64, shape, 0).to(wide)
    return (start.to(wide).reshape() + place * step.to(wide).reshape()).to(start.element)


def eye(*, builder: Builder, shape: tuple[Dim, ...], element: ElementType, k: int = 0) -> Value:
    """A matrix of zeros with ones on the diagonal `k`."""
    row, column = (builder.iota(ElementType.I64, shape, axis) for axis in (0, 1))
    return column.equals(row + k).to(element)


FORMULAS: dict[str, Function | dict[str, Function]] = {
    "cast": cast,
    "extents": extents,
    "concat": concat,
    "trilu": trilu,
    "arange": arange,
    "eye": eye,
    "movement": {
        "reshape": reshape,
        "permute": permute,
        "expand": expand,
        "slice": slice_axes,
        "flip": flip,
        "roll": roll,
        "tile": tile,
        "pad": pad,
    },
}
