"""The `arg` of each uop: JSON values read into plain data.

`read_arguments(node)` returns the arguments under the names that `tinyc.vocabulary.infer` gives them, as far as
they can be known without the operands: extents and sizes are still written in the program's symbols, and what was left
out and depends on the operand is absent.
"""

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tinyc.diagnostics import TinycError, close_names
from tinyc.expr import extents
from tinyc.expr.extents import MAX_EXTENT, Dim, Extent, ExtentError
from tinyc.importers.constants import KINDS, constant_arguments
from tinyc.importers.json_text import shown_json
from tinyc.importers.spellings import Node, entry_of_values, is_unknown, unknown_keys
from tinyc.vocabulary.element_type import BY_JSON_NAME, ElementType
from tinyc.vocabulary.reductions import REDUCTIONS
from tinyc.vocabulary.types import MAX_RANK

_REQUIRED = object()
_LEFT_OUT = object()


class WrongValue(Exception):
    """A value of another kind than the message expects; `read_arguments` knows the key and the uop."""


class MisspeltKey(Exception):
    """A key is missing, and an unknown one is like it: the error about that one says what to write."""


@dataclass(frozen=True)
class Field:
    """One key of an `arg`: how it is read, its other spellings, its default, and what `infer` calls it."""

    key: str
    read: Callable[[Any], Any]
    name: str = ""
    aliases: tuple[str, ...] = ()
    default: Any = _REQUIRED
    missing: str = "MissingArgument"


def read_arguments(node: Node) -> dict[str, Any]:
    """The arguments of a node as plain data.

    Raises:
        TinycError: `MissingArgument`, `AccDtypeMissing`, `InvalidAttribute` or `InvalidExtent`, without a place; what
            is wrong with a tensor constant or its file.
        MisspeltKey: the error about the unknown key says so.
    """
    what = entry_of_values(node.id) if node.declared else f"the arg of {node.uop}"
    values = read_fields(node.arg, FIELDS.get(node.uop, ()), what)
    if node.uop != "CONST":
        return values
    if not any(kind in values for kind in KINDS) and any(_is_like(key, KINDS) for key in node.arg):
        raise MisspeltKey()
    return constant_arguments(node, values)


def _is_like(key: str, names: tuple[str, ...]) -> bool:
    """Whether nothing reads a key, and it is like a name."""
    return is_unknown(key, _KEYS["CONST"]) and any(name in names for name in close_names(key, _KEYS["CONST"]))


def read_fields(arg: Mapping[str, Any], fields: tuple[Field, ...], what: str) -> dict[str, Any]:
    """The values of `fields` in the JSON object `arg`, which messages call `what`."""
    values: dict[str, Any] = {}
    for field in fields:
        value = _read_field(arg, field, what)
        if value is _REQUIRED:
            raise _missing(arg, field, _keys(fields), what)
        if value is not _LEFT_OUT:
            values[field.name or field.key] = value
    return values


def unknown_arguments(node: Node) -> Iterator[TinycError]:
    """Yield an error for each key in the `arg` of a node that its uop does not read."""
    if node.declared:  # whose keys have been looked at
        return
    known = _KEYS.get(node.uop, ())
    yield from unknown_keys(node.arg, known, f"the arg of {node.uop}", node.where)
    index_map = node.arg.get("index_map")
    if "index_map" in known and isinstance(index_map, dict):
        yield from unknown_keys(index_map, ("map",), "'index_map' of VIEW", node.where)


def _missing(arg: Mapping[str, Any], field: Field, known: tuple[str, ...], what: str) -> Exception:
    close = [name for key in arg if is_unknown(key, known) for name in close_names(key, known)]
    if any(name in close for name in (field.key, *field.aliases)):
        return MisspeltKey()
    return TinycError(field.missing, f"{what} needs '{field.key}'")


def _read_field(arg: Mapping[str, Any], field: Field, what: str) -> Any:
    keys = [key for key in (field.key, *field.aliases) if key in arg]
    if not keys:
        return field.default
    raw = arg[keys[0]]
    if any(arg[key] != raw for key in keys[1:]):
        raise TinycError("InvalidAttribute", f"{what} has {' and '.join(map(repr, keys))}, which differ; give one")
    try:
        return field.read(raw)
    except WrongValue as error:
        raise TinycError("InvalidAttribute", f"'{keys[0]}' in {what} must be {error}, not {shown_json(raw)}") from None
    except ExtentError as error:
        raise TinycError("InvalidExtent", f"'{keys[0]}' in {what}: {error}") from None


