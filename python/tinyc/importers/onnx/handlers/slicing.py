"""Parts of tensors, and elements around them: slices, splits, pads."""

from collections.abc import Sequence

from tinyc.diagnostics import TinycError
from tinyc.expr import extents
from tinyc.expr.extents import Dim, Extent
from tinyc.importers.onnx.node import Handler, OnnxNode
from tinyc.importers.onnx.values import Known, OnnxValue, Tensor

#: From here on, an end means the end of any axis.
_FAR = 2**31 - 1


def sliced(node: OnnxNode, x: Tensor, parts: dict[int, tuple[Dim, Dim, int]]) -> Tensor:
    """The parts (lo, hi, step) of some axes, all of the others; with a negative step, from `hi - 1` down."""
    every = [parts.get(axis, (0, extent, 1)) for axis, extent in enumerate(x.shape)]
    if all(part == (0, extent, 1) for part, extent in zip(every, x.shape, strict=True)):
        return x
    lo, hi, step = zip(*every, strict=True)
    return node.add("movement slice", x, lo=lo, hi=hi, step=step)


# --- slice ------------------------------------------------------------------------------------------------------------


def _slice(node: OnnxNode) -> Tensor:
    x, starts, ends = node.tensor(0), node.dims(1), node.dims(2)
    axes = node.ints(3) if node.has(3) else tuple(range(len(starts)))
    steps = node.ints(4) if node.has(4) else (1,) * len(starts)
    lengths = [len(starts), len(ends), len(axes), len(steps)]
    if len(set(lengths)) > 1:
        message = f"{node.op_type}: starts, ends, axes and steps have {lengths} elements; they must have as many"
        raise TinycError("ShapeContradiction", message)
    parts: dict[int, tuple[Dim, Dim, int]] = {}
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        axis %= x.rank
        if step == 0:
            raise TinycError("InvalidAttribute", f"{node.op_type}: the step of axis {axis} is 0; it must not be")
        parts[axis] = (*part_of_axis(x.shape[axis], start, end, step), step)
    return sliced(node, x, parts)


def part_of_axis(extent: Dim, start: Dim, end: Dim, step: int) -> tuple[Dim, Dim]:
    """The places `lo` … `hi` - 1 that a slice of ONNX looks at: negative ones count from the end, and all are clamped.

    Of symbolic ones that may be outside it is assumed that they are not.
    """
    if step > 0:
        low, high = _clamped(start, extent), _clamped(end, extent)
    else:
        low = 0 if isinstance(end, int) and end <= -_FAR else _clamped(_next(end), extent, end == -1)
        high = _clamped(_next(start), extent, start == -1)
    if isinstance(low, int) and isinstance(high, int):
        return low, max(low, high)
    return (high, high) if extents.is_nonnegative(low - high) else (low, high)


def _next(place: Dim) -> Dim:
    return place + 1


def _clamped(place: Dim, extent: Dim, is_end: bool = False) -> Dim:
    """A place, or `extent` where it `is_end`, as one of 0 … extent."""
    if is_end:
        return extent
    if isinstance(place, int):
        if place < 0:
            place = extent + place
            return max(0, place) if isinstance(place, int) else place
        return min(place, extent) if isinstance(extent, int) else extent if place >= _FAR else place
    if extents.is_nonnegative(-place):
        return extent + place
    return extent if extents.is_nonnegative(place - extent) else place


# --- split ------------------------------------------------------------------------------------------------------------


def _split(node: OnnxNode) -> tuple[Tensor, ...]:
    x = node.tensor(0)
    axis = node.attribute("axis", 0) % x.rank
    found: list[Tensor] = []
    start: Dim = 0
    for size in _split_sizes(node, x.shape[axis]):
        end = start + size
        found.append(sliced(node, x, {axis: (start, end, 1)}))
        start = end
    return tuple(found)


