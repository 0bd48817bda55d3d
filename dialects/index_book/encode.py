"""IndexBook entries as attributes: axis expressions become affine maps and sets. `decode` is the inverse.

In them `d<k>` is the axis `i<k>` and `s<k>` the k-th item of `symbols`.
"""

from collections.abc import Iterable
from typing import Any

from tinyc.analysis.axes import Axis, Shape, term
from tinyc.analysis.axes.affine_map import symbols_of, to_map, to_set
from tinyc.analysis.index_book.book import Entry, Guard, NonScopEntry
from tinyc.dialects.tiny.attributes import extents_attribute
from tinyc.mlir import ir
from tinyc.side_table import Row, number_attribute


def encode_entry(entry: Entry | NonScopEntry) -> Row:
    """Return the name and the attributes of the op that stands for an entry."""
    if isinstance(entry, NonScopEntry):
        return "index_book.non_scop", {
            "value": ir.StringAttr.get(entry.value),
            "sizes": extents_attribute(entry.shape),
            "dims": ir.DenseI64ArrayAttr.get(entry.dims),
            "inputs": _strings(entry.inputs),
            "reason": ir.StringAttr.get(entry.reason),
        }
    rank, symbols = len(entry.axes), _symbols(entry)
    maps = [ir.AffineMapAttr.get(to_map(each.map, rank, symbols)) for each in entry.inputs]
    return "index_book.entry", {
        "value": ir.StringAttr.get(entry.value),
        "sizes": extents_attribute(entry.shape),
        "dims": ir.DenseI64ArrayAttr.get(entry.dims),
        "kinds": _strings([axis.kind for axis in entry.axes]),
        "labels": _strings([axis.label for axis in entry.axes]),
        "symbols": _strings(symbols),
        "domain": domain_set(entry.shape, symbols),
        "inputs": _strings([each.value for each in entry.inputs]),
        "maps": ir.ArrayAttr.get(maps),
        "guards": ir.ArrayAttr.get([_guard_set(guard, rank, symbols) for guard in entry.guards]),
        "guard_values": ir.ArrayAttr.get([number_attribute(guard.value) for guard in entry.guards]),
        "reduce_axes": ir.DenseI64ArrayAttr.get(entry.reduce_axes),
    }


def _strings(texts: Iterable[str]) -> Any:
    return ir.ArrayAttr.get([ir.StringAttr.get(text) for text in texts])


def _symbols(entry: Entry) -> tuple[str, ...]:
    rows = [row for each in entry.inputs for row in each.map] + [guard.expression for guard in entry.guards]
    return symbols_of((*entry.shape, *(guard.size for guard in entry.guards)), rows)


def domain_set(shape: Shape, symbols: tuple[str, ...]) -> Any:
    """Return the box of `shape` as an affine set."""
    # Also where the size is 1 there is an axis: the set says that it is 0.
    axes = [term(Axis(position)) for position in range(len(shape))]
    rows = tuple(row for axis, size in zip(axes, shape, strict=True) for row in (axis, axis * -1 + (size - 1)))
    return ir.IntegerSetAttr.get(to_set(rows, len(shape), symbols))


def _guard_set(guard: Guard, rank: int, symbols: tuple[str, ...]) -> Any:
    value = guard.expression
    return ir.IntegerSetAttr.get(to_set((value, value * -1 + (guard.size - 1)), rank, symbols))
