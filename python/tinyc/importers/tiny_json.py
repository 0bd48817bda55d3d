"""Tiny JSON: programs as text, in and out.

`import_program` reads the format of the specification's three documents into a Tiny module; `dump` writes a Tiny module
in the spelling of 001. The way in: `json_text` (text to values), `spellings` (to nodes), `graph` (to an order),
`arguments` (each node's `arg`), `written_shapes` and `symbols` (what the symbols stand for), `typed` with `uops` and
`repairs` (to typed steps), `emit` (to IR). All errors of a file are reported together, each at its node; what depends
on a faulty node is not looked at.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tinyc.diagnostics import TinycError, Where
from tinyc.expr import extents
from tinyc.importers import graph, json_text, spellings, symbols
from tinyc.importers.arguments import DECLARED, DECLARED_KEYS, read_arguments, read_fields, unknown_arguments
from tinyc.importers.emit import emit
from tinyc.importers.graph import Graph
from tinyc.importers.spellings import TinyJsonProgram, unknown_keys
from tinyc.importers.tiny_json_dump import dump
from tinyc.importers.typed import Typing
from tinyc.importers.written_shapes import WrittenShapes
from tinyc.mlir import ir

__all__ = ["dump", "import_program"]

_Arguments = dict[str, dict[str, Any]]


def import_program(
    source: str | bytes | Path | Mapping[str, Any], bind: Mapping[str, int] | None = None, filename: str | None = None
) -> ir.Module:
    """The Tiny module of a program, in tinyc's context.

    `source` is the text, a `Path` to it, or its Python form; `bind` gives symbols their values; `filename` is what
    errors and locations call the text.

    Raises:
        TinycError: what is wrong with the program; `errors` has everything that is.
    """
    errors: list[TinycError] = []
    document = json_text.read(source, filename)
    where = Where(file=document.filename)
    program = spellings.normalise(document, errors)
    ordered = graph.order(program, where, errors)
    arguments = _arguments(ordered, errors)
    declared = _declared(program, where, errors)
    written = _written_shapes(ordered, arguments, declared, errors)
    sizes = _sizes(ordered, arguments, declared, written, bind or {}, where, errors)
    steps = Typing(ordered, arguments, declared, written, sizes).run(errors)
    if not steps.outputs and not errors:  # the last to look for: a faulty node may have been one
        errors.append(TinycError("MissingArgument", "the program has no outputs; name them under 'outputs'", where))
    if errors:
        raise TinycError.several(errors)
    return emit(steps, where)


def _arguments(ordered: Graph, errors: list[TinycError]) -> _Arguments:
    arguments: _Arguments = {}
    for node in ordered.nodes:
        errors += unknown_arguments(node)
        try:
            arguments[node.id] = read_arguments(node)
        except TinycError as error:
            errors.append(error.at(node.where))
            ordered.broken.add(node.id)
    return arguments


def _declared(program: TinyJsonProgram, where: Where, errors: list[TinycError]) -> _Arguments:
    declared: _Arguments = {}
    for name, entry in program.values.items():
        place = Where(name, where.file)
        errors += unknown_keys(entry, DECLARED_KEYS, f"the entry of '{name}' in 'values'", place)
        try:
            declared[name] = read_fields(entry, DECLARED, "values")
        except TinycError as error:
            errors.append(error.at(place))
    return declared


def _written_shapes(
    ordered: Graph, arguments: _Arguments, declared: _Arguments, errors: list[TinycError]
) -> WrittenShapes:
    written = WrittenShapes()
    shapes = {name: entry["shape"] for name, entry in declared.items() if "shape" in entry}
    for node in ordered.nodes:
        if node.id in ordered.broken:
            continue
        try:
            written.add(node, arguments[node.id], shapes)
        except TinycError as error:
            errors.append(error.at(node.where))
            ordered.broken.add(node.id)
    return written


def _sizes(
    ordered: Graph,
    arguments: _Arguments,
    declared: _Arguments,
    written: WrittenShapes,
    bind: Mapping[str, int],
    where: Where,
    errors: list[TinycError],
) -> symbols.Sizes:
    """The sizes that the symbols stand for.

    Raises:
        TinycError: everything found so far, where an input's extent has no value.
    """
    keys = (*symbols.EXTENT_KEYS, *symbols.NUMBER_KEYS)
    entries = [*arguments.values(), *declared.values()]
    names = dict.fromkeys(name for e in entries for dim in symbols.dims_of(e, keys) for name in extents.symbols(dim))
    inputs = [
        dim for node in ordered.nodes if node.uop == "INPUT" for dim in arguments.get(node.id, {}).get("shape", ())
    ]
    numbers = {
        name for e in entries for dim in symbols.dims_of(e, symbols.NUMBER_KEYS) for name in extents.symbols(dim)
    }
    bound, wrong = symbols.check_bind(bind, names, where)
    # The symbols of a faulty node are not known: after an error a name may seem to be none.
    errors += [error for error in wrong if error.name != "UnboundSymbol" or not errors]
    try:
        sizes, wrong = symbols.program_sizes(names, inputs, written.equations, bound, numbers, where)
    except TinycError as error:
        raise TinycError.several([*errors, error.at(where)]) from None
    errors += wrong
    return sizes
