"""`tinyc explain --access`: how a value reads, movement by movement, down to where its elements stand."""

from collections.abc import Iterator
from dataclasses import dataclass

from tinyc.analysis.index_book.book import Entry, NonScopEntry
from tinyc.analysis.movement import Guard, Index
from tinyc.analysis.poly.block import PolyBlock
from tinyc.analysis.tiny_ops import producer_of
from tinyc.dialects.tiny import ops as tiny
from tinyc.explain.buffer_reads import buffer_read
from tinyc.explain.subject import Line, Subject, short
from tinyc.expr import axes
from tinyc.mlir import func, ir


def access_lines(subject: Subject, name: str) -> Iterator[Line]:
    """A value with its axes, how it reads each operand through the movements below, and who reads it."""
    value = subject.value(name)
    name = subject.names[value]
    entry, place = subject.book[name], subject.place(value)
    made = _made(subject, value)
    yield Line("access", f"{name}: {subject.type_of(value)}, {made}" + (f", at {place}" if place else ""))
    if isinstance(entry, NonScopEntry):
        yield Line("Non-SCoP", entry.reason)
        wholes = f"{', '.join(entry.inputs)} as a whole, from memory"
        yield Line("reads", buffer_read(subject, value, entry.inputs[0]) or wholes)
    else:
        yield from _axis_lines(entry, subject.blocks.get(value))
        yield from (Line("", text) for text in subject.split(value))
        yield from _operand_lines(subject, name, entry)
    yield Line("read by", _readers(subject, value))


def _made(subject: Subject, value: ir.Value) -> str:
    """The maker of a value, an op or nothing in the program, with its block and node where they are called else."""
    producer, node, block = producer_of(value), subject.node(value), subject.blocks.get(value)
    made = "an input" if producer is None else short(producer)
    made += "" if block is None or block.name == subject.names[value] else f", block {block.name}"
    return made if node is None else f"{made}, node {node}"


def _axis_lines(entry: Entry, block: PolyBlock | None) -> Iterator[Line]:
    """Each axis with its size, what it does, and what it is called elsewhere: by its block, or its label."""
    if not entry.axes:
        yield Line("axes", "none: one element")
    called = [None] * len(entry.axes) if block is None else _names_in(block, entry)
    for position, (axis, name) in enumerate(zip(entry.axes, called, strict=True)):
        if name is not None:
            pairing = f", called {name} by --block" if name != f"i{position}" else ""
        else:
            pairing = f", labelled {axis.label}" if axis.label else ""
        yield Line("" if position else "axes", f"i{position} < {axis.size}  {axis.kind}{pairing}")


def _names_in(block: PolyBlock, entry: Entry) -> list[str]:
    """The names of an entry's axes in its block, whose axes are the operand's: there, reduced ones stay put."""
    kept = [position for position in range(len(entry.axes)) if position not in entry.reduce_axes]
    return [block.statement.axes[position] for position in (*kept, *entry.reduce_axes)]


def _operand_lines(subject: Subject, name: str, entry: Entry) -> Iterator[Line]:
    """The chain below a movement, or those below each operand of another op."""
    value = subject.value(name)
    producer = producer_of(value)
    if producer is not None and isinstance(producer, tiny.MovementOp):
        yield from _chain(subject, name, entry, axes.identity(entry.shape), "chain")
        return
    for number, operand in enumerate(entry.inputs):
        title = "reads" if len(entry.inputs) == 1 else f"reads {number}"
        yield from _chain(subject, operand.value, entry, operand.map, title)


@dataclass
class _State:
    """Where a chain has come to: the index there, and the guards that were left on the way."""

    index: Index
    guards: list[Guard]


def _chain(subject: Subject, name: str, entry: Entry, index: Index, title: str) -> Iterator[Line]:
    """Each movement from the value `name`, read at `index` over the entry's axes, down to what holds the data."""
    state = _State(index, [])
    start = _element(name, index)
    yield Line(title, start)
    end, reason, stop = name, None, None
    stops = _stops(subject, entry)
    while True:
        producer, below = producer_of(subject.value(end)), subject.book[end]
        if producer is None or not isinstance(producer, tiny.MovementOp):
            break
        stop = stop or stops.get(end)
        if isinstance(below, NonScopEntry):
            reason = f"{end} is Non-SCoP, read from memory: {below.reason}"
            break
        (operand,) = below.inputs
        added = _step(state, below, entry)
        end = operand.value
        yield Line("", f"  = {_element(end, state.index)}  by {short(producer)}{_padded(added)}")
    if start != _element(end, state.index):
        yield Line("composed", f"{start} = {_element(end, state.index)}")
    for number, guard in enumerate(state.guards):
        yield Line("" if number else "guards", f"{_condition(guard)}, else {guard.value}")
    if reason:
        yield Line("ends", reason)
    if stop:
        yield Line("stops", f"at {stop.name}, a block of its own: {stop.attributes['materialized']}")


def _stops(subject: Subject, entry: Entry) -> dict[str, PolyBlock]:
    """The blocks at which the block of an entry stops reading through movements, by their values' names."""
    block = subject.blocks.get(subject.value(entry.value))
    read = [access.producer for access in block.accesses if access.producer] if block else []
    cut = [each for each in read if "materialized" in each.attributes]
    return {subject.names[subject.computed[each.name]]: each for each in cut}


def _step(state: _State, below: Entry, entry: Entry) -> list[Guard]:
    """Continue a chain through the movement that `below` is about, and return the guards that it adds."""
    conditions = axes.compose(tuple(guard.expression for guard in below.guards), state.index, entry.shape)
    added = [Guard(each, guard.size, guard.value) for each, guard in zip(conditions, below.guards, strict=True)]
    state.guards += added
    state.index = axes.compose(below.inputs[0].map, state.index, entry.shape)
    return added


def _padded(added: list[Guard]) -> str:
    return f" where {' and '.join(map(_condition, added))}" if added else ""


def _condition(guard: Guard) -> str:
    return f"0 <= {guard.expression} < {guard.size}"


def _element(name: str, index: Index) -> str:
    return f"{name}[{', '.join(map(str, index))}]"


def _readers(subject: Subject, value: ir.Value) -> str:
    found: list[str] = []
    for use in value.uses:
        is_result = isinstance(use.owner, func.ReturnOp)
        found.append("the function's result" if is_result else subject.names[use.owner.results[0]])
    return ", ".join(dict.fromkeys(reversed(found))) or "nothing"