# --- readers ----------------------------------------------------------------------------------------------------------


_PAIRS = "a list of [lo, hi] for each axis"
_parse = functools.lru_cache(maxsize=4096)(extents.parse_extent)


def dim(raw: Any) -> Dim:
    """Read an extent, which may turn out negative."""
    if isinstance(raw, str):
        return _parse(raw)
    if isinstance(raw, bool) or not isinstance(raw, int):
        raise ExtentError(
            f"{shown_json(raw)} is not an extent; write an integer, a symbol or a product such as 'G*Cin'"
        )
    return raw


def extent(raw: Any) -> Dim:
    """Read the extent of an axis."""
    value = dim(raw)
    if isinstance(value, int) and value < 0:
        raise ExtentError(
            f"{shown_json(raw)} is negative, and extents are not; write the number of elements, or a symbol"
        )
    if isinstance(value, int) and value > MAX_EXTENT:
        raise ExtentError(f"{shown_json(raw)} is outside 0 … 2^63 - 1; use a smaller extent")
    if isinstance(value, Extent) and extents.is_nonnegative(-value):
        raise ExtentError(f"{shown_json(raw)} is negative for all sizes")
    return value


def shape(raw: Any) -> tuple[Dim, ...]:
    """Read a list of extents."""
    return tuple(map(extent, _list(raw, "a list of extents")))


def sizes(raw: Any) -> tuple[Dim, ...]:
    """Read a list of integers that may be written as symbols."""
    return tuple(map(size, _list(raw, "a list of integers or bound symbols")))


def size(raw: Any) -> Dim:
    """Read an integer that may be written as a symbol."""
    return integer(raw) if isinstance(raw, int) else dim(raw)


def _pairs(raw: Any) -> tuple[tuple[Dim, ...], ...]:
    pairs = _list(raw, _PAIRS)
    if any(not isinstance(pair, list) or len(pair) != 2 for pair in pairs):
        raise WrongValue(_PAIRS)
    return tuple(map(sizes, pairs))


def _list(raw: Any, what: str) -> list[Any]:
    if not isinstance(raw, list):
        raise WrongValue(what)
    if len(raw) > MAX_RANK:
        raise ExtentError(f"{len(raw)} axes are too many; the limit is {MAX_RANK}")
    return raw


def integer(raw: Any) -> int:
    """Read an integer of 64 bits."""
    if isinstance(raw, bool) or not isinstance(raw, int) or not -MAX_EXTENT - 1 <= raw <= MAX_EXTENT:
        raise WrongValue("an integer of 64 bits")
    return raw


def _word(raw: Any) -> int:
    """Read an integer that counts modulo 2^64, as a signed one."""
    if isinstance(raw, bool) or not isinstance(raw, int) or not -MAX_EXTENT - 1 <= raw <= 2 * MAX_EXTENT + 1:
        raise WrongValue("an integer in -2^63 … 2^64 - 1")
    return raw if raw <= MAX_EXTENT else raw - 2**64


def _integers(raw: Any) -> tuple[int, ...]:
    return tuple(map(integer, _list(raw, "a list of integers")))


def _axes(raw: Any) -> tuple[int | str, ...]:
    """Read reduce axes: integers, or the names of symbols."""
    return tuple(axis if isinstance(axis, str) else integer(axis) for axis in _list(raw, "a list of axes or symbols"))


def _number(raw: Any) -> int | float | bool:
    """Read a number; the greatest ones that have no float are refused."""
    if not isinstance(raw, int | float) or (isinstance(raw, int) and raw.bit_length() > 1023):
        raise WrongValue("a number below 2^1023")
    return raw


def _numbers(raw: Any) -> list[Any]:
    """Read lists of numbers, in lists; whether they are, their shape and dtype say."""
    if not isinstance(raw, list):
        raise WrongValue("a list of numbers, or of such lists")
    return raw


def element(raw: Any) -> ElementType:
    """Read a dtype."""
    if not isinstance(raw, str) or raw not in BY_JSON_NAME:
        raise WrongValue(f"one of {', '.join(BY_JSON_NAME)}")
    return BY_JSON_NAME[raw]


