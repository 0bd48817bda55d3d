"""Which instances of two statements touch the same element, as text in isl's notation: a closed form, without isl.

A relation is said within the domains of both statements, in the smallest form: what an axis of one statement equals is
written in its place, guards that the domains imply are left out, as isl's `gist` does it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tinyc.analysis.isl.statement import Statement, isl_identifier
from tinyc.analysis.movement import Guard, Index
from tinyc.expr import axes


@dataclass(frozen=True)
class Touch:
    """The element at `index` of some memory, as the instances of `statement` touch it that pass the guards."""

    statement: Statement
    index: Index
    guards: tuple[Guard, ...] = ()


def relation_text(first: Touch, second: Touch, aligned: bool = True, distinct: bool = False) -> str:
    """The pairs of instances that touch one element, or all pairs where the elements are not `aligned`.

    With `distinct`, both statements are the same one, and an instance makes no pair with itself.
    """
    left, right = _over_the_same_names(first.statement, second.statement)
    entries, conditions = list(right.axes), []
    if aligned:
        right, entries, rows = _named_alike(left, right, first.index, second.index)
        conditions = [f"{left.affine(first.index[k])} = {right.affine(second.index[k])}" for k in rows]
        for statement, touch, other in ((left, first, second), (right, second, first)):
            conditions += [each for guard in touch.guards for each in _needed_bounds(statement, guard, touch, other)]
    if distinct:
        pairs = zip(left.axes, entries, strict=True)
        conditions.append(f"({' or '.join(f'{one} != {other}' for one, other in pairs if one != other) or 'false'})")
    return left.set_text([left.tuple_text, f"{right.name}[{', '.join(entries)}]"], conditions)


def _over_the_same_names(first: Statement, second: Statement) -> tuple[Statement, Statement]:
    """The statements with the parameters of both, and with axes that are called like nothing else."""
    parameters: dict[str, str] = {}
    for extent, name in (*first.parameters, *second.parameters):
        if extent not in parameters:
            parameters[extent] = isl_identifier(name, parameters.values())
    taken = list(parameters.values())
    found: list[Statement] = []
    for statement in (first, second):
        names: list[str] = []
        for name in statement.axes:
            names.append(isl_identifier(name, (*taken, *names)))
        taken += names
        found.append(replace(statement, axes=tuple(names), parameters=tuple(parameters.items())))
    return found[0], found[1]


def _named_alike(
    left: Statement, right: Statement, write: Index, read: Index
) -> tuple[Statement, list[str], list[int]]:
    """Rename the axes of `right` to what they must equal: an axis of `left`, or an expression over its axes.

    Returns `right` with its axes renamed, the entries of its tuple, and the rows that no name stands for yet.
    """
    entries = list(right.axes)
    rest = [row for row in range(len(write)) if write[row].terms or read[row].terms]
    plain = {row: (axes.plain_axis(write[row]), axes.plain_axis(read[row])) for row in rest}
    for row, (mine, other) in plain.items():
        if (
            mine is not None
            and other is not None
            and left.axes[mine] not in entries
            and _is_free(right, entries, other)
        ):
            entries[other] = left.axes[mine]
            rest.remove(row)
    for row, (_, other) in plain.items():
        if row in rest and other is not None and _is_free(right, entries, other):
            entries[other] = left.affine(write[row])
            rest.remove(row)
    names = tuple(entry if entry.isidentifier() else f"({entry})" for entry in entries)
    return replace(right, axes=names), entries, rest


def _is_free(right: Statement, entries: Sequence[str], axis: int) -> bool:
    return entries[axis] == right.axes[axis]


def _needed_bounds(statement: Statement, guard: Guard, touch: Touch, other: Touch) -> Iterator[str]:
    """The ends of a guard of `touch` that neither its box implies nor that of `other`, which touches the same element.

    A pad's guard mostly bounds what is a row of the index too, by the extent that the other statement has there.
    """
    below, above = axes.may_leave(guard.expression, guard.size, statement.shape)
    for mine, theirs in zip(touch.index, other.index, strict=True):
        distance = guard.expression - mine
        if not distance.terms:
            leaves = axes.may_leave(theirs + distance, guard.size, other.statement.shape)
            below, above = below and leaves[0], above and leaves[1]
    text = statement.affine(guard.expression)
    if below and above:
        yield f"0 <= {text} < {statement.extent(guard.size)}"
    elif below:
        yield f"{text} >= 0"
    elif above:
        yield f"{text} < {statement.extent(guard.size)}"
