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
from ptxsim.variables import ModuleVariable


@dataclass(frozen=True, eq=False)
class Expectation:
    """What a launch should leave in the array, or variable, of a name; `found` gives what is there."""

    name: str
    expected: np.ndarray
    found: Callable[[], np.ndarray]
    rtol: float
    atol: float

    @classmethod
    def of_file(
        cls, name: str, path: Path, holder: np.ndarray | ModuleVariable, rtol: float, atol: float
    ) -> "Expectation":
        """The expectation of a file.

        Raises:
            FileError; InputError: the file's array has another shape or type, or other bytes than the variable.
        """
        given = read_array(path)
        try:
            if isinstance(holder, ModuleVariable):
                wanted = _as_variable(given, holder)
                return cls(name, wanted, lambda: holder.read(wanted.dtype).reshape(wanted.shape), rtol, atol)
            expected = elements.from_stored(given, holder.dtype)
            if expected.shape != holder.shape:
                raise InputError(f"the file holds an array of shape {list(expected.shape)}, not {list(holder.shape)}")
        except InputError as error:
            raise InputError(f"--expect {name}: {error.message}", str(path)) from None
        return cls(name, expected, lambda: holder, rtol, atol)

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


def _as_variable(given: np.ndarray, variable: ModuleVariable) -> np.ndarray:
    """A file's array as numbers that a variable may hold, in the file's type: PTX's may say bytes, `.b8`, of floats."""
    try:
        array = elements.from_stored(given, variable.dtype)
    except InputError:
        array = elements.from_stored(given, None)
    variable.require(array)
    return array


def _wide(array: np.ndarray) -> np.ndarray:
    """Numbers in a type in which differences are exact enough, and integers do not wrap."""
    return array.astype(object if array.dtype.kind in "iu" else np.float64)


def _pair(place: list[int], found: np.ndarray, wanted: np.ndarray) -> str:
    return f"at {place}: {found[tuple(place)]}, expected {wanted[tuple(place)]}"
