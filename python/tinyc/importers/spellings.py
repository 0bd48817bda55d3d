"""The three spellings of Tiny JSON, brought to one list of nodes.

In: a `json_text.Document` in the spelling of 000 (`ops` + `values`), 001 (`uops` with `id`) or 002 (`uops` with
`out`), which may be mixed. Out: a `TinyJsonProgram` of `Node`s whose `uop` is one of `ARITY`; values without a producer
have become `INPUT` nodes. `id` and `out`
both name a node and its value; an entry that has both must have the same in both, since its readers know it by one
name. What is wrong with an entry is appended to `errors`, and the entry is left out.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tinyc.diagnostics import TinycError, Where, suggest
from tinyc.importers.how_to_say import unknown_word
from tinyc.importers.json_text import EXAMPLE, Document, shown_json
from tinyc.vocabulary import infer
from tinyc.vocabulary.elementwise import ROWS
from tinyc.vocabulary.reductions import REDUCTIONS

UNARY_UOPS, BINARY_UOPS = (tuple(row.json_name for row in ROWS.values() if row.arity == arity) for arity in (1, 2))
MOVEMENT_UOPS = tuple(map(str.upper, infer.MOVEMENT))
#: Functions of the 000 spelling that are no uops: 001 has none of that name, and GELU has two forms.
_FUNCTIONS_OF_000 = ("SILU", "GELU")
#: What stands for several ops of the vocabulary: element-wise or along an axis of one source, and others.
_COMPOSED_UNARY = ("EXP", "LOG", "SIGMOID", "ABS", "SOFTMAX", *_FUNCTIONS_OF_000)
COMPOSITES = (*_COMPOSED_UNARY, "MEAN", "MATMUL")
#: What has the `axes` of its source that go.
REDUCING_UOPS = ("REDUCE", "MEAN")
#: The operands of every uop, and of 000's functions.
ARITY = {
    **dict.fromkeys(("INPUT", "CONST", "IOTA", "RAND"), 0),
    **dict.fromkeys((*MOVEMENT_UOPS, *UNARY_UOPS, "REDUCE", "CAST", "TOPK", *_COMPOSED_UNARY, "MEAN"), 1),
    **dict.fromkeys((*BINARY_UOPS, "GATHER", "MATMUL"), 2),
    **dict.fromkeys(("WHERE", "SCATTER"), 3),
}
#: The words that `uop` may be.
UOPS = tuple(uop for uop in ARITY if uop not in _FUNCTIONS_OF_000)
#: The words of the 000 spelling: `op` → `kind` or `fn` → the uop.
WORDS_OF_000 = {
    "Movement": {**{kind.lower(): kind for kind in MOVEMENT_UOPS}, "slice": "SHRINK"},
    "Unary": {fn.lower(): fn for fn in (*UNARY_UOPS, "CAST", *_COMPOSED_UNARY)},
    "Binary": {**{fn.lower(): fn for fn in (*BINARY_UOPS, "WHERE", "MATMUL")}, "div": "FDIV"},
    "Reduce": {**{fn: fn.upper() for fn in REDUCTIONS}, "mean": "MEAN"},
}


#: Keys that may stand in every object and hold anything, as may those that begin with `_`.
FREE_KEYS = ("tag", "storage", "comment", "doc")
#: The keys of a program, and of a node in the spellings of 001 and 002, and of 000.
TOP_KEYS = ("uops", "ops", "values", "outputs")
UOP_KEYS = ("id", "out", "uop", "src", "arg")
OP_KEYS = ("op", "name", "kind", "fn", "inputs", "outputs", "attrs", "axes")
#: The keys of an entry of `values`.
VALUE_KEYS = ("dtype", "shape")


@dataclass(frozen=True)
class Node:
    """One node: `src` has the names of values and immediate numbers, `arg` the keys of the 001 spelling, unchecked.

    An input that `values` declares is `declared`.
    """

    id: str
    uop: str
    src: tuple[Any, ...]
    arg: dict[str, Any]
    where: Where
    declared: bool = False


@dataclass(frozen=True)
class TinyJsonProgram:
    """All nodes in file order, what `values` declares of their results, and `outputs` (None: the file has none).

    `places` are those of the entries of `values`; `faulty` are the ids of entries that were left out.
    """

    nodes: list[Node]
    values: dict[str, dict[str, Any]]
    places: dict[str, Where]
    outputs: list[str] | None
    faulty: set[str]


def result_names(node: Node) -> tuple[str, ...]:
    """The names of a node's results: a `TOPK` has its values under its id and its indices under `id#1`."""
    return (node.id, f"{node.id}#1") if node.uop == "TOPK" else (node.id,)


