"""Contenders by turns: what each round of all of them took, and their ratios.

In: functions that run something once and tell its seconds. Out: medians, and ratios of rounds with their spread: what
disturbs the machine, or slows it down as it gets hot, meets all contenders of a round alike.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median, quantiles

#: Rounds of a measurement at the least and at the most.
LEAST_ROUNDS, MOST_ROUNDS = 11, 201
WARM_ROUNDS = 3


@dataclass(frozen=True)
class Ratio:
    """The median of the ratios of rounds, and the quartiles around it."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.3f} ({self.low:.3f} … {self.high:.3f})"


@dataclass(frozen=True)
class Measured:
    """The seconds of each contender, by round."""

    seconds: Mapping[str, Sequence[float]]

    def median(self, name: str) -> float:
        """Its median."""
        return median(self.seconds[name])

    def ratio(self, above: str, below: str) -> Ratio | None:
        """How often as long one takes as another; None where one is missing."""
        if above not in self.seconds or below not in self.seconds:
            return None
        ratios = [a / b for a, b in zip(self.seconds[above], self.seconds[below], strict=True)]
        low, _, high = quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3
        return Ratio(median(ratios), low, high)


def measure(contenders: Mapping[str, Callable[[], float]], seconds: float) -> Measured:
    """Run contenders by turns for about so many seconds; each begins as many rounds as any other."""
    names = list(contenders)
    warm = [sum(contenders[name]() for name in names) for _ in range(WARM_ROUNDS)]
    rounds = max(LEAST_ROUNDS, min(MOST_ROUNDS, round(seconds / max(warm[-1], 1e-9))))
    found: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds):
        first = turn % max(1, len(names))
        for name in (*names[first:], *names[:first]):
            found[name].append(contenders[name]())
    return Measured(found)


def geometric_mean_and_least(ratios: Sequence[float]) -> tuple[float, float]:
    """Of several ratios."""
    return geometric_mean(ratios), min(ratios)
