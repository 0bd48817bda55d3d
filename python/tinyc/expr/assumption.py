"""Relations between extents: those that a program states, and those without which an extent is not a size.

In: extents. Out: `Assumption`s, which stand in the IR as `tiny.assume` and `exec.assume` and are checked before
anything runs. Pure Python: the runtime uses it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tinyc.diagnostics import Where
from tinyc.expr import extents
from tinyc.expr.extents import Dim


@dataclass(frozen=True)
class Assumption:
    """A relation that no type decides, and that has to hold for a program to run: ``==`` (`eq`) or ``<=`` (`le`).

    `where` is the node that relies on it, the first of several.
    """

    lhs: Dim
    predicate: str
    rhs: Dim
    where: Where = field(default=Where(), compare=False)

    def relates(self, lhs: int, rhs: int) -> bool:
        """Whether the relation holds when its sides have these values."""
        return lhs == rhs if self.predicate == "eq" else lhs <= rhs

    def __str__(self) -> str:
        return f"{self.lhs} {'==' if self.predicate == 'eq' else '<='} {self.rhs}"


def required(dims: Iterable[Dim], stated: Sequence[Assumption]) -> list[Assumption]:
    """The relations that make sizes of `dims`: those stated, divisors of at least 1, no extent below 0.

    What is so for all sizes, or is stated already, is left out.
    """
    found = dict.fromkeys(stated)
    known = {assumption.rhs - assumption.lhs for assumption in stated if assumption.predicate == "le"}
    for needed in _of_sizes(list(dims), stated):
        difference = needed.rhs - needed.lhs
        if difference not in known and not extents.is_nonnegative(difference):
            found[needed] = None
    return list(found)


def _of_sizes(dims: Sequence[Dim], stated: Sequence[Assumption]) -> Iterator[Assumption]:
    """The relations, each after those that make it one that can be evaluated."""
    for dim in (*dims, *(side for assumption in stated for side in (assumption.lhs, assumption.rhs))):
        yield from (Assumption(1, "le", divisor) for divisor in extents.divisors(dim))
    yield from (Assumption(0, "le", dim) for dim in dims)
