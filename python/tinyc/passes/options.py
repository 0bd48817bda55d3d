"""The options of a pass: the fields of a frozen dataclass as text, `arch=sm_90a plan="a b"`, and text as the fields.

A field `plan_file` is the option `plan-file`. Its type is str, int, float or bool, or one of them or None.
"""

import dataclasses
import re
import types
import typing
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tinyc.diagnostics import TinycError, suggest

if TYPE_CHECKING:  # the type checker's own name for what is a dataclass
    from _typeshed import DataclassInstance

#: The value of an option.
OptionValue = str | int | float | bool | None
OPTION_TYPES = (str, int, float, bool)

_OPTION = re.compile(r"""\s*([\w-]+)(?:=("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s"']*))?(?=\s|$)""")
#: What to do where a value has blanks or braces of its own.
_QUOTES = "; put a value with blanks, braces or quotes into quotes: key='{…}'"
_DESCRIBED = {bool: "true or false", int: "an integer", float: "a number"}


def option_name(field: "dataclasses.Field[Any]") -> str:
    """The name of a field as an option."""
    return field.name.replace("_", "-")


def options_text(instance: "DataclassInstance") -> str:
    """The fields that are not at their defaults, as `split_options` reads them."""
    return " ".join(
        f"{option_name(field)}={_value_text(getattr(instance, field.name))}"
        for field in dataclasses.fields(instance)
        if getattr(instance, field.name) != _default(field)
    )


def split_options(text: str) -> dict[str, str]:
    """The options that `key=value key2="quoted value" flag` spells.

    Raises:
        TinycError: `InvalidOption`: the text is malformed, or gives an option twice.
    """
    options: dict[str, str] = {}
    position = 0
    while text[position:].strip():
        match = _OPTION.match(text, position)
        if match is None:
            raise TinycError("InvalidOption", f"pass options '{text}' do not read as key=value key2=value2{_QUOTES}")
        key, value = match.group(1), match.group(2) or ""
        if key in options:
            raise TinycError("InvalidOption", f"pass options '{text}' give '{key}' twice")
        options[key] = re.sub(r"\\(.)", r"\1", value[1:-1]) if value[:1] in ("'", '"') else value
        position = match.end()
    return options


def values_of_options(
    name: str, fields: "Sequence[dataclasses.Field[Any]]", hints: Mapping[str, Any], options: Mapping[str, str]
) -> dict[str, OptionValue]:
    """The values of the fields of the pass called `name`, whose types are `hints`, as `options` spell them.

    Raises:
        TinycError: `InvalidOption`: there is no such option, its value is not of its type, or one is missing.
    """
    known = {option_name(field): field for field in fields}
    values: dict[str, OptionValue] = {}
    for key, text in options.items():
        if key not in known:
            hint = "; a value with blanks needs quotes" if len(options) > 1 else ""
            raise TinycError("InvalidOption", f"pass '{name}' has no option '{key}'{suggest(key, known)}{hint}")
        values[known[key].name] = _value(name, key, text, hints[known[key].name])
    missing = [key for key, field in known.items() if key not in options and _default(field) is dataclasses.MISSING]
    if missing:
        raise TinycError("InvalidOption", f"pass '{name}' needs option '{missing[0]}'; write {missing[0]}=…")
    return values


def spelt_type(hint: Any) -> Any:
    """The type of an option's text: `int` of the type `int | None`."""
    if typing.get_origin(hint) not in (types.UnionType, typing.Union):
        return hint
    kinds = [each for each in typing.get_args(hint) if each is not types.NoneType]
    return kinds[0] if len(kinds) == 1 else hint


def _default(field: "dataclasses.Field[Any]") -> Any:
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default


def _value(name: str, key: str, text: str, hint: Any) -> OptionValue:
    """The value of type `hint` that `text` spells."""
    hint = spelt_type(hint)
    try:
        return {"true": True, "": True, "false": False}[text] if hint is bool else hint(text)
    except (KeyError, ValueError):
        message = f"option '{key}' of pass '{name}' is {text!r}; give {_DESCRIBED.get(hint, hint.__name__)}"
        raise TinycError("InvalidOption", message) from None


def _value_text(value: OptionValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    if text and not set(text) & set(" \t\n{}()'\",="):
        return text
    quote = "'" if '"' in text else '"'
    escaped = text.replace("\\", "\\\\").replace(quote, "\\" + quote)
    return f"{quote}{escaped}{quote}"
