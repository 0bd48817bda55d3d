"""Reductions as formulas, and what is made of them along an axis: softmax, losses, scans."""

from collections.abc import Callable

from tinyc.diagnostics import TinycError
from tinyc.expr import extents
from tinyc.formulas.elementwise import absolute, exp, log, of_floats
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Value
from tinyc.vocabulary.element_type import ElementType

# --- reductions -------------------------------------------------------------------------------------------------------


def _reduce(function: Callable[..., Value], doc: str) -> Function:
    """The formula of a reduction; over no axes it is applied to each element."""

    def reduce(x: Value, *, axes: tuple[int, ...] | None = None, keepdims: bool = False) -> Value:
        return _over(function, x, axes, keepdims)

    reduce.__doc__ = doc
    return reduce


def _over(function: Callable[..., Value], x: Value, axes: tuple[int, ...] | None, keepdims: bool) -> Value:
    every = tuple(range(x.rank)) if axes is None else tuple(x.axis(axis) for axis in axes)
    if len(set(every)) != len(every):
        raise TinycError("InvalidAxis", f"axes {list(every)} of {x.type} name an axis twice; name it once")
    kept = tuple(1 if axis in every else extent for axis, extent in enumerate(x.shape))
    dropped = tuple(extent for axis, extent in enumerate(x.shape) if axis not in every)
    return function(x, every).reshape(*(kept if keepdims else dropped)).to(x.element)


def lp(x: Value, *, p: int = 2, axes: tuple[int, ...] | None = None, keepdims: bool = False) -> Value:
    """The p-th root of the sum of the p-th powers of magnitudes over `axes`."""
    wide = _in_floats(x)
    return _over(lambda x, axes: root(total(power(x, p), axes), p), wide, axes, keepdims).to(x.element)


def total(x: Value, axes: tuple[int, ...], op: str = "sum") -> Value:
    """A reduction in the accumulator's type, which may be over no axes."""
    return x.reduce(op, *axes) if axes else x.to(x.element.accumulator)


def mean_of(x: Value, axes: tuple[int, ...], keep: bool = False) -> Value:
    """The mean in the accumulator's type; of integers it is truncated, of nothing it is NaN."""
    summed = x.reduce("sum", *axes, keep=keep) if axes else x.to(x.element.accumulator)
    count = x.builder.extent(extents.product(x.shape[axis] for axis in axes), ElementType.I64).to(summed.element)
    return summed / count if summed.element.is_float else summed.apply("idiv", count)


def power(x: Value, p: int) -> Value:
    """The p-th power of the magnitude of each element, which is a float.

    Raises:
        TinycError: `InvalidAttribute`: p is not positive.
    """
    if p < 1:
        raise TinycError("InvalidAttribute", f"p is {p}; it must be positive")
    if p <= 2:
        return absolute(x) if p == 1 else x * x
    return (absolute(x).apply("log2") * float(p)).apply("exp2")


def root(x: Value, p: int) -> Value:
    """The p-th root of each element, none of which is negative."""
    if p <= 2:
        return x if p == 1 else x.apply("sqrt")
    return (x.apply("log2") * (1 / p)).apply("exp2")


def _in_floats(x: Value) -> Value:
    """A value as floats to compute a root or a logarithm of: f64 for integers."""
    return x.to(x.element.accumulator if x.element.is_float else ElementType.F64)


def _l2(x: Value, axes: tuple[int, ...]) -> Value:
    wide = _in_floats(x)
    return total(wide * wide, axes).apply("sqrt")


def _sum_square(x: Value, axes: tuple[int, ...]) -> Value:
    wide = x.to(x.element.accumulator)
    return total(wide * wide, axes)


def _log_sum_exp(x: Value, axes: tuple[int, ...]) -> Value:
    """With the maximum taken off, where it is finite, exp does not overflow."""
    wide = _in_floats(x)
    if not axes:
        return wide
    most = wide.reduce("max", *axes, keep=True)
    offset = most.where((most > -float("inf")) & (most < float("inf")), 0)
    summed = exp(wide - offset).reduce("sum", *axes, keep=True)
    return log(summed) + offset


