"""Tiny JSON: programs as text, in and out.

`import_program` reads the format of the specification's three documents into a Tiny module; `dump` writes a Tiny module
in the spelling of 001. The way in: `json_text` (text to values), `spellings` (to nodes), `graph` (to an order),
`arguments` (each node's `arg`), `written_shapes` and `symbols` (what the symbols stand for), `typed` with `uops` and
`repairs` (to typed steps), `emit` (to IR). All errors of a file are reported together, each at its node; what depends
on a faulty node is not looked at.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tinyc.diagnostics import TinycError, Where, remark
from tinyc.expr import extents
from tinyc.importers import graph, json_text, spellings, symbols
from tinyc.importers.arguments import DECLARED, MisspeltKey, read_arguments, read_fields, unknown_arguments
from tinyc.importers.emit import emit
from tinyc.importers.graph import Graph
from tinyc.importers.spellings import TinyJsonProgram, entry_of_values
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
    declared = _declared(program, errors)
    labels = _written_shapes(ordered, arguments, declared, errors)
    bound = _checked_bind([*arguments.values(), *declared.values()], bind or {}, where, errors)
    arguments = _bound(ordered, arguments, labels, bound, errors)
    declared = {name: symbols.bound_arguments(entry, bound) for name, entry in declared.items()}
    written = _written_shapes(ordered, arguments, declared, errors) if bound else labels
    sizes = _sizes(ordered, arguments, declared, written, where, errors)
    steps = Typing(ordered, arguments, declared, labels, sizes).run(errors)
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
        except MisspeltKey:
            ordered.broken.add(node.id)
        except TinycError as error:
            errors.append(error.at(node.where))
            ordered.broken.add(node.id)
    return arguments


def _declared(program: TinyJsonProgram, errors: list[TinycError]) -> _Arguments:
    declared: _Arguments = {}
    for name, entry in program.values.items():
        try:
            declared[name] = read_fields(entry, DECLARED, entry_of_values(name))
        except TinycError as error:
            errors.append(error.at(program.places[name]))
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


def _checked_bind(
    entries: Iterable[Mapping[str, Any]], bind: Mapping[str, int], where: Where, errors: list[TinycError]
) -> dict[str, int]:
    bound, wrong = symbols.check_bind(bind, _symbols_in(entries), where)
    # The symbols of a faulty node are not known: after an error a name may seem to be none.
    errors += [error for error in wrong if error.name != "UnboundSymbol" or not errors]
    return bound


def _symbols_in(entries: Iterable[Mapping[str, Any]]) -> list[str]:
    keys = (*symbols.EXTENT_KEYS, *symbols.NUMBER_KEYS)
    dims = [dim for entry in entries for dim in symbols.dims_of(entry, keys)]
    return list(dict.fromkeys(name for dim in dims for name in extents.symbols(dim)))


def _bound(
    ordered: Graph, arguments: _Arguments, labels: WrittenShapes, bound: Mapping[str, int], errors: list[TinycError]
) -> _Arguments:
    """The arguments with numbers for the bound symbols; the axes of a reduce are those that its names meant."""
    found: _Arguments = {}
    for node in ordered.nodes:
        if node.id not in arguments:
            continue
        try:
            found[node.id] = symbols.bound_arguments(arguments[node.id], bound)
        except TinycError as error:
            errors.append(error.at(node.where))
            ordered.broken.add(node.id)
        else:
            found[node.id].update({"axes": labels.axes[node.id]} if node.id in labels.axes else {})
    return found


def _sizes(
    ordered: Graph,
    arguments: _Arguments,
    declared: _Arguments,
    written: WrittenShapes,
    where: Where,
    errors: list[TinycError],
) -> symbols.Sizes:
    """The sizes that the symbols stand for.

    Raises:
        TinycError: everything found so far, where an input's extent has no value.
    """
    inputs = [
        dim for node in ordered.nodes if node.uop == "INPUT" for dim in arguments.get(node.id, {}).get("shape", ())
    ]
    try:
        sizes = symbols.Sizes(_symbols_in([*arguments.values(), *declared.values()]), inputs, written.equations)
    except TinycError as error:
        raise TinycError.several([*errors, error.at(where)]) from None
    for name, value in sizes.values.items():
        message = f"the shape equations give '{name}' = {value}"
        remark("symbol-solved", where, message, symbol=name, extent=str(value))
    return sizes
