"""Elements at coordinates that data says, as formulas: grids, and regions of interest.

All of the elements that a result is interpolated from are gathered along axes of taps, of a weighted sum over which no
copy is made. Coordinates and sums are in f32 for 16-bit floats.
"""

from tinyc.diagnostics import TinycError, either
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.formulas.elementwise import round_half_even
from tinyc.formulas.reductions import absolute
from tinyc.formulas.resize import keys_cubic, triangle
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Builder, Value
from tinyc.vocabulary.element_type import ElementType


def affine_grid(theta: Value, *, size: tuple[Dim, ...], align_corners: bool = False) -> Value:
    """The points `theta · (x, y, 1)` of a grid over `size`, from -1 to 1 along each axis: `[batch, size…, (x, y)]`.

    With `align_corners` -1 and 1 are the centres of the outermost elements, else their outer edges.
    """
    rank, builder = len(size), theta.builder
    if theta.shape[1:] != (rank, rank + 1):
        raise TinycError("AxisSizeMismatch", f"theta is {theta.type}, and must be [batch, {rank}, {rank + 1}]")
    wide = theta.to(theta.element.accumulator)
    total = None
    for at in range(rank + 1):
        column = wide.slice(2, at, at + 1).reshape(theta.shape[0], *(1,) * rank, rank)
        if at < rank:  # x is along the last axis
            axis = rank - 1 - at
            points = _grid_points(builder, size[axis], wide.element, align_corners)
            column = column * points.reshape(*(size[axis] if each == axis + 1 else 1 for each in range(rank + 2)))
        total = column if total is None else total + column
    assert total is not None
    return total.expand((theta.shape[0], *size, rank)).to(theta.element)


def _grid_points(builder: Builder, extent: Dim, element: ElementType, align_corners: bool) -> Value:
    index, count = builder.iota(element, (extent,), 0), builder.extent(extent, element)
    if align_corners:
        return index * 2.0 / (count - 1.0).apply("max", 1.0) - 1.0
    return (index * 2.0 + 1.0) / count - 1.0


# --- grid_sample ------------------------------------------------------------------------------------------------------

_PADDINGS = ("zeros", "border", "reflection")


def grid_sample(
    x: Value, grid: Value, *, mode: str = "linear", padding: str = "zeros", align_corners: bool = False
) -> Value:
    """`x`, `[batch, channels, spatial…]`, at the points of `[batch, places…, (x, y)]`, from -1 to 1 along each axis.

    What lies outside is 0, or is that on the border, or is reflected there.
    """
    rank = x.rank - 2
    if padding not in _PADDINGS or mode not in ("nearest", "linear", "cubic"):
        message = f"mode is {mode!r} and padding {padding!r}; they are 'nearest', 'linear' or 'cubic', and"
        raise TinycError("InvalidAttribute", f"{message} {either(_PADDINGS)}")
    if rank < 1 or grid.rank != rank + 2 or grid.shape[-1] != rank:
        raise TinycError("AxisSizeMismatch", f"the grid of {x.type} is {grid.type}; its last axis must be {rank} long")
    x.match(0, grid, 0)
    places, wide = grid.shape[1:-1], grid.to(grid.element.accumulator)
    taps: list[tuple[Value, Value]] = []
    is_inside: Value | None = None
    for axis in range(rank):
        extent = x.builder.extent(x.shape[2 + axis], wide.element)
        low, high = (extent * 0.0, extent - 1.0) if align_corners else (extent * 0.0 - 0.5, extent - 0.5)
        point = wide.slice(grid.rank - 1, rank - 1 - axis, rank - axis).reshape(grid.shape[0], 1, *places)
        point = (point + 1.0) * 0.5 * (high - low) + low
        point = round_half_even(point) if mode == "nearest" else point
        point = _padded(point, padding, extent, low, high)
        tap, weight = _tap(point, mode, axis, rank)
        tap = _padded(tap, padding, extent, low, high)
        inside = (tap > -1.0) & (tap < extent)
        is_inside = inside if is_inside is None else is_inside & inside
        taps.append((tap, weight))
    assert is_inside is not None
    batch = x.builder.iota(ElementType.I64, (x.shape[0],), 0).reshape(x.shape[0], *(1,) * (1 + 2 * rank))
    read = gather_points(x, batch, [tap for tap, _ in taps])
    total = read.to(x.element.accumulator).where(is_inside, 0)
    for _, weight in taps:
        total = total * weight.to(total.element)
    return total.reduce("sum", *range(2 + rank, 2 + 2 * rank)).to(x.element)