def _text(raw: Any) -> str:
    if not isinstance(raw, str) or not raw:
        raise WrongValue("a non-empty text")
    return raw


def _bool(raw: Any) -> bool:
    if not isinstance(raw, bool):
        raise WrongValue("true or false")
    return raw


def _one_of(*choices: str) -> Callable[[Any], str]:
    def read(raw: Any) -> str:
        if raw not in choices:
            raise WrongValue(f"one of {', '.join(choices)}")
        return raw.lower()

    return read


def _index_map(raw: Any) -> tuple[int | str, ...]:
    """Read the expressions of an index map; what they may say depends on the result's rank."""
    expressions = raw.get("map") if isinstance(raw, dict) else None
    if not isinstance(expressions, list):
        raise WrongValue('{"map": [one expression for each operand axis]}')
    _list(expressions, "a list of expressions")
    return tuple(expression if isinstance(expression, str) else integer(expression) for expression in expressions)


# --- what each uop takes ----------------------------------------------------------------------------------------------

_SHAPE = Field("shape", shape)
_DTYPE = Field("dtype", element, name="element")
_RESULT_SHAPE = Field("result_shape", shape, name="shape", aliases=("new_shape",))
_AXIS = Field("axis", integer)
_RESULT_DTYPE = Field("dtype", element, name="element", aliases=("acc_dtype",), default=_LEFT_OUT)

FIELDS: dict[str, tuple[Field, ...]] = {
    "INPUT": (Field("tensor_id", _text), _DTYPE, _SHAPE, Field("weight", _bool, default=False)),
    "CONST": (
        Field("value", _number, default=_LEFT_OUT),
        Field("values", _numbers, default=_LEFT_OUT),
        Field("file", _text, default=_LEFT_OUT),
        Field("name", _text, default=_LEFT_OUT),
        Field("dtype", element, name="element", default=_LEFT_OUT),
        Field("shape", shape, default=_LEFT_OUT),
    ),
    "IOTA": (_SHAPE, _AXIS, _DTYPE),
    "RAND": (
        _SHAPE,
        _DTYPE,
        Field("distribution", _one_of("uniform", "normal")),
        Field("seed", _word),
        Field("stream", _word, default=0),
    ),
    "RESHAPE": (_RESULT_SHAPE,),
    "PERMUTE": (Field("perm", _integers, aliases=("dims",)),),
    "EXPAND": (_RESULT_SHAPE, Field("broadcast_dimensions", _integers, default=_LEFT_OUT)),
    "PAD": (Field("pad", _pairs), Field("value", _number, default=0)),
    "SHRINK": (Field("lo", shape), Field("hi", shape), Field("step", sizes, default=_LEFT_OUT)),
    "FLIP": (Field("axes", _integers),),
    "VIEW": (
        Field("result_shape", shape, name="shape", aliases=("new_shape",), default=_LEFT_OUT),
        Field("index_map", _index_map, name="map", default=_LEFT_OUT),
    ),
    "POOL": (
        Field("kernel", sizes),
        Field("stride", sizes, default=_LEFT_OUT),
        Field("dilation", sizes, default=_LEFT_OUT),
    ),
    "REDUCE": (
        Field("op", _one_of(*map(str.upper, REDUCTIONS))),
        Field("axes", _axes),
        Field("dtype", element, name="element", aliases=("acc_dtype",), missing="AccDtypeMissing"),
        Field("init", _number, default=_LEFT_OUT),
    ),
    "MEAN": (Field("axes", _axes), _RESULT_DTYPE),
    "SOFTMAX": (Field("axis", integer, default=-1),),
    "MATMUL": (_RESULT_DTYPE,),
    "CAST": (Field("to", element, name="element"),),
    "GATHER": (_AXIS,),
    "SCATTER": (_AXIS, Field("op", _one_of("SET", "ADD"))),
    "TOPK": (Field("k", size), _AXIS, Field("largest", _bool, default=True)),
}
#: A declaration under `values`.
DECLARED = (
    Field("dtype", element, name="element", default=_LEFT_OUT),
    Field("shape", shape, default=_LEFT_OUT),
)


def _keys(fields: tuple[Field, ...]) -> tuple[str, ...]:
    return tuple(key for field in fields for key in (field.key, *field.aliases))


_KEYS = {uop: _keys(fields) for uop, fields in FIELDS.items()}
