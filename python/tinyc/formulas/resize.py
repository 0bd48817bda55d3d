"""Resizing as a formula: along each axis a weighted sum of the elements around a coordinate.

Where an element's neighbours are is a floor division of its index if the scale is a ratio of small numbers: then they
are read by a `view`. Otherwise their indices are computed and gathered by. Coordinates and weights are computed in f64
from the index; elements are added up in f32.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from tinyc.diagnostics import TinycError, either
from tinyc.expr import axes as expression
from tinyc.expr.extents import Dim
from tinyc.formulas.reductions import absolute
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Builder, Value
from tinyc.vocabulary.element_type import ElementType

COORDINATES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_crop_and_resize",
)
NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
MODES = ("nearest", "linear", "cubic")
#: A scale that is no ratio of numbers up to this one has its indices computed.
_MAX_DENOMINATOR = 4096


@dataclass(frozen=True)
class _Axis:
    """One axis: its extents before and after, and the scale, None where it is their ratio."""

    builder: Builder
    before: Dim
    after: Dim
    scale: float | None
    start: float
    end: float

    @property
    def ratio(self) -> float | None:
        """The scale as a number, None where it is not known before the run."""
        if self.scale is not None:
            return self.scale
        return self.after / self.before if isinstance(self.before, int) and isinstance(self.after, int) else None

    def number(self, dim: Dim) -> Value:
        """An extent in f64."""
        return self.builder.extent(dim, ElementType.F64)

    def constant(self, number: float) -> Value:
        """A number in f64."""
        return self.builder.full(number, ElementType.F64, ())

    @property
    def factor(self) -> Value:
        """The scale."""
        return (
            self.constant(self.ratio) if self.ratio is not None else self.number(self.after) / self.number(self.before)
        )

    @property
    def width(self) -> Value:
        """What the scale makes of the extent before, which need not be a whole number."""
        return self.number(self.after) if self.scale is None else self.number(self.before) * self.scale


def resize(
    x: Value,
    *,
    shape: tuple[Dim, ...],
    scales: tuple[float, ...] | None = None,
    mode: str = "nearest",
    coordinates: str = "half_pixel",
    nearest: str = "round_prefer_floor",
    cubic_a: float = -0.75,
    antialias: bool = False,
    exclude_outside: bool = False,
    crop: tuple[float, ...] | None = None,
    extrapolation: float = 0.0,
) -> Value:
    """The elements at coordinates between those of `x`: of the nearest, or interpolated linearly or by cubics.

    `scales` are those of all axes, by default the ratios of their extents. `crop` has a start for each axis, then an
    end, as fractions of it; what lies outside of `x` then is `extrapolation`. With `antialias` the elements that a
    result stands for are averaged where the scale is below 1.
    """
    for given, known, name in (
        (mode, MODES, "mode"),
        (coordinates, COORDINATES, "coordinates"),
        (nearest, NEAREST, "nearest"),
    ):
        if given not in known:
            raise TinycError("InvalidAttribute", f"{name} is {given!r}; it is {either(known)}")
    rank = x.rank
    wrong = {len(shape), len(scales or shape), len(crop or shape * 2) // 2} - {rank}
    if wrong or min(scales or (1,)) <= 0:
        raise TinycError(
            "InvalidAttribute", f"shape {list(shape)}, scales {scales} and crop {crop} do not fit {x.type}"
        )
    result, outside = x, []
    for axis in range(rank):
        scale, start, end = scales[axis] if scales else None, *(crop[axis::rank] if crop else (0.0, 1.0))
        along = _Axis(x.builder, x.shape[axis], shape[axis], scale, start, end)
        is_cropped = coordinates == "tf_crop_and_resize"
        if along.before == along.after and scale in (None, 1) and not (is_cropped and (start, end) != (0, 1)):
            continue
        if along.before == 0 and along.after != 0:
            message = f"axis {axis} of {x.type} has no element; it cannot be resized to {along.after}"
            raise TinycError("InvalidExtent", message)
        place = _place(along, coordinates)
        if is_cropped:
            outside.append(_along((place < 0) | (place > along.number(along.before) - 1.0), axis, rank))
        if mode == "nearest":
            result = _nearest(result, axis, along, place, coordinates, nearest)
        else:
            kernel = triangle if mode == "linear" else keys_cubic(cubic_a)
            reach = 1 if mode == "linear" else 2
            result = _interpolated(result, axis, along, place, coordinates, kernel, reach, antialias, exclude_outside)
    result = result.to(x.element)
    for condition in outside:
        result = x.builder.full(extrapolation, x.element, shape).where(condition, result)
    return result


def _along(vector: Value, axis: int, rank: int) -> Value:
    return vector.reshape(*(vector.shape[0] if at == axis else 1 for at in range(rank)))


def _place(axis: _Axis, coordinates: str) -> Value:
    """The coordinate before of each index after, in f64."""
    index = axis.builder.iota(ElementType.F64, (axis.after,), 0)
    match coordinates:
        case "asymmetric":
            return index / axis.factor
        case "half_pixel":
            return (index + 0.5) / axis.factor - 0.5
        case "half_pixel_symmetric":
            before = axis.number(axis.before)
            offset = (1.0 - axis.number(axis.after) / axis.width) * before * 0.5
            return offset + ((index + 0.5) / axis.factor - 0.5)
        case "pytorch_half_pixel":
            is_one = axis.width.equals(1.0)
            return ((index + 0.5) / axis.factor - 0.5).where(~is_one, 0.0)
    steps, last = axis.width - 1.0, axis.number(axis.before) - 1.0
    is_one = steps.equals(0.0)
    steps = steps.where(~is_one, 1.0)
    if coordinates == "align_corners":
        return (index * last / steps).where(~is_one, 0.0)
    spread = index * (axis.end - axis.start) * last / steps + last * axis.start
    return spread.where(~is_one, last * (0.5 * (axis.start + axis.end)))


# --- where a scale is a ratio of small numbers ------------------------------------------------------------------------


def _fraction(axis: _Axis, coordinates: str) -> tuple[int, int, int] | None:
    """p, q and r, where the coordinate of index i is (p i + q) / r, None where no small numbers are."""
    before, after, ratio = axis.before, axis.after, axis.ratio
    if ratio is None or not isinstance(after, int) or not isinstance(before, int) or not before or after < 2:
        return None
    scale = Fraction(ratio).limit_denominator(_MAX_DENOMINATOR) if axis.scale else Fraction(after, before)
    if abs(float(scale) - ratio) * after * before > 1e-6 or not scale:
        return None
    if coordinates in ("half_pixel", "pytorch_half_pixel"):
        slope, offset = 1 / scale, 1 / (2 * scale) - Fraction(1, 2)
    elif coordinates == "asymmetric":
        slope, offset = 1 / scale, Fraction(0)
    elif coordinates == "align_corners" and scale * before > 1:
        slope, offset = Fraction(before - 1) / (scale * before - 1), Fraction(0)
    else:
        return None
    divisor = math.lcm(slope.denominator, offset.denominator)
    return int(slope * divisor), int(offset * divisor), divisor


def _stays_beside(axis: _Axis, line: tuple[int, int, int]) -> bool:
    """Whether each coordinate has an element on one side at least."""
    p, q, r = line
    assert isinstance(axis.after, int)
    assert isinstance(axis.before, int)
    return q // r >= -1 and (p * (axis.after - 1) + q) // r < axis.before


def _viewed(x: Value, axis: int, line: tuple[int, int, int], after: int, taps: int | None = None) -> Value:
    """Element `(p i + q) // r` along an axis; with `taps`, that one and those behind it along a new axis."""
    p, q, r = line
    shape = (*x.shape[:axis], after, *(() if taps is None else (taps,)), *x.shape[axis + 1 :])
    more = int(taps is not None)
    index = [expression.axis(at if at < axis else at + more, shape) for at in range(x.rank)]
    index[axis] = expression.floordiv_within(expression.axis(axis, shape) * p + q, r, shape)
    if taps is not None:
        index[axis] = index[axis] + expression.axis(axis + 1, shape)
    return x.builder.add("view", x, shape=shape, map=tuple(index))


# --- nearest and interpolated -----------------------------------------------------------------------------------------


def _nearest(x: Value, axis: int, along: _Axis, place: Value, coordinates: str, rounding: str) -> Value:
    line = _fraction(along, coordinates)
    if line is not None:
        p, q, r = line
        halves = {"floor": (p, q, r), "ceil": (p, q + r - 1, r)}
        halves["round_prefer_floor"] = 2 * p, 2 * q + r - 1, 2 * r
        halves["round_prefer_ceil"] = 2 * p, 2 * q + r, 2 * r
        p, q, r = halves[rounding]
        assert isinstance(along.after, int)
        assert isinstance(along.before, int)
        if q // r >= 0 and (p * (along.after - 1) + q) // r < along.before:
            return _viewed(x, axis, (p, q, r), along.after)
    match rounding:
        case "floor":
            index = place.apply("floor")
        case "ceil":
            index = -(-place).apply("floor")
        case "round_prefer_ceil":
            index = (place + 0.5).apply("floor")
        case _:
            index = -(0.5 - place).apply("floor")
    return x.gather(_inside(index, along), axis)


def _inside(index: Value, along: _Axis) -> Value:
    """An index in f64 as one that lies on an element."""
    last = along.builder.extent(along.before, ElementType.I64) - 1
    return index.to(ElementType.I64).apply("min", last).apply("max", 0)


def triangle(distance: Value) -> Value:
    """The weights of linear interpolation by distance."""
    return (1.0 - distance).apply("max", 0.0)


def keys_cubic(a: float) -> Callable[[Value], Value]:
    """The weights of Keys' cubic convolution by distance."""

    def kernel(distance: Value) -> Value:
        near = ((a + 2) * distance - (a + 3)) * distance * distance + 1.0
        far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
        return near.where(distance < 1.0, far.where(distance < 2.0, 0.0))

    return kernel


