"""What stands inside of an op: its body without the terminator, all ops nested in it, attributes nobody can read."""

import re
from collections.abc import Iterator
from typing import Any

from tinyc.mlir import ir

END = "omp.terminator"


def end_body() -> None:
    """End the body of an op of tinyc's at the insertion point.

    IRDL can say neither that a body needs no terminator nor that an op is one. So that tools which know tinyc's
    dialects by their IRDL alone read our IR, bodies end in the one upstream terminator that means nothing else.
    """
    ir.Operation.create(END)


def body_of(op: Any) -> list[Any]:
    """The ops in the body of an op of tinyc's, without the one that ends it; none where there is no body."""
    inner = [each for block in op.operation.regions[0].blocks for each in block.operations]
    return [each for each in inner if each.operation.name != END]


def nested(op: Any) -> list[Any]:
    """All ops inside of an op, and last the op itself: an op after those in its regions."""
    if not len(op.operation.regions):
        return [op.operation]
    found: list[Any] = []

    def visit(each: Any) -> Any:
        found.append(each.operation)
        return ir.WalkResult.ADVANCE

    op.operation.walk(visit)
    return found


def ops_inside(operation: ir.Operation) -> Iterator[ir.OpView]:
    """All ops inside of an op, each before those inside of it: those of its clones come in the same order."""
    for region in operation.regions:
        for block in region.blocks:
            for op in block.operations:
                yield op
                yield from ops_inside(op.operation)


def unreadable(op: Any) -> tuple[Any, str] | None:
    """The first op inside of an op, or the op itself, with an attribute that nobody can read, and a message.

    The bindings have no class for some attributes, such as locations, and raise where one is looked at, as where a text
    is not UTF-8.
    """
    for each in nested(op):
        try:
            for name in each.attributes:
                _read(each.attributes[name])
        except (TypeError, RuntimeError, UnicodeDecodeError):
            message = f"'{each.name}' has an attribute of a kind that no op takes here, or a text that is not UTF-8"
            return each, f"{message}; give a number or a text"
    return None


def _read(attribute: Any) -> None:
    """Look at an attribute, and at those that it is made of."""
    if isinstance(attribute, ir.ArrayAttr):
        for element in attribute:
            _read(element)
    elif isinstance(attribute, ir.StringAttr):
        _ = attribute.value
    elif isinstance(attribute, ir.DictAttr | ir.SymbolRefAttr | ir.FlatSymbolRefAttr):
        # To ask for a name in them that is not UTF-8 ends the process, and so does an `entry.attr` without a class.
        _ESCAPE.sub(_unescaped, str(attribute).encode()).decode()
        if isinstance(attribute, ir.DictAttr):
            for entry in attribute:
                _read(attribute[entry.name])


#: How MLIR prints a byte of a text that is no printable character.
_ESCAPE = re.compile(rb"\\(\\|[0-9A-F]{2})")


def _unescaped(match: re.Match[bytes]) -> bytes:
    return match[0] if match[1] == b"\\" else bytes.fromhex(match[1].decode())
