"""What holds for IndexBook tables: a table lists entries, names a Tiny function, and says what the analysis says.

A table is compared with the recomputed one entry by entry, and that is checked against the invariants. Names of values
do not matter, because name locations do not survive as text; axes, maps, guards and reasons do, and maps are compared
as functions.
"""

from collections.abc import Iterable, Iterator, Mapping

from tinyc.analysis.graphs import body_block, functions_of, is_graph
from tinyc.analysis.index_book.book import Entry, Guard, IndexBook, NonScopEntry, index_book
from tinyc.analysis.index_book.invariants import broken_invariants
from tinyc.dialects.index_book.decode import decode_entry, decode_non_scop
from tinyc.dialects.index_book.ops import EntryOp, TableOp
from tinyc.dialects.tiny import ops as tiny
from tinyc.dialects.tiny.op_verifier import infer_op
from tinyc.expr.assumption import Assumption
from tinyc.expr.axes import Index
from tinyc.expr.isl import TooHard
from tinyc.mlir import func, ir
from tinyc.mlir.bodies import body_of
from tinyc.mlir.side_table import tables_of
from tinyc.mlir.verifying import Violation, report_violations


def read_book(table: TableOp) -> IndexBook:
    """The IndexBook that a verified table lists."""
    return IndexBook(table.function.value, tuple(map(_entry, body_of(table))))


def _entry(op: ir.OpView) -> Entry | NonScopEntry:
    return decode_entry(op.attributes) if isinstance(op, EntryOp) else decode_non_scop(op.attributes)


def verify(module: ir.Module) -> bool:
    """Compare every table with the recomputed one; report each difference at its entry, and whether there was none."""
    known = {function.sym_name.value: function for function in functions_of(module)}
    found = (each for table in tables_of(module, TableOp) for each in _differences(table, known))
    return report_violations(found)


def _differences(table: TableOp, known: Mapping[str, func.FuncOp]) -> Iterator[Violation]:
    name = table.function.value
    if name not in known:
        yield table.location, f"'index_book.table' is about @{name}, and there is no such function; erase the table"
        return
    if not is_graph(known[name]):
        yield (
            table.location,
            f"'index_book.table' is about @{name}, which is not a Tiny graph any more; erase the table",
        )
        return
    book = index_book(known[name])
    expected, found = book.entries, read_book(table).entries
    for each in broken_invariants(book, _assumed(known[name])):
        yield table.location, f"'index_book.table' of @{name} breaks an invariant at {each.value}: {each.message}"
    if len(found) != len(expected):
        yield (
            table.location,
            f"'index_book.table' has {len(found)} entries, and @{name} has {len(expected)} values; "
            "run --tiny-to-index-book again",
        )
        return
    names = {ours.value: theirs.value for ours, theirs in zip(expected, found, strict=True)}
    if len(set(names.values())) < len(names):
        yield table.location, "'index_book.table' has two entries of one value"
    for op, theirs, ours in zip(body_of(table), found, expected, strict=True):
        for message in _compare(theirs, ours, names):
            yield op.location, f"'{op.name}' of {theirs.value}: {message}; run --tiny-to-index-book again"


def _assumed(function: func.FuncOp) -> list[Assumption]:
    """The assumptions on its extents that the movements of a function make."""
    movements = [op for op in body_block(function).operations if isinstance(op, tiny.MovementOp)]
    return [assumption for op in movements for assumption in infer_op(op).assumptions]


def _compare(found: Entry | NonScopEntry, expected: Entry | NonScopEntry, names: Mapping[str, str]) -> Iterator[str]:
    """How an entry differs from the recomputed one, whose values are called `names` in the table."""
    if isinstance(expected, NonScopEntry):
        if isinstance(found, Entry):
            yield f"Non-SCoP: {expected.reason}"
        elif (found.shape, found.dims) != (expected.shape, expected.dims):
            yield f"the axes are {_list(expected.shape)}, {list(expected.dims)} of them in each dimension"
        elif list(found.inputs) != [names[each] for each in expected.inputs] or found.reason != expected.reason:
            yield f"the inputs are {_list(names[each] for each in expected.inputs)}, the reason is: {expected.reason}"
        return
    if isinstance(found, NonScopEntry):
        yield "the reads have an access map"
        return
    if (found.axes, found.dims, found.reduce_axes) != (expected.axes, expected.dims, expected.reduce_axes):
        kinds = ", ".join(f"{axis.size} {axis.kind}" for axis in expected.axes)
        yield (
            f"the axes are [{kinds}], {list(expected.dims)} of them in each dimension, the reduced ones "
            f"{list(expected.reduce_axes)} of the operand"
        )
        return
    if [each.value for each in found.inputs] != [names[each.value] for each in expected.inputs]:
        yield f"the inputs are {_list(names[each.value] for each in expected.inputs)}"
        return
    for theirs, ours in zip(found.inputs, expected.inputs, strict=True):
        if theirs.map != ours.map and not _same_index(expected, theirs.map, ours.map):
            yield f"the map to {theirs.value} is {_list(ours.map)}, not {_list(theirs.map)}"
    if not _same_guards(expected, found.guards):
        yield f"the guards are {_list(expected.guards)}, not {_list(found.guards)}"


def _list(items: Iterable[object]) -> str:
    return f"[{', '.join(map(str, items))}]"


def _same_index(entry: Entry, left: Index, right: Index) -> bool:
    """Whether two indices are proved equal; what isl does not get to is not."""
    from tinyc.analysis.isl.polyhedra import same_index  # islpy takes its time to load

    try:
        return same_index(entry.shape, left, right)
    except TooHard:
        return False


def _same_guards(entry: Entry, found: tuple[Guard, ...]) -> bool:
    if len(found) != len(entry.guards):
        return False
    return all(
        repr(theirs.value) == repr(ours.value)
        and theirs.size == ours.size
        and (theirs.expression == ours.expression or _same_index(entry, (theirs.expression,), (ours.expression,)))
        for theirs, ours in zip(found, entry.guards, strict=True)
    )