def _interpolated(
    x: Value,
    axis: int,
    along: _Axis,
    place: Value,
    coordinates: str,
    kernel: Callable[[Value], Value],
    reach: int,
    antialias: bool,
    exclude_outside: bool,
) -> Value:
    """The sum of the elements around the coordinate by their weights."""
    shrink = 1.0
    if antialias:
        if along.ratio is None:
            raise TinycError("InvalidExtent", f"antialias needs the scale {along.after} / {along.before} as a number")
        shrink = min(1.0, along.ratio)
    first = math.floor(-reach / shrink) + 1
    taps = 2 - 2 * first
    wide = x.to(x.element.accumulator if x.element.is_float else ElementType.F32)
    line = _fraction(along, coordinates) if reach == 1 and not antialias else None
    line = line if line is not None and _stays_beside(along, line) else None
    base = place.apply("floor")
    if line is not None:  # with weights only for what lies inside, which linearly is the same as to repeat the edge
        base = _floors(along, line)
    tap = base.unsqueeze(1) + along.builder.iota(ElementType.F64, (1, taps), 1) + float(first)
    weights = kernel(absolute(tap - place.unsqueeze(1)) * shrink)
    if exclude_outside or line is not None:
        weights = weights.where((tap > -1.0) & (tap < along.number(along.before)), 0.0)
    if exclude_outside or antialias or line is not None:
        weights = weights / weights.reduce("sum", 1, keep=True)
    if line is not None and isinstance(along.after, int) and isinstance(along.before, int):
        p, q, r = line
        low, high = q // r, (p * (along.after - 1) + q) // r + 1
        padded = wide.pad_axis(axis, max(0, -low), max(0, high - along.before + 1))
        terms = _viewed(padded, axis, (p, q + max(0, -low) * r, r), along.after, taps)
    else:
        terms = wide.gather(_inside(tap, along), axis)
    shape = (*(1,) * axis, along.after, taps, *(1,) * (x.rank - axis - 1))
    return (terms * weights.to(wide.element).reshape(*shape)).reduce("sum", axis + 1)


def _floors(along: _Axis, line: tuple[int, int, int]) -> Value:
    """`(p i + q) // r` of each index i, in f64."""
    p, q, r = line
    shift = max(0, -(q // r))  # so that nothing is negative: `idiv` truncates
    index = along.builder.iota(ElementType.I64, (along.after,), 0)
    return ((index * p + (q + shift * r)).apply("idiv", r) - shift).to(ElementType.F64)


FORMULAS: dict[str, Function | dict[str, Function]] = {"resize": resize}
