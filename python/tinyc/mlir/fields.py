"""Types of the attribute fields that IRDL has no constraint for.

The bindings make a constraint of a field's annotation where it is a class that knows its `attr_name`, as `ir.ArrayAttr`
does. These do not: the bindings are told `Any`, and the verifier of the op checks what is there.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from tinyc.mlir import ir

    I64Array: TypeAlias = ir.DenseI64ArrayAttr
    AffineMap: TypeAlias = ir.AffineMapAttr
    Bool: TypeAlias = ir.BoolAttr
    Number: TypeAlias = ir.FloatAttr | ir.IntegerAttr | ir.BoolAttr
    Constant: TypeAlias = Number | ir.DenseElementsAttr | ir.Attribute
else:
    I64Array = AffineMap = Bool = Number = Constant = Any
