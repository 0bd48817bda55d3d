"""From the values of axes to an index, and back: an axis is a dimension of a value, or a part of one."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

from tinyc.analysis.access import DimAxes
from tinyc.codegen.elements import Elements, IndexValues
from tinyc.expr.axes import Shape
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import tensor_type

#: The values of axes by their positions among those of all dimensions; an axis that is not there is at 0.
AxisValues: TypeAlias = Mapping[int, ir.Value]


def index_at(elements: Elements, value: ir.Value, dims: DimAxes, places: AxisValues) -> IndexValues:
    """The index in the dimensions of `value`."""
    counters = elements.counters
    index: list[ir.Value] = []
    for parts, positions in _dimensions(value, dims):
        at = [places[position] if position in places else elements.index(0) for position in positions]
        whole = counters.linear(counters.expressions(at, parts), parts)
        index.append(at[0] if len(at) == 1 else counters.value(whole))
    return tuple(index)


def values_at(
    elements: Elements, value: ir.Value, dims: DimAxes, index: Sequence[ir.Value], removed: Collection[int] = ()
) -> AxisValues:
    """The values of the axes of all dimensions but the `removed` ones, which `index` has none for."""
    counters = elements.counters
    found: dict[int, ir.Value] = {}
    rest = iter(index)
    for number, (parts, positions) in enumerate(_dimensions(value, dims)):
        if number in removed:
            continue
        at, extent = next(rest), tensor_type(value.type).shape[number]
        if len(parts) == 1:
            found[positions[0]] = at
        else:
            apart = counters.delinearized(counters.expression(at, extent), parts)
            found.update(zip(positions, map(counters.value, apart), strict=True))
    return found


def _dimensions(value: ir.Value, dims: DimAxes) -> Iterator[tuple[Shape, range]]:
    """Yield the parts of each dimension, and the positions of their axes."""
    first = 0
    for parts in dims(value):
        yield parts, range(first, first + len(parts))
        first += len(parts)