def normalise(document: Document, errors: list[TinycError]) -> TinyJsonProgram:
    """The program of a document; raise where the document as a whole is not one."""
    top = document.value
    if not isinstance(top, dict) or not ("uops" in top or "ops" in top):
        raise _wrong(f"the file must be an object with 'uops' or 'ops'; {EXAMPLE}", Where(file=document.filename))
    errors += unknown_keys(top, TOP_KEYS, "a program", Where(file=document.filename))
    values, places = _values(top.get("values", {}), document, errors)
    nodes: list[Node] = []
    faulty: set[str] = set()
    for key in ("ops", "uops"):
        if key in top and not isinstance(top[key], list):
            errors.append(_wrong(f"'{key}' must be a list of nodes", Where(file=document.filename)))
    for key in (key for key in top if key in ("uops", "ops") and isinstance(top[key], list)):
        node_places = document.places(key)
        for entry in top[key]:
            where = Where(file=document.filename)
            if isinstance(entry, dict):
                where = next(node_places)
                known = OP_KEYS if _is_000(entry) else UOP_KEYS
                errors += unknown_keys(entry, known, "a node", replace(where, node=_called(entry)))
            try:
                nodes.append(_node(entry, values, where))
            except TinycError as error:
                errors.append(error.at(where))
                faulty |= {error.where.node} if error.where.node else set()
    produced = {name for node in nodes for name in result_names(node)} | faulty
    inputs = [_input(name, values[name], places[name]) for name in values if name not in produced]
    declared = {name: value for name, value in values.items() if name in produced}
    return TinyJsonProgram([*inputs, *nodes], declared, places, _outputs(top, document, errors), faulty)


def unknown_keys(given: Iterable[str], known: Iterable[str], what: str, where: Where) -> Iterator[TinycError]:
    """Yield an error for each key of an object, `what`, that nothing reads."""
    for key in given:
        if is_unknown(key, known):
            yield TinycError("UnknownKey", f"{what} has no key {key!r}{suggest(key, known)}", where)


def is_unknown(key: str, known: Iterable[str]) -> bool:
    """Whether nothing reads a key of an object, and it may not hold anything either."""
    return key not in known and key not in FREE_KEYS and not key.startswith("_")


def entry_of_values(name: str) -> str:
    """What messages call an entry of `values`."""
    return f"the entry of '{name}' in 'values'"


def _wrong(message: str, where: Where | None = None) -> TinycError:
    return TinycError("InvalidJson", message, where)


def _values(
    values: Any, document: Document, errors: list[TinycError]
) -> tuple[dict[str, dict[str, Any]], dict[str, Where]]:
    """The entries of `values` and their places."""
    if not isinstance(values, dict):
        errors.append(_wrong("'values' must be an object: name -> {dtype, shape}", Where(file=document.filename)))
        return {}, {}
    kept: dict[str, dict[str, Any]] = {}
    where: dict[str, Where] = {}
    places = document.places("values")
    for name, declared in values.items():
        place = replace(next(places) if isinstance(declared, dict) else Where(file=document.filename), node=name)
        if name and isinstance(declared, dict):
            errors += unknown_keys(declared, VALUE_KEYS, entry_of_values(name), place)
            kept[name], where[name] = declared, place
        else:
            errors.append(_wrong("an entry of 'values' must be a name with {dtype, shape}", place))
    return kept, where


def _input(name: str, entry: dict[str, Any], where: Where) -> Node:
    return Node(name, "INPUT", (), {**entry, "tensor_id": name}, where, declared=True)


def _outputs(top: dict[str, Any], document: Document, errors: list[TinycError]) -> list[str] | None:
    outputs = top.get("outputs")
    if outputs is None:
        return None
    if not isinstance(outputs, list) or not all(isinstance(name, str) for name in outputs):
        errors.append(_wrong("'outputs' must be a list of node ids", Where(file=document.filename)))
        return None
    return outputs


