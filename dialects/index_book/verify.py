"""What holds for IndexBook tables: a table lists entries, names a Tiny function, and says what the analysis says.

A table is compared with the recomputed one entry by entry, and that is checked against the invariants. Names of values
do not matter, because name locations do not survive as text; axes, maps, guards and reasons do, and maps are compared
as functions.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tinyc import side_table
from tinyc.analysis.assumption import Assumption
from tinyc.analysis.graphs import is_graph
from tinyc.analysis.index_book.book import Entry, Guard, IndexBook, NonScopEntry, index_book
from tinyc.analysis.index_book.invariants import violations
from tinyc.analysis.limits import TooHard
from tinyc.analysis.tiny_ops import is_movement
from tinyc.dialects.index_book.decode import decode_entry, decode_non_scop
from tinyc.dialects.tiny.attributes import arguments, tensor_type
from tinyc.dialects.tiny.infer import infer
from tinyc.dialects.tiny.verify import functions
from tinyc.mlir import body_of

_ENTRIES = ("index_book.entry", "index_book.non_scop")


def tables(module: Any) -> list[Any]:
    """Return the tables of a module."""
    return side_table.tables(module, "index_book.table")


def check_entries(op: Any) -> None:
    """Check an `index_book.table` by itself.

    Raises:
        TinycError: `InvalidAttribute`.
    """
    side_table.check_table(op, _ENTRIES)


def read_table(op: Any) -> IndexBook:
    """Return what a verified `index_book.table` says."""
    return IndexBook(op.operation.attributes["function"].value, tuple(_entry(entry) for entry in body_of(op)))


def _entry(op: Any) -> Entry | NonScopEntry:
    return decode_entry(op) if op.operation.name == "index_book.entry" else decode_non_scop(op)


def verify(module: Any) -> bool:
    """Compare every table with the recomputed one; report each difference at its entry, and whether there was none."""
    known = {function.operation.attributes["sym_name"].value: function for function in functions(module)}
    return side_table.verify_tables(tables(module), lambda table: _differences(table, known))


def _differences(table: Any, known: Mapping[str, Any]) -> Iterator[tuple[Any, str]]:
    name = table.operation.attributes["function"].value
    if name not in known:
        yield table.location, f"'index_book.table' is about @{name}, and there is no such function; erase the table"
        return
    if not is_graph(known[name]):
        yield table.location, f"'index_book.table' is about @{name}, which is no Tiny graph any more; erase the table"
        return
    book = index_book(known[name])
    expected, found = book.entries, read_table(table).entries
    for each in violations(book, _assumed(known[name])):
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
            yield op.location, f"'{op.operation.name}' of {theirs.value}: {message}; run --tiny-to-index-book again"


def _assumed(function: Any) -> list[Assumption]:
    """Return what the movements of a function take for granted of its extents."""
    operations = [op.operation for op in function.regions[0].blocks[0].operations]
    return [
        assumption
        for op in operations
        if is_movement(op)
        for assumption in infer(
            op.name.removeprefix("tiny."), [tensor_type(operand.type) for operand in op.operands], arguments(op)
        ).assumptions
    ]


def _compare(found: Entry | NonScopEntry, expected: Entry | NonScopEntry, names: Mapping[str, str]) -> Iterator[str]:
    """Yield how an entry differs from the recomputed one, whose values are called `names` in the table."""
    if isinstance(expected, NonScopEntry) or isinstance(found, NonScopEntry):
        if type(found) is not type(expected):
            yield "the reads have an access map" if isinstance(found, NonScopEntry) else f"Non-SCoP: {expected.reason}"
        elif (found.shape, found.dims) != (expected.shape, expected.dims):
            yield f"the axes are {_list(expected.shape)}, {list(expected.dims)} of them in each dimension"
        elif list(found.inputs) != [names[each] for each in expected.inputs] or found.reason != expected.reason:
            yield f"the inputs are {_list(names[each] for each in expected.inputs)}, the reason is: {expected.reason}"
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


def _list(items: Iterable[Any]) -> str:
    return f"[{', '.join(map(str, items))}]"


def _same_index(entry: Entry, left: Any, right: Any) -> bool:
    """Say whether two indices are proved equal; what isl does not get to is not."""
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
