"""An estimate, or other data of dataclasses, as JSON and back, by the types of the fields: new ones need nothing here.

In: numbers, texts, tuples, mappings, devices, dataclasses of these. Out: what `json` writes. What does not fit is
refused.
"""

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ptxsim.clock.devices import DEVICES, Device


class MalformedEstimate(ValueError):
    """JSON that is not of the wanted type: of another version, or damaged."""


def estimate_to_json(value: object) -> Any:
    """The JSON of a value; a mapping is a list of pairs."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Device):
        return value.name
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return [[estimate_to_json(key), estimate_to_json(each)] for key, each in value.items()]
    if isinstance(value, Sequence):
        return [estimate_to_json(each) for each in value]
    if is_dataclass(value):
        return {each.name: estimate_to_json(getattr(value, each.name)) for each in fields(value)}
    raise TypeError(f"a {type(value).__name__} has no form in JSON")


def estimate_from_json(kind: Any, data: Any) -> Any:
    """The value of type `kind` that `data` means.

    Raises:
        MalformedEstimate: it is not what `estimate_to_json` gives for such a value.
    """
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return _either(arguments, data)
    if origin is not None and issubclass(origin, Mapping):
        pairs = estimate_from_json(tuple[tuple[arguments[0], arguments[1]], ...], data)
        return dict(pairs)
    if origin is not None and issubclass(origin, Sequence):
        return _row(arguments, data)
    if kind is Device:
        if data not in DEVICES:
            raise MalformedEstimate(f"{data!r} is no device")
        return DEVICES[data]
    if is_dataclass(kind):
        return _fields(kind, data)
    if kind is float and type(data) in (int, float):
        return float(data)
    if kind in (str, int, bool, types.NoneType) and type(data) is kind:
        return data
    raise MalformedEstimate(f"{data!r} is no {getattr(kind, '__name__', kind)}")


def _either(kinds: Sequence[Any], data: Any) -> Any:
    for kind in kinds:
        try:
            return estimate_from_json(kind, data)
        except MalformedEstimate:
            continue
    raise MalformedEstimate(f"{data!r} is none of {kinds}")


def _row(kinds: tuple[Any, ...], data: Any) -> tuple[Any, ...]:
    if not isinstance(data, list):
        raise MalformedEstimate(f"{data!r} is no list")
    if len(kinds) == 1 or kinds[-1] is Ellipsis:
        kinds = (kinds[0],) * len(data)
    if len(kinds) != len(data):
        raise MalformedEstimate(f"{len(data)} entries are given; there should be {len(kinds)}")
    return tuple(estimate_from_json(kind, each) for kind, each in zip(kinds, data, strict=True))


def _fields(kind: Any, data: Any) -> Any:
    hints = typing.get_type_hints(kind)
    names = [each.name for each in fields(kind)]
    if not isinstance(data, dict) or set(data) != set(names):
        raise MalformedEstimate(f"this has not the fields of a {kind.__name__}")
    return kind(**{name: estimate_from_json(hints[name], data[name]) for name in names})
