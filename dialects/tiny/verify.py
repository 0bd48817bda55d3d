"""What holds in the Tiny layer as a whole, beyond what each op's verifier sees.

A Tiny function is one block of Tiny ops; its arguments and results carry distinct, non-empty `tiny.name`s; each
relation between extents that an op relies on stands as a `tiny.assume` in the same block.
"""

from collections.abc import Iterator
from typing import Any

from tinyc.analysis import extents
from tinyc.analysis.extents import ExtentError
from tinyc.diagnostics import TinycError
from tinyc.dialects.tiny.attributes import tensor_type
from tinyc.dialects.tiny.infer import Assumption
from tinyc.dialects.tiny.op_verifier import infer_op
from tinyc.mlir import ir


def functions(module: Any) -> list[Any]:
    """Return the functions with a body in `module`."""
    return [op for op in module.body.operations if op.operation.name == "func.func" and len(op.regions[0].blocks)]


def assumption_of(op: Any) -> Assumption:
    """Return what a `tiny.assume` says.

    Raises:
        TinycError: a side is not an extent in canonical text, or the predicate is unknown.
    """
    attributes = {name: op.operation.attributes[name] for name in ("lhs", "predicate", "rhs")}
    for name, attribute in attributes.items():
        if not isinstance(attribute, ir.StringAttr):
            raise TinycError("InvalidAttribute", f"'{name}' must be a string, not {attribute}")
    predicate = attributes["predicate"].value
    if predicate not in ("eq", "le"):
        raise TinycError("InvalidAttribute", f"predicate {predicate!r} is not 'eq' or 'le'")
    sides = []
    for name in ("lhs", "rhs"):
        text = attributes[name].value
        try:
            side = extents.parse(text)
        except ExtentError as error:
            raise TinycError("InvalidExtent", str(error)) from None
        if str(side) != text:
            raise TinycError("InvalidExtent", f"{text!r} is not in canonical form; write {str(side)!r}")
        sides.append(side)
    return Assumption(sides[0], predicate, sides[1])


def assumptions(block: Any) -> list[Assumption]:
    """Return what the `tiny.assume` ops of a block say."""
    return [assumption_of(op) for op in block.operations if op.operation.name == "tiny.assume"]


def verify(module: Any) -> bool:
    """Check every function of the layer; report each violation at its location and return whether there was none."""
    return all([_report(location, message) for location, message in violations(module)] or [True])


def _report(location: Any, message: str) -> bool:
    location.emit_error(message)
    return False


def violations(module: Any) -> Iterator[tuple[Any, str]]:
    """Yield (location, message) for each violation in `module`."""
    for function in functions(module):
        if not _has_tiny(function):
            continue
        yield from _names(function)
        if len(function.regions[0].blocks) != 1:
            yield function.location, f"function @{function.name.value} must be a single block: Tiny has no control flow"
            continue
        yield from _types(function)
        yield from _missing_assumptions(function.regions[0].blocks[0])


def _has_tiny(function: Any) -> bool:
    return any(
        op.operation.name.startswith("tiny.") for block in function.regions[0].blocks for op in block.operations
    ) or any("tiny.name" in attributes for attributes in _attributes(function, "arg_attrs"))


def _attributes(function: Any, which: str) -> list[Any]:
    if which not in function.operation.attributes:
        return []
    return list(function.operation.attributes[which])


def _names(function: Any) -> Iterator[tuple[Any, str]]:
    for which, what in (("arg_attrs", "argument"), ("res_attrs", "result")):
        seen: set[str] = set()
        for position, attributes in enumerate(_attributes(function, which)):
            if "tiny.name" not in attributes:
                continue
            name = attributes["tiny.name"]
            if not isinstance(name, ir.StringAttr) or not name.value or name.value in seen:
                yield function.location, f"{what} {position}: tiny.name {name} must be a distinct, non-empty string"
                continue
            seen.add(name.value)


def _types(function: Any) -> Iterator[tuple[Any, str]]:
    for value in function.arguments:
        try:
            tensor_type(value.type)
        except TinycError as error:
            yield function.location, f"argument {value.arg_number}: {error.message} [{error.code} {error.name}]"


def _missing_assumptions(block: Any) -> Iterator[tuple[Any, str]]:
    stated = set(assumptions(block))
    for op in block.operations:
        if not op.operation.name.startswith("tiny.") or op.operation.name == "tiny.assume":
            continue
        for needed in infer_op(op).assumptions:
            if needed not in stated:
                yield op.location, f"'{op.operation.name}' {unstated(needed)}"


def unstated(needed: Assumption) -> str:
    """Return what is said of an op that relies on `needed` where nothing states it."""
    sides = f'lhs = "{needed.lhs}", predicate = "{needed.predicate}", rhs = "{needed.rhs}"'
    return f'relies on {needed}, which nothing states; add "tiny.assume"() {{{sides}}}'
