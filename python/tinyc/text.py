"""Reading IR text, and what MLIR says about IR.

`parse` is the one door for IR text: it checks the text first (`guards`), keeps the file name in the locations, and
turns MLIR's diagnostics into one `IrError` that carries all of them. `capture_errors` and `where` are for everyone who
calls into MLIR.
"""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tinyc import dialects, guards
from tinyc.diagnostics import TinycError, Where
from tinyc.mlir import context, ir, unreadable


@dataclass(frozen=True)
class Diagnostic:
    """One message of MLIR's: `severity` is "error", "warning", "remark" or "note"."""

    severity: str
    where: Where
    message: str
    notes: "tuple[Diagnostic, ...]" = ()

    @classmethod
    def of(cls, diagnostic: Any) -> "Diagnostic":
        """Return the frozen form of a diagnostic of the bindings, which lives only while it is handled."""
        return cls(
            diagnostic.severity.name.lower(),
            where(diagnostic.location),
            diagnostic.message,
            tuple(cls.of(note) for note in diagnostic.notes),
        )


class IrError(TinycError):
    """IR that MLIR or a verifier refuses; `diagnostics` are the messages with their notes."""

    def __init__(self, name: str, message: str, where: Where | None = None) -> None:
        super().__init__(name, message, where)
        self.diagnostics: tuple[Diagnostic, ...] = (Diagnostic("error", self.where, message),)

    @classmethod
    def of(cls, diagnostics: list[Diagnostic], summary: str) -> "IrError":
        """Return the error that stands for `diagnostics`; `summary` speaks where MLIR said nothing."""
        found = diagnostics or [Diagnostic("error", Where(), summary)]
        error = cls("InvalidIr", found[0].message, found[0].where)
        error.diagnostics = tuple(found)
        error.errors = tuple(TinycError("InvalidIr", each.message, each.where) for each in found)
        return error


_SEVERAL_OPS = "source must contain a single top-level operation"
_STRING = r'"((?:[^"\\]|\\.)*)"'
_POSITION = re.compile(_STRING + r":(\d+):(\d+)")
_NAME = re.compile(r"loc\(" + _STRING + r"[()]")


def where(location: Any) -> Where:
    """Return the place that an `ir.Location` means: its first file position, and the name of a name location."""
    text = str(location)
    name, position = _NAME.match(text), _POSITION.search(text)
    node = unescape(name.group(1)) if name else None
    if position is None:
        return Where(node=node)
    file, line, column = position.groups()
    return Where(node, unescape(file), int(line) or None, int(column) or None)


def unescape(text: str) -> str:
    """Undo MLIR's escapes: a backslash and two hexadecimal digits for each byte, or the character itself."""
    raw = re.sub(rb"\\([0-9A-Fa-f]{2})", lambda m: bytes([int(m.group(1), 16)]), text.encode())
    return re.sub(r"\\(.)", r"\1", raw.decode(errors="replace"))


@contextlib.contextmanager
def capture_errors(mlir_context: Any) -> Iterator[list[Diagnostic]]:
    """Collect the errors that MLIR reports inside the `with` block; warnings and remarks go on to outer handlers."""
    errors: list[Diagnostic] = []

    def handle(diagnostic: Any) -> bool:
        if diagnostic.severity != ir.DiagnosticSeverity.ERROR:
            return False
        errors.append(Diagnostic.of(diagnostic))
        return True

    # Without this the bindings swallow errors into their exception, without the order and the notes.
    before = mlir_context.emit_error_diagnostics
    mlir_context.emit_error_diagnostics = True
    handler = mlir_context.attach_diagnostic_handler(handle)
    try:
        yield errors
    finally:
        handler.detach()
        mlir_context.emit_error_diagnostics = before


def verify(op: Any) -> None:
    """Run MLIR's verifier on `op`.

    Raises:
        IrError: it reports errors.
    """
    with capture_errors(op.context) as errors:
        try:
            op.operation.verify()
        except ir.MLIRError:
            raise IrError.of(errors, "the IR does not verify") from None


#: MLIR's parser takes the location behind a bare barrier for one of the op's attributes.
_BARRIER = re.compile(r"^(\s*)nvvm\.barrier loc\(", re.MULTILINE)
_GENERIC_BARRIER = r'\1"nvvm.barrier"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> () loc('


def located(module: Any, verified: bool = True) -> str:
    """Return the text of a module with the locations of its ops, such that `parse` reads it."""
    printed = module.operation.get_asm(enable_debug_info=True, assume_verified=verified)
    return _BARRIER.sub(_GENERIC_BARRIER, printed)


def parse(text: str | bytes, filename: str = "-") -> Any:
    """Return the `ir.Module` that `text` means, verified op by op, with `filename` in its locations.

    A text without a top-level `module` is put into one, as in `mlir-opt`.

    Raises:
        TinycError: `InvalidIr`; an `IrError` where MLIR refused the text, with everything MLIR said.
    """
    source = guards.decode(text, filename) if isinstance(text, bytes) else text
    guards.check(source, filename)
    with context() as mlir_context, capture_errors(mlir_context) as errors:
        # Only Operation.parse takes a file name, and it wants exactly one top-level op.
        try:
            return _as_module(_readable(ir.Operation.parse(source, source_name=filename)))
        except ir.MLIRError:
            if not errors or _SEVERAL_OPS not in errors[0].message:
                raise (IrError.of(errors, "") if errors else _unexplained(source, filename)) from None
        # Module.parse puts several ops into a module, but calls their file "-".
        module = ir.Module.parse(source)
        printed = located(module)
        return _readable(ir.Module.parse(printed.replace('loc("-":', f"loc({ir.StringAttr.get(filename)}:")))


def _unexplained(source: str, filename: str) -> IrError:
    """Return the error for text about which MLIR says nothing: an op of tinyc's that is written without quotes."""
    namespaces = "|".join(layer.dialect.DIALECT_NAMESPACE for layer in dialects.layers())
    op = rf"//[^\n]*|{_STRING}|(?:^|[={{}}])[ \t]*((?:{namespaces})\.\w+)(?![ \t]*[=,}}\w.])"
    for match in re.finditer(op, source, re.MULTILINE):
        if match[2] is not None:
            start = match.start(2)
            line, column = source.count("\n", 0, start) + 1, start - source.rfind("\n", 0, start)
            message = f"'{match[2]}' has no syntax of its own; write it in quotes, \"{match[2]}\"(…) : (…) -> …"
            return IrError("InvalidIr", message, Where(file=filename, line=line, column=column))
    return IrError("InvalidIr", "the text is not IR", Where(file=filename))


def _readable(parsed: Any) -> Any:
    """Return a module or an op, all of whose attributes the bindings can read.

    Raises:
        IrError: one is of a kind that they cannot.
    """
    found = unreadable(parsed)
    if found is None:
        return parsed
    op, message = found
    raise IrError("InvalidIr", message, where(op.location))


def _as_module(op: Any) -> Any:
    """Return the `ir.Module` of `op` if it is a module, and otherwise a module that holds it."""
    module = ir.Module.create(loc=op.location)
    if op.operation.name != "builtin.module":
        module.body.append(op)
        return module
    for name in op.attributes:
        module.operation.attributes[name] = op.attributes[name]
    for inner in list(op.regions[0].blocks[0].operations):
        module.body.append(inner)
    return module