def _split_sizes(node: OnnxNode, extent: Dim) -> Sequence[Dim]:
    count = node.attribute("num_outputs")
    if node.has(1):
        sizes = node.dims(1)
        if extents.differ(sum(sizes), extent):
            message = f"{node.op_type}: the parts {list(sizes)} do not add up to the extent {extent}"
            raise TinycError("ShapeContradiction", message)
        return sizes
    if count is not None and count != len(node.outputs):
        message = f"{node.op_type}: num_outputs = {count}, and the node has {len(node.outputs)} outputs"
        raise TinycError("ShapeContradiction", message)
    if count is None:
        count = len(node.outputs)
        if extents.divide(extent, count) is None and isinstance(extent, int):
            message = f"{node.op_type}: {count} equal parts do not divide the extent {extent}; give their sizes"
            raise TinycError("ShapeContradiction", message)
    size = extents.ceildiv(extent, count)
    if isinstance(extent, int) and isinstance(size, int) and size * (count - 1) > extent:
        message = f"{node.op_type}: {count} parts of {size} are more than the extent {extent}; give their sizes"
        raise TinycError("ShapeContradiction", message)
    return [*[size] * (count - 1), extent - size * (count - 1)]


# --- pad --------------------------------------------------------------------------------------------------------------


def _pad(node: OnnxNode) -> Tensor:
    x, mode, amounts = node.tensor(0), node.attribute("mode", "constant"), node.dims(1)
    axes = [axis % x.rank for axis in node.ints(3)] if node.has(3) else list(range(x.rank))
    if len(amounts) != 2 * len(axes):
        message = f"{node.op_type}: pads has {len(amounts)} elements for {len(axes)} axes; it has two for each"
        raise TinycError("ShapeContradiction", message)
    before, after = [0] * x.rank, [0] * x.rank
    for position, axis in enumerate(axes):
        before[axis], after[axis] = amounts[position], amounts[position + len(axes)]  # pyright: ignore
    return _padded(node, x, before, after, mode, node.input(2) if node.has(2) else None)


def _padded(
    node: OnnxNode, x: Tensor, before: Sequence[Dim], after: Sequence[Dim], mode: str, value: OnnxValue | None
) -> Tensor:
    """Negative amounts cut off."""
    parts = {
        axis: (-_cut(low), extent + _cut(high), 1)
        for axis, (low, high, extent) in enumerate(zip(before, after, x.shape, strict=True))
    }
    x = sliced(node, x, parts)
    before, after = (tuple(each - _cut(each) for each in amounts) for amounts in (before, after))
    if not any((*before, *after)):
        return x
    constant = _exact_number(value)
    operand = None if value is None or constant is not None else node.as_tensor(value)
    return node.add("movement pad", x, operand, before=before, after=after, mode=mode, constant=constant)


def _cut(amount: Dim) -> Dim:
    return min(amount, 0) if isinstance(amount, int) else 0


def _exact_number(value: OnnxValue | None) -> float | None:
    """A value as an attribute, None where it is computed or a float does not hold it."""
    if not isinstance(value, Known) or value.array.size != 1:
        return None
    number = value.array.ravel()[0]
    if isinstance(number, Extent) or float(number) != number:
        return None
    return float(number)


def _center_crop_pad(node: OnnxNode) -> Tensor:
    x, sizes = node.tensor(0), node.dims(1)
    axes = [axis % x.rank for axis in node.attribute("axes", tuple(range(x.rank)))]
    before: list[Dim] = [0] * x.rank
    after: list[Dim] = [0] * x.rank
    for axis, size in zip(axes, sizes, strict=True):
        missing = size - x.shape[axis]
        if not isinstance(missing, int):
            raise node.unsupported(f"its axis {axis} of extent {x.shape[axis]} is to have {size}; bind the symbols")
        before[axis] = missing // 2 if missing >= 0 else -(-missing // 2)
        after[axis] = missing - before[axis]
    return _padded(node, x, before, after, "constant", None)


HANDLERS: dict[str, Handler] = {
    "CenterCropPad": _center_crop_pad,
    "Pad": _pad,
    "Slice": _slice,
    "Split": _split,
}
