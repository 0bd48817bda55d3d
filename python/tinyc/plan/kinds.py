"""What a value of a plan may be: a small vocabulary of kinds, each of which says what is wrong with a value.

In: values as JSON has them (a tuple is as good as a list). Out: `Problem`s, each with the path to the value inside the
field, the value, and what is allowed; or the value in canonical order. A kind looks no deeper than it is itself, so no
value is too deep for it.
"""

import abc
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeGuard

from tinyc.diagnostics import either, suggest

Path = tuple[str | int, ...]


class Problem(NamedTuple):
    """The violation of one value, and the way to it: the field's name, then keys and positions."""

    path: Path
    message: str


class Kind(abc.ABC):
    """A set of values."""

    @abc.abstractmethod
    def problems(self, value: object, path: Path) -> Iterator[Problem]:
        """Yield what keeps `value`, which stands at `path`, from being one of the set."""

    def ordered(self, value: Any) -> Any:
        """A value of the set as JSON has it, such that equal values have their entries in equal order."""
        return value


@dataclass(frozen=True)
class Integer(Kind):
    """An integer in `low` … `high` that is a multiple of `step`; true and false are none."""

    low: int
    high: int
    step: int = 1

    def problems(self, value: object, path: Path) -> Iterator[Problem]:
        """Yield that the value is not such an integer."""
        number = value if isinstance(value, int) and not isinstance(value, bool) else None
        if number is not None and self.low <= number <= self.high and number % self.step == 0:
            return
        what = "an integer" if self.step == 1 else f"a multiple of {self.step}"
        yield _unlike(path, value, f"{what} in {self.low} … {self.high}")


@dataclass(frozen=True)
class Boolean(Kind):
    """True or false."""

    def problems(self, value: object, path: Path) -> Iterator[Problem]:
        """Yield that the value is neither."""
        if not isinstance(value, bool):
            yield _unlike(path, value, "true or false")


@dataclass(frozen=True)
class Choice(Kind):
    """One of a few texts or integers."""

    values: tuple[str | int, ...]

    def problems(self, value: object, path: Path) -> Iterator[Problem]:
        """Yield that the value is none of them; a text gets the nearest ones."""
        if isinstance(value, str | int) and not isinstance(value, bool) and value in self.values:
            return
        names = [each for each in self.values if isinstance(each, str)]
        if isinstance(value, str) and len(names) == len(self.values) > 1:
            yield Problem(path, f"{spelt(path)} is {shown_value(value)}{suggest(value, names)}")
        else:
            yield _unlike(path, value, either(shown_value(each) for each in self.values))


@dataclass(frozen=True)
class Matching(Kind):
    """A text of a given form; `meaning` says which, with an example."""

    form: re.Pattern[str]
    meaning: str

    def problems(self, value: object, path: Path) -> Iterator[Problem]:
        """Yield that the value has another form."""
        if not isinstance(value, str) or not self.form.fullmatch(value):
            yield _unlike(path, value, self.meaning)


@dataclass(frozen=True)
class PrintableName(Kind):
    """A name that the program gave, of a tensor or a node: any printable text."""

    def problems(self, value: object, path: Path) -> Iterator[Problem]:
        """Yield that the value is not such a text."""
        if not isinstance(value, str) or not value or not value.isprintable():
            yield _unlike(path, value, "a name: printable text that is not empty")


@dataclass(frozen=True)
class ListOf(Kind):
    """A list; `length` is how many entries it must have, and `distinct` forbids an entry to stand twice."""

    entry: Kind
    length: int | None = None
    distinct: bool = False

    def problems(self, value: object, path: Path) -> Iterator[Problem]:
        """Yield that the value is not a list, that its length is wrong, and what is wrong with each entry."""
        if not is_list(value) or self.length not in (None, len(value)):
            yield _unlike(path, value, "a list" if self.length is None else f"a list of {self.length} entries")
            return
        seen: set[Any] = set()
        for position, entry in enumerate(value):
            wrong = list(self.entry.problems(entry, (*path, position)))
            yield from wrong
            if self.distinct and not wrong:
                if entry in seen:
                    yield Problem((*path, position), f"{spelt(path)} has {shown_value(entry)} twice; remove one")
                seen.add(entry)

    def ordered(self, value: Any) -> Any:
        """The list."""
        return [self.entry.ordered(each) for each in value]


@dataclass(frozen=True)
class MapOf(Kind):
    """An object whose keys are all of one kind, and whose values are."""

    key: Kind
    value: Kind

    def problems(self, value: object, path: Path) -> Iterator[Problem]:
        """Yield that the value is not an object, and what is wrong with each key and value."""
        if not is_object(value):
            yield _unlike(path, value, "an object")
            return
        for key, each in value.items():
            wrong = list(self.key.problems(key, path))
            for problem in wrong:
                yield Problem(_below(path, key), f"a key of {problem.message}")
            if not wrong:
                yield from self.value.problems(each, (*path, key))

    def ordered(self, value: Any) -> Any:
        """The object with its axes outermost first: m.o n.o m.i.o n.i.o."""
        return {key: self.value.ordered(value[key]) for key in sorted(value, key=lambda key: (key.count("."), key))}


@dataclass(frozen=True)
class Record(Kind):
    """An object with named entries, of which those in `required` must be there."""

    entries: dict[str, Kind]
    required: tuple[str, ...] = field(default=())

    def problems(self, value: object, path: Path) -> Iterator[Problem]:
        """Yield that the value is not an object, unknown and missing entries, and what is wrong with each known one."""
        if not is_object(value):
            yield _unlike(path, value, f"an object with {', '.join(self.entries)}")
            return
        for key, each in value.items():
            if isinstance(key, str) and key in self.entries:
                yield from self.entries[key].problems(each, (*path, key))
            else:
                hint = suggest(key if isinstance(key, str) else "", self.entries)
                yield Problem(_below(path, key), f"{spelt(path)} has no entry {shown_value(key)}{hint}")
        for key in self.required:
            if key not in value:
                yield Problem(path, f"{spelt(path)} needs the entry '{key}'; it has {_listed(value)}")

    def ordered(self, value: Any) -> Any:
        """The object with its entries in the order that the kind names them in."""
        return {key: entry.ordered(value[key]) for key, entry in self.entries.items() if key in value}


def is_object(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Whether a value is one that JSON writes as an object."""
    return isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether a value is one that JSON writes as a list."""
    return isinstance(value, list | tuple)


def spelt(path: Path) -> str:
    """A path for a message: `'cache[0].at'`, `'bind["m.o"]'`."""
    field, *rest = path
    return f"'{field}{''.join(_step(each) for each in rest)}'"


def shown_value(value: object) -> str:
    """A value for a message, as JSON where it has a JSON form, shortened."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return f"a Python {type(value).__name__}"
    return text if len(text) <= 60 else text[:59] + "…"


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if step.isidentifier() else f"[{shown_value(step)}]"


def _below(path: Path, key: Any) -> Path:
    return (*path, key) if isinstance(key, str) else path


def _listed(value: Mapping[Any, Any]) -> str:
    return shown_value(list(value)) if value else "none"


def _unlike(path: Path, value: object, allowed: str) -> Problem:
    return Problem(path, f"{spelt(path)} is {shown_value(value)}; give {allowed}")
