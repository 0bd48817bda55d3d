"""Frozen data, such as a `Program`, as JSON and back, by the fields of its classes: a new field needs nothing here.

In: frozen data. Out: objects, lists, texts and numbers. An extent is a number or its canonical text; where a field may
be of one of several classes, the object says by "class" which. Of a user's file there is the name, and not the folder.
What a text lacks, has beside, or has wrongly is refused with its place.
"""

import dataclasses
import enum
import functools
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tinyc.diagnostics import Where, either
from tinyc.expr.extents import Extent, ExtentError, parse_extent
from tinyc.runtime.container import MalformedModel

_CLASS = "class"
#: The types that are in JSON what they are.
_PLAIN = (str, int, bool, types.NoneType)


def frozen_to_json(value: Any) -> Any:
    """The JSON of frozen data."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Extent):
        return str(value)
    if isinstance(value, tuple):
        return [frozen_to_json(each) for each in value]
    if isinstance(value, Where) and value.file is not None:  # without its folders, which may be others elsewhere
        value = dataclasses.replace(value, file=Path(value.file).name)
    if dataclasses.is_dataclass(value):
        fields = {name: frozen_to_json(getattr(value, name)) for name in _field_types(type(value))}
        return {_CLASS: type(value).__name__, **fields}
    raise TypeError(f"a {type(value).__name__} has no form in JSON")


@functools.cache
def _field_types(cls: type) -> Mapping[str, Any]:
    types_by_name = {field.name: field.type for field in dataclasses.fields(cls)}
    if not any(isinstance(each, str) for each in types_by_name.values()):
        return types_by_name  # at once: to look for hints takes longer than to read a program
    hints = typing.get_type_hints(cls)
    return {name: hints[name] for name in types_by_name}


def with_file(value: Any, file: str) -> Any:
    """Frozen data in which a user's file of that name is called as `file` does, with its folders."""
    if isinstance(value, Where):
        return dataclasses.replace(value, file=file) if value.file == Path(file).name else value
    if isinstance(value, tuple):
        return tuple(with_file(each, file) for each in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, Extent | enum.Enum):
        fields = {name: getattr(value, name) for name in _field_types(type(value))}
        changed = {name: new for name, each in fields.items() if (new := with_file(each, file)) is not each}
        return _replaced(value, changed) if changed else value
    return value


def _replaced(value: Any, changed: Mapping[str, Any]) -> Any:
    return dataclasses.replace(value, **changed)


def frozen_from_json(kind: Any, data: Any, place: str) -> Any:
    """The value of type `kind` that `data` means; `place` is where it stands.

    Raises:
        MalformedModel: it is not what `frozen_to_json` gives for such a value.
    """
    if kind is Extent:
        return _extent(data, place)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return frozen_from_json(_chosen(arguments, data, place), data, place)
    if origin is tuple:
        return _tuple(arguments, data, place)
    if dataclasses.is_dataclass(kind):
        return _object(kind, data, place)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        if data not in [each.value for each in kind]:
            raise MalformedModel(f"{place} is {data!r}, no {kind.__name__}")
        return kind(data)
    if kind in _PLAIN and type(data) is kind:
        return data
    raise MalformedModel(f"{place} is {data!r}; it should be of type {getattr(kind, '__name__', kind)}")


def _extent(text: str, place: str) -> Extent:
    """An extent, in the one text that it has."""
    try:
        extent = parse_extent(text)
    except ExtentError as error:
        raise MalformedModel(f"{place}: {error}") from None
    if not isinstance(extent, Extent) or str(extent) != text:
        raise MalformedModel(f"{place} is {text!r}, and that is written {extent}")
    return extent


def _chosen(kinds: tuple[Any, ...], data: Any, place: str) -> Any:
    """Which of several types `data` is of: None, a plain one, an extent, or the class that it names."""
    named = data.get(_CLASS) if isinstance(data, dict) else None
    for kind in kinds:
        if type(data) is kind or (kind is Extent and isinstance(data, str)) or named == kind.__name__:
            return kind
    raise MalformedModel(f"{place} is {data!r}; it should be of type {either(kind.__name__ for kind in kinds)}")


def _tuple(kinds: tuple[Any, ...], data: Any, place: str) -> tuple[Any, ...]:
    if not isinstance(data, list):
        raise MalformedModel(f"{place} is {data!r}; it should be a list")
    if kinds[-1] is Ellipsis:
        kinds = (kinds[0],) * len(data)
    if len(kinds) != len(data):
        raise MalformedModel(f"{place} has {len(data)} entries; it should have {len(kinds)}")
    typed = enumerate(zip(kinds, data, strict=True))
    return tuple(frozen_from_json(kind, each, f"{place}[{k}]") for k, (kind, each) in typed)


def _object(kind: Any, data: Any, place: str) -> Any:
    if not isinstance(data, dict) or data.get(_CLASS) != kind.__name__:
        raise MalformedModel(f"{place} is no {kind.__name__}")
    fields = _field_types(kind)
    unknown = [name for name in data if name not in fields and name != _CLASS]
    missing = [name for name in fields if name not in data]
    if unknown or missing:
        what = f"has the field '{unknown[0]}', which is not known" if unknown else f"lacks the field '{missing[0]}'"
        raise MalformedModel(f"{place}, a {kind.__name__}, {what}")
    return kind(**{name: frozen_from_json(each, data[name], f"{place}.{name}") for name, each in fields.items()})
