"""The `tiny` dialect: the minimal vocabulary, one op per UOp of the Tiny JSON format.

Every op is pure, has no regions, and is verified by the rule of its name in `infer`. Ops print in MLIR's generic
form: ``%2 = "tiny.permute"(%1) {perm = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>``.
"""

from typing import Any

from tinyc.dialects.tiny.attributes import encode, tensor_type, to_type
from tinyc.dialects.tiny.infer import infer
from tinyc.dialects.tiny.op_verifier import declared_fields_error, report, typing_error
from tinyc.dialects.tiny.verify import assumption_of
from tinyc.mlir import ext, ir


class Tiny(ext.Dialect, name="tiny"):
    """Movement, element-wise, reduce, leaves, and the data-dependent group; no implicit broadcast, no implicit cast."""


class DimsAttr(Tiny.Attribute, name="dims"):
    """`#tiny.dims<["M", 3]>`: the extents of a tensor, the encoding of its type where one of them is symbolic."""

    extents: ir.ArrayAttr


class Pure(ir.MemoryEffectsOpInterface):
    """Says that an op has no effect, so that upstream CSE and DCE work on it."""

    @staticmethod
    def get_effects(op: Any, effects: Any = None) -> list[Any]:
        """Return no effects."""
        return []


class TinyOp(Tiny.Operation, traits=[Pure]):
    """What every Tiny op shares: purity, and the one verifier."""

    def verify_invariants(self: Any) -> bool:
        """Check the op against its typing rule; report the broken one at the op's location."""
        message = declared_fields_error(self)
        if message is None:
            with self.operation.context:  # printing a module verifies it, wherever that is
                message = typing_error(self)
        if message is None:
            return True
        self.location.emit_error(message)
        return False


class UnaryOp(TinyOp):
    """One operand; the result has its type."""

    operand: ext.Operand[Any]
    output: ext.Result[Any]


class BinaryOp(TinyOp):
    """Two operands of the same type."""

    lhs: ext.Operand[Any]
    rhs: ext.Operand[Any]
    output: ext.Result[Any]


# --- element-wise -----------------------------------------------------------------------------------------------------


class NegOp(UnaryOp, name="neg"):
    """`-x`; floats and signed integers (which wrap)."""


class Exp2Op(UnaryOp, name="exp2"):
    """Two to the power of `x`."""


class Log2Op(UnaryOp, name="log2"):
    """The base-2 logarithm."""


class SqrtOp(UnaryOp, name="sqrt"):
    """The square root."""


class RsqrtOp(UnaryOp, name="rsqrt"):
    """`1 / sqrt(x)`."""


class RecipOp(UnaryOp, name="recip"):
    """`1 / x`."""


class ReluOp(UnaryOp, name="relu"):
    """`max(x, 0)`; NaN stays NaN."""


class SinOp(UnaryOp, name="sin"):
    """The sine of `x` radians."""


class ErfOp(UnaryOp, name="erf"):
    """The error function."""


class TanhOp(UnaryOp, name="tanh"):
    """The hyperbolic tangent."""


class FloorOp(UnaryOp, name="floor"):
    """The greatest integer that is not greater."""


class NotOp(UnaryOp, name="not"):
    """Bitwise complement of integers; negation of bool."""


class AddOp(BinaryOp, name="add"):
    """Sum; integers wrap."""


class SubOp(BinaryOp, name="sub"):
    """Difference; integers wrap."""


class MulOp(BinaryOp, name="mul"):
    """Product; integers wrap. Where a `sum` is its only use, the product is formed in the accumulator's type."""


class FdivOp(BinaryOp, name="fdiv"):
    """Quotient of floats."""


class IdivOp(BinaryOp, name="idiv"):
    """Quotient of integers, truncated; a division by 0 gives 0."""


class ModOp(BinaryOp, name="mod"):
    """Remainder of `idiv`, with the sign of the dividend; `x mod 0` is `x`."""


class MaxOp(BinaryOp, name="max"):
    """The greater; NaN if either is."""


class MinOp(BinaryOp, name="min"):
    """The smaller; NaN if either is."""


class AndOp(BinaryOp, name="and"):
    """Bitwise and of integers; conjunction of bool."""


class OrOp(BinaryOp, name="or"):
    """Bitwise or of integers; disjunction of bool."""


class XorOp(BinaryOp, name="xor"):
    """Bitwise exclusive or of integers and bool."""


class CmpLtOp(BinaryOp, name="cmp_lt"):
    """`lhs < rhs` as bool; false where either is NaN."""


class CmpEqOp(BinaryOp, name="cmp_eq"):
    """`lhs == rhs` as bool; false where either is NaN."""


class WhereOp(TinyOp, name="where"):
    """`if_true` where the condition holds, else `if_false`; the untaken side may hold anything."""

    condition: ext.Operand[Any]
    if_true: ext.Operand[Any]
    if_false: ext.Operand[Any]
    output: ext.Result[Any]


class CastOp(UnaryOp, name="cast"):
    """Conversion: to floats nearest even; float to integer truncates and saturates, NaN to 0; to bool `x != 0`."""


# --- movements --------------------------------------------------------------------------------------------------------


class ReshapeOp(UnaryOp, name="reshape"):
    """The same elements in row-major order under another shape."""


class PermuteOp(TinyOp, name="permute"):
    """Result axis `k` is operand axis `perm[k]`."""

    operand: ext.Operand[Any]
    perm: Any
    output: ext.Result[Any]


