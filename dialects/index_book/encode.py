"""IndexBook entries as attributes: axis expressions become affine maps and sets. `decode` is the inverse.

In them `d<k>` is the axis `i<k>` and `s<k>` the k-th item of `symbols`.
"""

from collections.abc import Iterable

from tinyc.analysis.index_book.book import Entry, Guard, NonScopEntry
from tinyc.dialects.index_book.decode import domain_set
from tinyc.dialects.index_book.ops import EntryOp, NonScopOp
from tinyc.expr.affine_map import map_symbols, to_map, to_set
from tinyc.mlir import ir
from tinyc.mlir.side_table import TableRow, number_attribute
from tinyc.vocabulary.attributes import extents_attribute


def encode_entry(entry: Entry | NonScopEntry) -> TableRow:
    """The class and the attributes of the op that stands for an entry."""
    if isinstance(entry, NonScopEntry):
        return NonScopOp, {
            "value": ir.StringAttr.get(entry.value),
            "sizes": extents_attribute(entry.shape),
            "dims": ir.DenseI64ArrayAttr.get(entry.dims),
            "inputs": _strings(entry.inputs),
            "reason": ir.StringAttr.get(entry.reason),
        }
    rank, symbols = len(entry.axes), _symbols(entry)
    maps = [ir.AffineMapAttr.get(to_map(each.map, rank, symbols)) for each in entry.inputs]
    return EntryOp, {
        "value": ir.StringAttr.get(entry.value),
        "sizes": extents_attribute(entry.shape),
        "dims": ir.DenseI64ArrayAttr.get(entry.dims),
        "kinds": _strings([axis.kind for axis in entry.axes]),
        "labels": _strings([axis.label for axis in entry.axes]),
        "symbols": _strings(symbols),
        "domain": domain_set(entry.shape, entry.inputs, symbols),
        "inputs": _strings([each.value for each in entry.inputs]),
        "maps": ir.ArrayAttr.get(maps),
        "guards": ir.ArrayAttr.get([_guard_set(guard, rank, symbols) for guard in entry.guards]),
        "guard_values": ir.ArrayAttr.get([number_attribute(guard.value) for guard in entry.guards]),
        "reduce_axes": ir.DenseI64ArrayAttr.get(entry.reduce_axes),
    }


def _strings(texts: Iterable[str]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.StringAttr.get(text) for text in texts])


def _symbols(entry: Entry) -> tuple[str, ...]:
    rows = [row for each in entry.inputs for row in each.map] + [guard.expression for guard in entry.guards]
    return map_symbols((*entry.shape, *(guard.size for guard in entry.guards)), rows)


def _guard_set(guard: Guard, rank: int, symbols: tuple[str, ...]) -> ir.IntegerSetAttr:
    value = guard.expression
    return ir.IntegerSetAttr.get(to_set((value, value * -1 + (guard.size - 1)), rank, symbols))
