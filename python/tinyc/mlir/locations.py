"""Where an op comes from: locations of the bindings as places in a user's text."""

import re

from tinyc.diagnostics import Where
from tinyc.mlir import ir

#: A string in MLIR's text; the group is what stands between its quotes, escapes and all.
STRING = r'"((?:[^"\\]|\\.)*)"'
_POSITION = re.compile(STRING + r":(\d+):(\d+)")
_NAME = re.compile(r"loc\(" + STRING + r"[()]")


def where(location: ir.Location) -> Where:
    """The place that an `ir.Location` means: its first file position, and the name of a name location."""
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
