"""Compare the values of two executors: the first element that is too far off, and the largest error.

In: arrays and a `Tolerance`. Out: a `Comparison`. NaN equals NaN, infinities must be the same, integers and bool too.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tinyc.diagnostics import TinycError
from tinyc.executors.tolerance import Tolerance


@dataclass(frozen=True)
class Mismatch:
    """The first element, in row-major order, that is too far off, and how many there are."""

    index: tuple[int, ...]
    actual: str
    expected: str
    error: float
    allowed: float
    count: int

    def __str__(self) -> str:
        at = f"element [{', '.join(map(str, self.index))}]" if self.index else "the one element"
        return (
            f"{at} is {self.actual} and should be {self.expected}: error {self.error:.3g}, allowed {self.allowed:.3g}; "
            f"{self.count} such element{'s' if self.count != 1 else ''}"
        )


@dataclass(frozen=True)
class Comparison:
    """One value against its truth: the largest error, the tolerance, the first mismatch.

    An error is infinite where NaN or infinity stands for a number, or a number for it.

    `kind` is "output" or "value", which is one on the way to the outputs.
    """

    name: str
    largest_error: float
    tolerance: Tolerance
    mismatch: Mismatch | None = None
    kind: str = "output"

    @property
    def ok(self) -> bool:
        """Whether every element is within the tolerance."""
        return self.mismatch is None

    def __str__(self) -> str:
        line = f"{self.kind} '{self.name}': largest error {self.largest_error:.3g} ({self.tolerance})"
        return line if self.mismatch is None else f"{line}; {self.mismatch}"


def compare(
    name: str, actual: np.ndarray, expected: np.ndarray, tolerance: Tolerance, kind: str = "output"
) -> Comparison:
    """Compare one output, or another value, element by element.

    Raises:
        TinycError: `VerificationFailed`: the arrays have different shapes or element types.
    """
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        found, wanted = (f"{each.dtype} {list(each.shape)}" for each in (actual, expected))
        raise TinycError("VerificationFailed", f"{kind} '{name}' is {found} and should be {wanted}")
    with np.errstate(all="ignore"):
        error, allowed = _errors(actual, expected, tolerance)
        wrong = np.flatnonzero(~(error <= allowed))
        largest = float(np.nan_to_num(error, nan=np.inf).max(initial=0.0))
    if not wrong.size:
        return Comparison(name, largest, tolerance, kind=kind)
    at = tuple(int(position) for position in np.unravel_index(wrong[0], actual.shape))
    mismatch = Mismatch(
        at, str(actual[at]), str(expected[at]), float(error.flat[wrong[0]]), float(allowed.flat[wrong[0]]), wrong.size
    )
    return Comparison(name, largest, tolerance, mismatch, kind)


def _errors(actual: np.ndarray, expected: np.ndarray, tolerance: Tolerance) -> tuple[np.ndarray, np.ndarray]:
    """The error of each element and what is allowed; equal ones have the error 0, NaN and infinity included."""
    same = (actual == expected) | ((actual != actual) & (expected != expected))
    left, right = actual.astype(np.float64), expected.astype(np.float64)
    distance = np.where(same, 0.0, np.abs(left - right))
    # Two 64-bit integers that f64 cannot tell apart differ nevertheless.
    distance = np.where(~same & (distance == 0), 1.0, distance)
    magnitude = np.where(np.isfinite(right), np.abs(right), 0.0)
    return distance, np.broadcast_to(tolerance.atol + tolerance.rtol * magnitude, distance.shape)


def compare_all(
    actual: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray], tolerances: Mapping[str, Tolerance]
) -> list[Comparison]:
    """Compare every output of `expected`, in its order."""
    return [compare(name, actual[name], value, tolerances[name]) for name, value in expected.items()]
