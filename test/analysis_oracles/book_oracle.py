"""What numpy makes of the values of a Tiny function, compared with what its IndexBook says that each of them reads.

The arguments have distinct elements, so that a wrong index shows.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from analysis_oracles.access_oracle import read_elements
from analysis_programs.movement_chains import apply_movement
from tinyc.analysis.access import Access
from tinyc.analysis.index_book.book import Entry, index_book
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.vocabulary.attributes import arguments, tensor_type

_ELEMENTWISE = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "neg": np.negative,
    "relu": functools.partial(np.maximum, 0),
    "cast": np.array,
}


def check_book(function: Any, symbols: Mapping[str, int]) -> list[Any]:
    """Check every entry at these sizes; return the entries.

    An entry is right if the value, seen under its axes, has at each point what its map reads of the operand.
    """
    book = index_book(function)
    arrays = list(_arrays(function, symbols))
    seen = {}
    for entry, (op, array) in zip(book.entries, arrays, strict=True):
        seen[entry.value] = _under_axes(entry, array, symbols)
        if isinstance(entry, Entry) and entry.inputs:
            np.testing.assert_array_equal(read_entry(entry, op, seen, symbols), seen[entry.value], entry.value)
    return list(book.entries)


def _arrays(function: Any, symbols: Mapping[str, int]) -> Iterator[tuple[Any, Any]]:
    """Yield (op or None, array) for each value of a function whose results are single."""
    block = function.regions[0].blocks[0]
    found: dict[Any, Any] = {}
    for argument in block.arguments:
        shape = _numbers(tensor_type(argument.type).shape, symbols)
        found[argument] = (np.arange(int(np.prod(shape)), dtype=np.int64) + 7 * len(found)).reshape(shape)
        yield None, found[argument]
    for op in (op for op in block.operations if op.results):
        found[op.results[0]] = _compute(op, [found[operand] for operand in op.operands], symbols)
        yield op, found[op.results[0]]


def _compute(op: Any, operands: list[Any], symbols: Mapping[str, int]) -> Any:
    kind, shape = op.name.removeprefix("tiny."), _numbers(tensor_type(op.results[0].type).shape, symbols)
    if isinstance(op, tiny.MovementOp):
        return apply_movement(kind, arguments(op), operands[0], shape, symbols)
    if kind == "reduce":
        return operands[0].sum(axis=arguments(op)["axes"])
    return _ELEMENTWISE[kind](*operands) if kind in _ELEMENTWISE else np.zeros(shape, np.int64)


def read_entry(entry: Entry, op: Any, arrays: Mapping[str, Any], symbols: Mapping[str, int]) -> Any:
    """Return what an entry makes of its inputs, which `arrays` has under their axes."""
    shape = _numbers(entry.shape, symbols)
    accesses = ((Access(each.value, each.map, entry.guards), arrays[each.value]) for each in entry.inputs)
    operands = [read_elements(access, array, shape, symbols) for access, array in accesses]
    if entry.reduce_axes:
        kept = len(shape) - len(entry.reduce_axes)
        return operands[0].sum(axis=tuple(range(kept, len(shape))))
    return operands[0] if isinstance(op, tiny.MovementOp) else _compute(op, operands, symbols).reshape(shape)


def _under_axes(entry: Any, array: Any, symbols: Mapping[str, int]) -> Any:
    kept = entry.shape[: sum(entry.dims)]
    return array.reshape(_numbers(kept, symbols))


def _numbers(shape: Sequence[extents.Dim], symbols: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(extents.evaluate(extent, symbols) for extent in shape)
