"""The IndexBook: for each value of a Tiny function its axes, and how it reads the values that it is made of.

In: a function in the Tiny layer. Out: an `IndexBook` of one entry a value, each about a single op: the maps of whole
chains of movements are composed by `access.trace`. Specification 000 §1.3, 002 §2.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tinyc.analysis import axis as axes
from tinyc.analysis import extents
from tinyc.analysis.access import is_movement
from tinyc.analysis.axis import Shape
from tinyc.analysis.extents import Dim, Extent, ExtentError
from tinyc.analysis.graphs import value_names
from tinyc.analysis.movement import Guard, Index, NotAffine, Read, read
from tinyc.dialects.tiny.attributes import arguments, tensor_type
from tinyc.dialects.tiny.infer import ELEMENTWISE, LEAVES

_LEAVES = frozenset(f"tiny.{name}" for name in LEAVES)
_ELEMENTWISE = frozenset(f"tiny.{name}" for name in ELEMENTWISE)


@dataclass(frozen=True)
class AxisVar:
    """The axis `i<position>` of an entry: its size, and what it does.

    `kind` is `iter`; `broadcast` for an axis of size 1, or one along which the op repeats its operands; `reduce` for an
    axis that the op sums up. The label is the symbol that is the size, in lower case.
    """

    size: Dim
    kind: str

    @property
    def label(self) -> str:
        """The size's symbol in lower case; empty where the size is not one symbol."""
        if not isinstance(self.size, Extent) or extents.symbols(self.size) != (str(self.size),):
            return ""
        return str(self.size).lower()


@dataclass(frozen=True)
class Input:
    """An operand and the access map to it: from the entry's axes to the operand's index."""

    value: str
    map: Index


@dataclass(frozen=True)
class Entry:
    """How a value is made: its axes (those that a reduce removes come last), its inputs, the guards of a pad.

    The domain is the box of the axes. Where a guard fails, the value is the guard's and no input is read. `reduce_axes`
    are the positions of the removed axes in the operand.
    """

    value: str
    axes: tuple[AxisVar, ...]
    inputs: tuple[Input, ...] = ()
    guards: tuple[Guard, ...] = ()
    reduce_axes: tuple[int, ...] = ()

    @property
    def shape(self) -> Shape:
        """The sizes of the axes."""
        return tuple(axis.size for axis in self.axes)


@dataclass(frozen=True)
class NonScopEntry:
    """A value whose reads are no quasi-affine maps, and why."""

    value: str
    inputs: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class IndexBook:
    """The entries of a function's values, in order of definition."""

    function: str
    entries: tuple[Entry | NonScopEntry, ...]


def index_book(function: Any) -> IndexBook:
    """Return the IndexBook of a function that is a Tiny graph.

    Raises:
        TinycError: a value is not a Tiny tensor.
    """
    names = value_names(function)
    block = function.regions[0].blocks[0]
    entries: list[Entry | NonScopEntry] = [
        Entry(names[argument], _iterated(tensor_type(argument.type).shape)) for argument in block.arguments
    ]
    for op in block.operations:
        operation = op.operation
        results = [names[result] for result in operation.results]
        entries += [_entry(operation, value, names) for value in results]
    return IndexBook(function.operation.attributes["sym_name"].value, tuple(entries))


def _entry(op: Any, value: str, names: Mapping[Any, str]) -> Entry | NonScopEntry:
    kind = op.name
    inputs = tuple(names[operand] for operand in op.operands)
    if kind in _ELEMENTWISE or kind in _LEAVES:
        shape = tensor_type(op.results[0].type).shape
        index = _identity(shape)
        return Entry(value, _iterated(shape), tuple(Input(name, index) for name in inputs))
    operand = tensor_type(op.operands[0].type).shape if inputs else ()
    if kind == "tiny.reduce":
        reduced = arguments(op)["axes"]
        found, index = _reduction(operand, reduced)
        return Entry(value, found, (Input(inputs[0], index),), reduce_axes=reduced)
    if not is_movement(op):
        return NonScopEntry(value, inputs, f"'{kind}' reads where its data says")
    try:
        step = _read(kind, tuple(sorted(arguments(op).items())), operand, tensor_type(op.results[0].type).shape)
    except (NotAffine, ExtentError) as error:
        return NonScopEntry(value, inputs, str(error))
    found = _axes(tensor_type(op.results[0].type).shape, step.index)
    return Entry(value, found, (Input(inputs[0], step.index),), step.guards)


@functools.lru_cache(maxsize=4096)
def _identity(shape: Shape) -> Index:
    return axes.identity(shape)


@functools.lru_cache(maxsize=4096)
def _iterated(shape: Shape) -> tuple[AxisVar, ...]:
    return tuple(AxisVar(size, "broadcast" if size == 1 else "iter") for size in shape)


@functools.lru_cache(maxsize=4096)
def _read(kind: str, values: tuple[tuple[str, Any], ...], operand: Shape, result: Shape) -> Read:
    return read(kind.removeprefix("tiny."), dict(values), operand, _identity(result), result)


def _axes(shape: Shape, index: Index) -> tuple[AxisVar, ...]:
    """Return the axes of a movement's result; those that the operand is not read along are broadcast."""
    read_along = frozenset().union(*(axes.positions(row) for row in index))
    return tuple(
        AxisVar(size, "iter" if position in read_along and size != 1 else "broadcast")
        for position, size in enumerate(shape)
    )


@functools.lru_cache(maxsize=4096)
def _reduction(shape: Shape, reduced: tuple[int, ...]) -> tuple[tuple[AxisVar, ...], Index]:
    """Return the axes and the map of a reduce: the kept axes renumbered from `i0`, the reduced ones behind them."""
    kept = [position for position in range(len(shape)) if position not in reduced]
    order = [*kept, *reduced]
    domain = tuple(shape[position] for position in order)
    index = tuple(axes.axis(order.index(position), domain) for position in range(len(shape)))
    return (*_iterated(domain[: len(kept)]), *(AxisVar(size, "reduce") for size in domain[len(kept) :])), index
