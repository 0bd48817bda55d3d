"""Text: `parse` reads IR and keeps the names of values; `print_ir` writes it for people, `located` for machines.

In reading order:

    guards      what MLIR's parser would not survive
    names       names of values
    printing    a module to text
    bytecode    MLIR's binary form of IR
    reading     text, or bytecode, to a module
    table       rows for people: what commands and benches print

What needs MLIR is imported when it is first asked for: tables are printed where it is not installed, too.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tinyc.mlir.locations import unescape, where
    from tinyc.mlir.messages import Diagnostic, IrError, capture_errors, verify_op
    from tinyc.text.bytecode import bytecode_of, is_bytecode
    from tinyc.text.printing import READABLE_RESOURCE, PrintStyle, located, print_ir
    from tinyc.text.reading import parse

__all__ = [
    "READABLE_RESOURCE",
    "Diagnostic",
    "IrError",
    "PrintStyle",
    "bytecode_of",
    "capture_errors",
    "is_bytecode",
    "located",
    "parse",
    "print_ir",
    "unescape",
    "verify_op",
    "where",
]

#: Name → the module that has it.
_HOMES = {
    **dict.fromkeys(("unescape", "where"), "tinyc.mlir.locations"),
    **dict.fromkeys(("Diagnostic", "IrError", "capture_errors", "verify_op"), "tinyc.mlir.messages"),
    **dict.fromkeys(("bytecode_of", "is_bytecode"), "tinyc.text.bytecode"),
    **dict.fromkeys(("READABLE_RESOURCE", "PrintStyle", "located", "print_ir"), "tinyc.text.printing"),
    "parse": "tinyc.text.reading",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tinyc.text' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