class ExpandOp(TinyOp, name="expand"):
    """Broadcast: operand axis `k` is result axis `broadcast_dimensions[k]`, repeated where its extent is 1."""

    operand: ext.Operand[Any]
    broadcast_dimensions: Any
    output: ext.Result[Any]


class PadOp(TinyOp, name="pad"):
    """`lo` and `hi` elements of `value` before and after each axis."""

    operand: ext.Operand[Any]
    lo: Any
    hi: Any
    value: Any
    output: ext.Result[Any]


class ShrinkOp(TinyOp, name="shrink"):
    """Elements `lo`, `lo + step`, … below `hi` of each axis; `lo` and `hi` may be symbolic extents."""

    operand: ext.Operand[Any]
    lo: ir.ArrayAttr
    hi: ir.ArrayAttr
    step: Any
    output: ext.Result[Any]


class FlipOp(TinyOp, name="flip"):
    """The listed axes reversed."""

    operand: ext.Operand[Any]
    axes: Any
    output: ext.Result[Any]


class ViewOp(TinyOp, name="view"):
    """Result element `i` is operand element `map(i)`: an affine map with `floordiv` and `mod`."""

    operand: ext.Operand[Any]
    map: Any
    output: ext.Result[Any]


class PoolOp(TinyOp, name="pool"):
    """Sliding windows over the last axes: `[lead…, out…, kernel…]`; no copy."""

    operand: ext.Operand[Any]
    kernel: Any
    stride: Any
    dilation: Any
    output: ext.Result[Any]


# --- reduction and leaves ---------------------------------------------------------------------------------------------


class ReduceOp(TinyOp, name="reduce"):
    """`sum`, `max`, `min` or `prod` over `axes`, which are removed; the result's element type is the accumulator's."""

    operand: ext.Operand[Any]
    op: ir.StringAttr
    axes: Any
    output: ext.Result[Any]


class ConstOp(TinyOp, name="const"):
    """`value` everywhere."""

    value: Any
    output: ext.Result[Any]


class IotaOp(TinyOp, name="iota"):
    """The index along `axis`."""

    axis: ir.IntegerAttr
    output: ext.Result[Any]


class RandOp(TinyOp, name="rand"):
    """Philox-4x32-10 numbers by seed, stream and position: `uniform` on [0, 1), or `normal`."""

    distribution: ir.StringAttr
    seed: ir.IntegerAttr
    stream: ir.IntegerAttr
    output: ext.Result[Any]


# --- data-dependent ops: they end a region ----------------------------------------------------------------------------


class GatherOp(TinyOp, name="gather"):
    """`data[…, index, …]` along `axis`, the index's axes in its place (`numpy.take`).

    An index is checked when an element is read with it: where the result is empty, every index is fine.
    """

    data: ext.Operand[Any]
    index: ext.Operand[Any]
    axis: ir.IntegerAttr
    output: ext.Result[Any]


class ScatterOp(TinyOp, name="scatter"):
    """`data` with `updates` put (`set`: the last one wins) or added (`add`) at `index` along `axis`.

    An index is checked when an update is written with it: where `updates` is empty, every index is fine.
    """

    data: ext.Operand[Any]
    index: ext.Operand[Any]
    updates: ext.Operand[Any]
    axis: ir.IntegerAttr
    op: ir.StringAttr
    output: ext.Result[Any]


class TopkOp(TinyOp, name="topk"):
    """The `k` greatest (or least) along `axis`, best first, and their indices; NaN is greatest, ties by index."""

    operand: ext.Operand[Any]
    k: ir.IntegerAttr
    axis: ir.IntegerAttr
    largest: Any
    values: ext.Result[Any]
    indices: ext.Result[Any]


class AssumeOp(Tiny.Operation, name="assume"):
    """A relation between extents that the function relies on, checked at run time: `lhs == rhs` or `lhs <= rhs`."""

    lhs: ir.StringAttr
    predicate: ir.StringAttr
    rhs: ir.StringAttr

    def verify_invariants(self: Any) -> bool:
        """Check that both sides are extents in canonical text and the predicate is known."""
        return report(self, assumption_of)


OPS = {op._op_name: op for op in Tiny.operations}


def erase_unused(block: Any) -> None:
    """Erase the Tiny ops of `block` that nothing needs: they have no say in what is a product's only use."""
    for op in reversed(list(block.operations)):
        operation = op.operation
        unused = operation.results and not any(list(result.uses) for result in operation.results)
        if unused and operation.name.startswith("tiny."):
            operation.erase()


def build(op: str, operands: list[Any], values: dict[str, Any], loc: Any = None) -> Any:
    """Create the Tiny op named `op` at the insertion point, its result types inferred, and return it.

    `operands` are MLIR values, `values` the op's arguments as plain data.

    Raises:
        TinycError: the broken typing rule.
    """
    types = infer(op, [tensor_type(operand.type) for operand in operands], values).types
    return create(op, operands, values, types, loc)


def create(op: str, operands: list[Any], values: dict[str, Any], types: Any, loc: Any = None) -> Any:
    """Create the Tiny op named `op` with result types that the caller has inferred already."""
    return ir.Operation.create(
        f"tiny.{op}",
        results=[to_type(tensor) for tensor in types],
        operands=operands,
        attributes=encode(op, values, types[0].element, types[0].rank),
        loc=loc,
    )
