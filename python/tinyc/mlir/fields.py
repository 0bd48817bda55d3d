"""Types of the attribute fields that the bindings have no constraint for, and the kinds that an op's class declares.

The bindings make a constraint of a field's annotation where it is a class that knows its `attr_name`, as `ir.ArrayAttr`
does. Those of which they have none are declared here: some by the attribute that they are in MLIR, others as `Any`,
where the verifier of the op checks what is there.
"""

import functools
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from tinyc.mlir import ext, ir


class FieldKind(NamedTuple):
    """What an attribute must be: its class, how messages call it, and how many numbers it has, where that is fixed."""

    held: type[ir.Attribute]
    shown: str
    length: int | None = None

    def takes(self, attribute: ir.Attribute) -> bool:
        """Whether an attribute is one."""
        if isinstance(attribute, ir.IntegerAttr):
            return self.held is ir.IntegerAttr and str(attribute.type) == "i64"
        if isinstance(attribute, ir.DenseI64ArrayAttr) and self.length not in (None, len(attribute)):
            return False
        return isinstance(attribute, self.held)


if TYPE_CHECKING:
    I64Array: TypeAlias = ir.DenseI64ArrayAttr
    I64Pair: TypeAlias = ir.DenseI64ArrayAttr
    Bool: TypeAlias = ir.BoolAttr
    AffineMap: TypeAlias = ir.AffineMapAttr
    Number: TypeAlias = ir.FloatAttr | ir.IntegerAttr | ir.BoolAttr
    Constant: TypeAlias = Number | ir.DenseElementsAttr | ir.Attribute
else:
    AffineMap = Number = Constant = Any

    class I64Array(ir.Attribute):
        """A list of numbers, `array<i64: 1, 2>`."""

        attr_name = "builtin.dense_array"

    class I64Pair(ir.Attribute):
        """Two of them."""

        attr_name = "builtin.dense_array"

    class Bool(ir.Attribute):
        """`true` or `false`."""

        attr_name = "builtin.integer"


#: The kinds by their annotation.
_KINDS: dict[Any, FieldKind] = {
    I64Array: FieldKind(ir.DenseI64ArrayAttr, "array<i64: …>"),
    I64Pair: FieldKind(ir.DenseI64ArrayAttr, "two numbers, array<i64: …, …>", 2),
    Bool: FieldKind(ir.BoolAttr, "true or false"),
    ir.IntegerAttr: FieldKind(ir.IntegerAttr, "a number, 1 : i64"),
    ir.StringAttr: FieldKind(ir.StringAttr, 'a text, "…"'),
    ir.ArrayAttr: FieldKind(ir.ArrayAttr, "a list, […]"),
}


@functools.cache
def field_kinds(op: type[ext.Operation]) -> dict[str, FieldKind]:
    """The kinds of the attributes that the class of an op declares, as far as its annotations say them."""
    _, attributes, _, _ = ext.partition_fields(op._fields)
    return {field.name: _KINDS[field.constraint] for field in attributes if field.constraint in _KINDS}