_REDUCTIONS: dict[str, Function] = {
    "sum": _reduce(total, "The sum over `axes`, accumulated in f32 for 16-bit floats."),
    "max": _reduce(
        lambda x, axes: total(x, axes, "max"), "The greatest over `axes`; of nothing, the least of the type."
    ),
    "min": _reduce(
        lambda x, axes: total(x, axes, "min"), "The least over `axes`; of nothing, the greatest of the type."
    ),
    "prod": _reduce(lambda x, axes: total(x, axes, "prod"), "The product over `axes`, accumulated in f32 for 16 bits."),
    "mean": _reduce(mean_of, "The mean over `axes`, in f32 for 16-bit floats; of integers it is truncated."),
    "l1": _reduce(lambda x, axes: total(absolute(x), axes), "The sum of magnitudes over `axes`."),
    "l2": _reduce(_l2, "The root of the sum of squares over `axes`, in f32 for 16-bit floats, in f64 for integers."),
    "lp": lp,
    "sum_square": _reduce(_sum_square, "The sum of squares over `axes`, in f32 for 16-bit floats."),
    "log_sum": _reduce(lambda x, axes: log(total(_in_floats(x), axes)), "The logarithm of the sum over `axes`."),
    "log_sum_exp": _reduce(_log_sum_exp, "The logarithm of the sum of exp over `axes`; exp does not overflow."),
}

# --- along an axis ----------------------------------------------------------------------------------------------------


def _along(x: Value, op: str, axis: int) -> Value:
    """A reduction along an axis, at each of the elements that it is of."""
    axis = x.axis(axis)
    return x.reduce(op, axis).expand(x.shape, [each for each in range(x.rank) if each != axis])


@of_floats
def softmax(x: Value, *, axis: int = -1) -> Value:
    """`exp(x - max) / sum of exp(x - max)` along an axis: with the maximum taken off, exp does not overflow."""
    terms = exp(x - _along(x, "max", axis))
    return terms / _along(terms, "sum", axis)


@of_floats
def log_softmax(x: Value, *, axis: int = -1) -> Value:
    """`x - max - log(sum of exp(x - max))` along an axis."""
    centred = x - _along(x, "max", axis)
    summed = log(exp(centred).reduce("sum", axis, keep=True))
    return centred - summed


def hardmax(x: Value, *, axis: int = -1) -> Value:
    """1 at the first of the greatest elements along an axis, 0 elsewhere."""
    axis = x.axis(axis)
    place = x.builder.iota(ElementType.I64, x.shape, axis)
    beyond = ElementType.I64.integer_range[1]
    first = place.where(x.equals(x.reduce("max", axis, keep=True).to(x.element)), beyond).reduce("min", axis, keep=True)
    return place.equals(first).to(x.element)


# --- losses -----------------------------------------------------------------------------------------------------------


