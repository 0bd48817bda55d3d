"""How complicated a piecewise access may be; what is more is `ExcessivePiecewise`.

An access over a limit is not analysed: the value that it goes through is materialised, and read as a tensor. Judgement,
not measured thresholds (recipe on polyhedral analysis, §5): programs that people write stay far below.
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass

from tinyc.analysis.movement import Guard
from tinyc.expr import axes
from tinyc.expr.axes import AxisExpr, Index, Shape

#: Distinct pad guards of an access.
MAX_GUARDS = 16
#: Convex pieces of an access (`pieces`): two for each guard that can fail on both sides, so 16 of those are too many.
MAX_PIECES = 32
#: Distinct floor divisions in the rows and the guards of an access.
MAX_FLOOR_DIVISIONS = 8
#: How deep floor divisions may stand inside each other.
MAX_DIVISION_NESTING = 3
#: The magnitude of a coefficient, a divisor or a constant: what 64-bit index arithmetic holds.
MAX_NUMBER = 2**62 - 1
#: Axes that a dimension may be split into, for reshapes of symbolic sizes.
MAX_AXES = 8


@dataclass(frozen=True)
class Excess:
    """An access over a limit: `counts` are (what is counted, count, limit), those within their limit too."""

    counts: tuple[tuple[str, int, int], ...]

    def of(self, access: str) -> str:
        """The message about an access, which says whose it is: ``of("the access to 'x'")``."""
        counts = ", ".join(f"{what} {count} of {limit}" for what, count, limit in self.counts)
        return f"ExcessivePiecewise: {access} is over a limit: {counts}"


@functools.lru_cache(maxsize=1 << 14)
def excess(index: Index, guards: tuple[Guard, ...], domain: Shape) -> Excess | None:
    """The counts of an access over the axes of `domain` if it is over a limit, or None."""
    expressions = _expressions(index, guards)
    counts = (
        ("pad guards", len(guards), MAX_GUARDS),
        ("pieces", pieces(guards, domain), MAX_PIECES),
        ("floor divisions", len(_divisions(expressions)), MAX_FLOOR_DIVISIONS),
        ("their nesting", max(map(axes.nesting, expressions), default=0), MAX_DIVISION_NESTING),
    )
    return Excess(counts) if any(count > limit for _, count, limit in counts) else overflow(index, guards)


def pieces(guards: Iterable[Guard], domain: Shape) -> int:
    """Into how many convex pieces guards cut the box of `domain`.

    These are the inside and, for each guard, where it is the first to fail, below its range or above it; a side that
    the sizes of the axes rule out is not a piece.
    """
    count = 1
    for guard in guards:
        count += sum(axes.may_leave(guard.expression, guard.size, domain))
    return count


@functools.lru_cache(maxsize=1 << 14)
def overflow(index: Index, guards: tuple[Guard, ...]) -> Excess | None:
    """Which number of an access 64-bit index arithmetic may not hold, or None."""
    expressions = _expressions(index, guards)
    expressions += tuple(division.numerator for division in _divisions(expressions))
    greatest = max((_greatest(expression) for expression in expressions), default=0)
    if greatest <= MAX_NUMBER:
        return None
    return Excess((("greatest number", greatest, MAX_NUMBER),))


def _expressions(index: Index, guards: tuple[Guard, ...]) -> tuple[AxisExpr, ...]:
    return (*index, *(guard.expression for guard in guards))


def _divisions(expressions: tuple[AxisExpr, ...]) -> frozenset[axes.Floor]:
    return frozenset[axes.Floor]().union(*map(axes.divisions, expressions))


def _greatest(expression: AxisExpr) -> int:
    """The greatest magnitude of a number in an expression, those inside divisions aside."""
    numbers = [coefficient for _, coefficient in expression.terms]
    numbers += [atom.divisor for atom, _ in expression.terms if isinstance(atom, axes.FloorDiv)]
    number = expression.constant
    numbers += [number] if isinstance(number, int) else [coefficient for _, coefficient in number.terms]
    return max(map(abs, numbers))
