"""What every IndexBook entry must hold to be believed, checked without the program that it is about.

In: an `IndexBook`, and what the program assumes of its extents. Out: the violations, each with the value. Specification
000 §1.3 (the five invariants) and §13 (a missing guard of a division stops verification).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tinyc.analysis.index_book.book import Entry, IndexBook, InputAccess, NonScopEntry
from tinyc.expr import axes
from tinyc.expr.assumption import Assumption
from tinyc.expr.axes import Axis, AxisExpr, Shape
from tinyc.expr.extents import Dim
from tinyc.expr.isl import TooHard


@dataclass(frozen=True)
class BrokenInvariant:
    """The entry of a value that breaks an invariant, and how."""

    value: str
    message: str


def broken_invariants(book: IndexBook, assumptions: Sequence[Assumption] = ()) -> Iterator[BrokenInvariant]:
    """The violations of a book, whose sizes are as `assumptions` say. What cannot be proved is one."""
    shapes: dict[str, Shape] = {}
    for entry in book.entries:
        checker = _Checker(shapes, assumptions)
        yield from (BrokenInvariant(entry.value, message) for message in checker.violations(entry))
        shapes[entry.value] = entry.shape[: sum(entry.dims)]


class _Checker:
    """Checks one entry; `shapes` are the axes of the values before it."""

    def __init__(self, shapes: Mapping[str, Shape], assumptions: Sequence[Assumption]) -> None:
        self.shapes, self.assumptions = shapes, assumptions

    def violations(self, entry: Entry | NonScopEntry) -> Iterator[str]:
        """The violations of an entry."""
        if entry.value in self.shapes:
            yield "the value has two entries"
        inputs = entry.inputs if isinstance(entry, NonScopEntry) else [each.value for each in entry.inputs]
        unknown = [value for value in inputs if value not in self.shapes]
        if unknown:
            yield f"the inputs {', '.join(unknown)} have no entry before it"
        elif isinstance(entry, NonScopEntry):
            if not entry.reason:
                yield "Non-SCoP without a reason"
        else:
            yield from _axis_violations(entry)
            for each in entry.inputs:
                yield from self._map_violations(entry, each)
            yield from _reduced_axis_violations(entry)
            yield from self._guard_violations(entry)

    def _map_violations(self, entry: Entry, read: InputAccess) -> Iterator[str]:
        """The violations of a map: its rank, what it is built from, its constants, its bounds."""
        shape = self.shapes[read.value]
        if len(read.map) != len(shape):
            yield f"the map to {read.value} has {len(read.map)} rows, and the operand {len(shape)} axes"
            return
        for position, (row, size) in enumerate(zip(read.map, shape, strict=True)):
            fault = _not_quasi_affine(row, entry.shape)
            if fault is not None:
                yield f"row {row} of the map to {read.value} {fault}"
            elif size == 1 and 0 not in entry.shape and row != axes.constant(0) and not _guarded(entry, row, size):
                yield f"axis {position} of {read.value} is repeated, and read at {row}, not at 0"
            elif not _guarded(entry, row, size) and not self._within(entry, row, size):
                yield f"row {row} of the map to {read.value} is not proved to be in [0, {size}), and has no guard"

    def _within(self, entry: Entry, row: AxisExpr, size: Dim) -> bool:
        """Whether a row is within an axis, wherever the guards let read: by the closed form, else by isl."""
        if 0 in entry.shape or _is_whole_axis(entry, row, size):
            return True
        if not any(axes.may_leave(row, size, entry.shape)):
            return True
        from tinyc.analysis.isl.polyhedra import contains  # islpy takes its time to load

        below = [each.rhs - each.lhs for each in self.assumptions]
        below += [each.lhs - each.rhs for each in self.assumptions if each.predicate == "eq"]
        known = [axes.constant(dim) for dim in below]
        known += [row for guard in entry.guards for row in _bounds(guard.expression, guard.size)]
        try:
            return contains(entry.shape, known, _bounds(row, size))
        except TooHard:
            return False

    def _guard_violations(self, entry: Entry) -> Iterator[str]:
        """The violations of the guards: each is about one row of the only input, in the order of the rows."""
        if not entry.guards:
            return
        if len(entry.inputs) != 1:
            yield f"{len(entry.guards)} guards, and {len(entry.inputs)} inputs"
            return
        (read,) = entry.inputs
        rows = list(zip(read.map, self.shapes[read.value], strict=False))
        found = [(guard.expression, guard.size) for guard in entry.guards]
        if [row for row in rows if row in found] != found:
            yield f"the guards {', '.join(map(str, entry.guards))} are not about rows of the map, in their order"
        if len({repr(guard.value) for guard in entry.guards}) > 1:
            yield "the guards of one pad have different values"


def _bounds(row: AxisExpr, size: Dim) -> tuple[AxisExpr, AxisExpr]:
    """The two expressions that are at least 0 where ``0 <= row < size``."""
    return row, row * -1 + (size - 1)


def _is_whole_axis(entry: Entry, row: AxisExpr, size: Dim) -> bool:
    """Whether a row is an axis of that size: most are."""
    position = axes.plain_axis(row)
    return position is not None and entry.shape[position] == size


def _guarded(entry: Entry, row: AxisExpr, size: Dim) -> bool:
    return any((guard.expression, guard.size) == (row, size) for guard in entry.guards)


def _axis_violations(entry: Entry) -> Iterator[str]:
    """The violations of the axes: the kept ones come first, and make up the dimensions."""
    kinds = [axis.kind for axis in entry.axes]
    kept = [kind for kind in kinds if kind != "reduce"]
    if kinds != [*kept, *["reduce"] * (len(kinds) - len(kept))]:
        yield f"the axes are {', '.join(kinds)}: those that are summed up come last"
    if sum(entry.dims) != len(kept) or any(count < 1 for count in entry.dims):
        yield f"dimensions of {list(entry.dims)} axes, and {len(kept)} kept axes"
    used = frozenset[int]().union(*(axes.positions(row) for each in entry.inputs for row in each.map))
    for position, axis in enumerate(entry.axes):
        if axis.kind == "broadcast" and position in used:
            yield f"i{position} is a broadcast axis, and an operand is read along it"
        if axis.kind == "iter" and entry.inputs and (position not in used or axis.size == 1):
            yield f"i{position} is not a broadcast axis, and no operand is read along it"


def _reduced_axis_violations(entry: Entry) -> Iterator[str]:
    """The violations of the reduced axes: the k-th is read as it is, at the k-th recorded position."""
    count = sum(axis.kind == "reduce" for axis in entry.axes)
    if len(entry.reduce_axes) != count:
        yield f"{count} axes are summed up, and {len(entry.reduce_axes)} are recorded"
        return
    expected = axes.identity(entry.shape)[len(entry.axes) - count :]
    if any(position not in range(len(each.map)) for each in entry.inputs for position in entry.reduce_axes):
        yield f"the operand has no axes {list(entry.reduce_axes)}"
    elif any(tuple(each.map[position] for position in entry.reduce_axes) != expected for each in entry.inputs):
        yield f"the operand's axes {list(entry.reduce_axes)} are not read along the axes that are summed up"


def _not_quasi_affine(row: AxisExpr, shape: Shape) -> str | None:
    """Why a row is not a sum of axes of `shape` and divisions by positive numbers, or None."""
    for atom, coefficient in row.terms:
        if isinstance(atom, Axis):
            if atom.position >= len(shape):
                return f"has the axis i{atom.position}, and there are {len(shape)}"
        elif not _is_number(atom.divisor) or atom.divisor < 2:
            return "is not affine with floor divisions by numbers"
        elif (fault := _not_quasi_affine(atom.numerator, shape)) is not None:
            return fault
        if not _is_number(coefficient) or coefficient == 0:
            return "has a coefficient that is not a number, or 0"
    return None


def _is_number(value: object) -> bool:
    return isinstance(value, int)