def nll_loss(
    scores: Value,
    target: Value,
    weight: Value | None = None,
    *,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> Value:
    """Minus the score of the class that `target` names, by the weight of the class; classes are axis 1 of `scores`.

    The mean is by the weights. A target that is `ignore_index` has the weight 0.
    """
    if reduction not in ("none", "sum", "mean"):
        raise TinycError("InvalidAttribute", f"reduction is {reduction!r}; it is 'none', 'sum' or 'mean'")
    wide = scores.to(scores.element.accumulator)
    wanted = target.to(ElementType.I64).unsqueeze(1)
    is_class = scores.builder.iota(ElementType.I64, scores.shape, 1).equals(wanted)
    if ignore_index is not None:
        is_class = is_class & ~wanted.equals(ignore_index)
    weights = scores.builder.full(1, wide.element, scores.shape)
    if weight is not None:
        weights = weight.to(wide.element).reshape(1, scores.shape[1], *(1,) * (scores.rank - 2))
    losses = (-wide * weights).where(is_class, 0).reduce("sum", 1)
    every = tuple(range(losses.rank))
    if reduction == "none":
        return losses.to(scores.element)
    if reduction == "mean" and weight is None and ignore_index is None:
        return mean_of(losses, every).to(scores.element)
    summed = losses.reduce("sum", *every)
    if reduction == "mean":
        summed = summed / weights.where(is_class, 0).reduce("sum", *range(scores.rank))
    return summed.to(scores.element)


def cross_entropy_loss(
    scores: Value,
    target: Value,
    weight: Value | None = None,
    *,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> tuple[Value, Value]:
    """The `nll_loss` of the `log_softmax` along axis 1, which is the other result."""
    logs = log_softmax(scores.to(scores.element.accumulator), axis=1)
    loss = nll_loss(logs, target, weight, ignore_index=ignore_index, reduction=reduction)
    return loss.to(scores.element), logs.to(scores.element)


# --- scans ------------------------------------------------------------------------------------------------------------

#: Elements of a block of a scan along a dynamic axis: for a million of elements there are 8,192.
_BLOCK = 128


def _cumulative(op: str) -> Function:
    neutral = 1 if op == "prod" else 0

    def cumulative(x: Value, *, axis: int, exclusive: bool = False, reverse: bool = False) -> Value:
        axis = x.axis(axis)
        if isinstance(x.shape[axis], int):
            return _running(x, axis, op, neutral, exclusive, reverse).to(x.element)
        ordered = x.flip(axis) if reverse else x
        result = _running_in_blocks(ordered, axis, op, neutral, exclusive).to(x.element)
        return result.flip(axis) if reverse else result

    cumulative.__doc__ = (
        f"Element i is the {op} of the elements up to i along `axis`, without i where `exclusive`; from the end where\n"
        "`reverse`. Windows of all elements, which the analysis sees to be a scan; blocks of them where the axis is\n"
        "dynamic."
    )
    return cumulative


def _running(x: Value, axis: int, op: str, neutral: int, exclusive: bool, reverse: bool = False) -> Value:
    """The scan of an axis that has a number for its extent: in the accumulator's type."""
    extent = x.shape[axis]
    assert isinstance(extent, int)
    if extent == 0:
        return x.to(x.element.accumulator)
    beyond = extent - 1 + exclusive
    padded = x.pad_axis(axis, *((0, beyond) if reverse else (beyond, 0)), neutral)
    if exclusive:  # the first or last window would have what is at its own place
        padded = padded.slice(axis, int(reverse), 2 * extent - 1 + reverse)
    ones = (1,) * (x.rank - axis)  # windows are over all axes from this one on
    windows = padded.windows((extent, *ones[1:]), ones, ones)
    return windows.reduce(op, *range(x.rank, x.rank + len(ones)))


def _running_in_blocks(x: Value, axis: int, op: str, neutral: int, exclusive: bool) -> Value:
    """The scan of a dynamic axis: a scan of each block of it, and what the blocks before it have.

    A window has a number for its extent. The blocks before each block are all reduced, which are few.
    """
    to_last = [*(each for each in range(x.rank) if each != axis), axis]
    lines = x.permute(*to_last)
    *lead, extent = lines.shape
    last, count = lines.rank - 1, extents.ceildiv(extent, _BLOCK)
    whole = lines.pad_axis(last, 0, _BLOCK - 1, neutral).slice(last, 0, count * _BLOCK)
    blocks = whole.reshape(*lead, count, _BLOCK)
    totals = blocks.reduce(op, -1)
    row, column = (lines.builder.iota(ElementType.I64, (count, count), at) for at in (0, 1))
    earlier = totals.unsqueeze(-2).where(column < row, neutral).reduce(op, -1, keep=True, element=totals.element)
    scanned = _running(blocks, last + 1, op, neutral, exclusive).apply("mul" if op == "prod" else "add", earlier)
    found = scanned.reshape(*lead, count * _BLOCK).slice(last, 0, extent)
    return found.permute(*(to_last.index(each) for each in range(x.rank)))


FORMULAS: dict[str, Function | dict[str, Function]] = {
    "softmax": softmax,
    "log_softmax": log_softmax,
    "hardmax": hardmax,
    "nll_loss": nll_loss,
    "cross_entropy_loss": cross_entropy_loss,
    "reduce": _REDUCTIONS,
    "cumulative": {"sum": _cumulative("sum"), "prod": _cumulative("prod")},
}
