"""Reading IR text: the one door for it.

In: text, or bytes, from anywhere. Out: an `ir.Module` with the file's name in its locations and the names of the text's
values (`names`). The text is checked first (`guards`); what MLIR says against it is one `IrError`. Of bytecode the
module has the locations, and so the names, that stand in it.
"""

import re
from typing import TypeVar

from tinyc.diagnostics import TinycError, Where
from tinyc.dialects import registry
from tinyc.mlir import builtin, ir
from tinyc.mlir.bodies import unreadable
from tinyc.mlir.locations import STRING, where
from tinyc.mlir.messages import Diagnostic, IrError, capture_errors
from tinyc.text import guards
from tinyc.text.bytecode import is_bytecode, text_of_bytecode
from tinyc.text.names import name_values
from tinyc.vocabulary.elements import take_resources

_SEVERAL_OPS = "source must contain a single top-level operation"
#: What `Module.parse` calls the file.
_NO_FILE = "-"


def parse(text: str | bytes, filename: str = _NO_FILE) -> ir.Module:
    """The `ir.Module` that `text`, or bytecode, means, verified op by op, with `filename` in its locations.

    A text without a top-level `module` is put into one, as in `mlir-opt`.

    Raises:
        TinycError: `InvalidIr`; an `IrError` where MLIR refused the text, with everything MLIR said.
    """
    if isinstance(text, bytes) and is_bytecode(text):
        return _from_bytecode(text, filename)
    source = guards.decode_text(text, filename) if isinstance(text, bytes) else text
    module, parsed_as = _checked(source, filename)
    name_values(module, source, filename, parsed_as)
    return module


def _from_bytecode(raw: bytes, filename: str) -> ir.Module:
    """The module that bytecode means; its values have their names already."""
    source = guards.decode_text(text_of_bytecode(raw, filename), filename)
    try:
        return _checked(source, filename)[0]
    except TinycError as error:  # at a place in the text, which nobody has seen
        raise TinycError(error.name, error.message, Where(file=filename)) from None


def _checked(source: str, filename: str) -> tuple[ir.Module, str]:
    """The module that a text means, and what the file is called in its locations."""
    guards.check(source, filename)
    with registry.context() as context, capture_errors(context) as errors:
        try:
            module, parsed_as = _parsed(source, filename, errors)
            with ir.Location.unknown():
                take_resources(module)
            return module, parsed_as
        except ir.MLIRError:
            raise (IrError.of(errors, "") if errors else _unexplained(source, filename)) from None


def _parsed(source: str, filename: str, errors: list[Diagnostic]) -> tuple[ir.Module, str]:
    # Only Operation.parse takes a file name, and it wants exactly one top-level op.
    try:
        return _as_module(_readable(ir.Operation.parse(source, source_name=filename))), filename
    except ir.MLIRError:
        if not errors or _SEVERAL_OPS not in errors[0].message:
            raise
    errors.clear()
    module = ir.Module.parse(source)
    _readable(module.operation)
    return module, _NO_FILE


_Op = TypeVar("_Op", ir.Operation, ir.OpView)


def _readable(parsed: _Op) -> _Op:
    """An op, all of whose attributes, and of those inside it, the bindings can read.

    Raises:
        IrError: one is of a kind that they cannot.
    """
    found = unreadable(parsed)
    if found is None:
        return parsed
    op, message = found
    raise IrError("InvalidIr", message, where(op.location))


def _unexplained(source: str, filename: str) -> IrError:
    """The error for text about which MLIR says nothing: an op of tinyc's that is written without quotes."""
    namespaces = "|".join(layer.dialect.DIALECT_NAMESPACE for layer in registry.layers())
    op = rf"//[^\n]*|{STRING}|(?:^|[={{}}])[ \t]*((?:{namespaces})\.\w+)(?![ \t]*[=,}}\w.])"
    for match in re.finditer(op, source, re.MULTILINE):
        if match[2] is not None:
            start = match.start(2)
            line, column = source.count("\n", 0, start) + 1, start - source.rfind("\n", 0, start)
            message = f"'{match[2]}' has no syntax of its own; write it in quotes, \"{match[2]}\"(…) : (…) -> …"
            return IrError("InvalidIr", message, Where(file=filename, line=line, column=column))
    return IrError("InvalidIr", "the text is not IR", Where(file=filename))


def _as_module(op: ir.OpView) -> ir.Module:
    """The `ir.Module` of `op` if it is a module, and otherwise a module that holds it."""
    module = ir.Module.create(loc=op.location)
    if not isinstance(op, builtin.ModuleOp):
        module.body.append(op)
        return module
    for name in op.attributes:
        module.operation.attributes[name] = op.attributes[name]
    for inner in list(op.regions[0].blocks[0].operations):
        module.body.append(inner)
    return module
