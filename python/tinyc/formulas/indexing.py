"""Ops that read where their data says: gather, top-k and what is made of them."""

from tinyc.diagnostics import TinycError
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.formulas.padding import modulo
from tinyc.formulas.scattering import FORMULAS as SCATTERS
from tinyc.formulas.scattering import flat_places, in_range, nd_places, places_along
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Value
from tinyc.vocabulary.element_type import ElementType


def gather_axis(data: Value, index: Value, *, axis: int = 0) -> Value:
    """Elements along `axis`; the axes of `index` take the place of the axis."""
    axis = data.axis(axis)
    return data.gather(in_range(index, data.shape[axis]), axis)


def embedding(data: Value, index: Value) -> Value:
    """Rows of a table; no index may be negative."""
    return data.gather(index, 0)


def gather_elements(data: Value, index: Value, *, axis: int = 0) -> Value:
    """Element i of the result is that of `data` at i, but at `index[i]` along `axis`."""
    places = places_along(data, index, data.axis(axis))
    return data.reshape(extents.product(data.shape)).gather(places, 0)


def gather_nd(data: Value, index: Value, *, batch: int = 0) -> Value:
    """`data[index[i]]` for each row i of `index`; the first `batch` axes belong together."""
    places, depth = nd_places(data, index, batch)
    rows = data.reshape(extents.product(data.shape[:depth]), *data.shape[depth:])
    return rows.gather(places, 0)


def top_k(x: Value, *, k: int, axis: int = -1, largest: bool = True) -> tuple[Value, Value]:
    """The `k` largest or smallest along an axis, best first, and their indices; ties go to the lower index."""
    best = x.builder.add("topk", x, k=k, axis=x.axis(axis), largest=largest)
    return best, best.result(1)


def _arg(op: str) -> Function:
    def arg(x: Value, *, axis: int = 0, keepdims: bool = True, last: bool = False) -> Value:
        axis = x.axis(axis)
        best = x.reduce(op, axis, element=x.element, keep=True)
        is_best = x.equals(best) if not x.element.is_float else x.equals(best) | ~x.equals(x)
        place = x.builder.iota(ElementType.I64, x.shape, axis)
        if last:
            return place.where(is_best, -1).reduce("max", axis, keep=keepdims)
        return place.where(is_best, _NOWHERE).reduce("min", axis, keep=keepdims)

    arg.__doc__ = f"The index of the {op} along an axis, the first of several, or the last; NaN before all."
    return arg


#: More than any index.
_NOWHERE = 2**63 - 1


def one_hot(index: Value, levels: Value, *, shape: tuple[Dim, ...], axis: int = -1) -> Value:
    """Along a new axis of the result, `levels[1]` at the index, elsewhere `levels[0]`; an index outside is nowhere."""
    if not -index.rank - 1 <= axis <= index.rank or len(shape) != index.rank + 1:
        message = f"axis {axis} is none of the {index.rank + 1} axes of the result, whose shape has {len(shape)}"
        raise TinycError("InvalidAxis", message)
    at = axis % (index.rank + 1)
    chosen = in_range(index.to(ElementType.I64), shape[at]).unsqueeze(at).expand(shape)
    off, on = (levels.slice(0, each, each + 1).reshape() for each in (0, 1))
    return on.where(chosen.equals(index.builder.iota(ElementType.I64, shape, at)), off)


def reverse_sequence(x: Value, lengths: Value, *, batch_axis: int, time_axis: int) -> Value:
    """The first `lengths[b]` elements along the time axis of each batch entry b in reverse order."""
    batch_axis, time_axis = x.axis(batch_axis), x.axis(time_axis)
    lengths.match(0, x, batch_axis)
    length = lengths.to(ElementType.I64).expand(x.shape, (batch_axis,))
    place = x.builder.iota(ElementType.I64, x.shape, time_axis)
    source = (length - 1 - place).where(place < length, place)
    return x.reshape(extents.product(x.shape)).gather(flat_places(x.builder, x.shape, x.shape, {time_axis: source}), 0)


def tensor_scatter(
    cache: Value, updates: Value, starts: Value | None = None, *, axis: int = -2, mode: str = "linear"
) -> Value:
    """`cache` with `updates` written along `axis` from `starts[b]` on in each batch entry b.

    With the mode "circular", they run over the end to the front. Each element is read from where it comes from: nothing
    is written twice.
    """
    if mode not in ("linear", "circular"):
        raise TinycError("InvalidAttribute", f"mode is {mode!r}; it is 'linear' or 'circular'")
    axis = cache.axis(axis)
    place = cache.builder.iota(ElementType.I64, cache.shape, axis)
    if starts is not None:
        place = place - starts.to(ElementType.I64).expand(cache.shape, (0,))
    if mode == "circular":
        place = modulo(place, cache.builder.extent(cache.shape[axis], ElementType.I64))
    size = cache.builder.extent(updates.shape[axis], ElementType.I64)
    is_new = ~(place < 0) & (place < size)
    places = flat_places(cache.builder, updates.shape, cache.shape, {axis: place.where(is_new, 0)})
    new = updates.reshape(extents.product(updates.shape)).gather(places, 0)
    return new.where(is_new, cache)


FORMULAS: dict[str, Function | dict[str, Function]] = {
    "gather": {"axis": gather_axis, "embedding": embedding, "elements": gather_elements, "nd": gather_nd},
    "topk": top_k,
    "arg_max": _arg("max"),
    "arg_min": _arg("min"),
    "one_hot": one_hot,
    "reverse_sequence": reverse_sequence,
    "tensor_scatter": tensor_scatter,
    **SCATTERS,
}
