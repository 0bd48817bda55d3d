"""Parameters of tests of which CI takes a part, and `--long` all: products, seeds."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest


def pairwise(only: Callable[..., bool] | None = None, **axes: Iterable[Any]) -> pytest.MarkDecorator:
    """Return the decorator of a test with the product of `axes`; cases that bring no new pair of values are long.

    As few cases as a greedy choice finds hold each pair of values of two axes. Where `only` is given the product has
    the cases that it is true of, by the names of the axes.
    """
    values = [list(each) for each in axes.values()]
    cases = [
        case
        for case in itertools.product(*(range(len(each)) for each in values))
        if only is None or only(**{name: each[at] for name, each, at in zip(axes, values, case, strict=True)})
    ]
    chosen = _covering(cases)
    params = [
        pytest.param(
            *(each[at] for each, at in zip(values, case, strict=True)),
            marks=() if case in chosen else pytest.mark.long,
            id="-".join(_name(each[at], at) for each, at in zip(values, case, strict=True)),
        )
        for case in cases
    ]
    return pytest.mark.parametrize(tuple(axes), params)


def for_each_file(paths: Iterable[Path], root: Path) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """Return the decorator of a check of one file, which makes it a test of them all.

    What is wrong is told of each file. Thousands of tests that take less than a millisecond each would take pytest,
    which sends them to its workers one by one, longer than the checks.
    """

    def decorate(check: Callable[[Path], None]) -> Callable[[], None]:
        def checked_together() -> None:
            wrong: dict[str, str] = {}
            for path in paths:
                try:
                    check(path)
                except AssertionError as error:
                    wrong[str(path.relative_to(root))] = str(error)
            assert not wrong, "\n\n".join(f"{path}: {message}" for path, message in wrong.items())

        checked_together.__doc__ = check.__doc__
        return checked_together

    return decorate


def seeds(few: int, all_of_them: int) -> pytest.MarkDecorator:
    """Return the decorator of a test with a `seed`, of which CI takes the first few."""
    later = (pytest.param(seed, marks=pytest.mark.long) for seed in range(few, all_of_them))
    return pytest.mark.parametrize("seed", [*range(few), *later])


def in_turn(first: str, second: str, values: Iterable[Any], others: Sequence[Any]) -> pytest.MarkDecorator:
    """Return the decorator of a test with the product of two axes; in CI a value meets one of the `others`, in turn."""
    params = [
        pytest.param(
            value,
            other,
            marks=() if number % len(others) == place else pytest.mark.long,
            id=f"{_name(value, number)}-{_name(other, place)}",
        )
        for number, value in enumerate(values)
        for place, other in enumerate(others)
    ]
    return pytest.mark.parametrize((first, second), params)


def _covering(cases: Sequence[tuple[int, ...]]) -> set[tuple[int, ...]]:
    """Choose cases that have each pair of two axes' values that any case has."""
    pairs = {case: {(i, j, case[i], case[j]) for i, j in itertools.combinations(range(len(case)), 2)} for case in cases}
    missing, chosen = set[tuple[int, ...]]().union(*pairs.values()), set[tuple[int, ...]]()
    while missing:
        best = max(cases, key=lambda case: len(pairs[case] & missing))
        chosen.add(best)
        missing -= pairs[best]
    return chosen


def _name(value: Any, at: int) -> str:
    name = getattr(value, "name", None) or getattr(value, "__name__", None)
    if isinstance(name, str):
        return name
    return str(value) if isinstance(value, str | int) else str(at)
