"""A pair of instances that shows why a schedule is illegal."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Witness:
    """The consumer's instance needs the producer's, which runs in another tile, or later.

    `parameters` are sizes for which both exist; `text` says all of it: ``max[0, 1] → exp[0, 0], N = 2``.
    """

    producer: tuple[int, ...]
    consumer: tuple[int, ...]
    parameters: Mapping[str, int]
    text: str

    def __str__(self) -> str:
        return self.text
