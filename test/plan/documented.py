"""The values that a kind of `plan.kinds` admits, in the words of `docs/plan.md`."""

import functools
import json

from tinyc.plan.kinds import Boolean, Choice, Integer, ListOf, MapOf, Matching, PrintableName, Record


@functools.singledispatch
def admitted(kind):
    """Return the text of a cell of the table of fields."""
    raise TypeError(f"say in docs/plan.md what a {type(kind).__name__} is, and here")


@admitted.register
def _(kind: Integer):
    high = "2^31 - 1" if kind.high == 2**31 - 1 else kind.high
    return f"{kind.low} … {high}" + (f", a multiple of {kind.step}" if kind.step > 1 else "")


@admitted.register
def _(kind: Boolean):
    return "true or false"


@admitted.register
def _(kind: Choice):
    return ", ".join(f"`{json.dumps(value)}`" for value in kind.values)


@admitted.register
def _(kind: Matching):
    return kind.meaning.partition(" such as")[0]


@admitted.register
def _(kind: PrintableName):
    return "a name"


@admitted.register
def _(kind: ListOf):
    length = "a list" if kind.length is None else f"a list of {kind.length}"
    return f"{length}: {admitted(kind.entry)}" + (", each once" if kind.distinct else "")


@admitted.register
def _(kind: MapOf):
    return f"an object: {admitted(kind.key)} → {admitted(kind.value)}"


@admitted.register
def _(kind: Record):
    entries = (f"`{key}`{'' if key in kind.required else '?'} ({admitted(each)})" for key, each in kind.entries.items())
    return f"an object: {', '.join(entries)}"