def _padded(point: Value, padding: str, extent: Value, low: Value, high: Value) -> Value:
    """A coordinate in terms of what is inside; reflected at low and high with a period of twice their distance."""
    if padding == "zeros":
        return point
    if padding == "reflection":
        period = ((high - low) * 2.0).apply("max", 1.0)
        offset = point - low
        offset = offset - (offset / period).apply("floor") * period
        point = offset.apply("min", period - offset) + low
    return point.apply("max", 0.0).apply("min", extent - 1.0)


def _tap(point: Value, mode: str, axis: int, rank: int) -> tuple[Value, Value]:
    """The coordinates of the elements around points along an axis of taps, and their weights."""
    count, first = {"nearest": (1, 0), "linear": (2, 0), "cubic": (4, -1)}[mode]
    point = point.unsqueeze(*range(point.rank, point.rank + rank))
    shape = tuple(count if each == 2 + rank + axis else 1 for each in range(point.rank))
    tap = point.apply("floor") + (point.builder.iota(point.element, (count,), 0).reshape(*shape) + float(first))
    distance = absolute(tap - point)
    if mode == "nearest":
        return tap, distance * 0.0 + 1.0
    return tap, triangle(distance) if mode == "linear" else keys_cubic(-0.75)(distance)


def gather_points(x: Value, batch: Value, points: list[Value]) -> Value:
    """Elements of `[batch, channels, spatial…]` at batches and coordinates, which broadcast; channels are axis 1."""
    builder = x.builder
    extent = [builder.extent(each, ElementType.I64) for each in x.shape]
    rank = points[0].rank
    channel = builder.iota(ElementType.I64, (x.shape[1],), 0).reshape(1, x.shape[1], *(1,) * (rank - 2))
    index = batch * extent[1] + channel
    for point, size in zip(points, extent[2:], strict=True):
        index = index * size + point.to(ElementType.I64).apply("max", 0).apply("min", size - 1)
    return x.reshape(extents.product(x.shape)).gather(index, 0)


# --- roi_align --------------------------------------------------------------------------------------------------------


def roi_align(
    x: Value,
    rois: Value,
    batches: Value,
    *,
    size: tuple[int, ...],
    samples: int,
    mode: str = "avg",
    scale: float = 1.0,
    half_pixel: bool = True,
) -> Value:
    """The mean, or the greatest, of `samples` points along each axis of each of `size` bins of regions of interest.

    `x` is `[batch, channels, height, width]`, `rois` is `[regions, (x0, y0, x1, y1)]`, `batches` has the batch of each.
    """
    if mode not in ("avg", "max") or len(size) != 2 or samples < 1 or x.rank != 4 or rois.shape[1:] != (4,):
        message = f"mode {mode!r}, size {list(size)} and {samples} samples of {x.type} at {rois.type}"
        raise TinycError(
            "InvalidAttribute", f"{message}: mode is 'avg' or 'max', size has two numbers, rois are [n, 4]"
        )
    regions, wide = rois.shape[0], rois.to(rois.element.accumulator)
    taps: list[tuple[Value, Value]] = []
    is_inside: Value | None = None
    for axis in range(2):
        start, end = (wide.slice(1, at, at + 1).reshape(regions, *(1,) * 7) for at in (1 - axis, 3 - axis))
        shift = 0.5 if half_pixel else 0.0
        start, end = start * scale - shift, end * scale - shift
        bin_size = (end - start) if half_pixel else (end - start).apply("max", 1.0)
        bin_size = bin_size / float(size[axis])
        part = _along(wide, size[axis], 2 + axis) + (_along(wide, samples, 4 + axis) + 0.5) / float(samples)
        point, extent = start + part * bin_size, x.builder.extent(x.shape[2 + axis], wide.element)
        inside = ~(point < -1.0) & ~(point > extent)
        is_inside = inside if is_inside is None else is_inside & inside
        point = point.apply("max", 0.0).apply("min", extent - 1.0)
        tap = point.apply("floor") + _along(wide, 2, 6 + axis)
        taps.append((tap, triangle(absolute(tap - point))))
    assert is_inside is not None
    batch = batches.to(ElementType.I64).reshape(regions, *(1,) * 7)
    terms = gather_points(x, batch, [tap for tap, _ in taps]).to(x.element.accumulator)
    for _, weight in taps:
        terms = terms * weight.to(terms.element)
    terms = terms.where(is_inside, 0)
    if mode == "max":
        return terms.reduce("max", 4, 5, 6, 7).to(x.element)
    return (terms.reduce("sum", 4, 5, 6, 7) / float(samples * samples)).to(x.element)


def _along(beside: Value, count: int, axis: int) -> Value:
    """The index along one of the eight axes: regions, channels, bins, samples and taps."""
    return beside.builder.iota(beside.element, (count,), 0).reshape(*(count if at == axis else 1 for at in range(8)))


FORMULAS: dict[str, Function | dict[str, Function]] = {
    "affine_grid": affine_grid,
    "grid_sample": grid_sample,
    "roi_align": roi_align,
}
