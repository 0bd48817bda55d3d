"""The verifier that all Tiny ops share: declared fields, their kinds, and the typing rule of the op's name.

In: one op. Out: what is wrong with it as a message, or None. The rules themselves are in `infer`.
"""

from collections.abc import Callable
from typing import Any

from tinyc.diagnostics import TinycError
from tinyc.dialects.tiny.attributes import arguments, tensor_type, to_type
from tinyc.dialects.tiny.infer import Inferred, infer
from tinyc.mlir import ext, ir, unreadable

#: What each declared attribute must be, and how messages show that; `lo` and `hi` depend on the op.
_INTEGERS = (ir.DenseI64ArrayAttr, "array<i64: …>")
_EXTENTS = (ir.ArrayAttr, '[0, "M", …]')
_INTEGER = (ir.IntegerAttr, "an integer")
_STRING = (ir.StringAttr, "a string")
_KINDS: dict[str, tuple[Any, str]] = {
    **dict.fromkeys(("perm", "broadcast_dimensions", "axes", "kernel", "stride", "dilation", "step"), _INTEGERS),
    "map": (ir.AffineMapAttr, "affine_map<…>"),
    "value": (ir.FloatAttr | ir.IntegerAttr | ir.BoolAttr, "a number"),
    **dict.fromkeys(("op", "distribution"), _STRING),
    **dict.fromkeys(("axis", "k", "seed", "stream"), _INTEGER),
    "largest": (ir.BoolAttr, "true or false"),
}


def name_of(op: Any) -> str:
    """Return the op's name without its `tiny.` prefix."""
    return op.operation.name.removeprefix("tiny.")


def declared_fields_error(op: Any) -> str | None:
    """Return what is wrong with the op's operand, result and attribute counts, before anything else looks at them.

    A Python verifier may run before IRDL's own checks; an access to a missing field must not escape as an exception.
    """
    operands, attributes, results, _ = ext.partition_fields(type(op.opview)._fields)
    for what, found, fields in (("operand", op.operands, operands), ("result", op.results, results)):
        if len(found) != len(fields):
            return f"'{op.operation.name}' has {len(found)} {what}s; expected {len(fields)}"
    names = sorted(field.name for field in attributes)
    for name in names:
        if name not in op.operation.attributes:
            return f"'{op.operation.name}' lacks the attribute '{name}'"
    for name in op.operation.attributes:
        if name not in names and "." not in name:  # an attribute of another dialect carries its prefix
            return f"'{op.operation.name}' has no attribute '{name}'; it has {', '.join(names) or 'none'}"
    found = unreadable(op)
    return None if found is None else found[1]


def report(op: Any, check: Callable[[Any], object]) -> bool:
    """Check the declared fields of an op, then what `check` does; report a violation at the op, and say if none was."""
    message = declared_fields_error(op)
    try:
        if message is None:
            check(op)
            return True
    except TinycError as error:
        message = f"'{op.operation.name}' {error.message} [{error.code} {error.name}]"
    op.location.emit_error(message)
    return False


def infer_op(op: Any) -> Inferred:
    """Apply the typing rule of a Tiny op to what the IR says of it.

    Raises:
        TinycError: the broken rule; malformed attributes are `InvalidAttribute`.
    """
    operands = [tensor_type(operand.type) for operand in op.operation.operands]
    _require_kinds(op)
    return infer(name_of(op), operands, arguments(op))


def _require_kinds(op: Any) -> None:
    _, attributes, _, _ = ext.partition_fields(type(op.opview)._fields)
    bounds = _EXTENTS if name_of(op) == "shrink" else _INTEGERS
    for field in attributes:
        attribute = op.operation.attributes[field.name]
        kind, shown = _KINDS.get(field.name, bounds)
        if not isinstance(attribute, kind):
            raise TinycError("InvalidAttribute", f"attribute '{field.name}' is {attribute}; it must be {shown}")


def typing_error(op: Any) -> str | None:
    """Return how the op breaks its typing rule."""
    try:
        inferred = infer_op(op)
        found = tuple(tensor_type(result.type) for result in op.operation.results)
        _require_value_type(op)
    except TinycError as error:
        return f"'{op.operation.name}' {error.message} [{error.code} {error.name}]"
    if found != inferred.types:
        expected = ", ".join(str(to_type(tensor)) for tensor in inferred.types)
        actual = ", ".join(str(result.type) for result in op.operation.results)
        return f"'{op.operation.name}' has the result type {actual}; its operands give {expected}"
    return None


def _require_value_type(op: Any) -> None:
    """Check that the scalar of a `const` or a `pad` is of the result's element type."""
    if "value" not in op.operation.attributes:
        return
    attribute, result = op.operation.attributes["value"], op.operation.results[0].type
    if attribute.type != result.element_type:
        raise TinycError(
            "DtypeMismatch", f"value {attribute} is of type {attribute.type}; the elements are {result.element_type}"
        )
