"""Compares what a kernel has left in an array with what a file says: `--expect NAME=FILE.npy`.

In: the file and the array, and tolerances as of `numpy.isclose` (zero: equal numbers). Out: how they differ, as text.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ptxsim.command import elements
from ptxsim.command.files import read_array
from ptxsim.errors import InputError


@dataclass(frozen=True, eq=False)
class Expectation:
    """What a launch should leave in the array, or variable, of a name; `found` gives what is there."""

    name: str
    expected: np.ndarray
    found: Callable[[], np.ndarray]
    rtol: float
    atol: float

    @classmethod
    def of_file(cls, name: str, path: Path, found: Callable[[], np.ndarray], rtol: float, atol: float) -> "Expectation":
        """The expectation of a file.

        Raises:
            FileError; InputError: the file's array has another shape or type.
        """
        there = found()
        try:
            expected = elements.from_stored(read_array(path), there.dtype)
            if expected.shape != there.shape:
                raise InputError(f"the file holds an array of shape {list(expected.shape)}, not {list(there.shape)}")
        except InputError as error:
            raise InputError(f"--expect {name}: {error.message}", str(path)) from None
        return cls(name, expected, found, rtol, atol)

    def difference(self) -> str | None:
        """How what is there differs, None where it agrees: NaN agrees with NaN."""
        found, wanted = np.atleast_1d(_wide(self.found())), np.atleast_1d(_wide(self.expected))
        with np.errstate(all="ignore"):
            same = (found == wanted) | (np.isnan(found) & np.isnan(wanted) if found.dtype.kind == "f" else False)
            distance = np.abs(found - wanted)
            if self.rtol or self.atol:
                same |= np.isfinite(wanted) & (distance <= self.atol + self.rtol * np.abs(wanted))
        if same.all():
            return None
        distance = np.where(same, 0, np.where(distance == distance, distance, np.inf))  # NaN differs most
        first, greatest = np.argwhere(~same)[0].tolist(), np.argwhere(distance == distance.max())[0].tolist()
        count = f"{int((~same).sum())} of {same.size} elements differ"
        return f"{count}; the first {_pair(first, found, wanted)}; the greatest {_pair(greatest, found, wanted)}"


def _wide(array: np.ndarray) -> np.ndarray:
    """Numbers in a type in which differences are exact enough, and integers do not wrap."""
    return array.astype(object if array.dtype.kind in "iu" else np.float64)


def _pair(place: list[int], found: np.ndarray, wanted: np.ndarray) -> str:
    return f"at {place}: {found[tuple(place)]}, expected {wanted[tuple(place)]}"
