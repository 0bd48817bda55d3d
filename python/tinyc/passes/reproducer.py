"""Reproducers: IR text that says which passes to run on it, as MLIR's tools write and read it.

In: a pipeline and the text of a module. Out: a file that `tinyc-opt --run-reproducer` repeats (and `mlir-opt`, where
the passes are MLIR's own). The pipeline stands in the resource `mlir_reproducer` behind the module.
"""

import re
import shlex
import tempfile
from dataclasses import dataclass

from tinyc.diagnostics import TinycError, Where
from tinyc.mlir.locations import unescape

_RESOURCE = re.compile(r"\bmlir_reproducer\s*:\s*\{")
_ENTRY = re.compile(r'\s*(\w+)\s*:\s*("(?:[^"\\]|\\.)*"|\w+)\s*,?')


@dataclass(frozen=True)
class Reproducer:
    """A pipeline and the module that it starts from, both as text; `load` are the files of passes that it takes."""

    pipeline: str
    ir: str
    verify_each: bool = True
    load: tuple[str, ...] = ()

    def text(self) -> str:
        """The content of the file."""
        verify = "true" if self.verify_each else "false"
        return (
            f"{self.ir.rstrip()}\n\n{{-#\n  external_resources: {{\n    mlir_reproducer: {{\n"
            f'      pipeline: "{_escaped(self.pipeline)}",\n      disable_threading: true,\n'
            f"      verify_each: {verify}\n    }}\n  }}\n#-}}\n"
        )

    def save(self) -> str:
        """Write a new file for temporary files; return the command that repeats the failure."""
        with tempfile.NamedTemporaryFile(
            "w", prefix="tinyc-reproducer-", suffix=".mlir", delete=False, encoding="utf-8"
        ) as file:
            file.write(self.text())
        load = "".join(f"--load-pass {shlex.quote(each)} " for each in self.load)
        return f"tinyc-opt {load}--run-reproducer {shlex.quote(file.name)}"


def read_reproducer(source: str, filename: str) -> Reproducer:
    """The pipeline and the module of a reproducer's text.

    Raises:
        TinycError: `InvalidIr`: the text has no resource `mlir_reproducer` with a pipeline.
    """
    resources = max(source.rfind("{-#"), 0)
    start = _RESOURCE.search(source, resources)
    position = start.end() if start else len(source)
    entries: dict[str, str] = {}
    while entry := _ENTRY.match(source, position):
        entries[entry[1]], position = entry[2], entry.end()
    if not entries.get("pipeline", "").startswith('"'):
        message = (
            "the input is not a reproducer: it has no resource 'mlir_reproducer' with a pipeline; give --pass-pipeline"
        )
        raise TinycError("InvalidIr", message, Where(file=filename))
    pipeline = unescape(entries["pipeline"][1:-1])
    return Reproducer(pipeline, source[:resources], entries.get("verify_each") != "false")


def _escaped(text: str) -> str:
    """A text as MLIR writes it in a string: each byte that is not a plain character as a backslash and two digits."""
    plain = set(range(0x20, 0x7F)) - set(b'"\\')
    return "".join(chr(byte) if byte in plain else f"\\{byte:02X}" for byte in text.encode())
