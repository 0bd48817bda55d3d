"""A `Program` as JSON and back, field by field of its dataclasses, so that a new field needs nothing here.

In: frozen data. Out: objects, lists, texts and numbers. An extent is a number or its canonical text; where a field may
be of one of several classes, the object says by "class" which. What a text lacks, has beside, or has wrongly is
refused with its place.
"""

import dataclasses
import enum
import functools
import types
import typing
from collections.abc import Mapping
from typing import Any

from tinyc.expr.extents import Dim, Extent, ExtentError, parse_extent
from tinyc.runtime.container import Malformed
from tinyc.runtime.program import Program

_CLASS = "class"
#: The types that are in JSON what they are.
_PLAIN = (str, int, bool, types.NoneType)


def program_to_json(program: Program) -> Any:
    """The JSON of a program."""
    return _encoded(program)


def program_from_json(data: Any) -> Program:
    """The program of a JSON.

    Raises:
        Malformed: it is not what `program_to_json` gives.
    """
    return _decoded(Program, data, "program")


def _encoded(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Extent):
        return str(value)
    if isinstance(value, tuple):
        return [_encoded(each) for each in value]
    if dataclasses.is_dataclass(value):
        fields = {name: _encoded(getattr(value, name)) for name in _field_types(type(value))}
        return {_CLASS: type(value).__name__, **fields}
    raise TypeError(f"a {type(value).__name__} has no form in JSON")


@functools.cache
def _field_types(cls: type) -> Mapping[str, Any]:
    hints = typing.get_type_hints(cls)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


def _decoded(kind: Any, data: Any, place: str) -> Any:
    """The value of type `kind` that `data` means; `place` is where it stands."""
    if kind == Dim:
        return _extent(data, place)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return _decoded(_chosen(arguments, data, place), data, place)
    if origin is tuple:
        return _tuple(arguments, data, place)
    if dataclasses.is_dataclass(kind):
        return _object(kind, data, place)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        if data not in [each.value for each in kind]:
            raise Malformed(f"{place} is {data!r}, no {kind.__name__}")
        return kind(data)
    if kind in _PLAIN and type(data) is kind:
        return data
    raise Malformed(f"{place} is {data!r}; it should be of type {getattr(kind, '__name__', kind)}")


def _extent(data: Any, place: str) -> Dim:
    """An extent, in the text that it is written in."""
    if type(data) is int:
        return data
    try:
        extent = parse_extent(data) if isinstance(data, str) else None
    except ExtentError as error:
        raise Malformed(f"{place}: {error}") from None
    if extent is None or str(extent) != data:
        raise Malformed(f"{place} is {data!r}; it should be a number or an extent's own text")
    return extent


def _chosen(kinds: tuple[Any, ...], data: Any, place: str) -> Any:
    """Which of several types `data` is of: None, a plain one, or the class that it names."""
    for kind in kinds:
        if type(data) is kind or (isinstance(data, dict) and data.get(_CLASS) == getattr(kind, "__name__", None)):
            return kind
    raise Malformed(f"{place} is none of {', '.join(getattr(kind, '__name__', str(kind)) for kind in kinds)}")


def _tuple(kinds: tuple[Any, ...], data: Any, place: str) -> tuple[Any, ...]:
    if not isinstance(data, list):
        raise Malformed(f"{place} is {data!r}; it should be a list")
    if kinds[-1] is Ellipsis:
        kinds = (kinds[0],) * len(data)
    if len(kinds) != len(data):
        raise Malformed(f"{place} has {len(data)} entries; it should have {len(kinds)}")
    return tuple(_decoded(kind, each, f"{place}[{k}]") for k, (kind, each) in enumerate(zip(kinds, data, strict=True)))


def _object(kind: Any, data: Any, place: str) -> Any:
    if not isinstance(data, dict) or data.get(_CLASS) != kind.__name__:
        raise Malformed(f"{place} is no {kind.__name__}")
    fields = _field_types(kind)
    unknown = [name for name in data if name not in fields and name != _CLASS]
    missing = [name for name in fields if name not in data]
    if unknown or missing:
        what = f"has the field '{unknown[0]}', which is not known" if unknown else f"lacks the field '{missing[0]}'"
        raise Malformed(f"{place}, a {kind.__name__}, {what}")
    return kind(**{name: _decoded(each, data[name], f"{place}.{name}") for name, each in fields.items()})
