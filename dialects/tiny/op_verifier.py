"""The typing rule of a Tiny op, applied to what the IR says of it.

In: one op whose fields are those that its class declares. Out: the types that its operands give, or the rule that it
breaks. The rules themselves are in `tinyc.vocabulary.infer`.
"""

from tinyc.diagnostics import TinycError
from tinyc.mlir import ext, ir
from tinyc.mlir.verifying import Malformed
from tinyc.vocabulary.attributes import arguments, tensor_type, to_type
from tinyc.vocabulary.elements import is_elements
from tinyc.vocabulary.infer import Inferred, infer

#: What each declared attribute must be, and how messages show that; `lo` and `hi` depend on the op.
_INTEGERS = (ir.DenseI64ArrayAttr, "array<i64: …>")
_EXTENTS = (ir.ArrayAttr, '[0, "M", …]')
_INTEGER = (ir.IntegerAttr, "an integer")
_STRING = (ir.StringAttr, "a string")
_KINDS = {
    **dict.fromkeys(("perm", "broadcast_dimensions", "axes", "kernel", "stride", "dilation", "step"), _INTEGERS),
    "map": (ir.AffineMapAttr, "affine_map<…>"),
    "value": (ir.FloatAttr | ir.IntegerAttr | ir.BoolAttr, "a number"),
    **dict.fromkeys(("op", "distribution"), _STRING),
    **dict.fromkeys(("axis", "k", "seed", "stream"), _INTEGER),
    "largest": (ir.BoolAttr, "true or false"),
}


def infer_op(op: ext.Operation) -> Inferred:
    """Apply the typing rule of a Tiny op to what the IR says of it.

    Raises:
        TinycError: the broken rule; malformed attributes are `InvalidAttribute`.
    """
    operands = [tensor_type(operand.type) for operand in op.operands]
    _require_kinds(op)
    return infer(op._op_name, operands, arguments(op))


def _require_kinds(op: ext.Operation) -> None:
    _, attributes, _, _ = ext.partition_fields(op._fields)
    bounds = _EXTENTS if op._op_name == "shrink" else _INTEGERS
    for field in attributes:
        attribute = op.attributes[field.name]
        kind, shown = _KINDS.get(field.name, bounds)
        is_tensor = op._op_name == "const" and is_elements(attribute)
        if not isinstance(attribute, kind) and not is_tensor:
            shown += ", or the elements of a tensor" if op._op_name == "const" else ""
            raise TinycError("InvalidAttribute", f"attribute '{field.name}' is {attribute}; it must be {shown}")


def check_typing(op: ext.Operation) -> None:
    """Check that an op's results are those that its typing rule gives.

    Raises:
        TinycError: the broken rule.
    """
    inferred = infer_op(op)
    found = tuple(tensor_type(result.type) for result in op.results)
    _require_value_type(op)
    if found != inferred.types:
        expected = ", ".join(str(to_type(tensor)) for tensor in inferred.types)
        actual = ", ".join(str(result.type) for result in op.results)
        raise Malformed(f"has the result type {actual}; its operands give {expected}")


def _require_value_type(op: ext.Operation) -> None:
    """Check that the value of a `const` or a `pad` is of the result's element type, a tensor of its type."""
    if "value" not in op.attributes:
        return
    attribute, result = op.attributes["value"], op.results[0].type
    assert isinstance(result, ir.RankedTensorType)  # it has been read as one
    expected = result if is_elements(attribute) else result.element_type
    if attribute.type != expected:
        raise TinycError("DtypeMismatch", f"value {attribute} is of type {attribute.type}; the elements are {expected}")