def _node(entry: Any, values: dict[str, dict[str, Any]], where: Where) -> Node:
    if not isinstance(entry, dict):
        raise _wrong(f"a node must be an object, not {shown_json(entry)}")
    node = _op_node(entry, values, where) if _is_000(entry) else _uop_node(entry, where)
    located = replace(where, node=node.id)
    for source in node.src:
        if not isinstance(source, str | int | float) or source == "":
            raise _wrong(f"a source must be a node id or a number, not {shown_json(source)}", located)
    expected = ARITY[node.uop]
    if len(node.src) != expected:
        raise TinycError(
            "MissingArgument" if len(node.src) < expected else "InvalidAttribute",
            f"{node.uop} takes {expected} source{'s' * (expected != 1)} and has {len(node.src)}",
            located,
        )
    return replace(node, where=located)


def _is_000(entry: dict[str, Any]) -> bool:
    """Whether an entry is in the 000 spelling."""
    return "op" in entry and "uop" not in entry


def _called(entry: dict[str, Any]) -> str | None:
    """The name by which errors call an entry, which may be faulty."""
    outputs = entry.get("outputs")
    names = (entry.get("id"), entry.get("out"), outputs[0] if isinstance(outputs, list) and outputs else None)
    return next((name for name in names if isinstance(name, str) and name), None)


def _uop_node(entry: dict[str, Any], where: Where) -> Node:
    """Read an entry of the 001 or 002 spelling."""
    name = _text(entry, "id" if "id" in entry else "out", "a node needs an 'id' (or 'out'), a non-empty text")
    where = replace(where, node=name)
    if "id" in entry and (out := entry.get("out", name)) != name:
        raise _wrong(f"the node has the id {shown_json(name)} and the out {shown_json(out)}; give it one name", where)
    uop = _text(entry, "uop", "a node needs a 'uop'", where)
    if uop not in UOPS:
        raise unknown_word("uop", uop, UOPS, where)
    arg = _object(entry, "arg", where)
    if uop == "INPUT" and "out" in entry:
        arg = {"tensor_id": name, **arg}
    return Node(name, uop, tuple(_list(entry, "src", where)), arg, where)


def _op_node(entry: dict[str, Any], values: dict[str, dict[str, Any]], where: Where) -> Node:
    """Read an entry of the 000 spelling; the node is known by the value that it produces."""
    where = replace(where, node=entry["name"] if isinstance(entry.get("name"), str) else None)
    outputs = _list(entry, "outputs", where)
    if len(outputs) != 1 or not isinstance(outputs[0], str) or not outputs[0]:
        raise _wrong(f"'outputs' must name the one value of the node, not {shown_json(outputs)}", where)
    where = replace(where, node=outputs[0])
    kind = _text(entry, "op", "a node needs an 'op'", where)
    if kind not in WORDS_OF_000:
        raise unknown_word("op", kind, WORDS_OF_000, where)
    key = "kind" if kind == "Movement" else "fn"
    function = _text(entry, key, f"{kind} needs '{key}'", where)
    if function not in WORDS_OF_000[kind]:
        raise unknown_word(f"{key} of {kind}", function, WORDS_OF_000[kind], where)
    uop, arg = WORDS_OF_000[kind][function], _object(entry, "attrs", where)
    if kind == "Reduce":
        arg = _reduce_arg(entry, arg, values.get(outputs[0], {}))
        if uop not in REDUCING_UOPS:
            uop, arg = "REDUCE", {**arg, "op": uop}
    return Node(outputs[0], uop, tuple(_list(entry, "inputs", where)), arg, where)


def _reduce_arg(entry: dict[str, Any], attrs: dict[str, Any], declared: dict[str, Any]) -> dict[str, Any]:
    """The `arg` of a 000 reduce, which accumulates in fp32, or in the type declared for its result."""
    arg = dict(attrs)
    if "axes" in entry:
        arg["axes"] = entry["axes"]
    if "dtype" not in arg and "acc_dtype" not in arg:
        arg["dtype"] = declared.get("dtype", "fp32")
    return arg


def _text(entry: dict[str, Any], key: str, need: str, where: Where | None = None) -> str:
    value = entry.get(key)
    if value is None:
        raise TinycError("MissingArgument", need, where)
    if not isinstance(value, str) or not value:
        raise _wrong(f"'{key}' must be a non-empty text, not {shown_json(value)}", where)
    return value


def _list(entry: dict[str, Any], key: str, where: Where) -> list[Any]:
    value = entry.get(key, [])
    if not isinstance(value, list):
        raise _wrong(f"'{key}' must be a list, not {shown_json(value)}", where)
    return value


def _object(entry: dict[str, Any], key: str, where: Where) -> dict[str, Any]:
    value = entry.get(key, {})
    if not isinstance(value, dict):
        raise _wrong(f"'{key}' must be an object, not {shown_json(value)}", where)
    return value
