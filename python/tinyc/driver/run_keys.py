"""The keys of a model's runs: which random numbers a run has, by its seed and its number.

In: the `seed` and the `offset` that the user gives to a run. Out: its key, for the random numbers of all its kernels.
"""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from tinyc.diagnostics import TinycError
from tinyc.expr.extents import natural

#: How many numbers a seed may be.
_WORDS = 2**64


class RunKeys:
    """Counts the runs of a model by their seeds, on any thread."""

    def __init__(self) -> None:
        self._next_offset: dict[int, int] = {}
        self._counting = threading.Lock()

    @contextlib.contextmanager
    def of(self, seed: Any, offset: Any) -> Iterator[int]:
        """The key of a run within the block, which is one more with its seed unless it fails.

        Raises:
            TinycError: `InputMismatch`: one is no number of 64 bits, or there is an offset alone.
        """
        if seed is None:
            raise TinycError("InputMismatch", f"offset is {offset!r}, and there is no seed that it is for; give one")
        from tinyc.executors.philox import run_key  # most runs have no seed

        number = _word("seed", seed)
        with self._counting:
            before = self._next_offset.get(number, 0)
            place = before if offset is None else _word("offset", offset)
            self._next_offset[number] = after = (place + 1) % _WORDS
        try:
            yield run_key(number, place)
        except BaseException:
            with self._counting:
                if self._next_offset[number] == after:  # no other thread has run since
                    self._next_offset[number] = before
            raise


def _word(name: str, value: Any) -> int:
    number = natural(value, _WORDS - 1)
    if number is None:
        raise TinycError("InputMismatch", f"{name} is {value!r}; give an integer in 0 … 2^64 - 1")
    return number
