"""Bytecode, MLIR's binary form of IR: written, and read by way of text.

A damaged file ends the process that reads it, or keeps it busy for ever. So a process of its own reads bytecode and
prints the module with all its locations; that text goes through the one door (`reading`), guards and all.
"""

import io
import subprocess
import sys

from tinyc.diagnostics import TinycError, Where
from tinyc.dialects import registry
from tinyc.mlir import ir
from tinyc.mlir.locations import where
from tinyc.mlir.processes import run_in_process
from tinyc.text.printing import located
from tinyc.vocabulary.elements import with_resources

_MAGIC = b"ML\xefR"
_READER = "from tinyc.text import bytecode; bytecode.print_as_text()"
#: How long reading may take: far longer than it does, which is a second for ten million bytes.
_SECONDS = 20
_SECONDS_PER_BYTE = 1e-5


def is_bytecode(raw: bytes) -> bool:
    """Whether a file is bytecode."""
    return raw.startswith(_MAGIC)


def bytecode_of(module: ir.Module) -> bytes:
    """A module as bytecode, with its locations, which have the names of its values."""
    file, copy = io.BytesIO(), module.operation.clone()
    with module.context, ir.Location.unknown():
        with_resources(copy)
    copy.operation.write_bytecode(file)
    return file.getvalue()


def text_of_bytecode(raw: bytes, filename: str) -> bytes:
    """The module that bytecode means as text, with its locations.

    Raises:
        TinycError: `InvalidIr`: it is damaged, or of another version of MLIR.
    """
    limit = _SECONDS + _SECONDS_PER_BYTE * len(raw)
    try:
        done = run_in_process(_READER, raw, limit)
    except subprocess.TimeoutExpired:
        why = f"MLIR was still reading it after {limit:.0f} s"
    else:
        if done.returncode == 0:
            return done.stdout
        why = "MLIR does not survive reading it"
        if done.returncode > 0:
            why = done.stderr.decode(errors="replace").strip()
    message = f"the bytecode cannot be read: {why}; write it again, with tinyc-opt --emit-bytecode"
    raise TinycError("InvalidIr", message, Where(file=filename))


def print_as_text() -> None:
    """What the reading process does: bytecode on stdin to text on stdout, or what is wrong with it to stderr."""
    with registry.context() as context:
        context.allow_unregistered_dialects = True  # whoever reads the text says whether they are welcome
        context.emit_error_diagnostics = False  # but raise with them
        try:
            text = located(ir.Module.parse(sys.stdin.buffer.read()))
        except ir.MLIRError as error:
            sys.exit("; ".join(map(_said, error.error_diagnostics)))
        except (RuntimeError, UnicodeError):  # which the bindings raise where a name or a message is no text
            sys.exit("it holds strings that are not UTF-8")
        sys.stdout.buffer.write(text.encode())


def _said(diagnostic: ir.Diagnostic) -> str:
    """A message with its place, which one about the file itself has not."""
    place = where(diagnostic.location)
    return diagnostic.message if place.line is None else f"{place}: {diagnostic.message}"
