"""Why a reduce is not of a pattern (a contraction, a scan, a fold): as data, and as a sentence for people."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum


class Reason(StrEnum):
    """The reasons against a pattern; the values are the names that other tools read."""

    NOT_A_SUM = "not-a-sum"
    NO_PRODUCT = "no-product"
    SHARED_PRODUCT = "shared-product"
    NOT_AFFINE = "not-affine"
    UNSPLIT_FLOOR = "unsplit-floor"
    FLIPPED = "flipped"
    DIAGONAL = "diagonal"
    PAD_VALUE = "pad-value"
    FOREIGN_MASK = "foreign-mask"
    ONE_OPERAND_REDUCE = "one-operand-reduce"
    NO_OPERAND_REDUCE = "no-operand-reduce"
    OUTER_PRODUCT = "outer-product"
    DOT_PRODUCT = "dot-product"
    SQUARE = "square"
    OVERLAPPING_ROW = "overlapping-row"
    WINDOWS_IN_BOTH = "windows-in-both"
    SUMMED_AXES = "summed-axes"
    NO_BOUND = "no-bound"
    NOT_RUNNING = "not-running"
    NOT_ALL_ELEMENTS = "not-all-elements"
    NO_TAP = "no-tap"


@dataclass(frozen=True)
class Rejected:
    """A reduce that is not of the pattern that was asked for.

    `reason` calls the axes of the reduce's operand `i0, i1, …`, and parts of one `i0.0, i0.1, …`, the coarsest first.
    `axes` are positions in the operand of the reduce, `rows` pairs of an operand (`lhs`, `rhs`; `source` where there is
    one) and a row of its access map: those that the reason is about.
    """

    code: Reason
    reason: str
    axes: tuple[int, ...] = ()
    rows: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        return f"{self.reason} [{self.code}]"

    def named(self, names: Sequence[str]) -> "Rejected":
        """It with these names for the axes `i0, i1, …`."""
        found = dict(zip((f"i{position}" for position in range(len(names))), names, strict=True))
        reason = re.sub(r"\bi\d+\b", lambda match: found.get(match[0], match[0]), self.reason)
        return replace(self, reason=reason)


class NoPattern(Exception):
    """Raised inside a detection; it carries the rejection that the detection returns."""

    def __init__(self, code: Reason, reason: str, axes: tuple[int, ...] = (), rows: tuple[tuple[str, int], ...] = ()):
        super().__init__(reason)
        self.rejected = Rejected(code, reason, axes, rows)
