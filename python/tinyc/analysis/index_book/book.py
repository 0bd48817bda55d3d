"""The IndexBook: for each value of a Tiny function its axes, and how it reads the values that it is made of.

In: a function in the Tiny layer. Out: an `IndexBook` of one entry a value, each about a single op: the maps of whole
chains of movements are composed by `access.trace`. An axis is a dimension of the value, or a part of one that a reshape
of symbolic sizes splits (`splits`). Specification 000 §1.3, 002 §2.
"""

import functools
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tinyc.analysis.access import read_movement
from tinyc.analysis.graphs import body_block, value_names
from tinyc.analysis.index_book.axis_arguments import axis_arguments
from tinyc.analysis.index_book.splits import Splits, splits_of
from tinyc.analysis.movement import Guard, Index
from tinyc.analysis.tiny_ops import data_dependence
from tinyc.dialects.tiny import ops as tiny
from tinyc.dialects.tiny.ops import ReduceOp
from tinyc.expr import axes, extents
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim, Extent
from tinyc.mlir import func, ir
from tinyc.vocabulary.attributes import arguments, tensor_type, vocabulary_name

AXIS_KINDS = ("iter", "broadcast", "reduce")


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
class InputAccess:
    """An operand and the access map to it: from the entry's axes to the operand's index."""

    value: str
    map: Index


@dataclass(frozen=True)
class Entry:
    """How a value is made: its axes (those that a reduce removes come last), its inputs, the guards of a pad.

    The domain is the box of the axes. `dims` is the number of axes of each of the value's dimensions, whose index is
    theirs in row-major order; 1 but where a reshape of symbolic sizes splits it. Where a guard fails, the value is the
    guard's and no input is read. `reduce_axes` are the positions of the removed axes among the operand's.
    """

    value: str
    axes: tuple[AxisVar, ...]
    dims: tuple[int, ...]
    inputs: tuple[InputAccess, ...] = ()
    guards: tuple[Guard, ...] = ()
    reduce_axes: tuple[int, ...] = ()

    @property
    def shape(self) -> Shape:
        """The sizes of the axes."""
        return tuple(axis.size for axis in self.axes)


@dataclass(frozen=True)
class NonScopEntry:
    """A value whose reads are not quasi-affine maps, and why: a buffer of these axes, with `dims` as in an `Entry`."""

    value: str
    shape: Shape
    dims: tuple[int, ...]
    inputs: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class IndexBook:
    """The entries of a function's values, in order of definition."""

    function: str
    entries: tuple[Entry | NonScopEntry, ...]


def index_book(function: func.FuncOp) -> IndexBook:
    """The IndexBook of a function that is a Tiny graph.

    Raises:
        TinycError: a value is not a Tiny tensor.
    """
    writer = _Writer(value_names(function), splits_of(function))
    block = body_block(function)
    entries: list[Entry | NonScopEntry] = [writer.leaf(argument) for argument in block.arguments]
    for op in block.operations:
        entries += [writer.entry(op, result) for result in op.results]
    return IndexBook(function.sym_name.value, tuple(entries))


class _Writer:
    """Writes the entries of a function whose values have these names and splits."""

    def __init__(self, names: Mapping[ir.Value, str], splits: Splits) -> None:
        self._names, self._splits = names, splits

    def leaf(self, value: ir.Value) -> Entry:
        """The entry of a value that reads nothing."""
        shape, dims = self._axes(value)
        return Entry(self._names[value], _iterated(shape), dims)

    def entry(self, op: ir.OpView, value: ir.Value) -> Entry | NonScopEntry:
        """The entry of a result of `op`."""
        if isinstance(op, tiny.LeafOp):
            return self.leaf(value)
        name, inputs = self._names[value], tuple(self._names[operand] for operand in op.operands)
        shape, dims = self._axes(value)
        if isinstance(op, tiny.ElementwiseOp):
            index = axes.identity(shape)
            return Entry(name, _iterated(shape), dims, tuple(InputAccess(each, index) for each in inputs))
        reason = self._splits.faults.get(value)
        if reason is None and not isinstance(op, tiny.MovementOp) and not isinstance(op, ReduceOp):
            reason = data_dependence(op)
        if reason is not None:
            return NonScopEntry(name, shape, dims, inputs, reason)
        operand, _ = self._axes(op.operands[0])
        values = self._arguments(op, value)
        if isinstance(op, ReduceOp):
            found, index = _reduction(operand, values["axes"])
            return Entry(name, found, dims, (InputAccess(inputs[0], index),), reduce_axes=values["axes"])
        step = read_movement(vocabulary_name(op), values, operand, axes.identity(shape), shape)
        if isinstance(step, str):
            return NonScopEntry(name, shape, dims, inputs, step)
        return Entry(name, _movement_axes(shape, step.index), dims, (InputAccess(inputs[0], step.index),), step.guards)

    def _axes(self, value: ir.Value) -> tuple[Shape, tuple[int, ...]]:
        """The sizes of a value's axes, and how many there are of each dimension."""
        split = self._splits.axes.get(value)
        if split is None:
            shape = tensor_type(value.type).shape
            return shape, (1,) * len(shape)
        return tuple(itertools.chain(*split)), tuple(map(len, split))

    def _arguments(self, op: ir.OpView, value: ir.Value) -> dict[str, Any]:
        """The arguments of `op` between axes."""
        values = arguments(op)
        if op.operands[0] not in self._splits.axes and value not in self._splits.axes:
            return values
        kind = vocabulary_name(op)
        return axis_arguments(kind, values, self._splits.of(op.operands[0]), self._splits.of(value))


@functools.lru_cache(maxsize=4096)
def _iterated(shape: Shape) -> tuple[AxisVar, ...]:
    return tuple(AxisVar(size, "broadcast" if size == 1 else "iter") for size in shape)


@functools.lru_cache(maxsize=4096)
def _movement_axes(shape: Shape, index: Index) -> tuple[AxisVar, ...]:
    """The axes of a movement's result; those that the operand is not read along are broadcast."""
    read_along = frozenset[int]().union(*(axes.positions(row) for row in index))
    return tuple(
        AxisVar(size, "iter" if position in read_along and size != 1 else "broadcast")
        for position, size in enumerate(shape)
    )


@functools.lru_cache(maxsize=4096)
def _reduction(shape: Shape, reduced: tuple[int, ...]) -> tuple[tuple[AxisVar, ...], Index]:
    """The axes and the map of a reduce: the kept axes renumbered from `i0`, the reduced ones behind them."""
    kept = [position for position in range(len(shape)) if position not in reduced]
    order = [*kept, *reduced]
    domain = tuple(shape[position] for position in order)
    index = tuple(axes.axis(order.index(position), domain) for position in range(len(shape)))
    return (*_iterated(domain[: len(kept)]), *(AxisVar(size, "reduce") for size in domain[len(kept) :])), index
