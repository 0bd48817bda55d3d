"""IR as text: `parse` reads it and keeps the names of values; `print_ir` writes it for people, `located` for machines.

In reading order: `guards` (what MLIR's parser would not survive), `names` (of values), `reading`, `printing`.
"""

from tinyc.mlir.locations import unescape, where
from tinyc.mlir.messages import Diagnostic, IrError, capture_errors, verify_op
from tinyc.text.printing import PrintStyle, located, print_ir
from tinyc.text.reading import parse

__all__ = [
    "Diagnostic",
    "IrError",
    "PrintStyle",
    "capture_errors",
    "located",
    "parse",
    "print_ir",
    "unescape",
    "verify_op",
    "where",
]
