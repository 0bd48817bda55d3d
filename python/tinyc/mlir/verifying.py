"""How the verifiers of ops and layers report, and how an op's runs its rules: declared fields first, then the rule.

A rule raises `Malformed` where hand-written IR is wrong in a way that no importer can cause, or any other `TinycError`,
whose code a user may know from elsewhere; the report shows that code.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from tinyc.diagnostics import TinycError, Where
from tinyc.mlir import ext, ir
from tinyc.mlir.bodies import unreadable
from tinyc.mlir.fields import field_kinds
from tinyc.mlir.locations import around

_Op = TypeVar("_Op", bound=ir.OpView)


#: The attributes that say how many operands or results belong to each field of an op, one of which is a list.
_SEGMENTS = {"operands": "operandSegmentSizes", "results": "resultSegmentSizes"}

#: Where a rule of a layer is broken, and what is wrong.
Violation = tuple[ir.Location, str]


class Malformed(TinycError):
    """IR that breaks a rule of its layer; the message goes on after the op's name: "must have one region"."""

    def __init__(self, message: str, where: Where | None = None) -> None:
        super().__init__("InvalidIr", message, where)

    def at(self, where: Where) -> "Malformed":
        """The error with the parts of its place that it lacks taken from `where`."""
        return Malformed(self.message, self.where.completed(where))


def report_violations(found: Iterable[Violation]) -> bool:
    """Report each violation as an error at its location; return whether there was none."""
    violations = list(found)
    for location, message in violations:
        location.emit_error(message)
    return not violations


def report_op(op: _Op, rule: Callable[[_Op], object], declares: bool = True) -> bool:
    """Check an op; report what is wrong at its location, and return whether nothing is.

    `rule` sees an op whose fields are those that its class declares. An op that IRDL cannot describe, as one with
    operands of mixed types, has `declares=False`: then all that is known is that its attributes can be read.
    """
    message = declared_fields_error(op) if declares else _unreadable_error(op)
    if message is None:
        with op.context:  # printing a module verifies it, wherever that is
            message = broken_rule(rule, op)
        if message is None:
            return True
        message = f"'{op.operation.name}' {message}"  # its `name` may be a field
    around(op).emit_error(message)
    return False


def broken_rule(rule: Callable[..., object], *checked: object) -> str | None:
    """The message of the rule that `checked` breaks, or None."""
    try:
        rule(*checked)
    except Malformed as error:
        return error.message
    except TinycError as error:
        return error.message_with_code
    return None


def declared_fields_error(op: ir.OpView) -> str | None:
    """The violation of the op's operand, result or attribute counts, or None, before anything else looks at them.

    Attributes that may be left out, which IRDL has no word for, are the `optional_attributes` of the class.
    A Python verifier may run before IRDL's own checks; an access to a missing field must not escape as an exception.
    """
    assert isinstance(op, ext.Operation)  # a dialect of tinyc's defines it
    operands, names, results = _fields_of(type(op))
    wrong = _count_error(op, "operands", len(op.operands), operands)
    wrong = wrong or _count_error(op, "results", len(op.results), results)
    if wrong is not None:
        return wrong
    for name in names:
        if name not in op.attributes:
            return f"'{op.operation.name}' lacks the attribute '{name}'"
    known = (*names, *getattr(op, "optional_attributes", ()))
    for name in op.attributes:
        if (
            name not in (*known, *_SEGMENTS.values()) and "." not in name
        ):  # an attribute of another dialect carries its prefix
            return f"'{op.operation.name}' has no attribute '{name}'; it has {', '.join(known) or 'none'}"
    return _unreadable_error(op)


def require_kinds(op: ext.Operation) -> None:
    """Check that attributes are of the kinds that the op's class declares (`fields`), before its rule reads them.

    Raises:
        Malformed.
    """
    for name, kind in field_kinds(type(op)).items():
        if not kind.takes(op.attributes[name]):
            raise Malformed(f"has {name} = {op.attributes[name]}; it must be {kind.shown}")


@functools.cache
def _fields_of(
    kind: type[ext.Operation],
) -> tuple[Sequence[ext.OperandDef], Sequence[str], Sequence[ext.ResultDef]]:
    """What the class of an op declares: its operands, the names of its attributes in order, and its results."""
    operands, attributes, results, _ = ext.partition_fields(kind._fields)
    return operands, sorted(field.name for field in attributes), results


def _count_error(
    op: ir.OpView, what: str, count: int, fields: Sequence[ext.OperandDef] | Sequence[ext.ResultDef]
) -> str | None:
    """The violation of an op's count of operands or results; the last field may be a list, of as many as there are."""
    name, attribute = op.operation.name, _SEGMENTS[what]
    single = sum(field.variadicity == ext.Variadicity.single for field in fields)
    if single == len(fields):
        return None if count == single else f"'{name}' has {count} {what}; expected {single}"
    if count < single:
        return f"'{name}' has {count} {what}; expected {single} or more"
    given = str(op.attributes[attribute]) if attribute in op.attributes else "none"
    sizes = f"array<i32: {', '.join(map(str, [*([1] * single), count - single]))}>"
    return None if given == sizes else f"'{name}' has {attribute} = {given}; expected {sizes} for {count} {what}"


def _unreadable_error(op: ir.OpView) -> str | None:
    found = unreadable(op)
    return None if found is None else found[1]
