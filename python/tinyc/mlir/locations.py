"""Where an op comes from: locations of the bindings as places in a user's text.

A name location is the place of a node, and printing calls the value after it. So what stands for a value of the user's
program has its name, down to the machine's code; what only scaffolds it (constants, loops, addresses) has none, and
`around` finds the node that a message about it names.
"""

import re

from tinyc.diagnostics import Where
from tinyc.mlir import ir

#: A string in MLIR's text; the group is what stands between its quotes, escapes and all.
STRING = r'"((?:[^"\\]|\\.)*)"'
#: The attribute of an op with the name of each of its results, "" for one that has none.
RESULT_NAMES = "tiny.names"
#: The pass that gives functions the scopes without which LLVM drops locations: for `.loc` alone, with no .debug_info.
LINE_SCOPES = "ensure-debug-info-scope-on-llvm-func{emission-kind=DebugDirectivesOnly}"
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


def location_of(where: Where) -> ir.Location | None:
    """The location that means a place; None where that says nothing."""
    place = ir.Location.file(where.file, where.line or 0, where.column or 0) if where.file else None
    return place if where.node is None else ir.Location.name(where.node, childLoc=place)


def named(name: str, location: ir.Location) -> ir.Location:
    """`location` with `name` in place of its own, if it has one."""
    return ir.Location.name(name, childLoc=unnamed(location), context=location.context)


def unnamed(location: ir.Location) -> ir.Location:
    """`location` without its name."""
    return location.child_loc if isinstance(location, ir.NameLoc) else location


def name_of(location: ir.Location) -> str | None:
    """The name of a name location; None for others."""
    return location.name_str if isinstance(location, ir.NameLoc) else None


def value_name(result: ir.OpResult) -> str | None:
    """The user's name of an op's result: the node id, with `#1` for a second result; None if it has none.

    A call of a kernel, whose results are values of several nodes, has their names in an attribute.
    """
    names = result.owner.attributes.get(RESULT_NAMES)
    if isinstance(names, ir.ArrayAttr) and len(names) == len(result.owner.results):
        text = names[result.result_number]
        return text.value or None if isinstance(text, ir.StringAttr) else None
    name = name_of(result.owner.location)
    return f"{name}#{result.result_number}" if name is not None and result.result_number else name


def here(name: str | None = None) -> ir.Location:
    """The location in force with `name`, or without any: `loc=here("acc")` calls what an op makes so."""
    location = ir.Location.current
    return unnamed(location) if name is None else named(name, location)


def around(op: ir.Operation | ir.OpView) -> ir.Location:
    """Where a message about an op points: at it, as the node of the nearest op around it that has a name."""
    outer: ir.Operation | ir.OpView | None = op.operation
    while outer is not None:
        name = name_of(outer.location)
        if name is not None:
            return named(name, op.location)
        outer = outer.parent
    return op.location


def unescape(text: str) -> str:
    """Undo MLIR's escapes: a backslash and two hexadecimal digits for each byte, or the character itself."""
    raw = re.sub(rb"\\([0-9A-Fa-f]{2})", lambda m: bytes([int(m.group(1), 16)]), text.encode())
    return re.sub(r"\\(.)", r"\1", raw.decode(errors="replace"))
