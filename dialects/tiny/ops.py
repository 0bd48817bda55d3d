"""The `tiny` dialect: the minimal vocabulary, one op per UOp of the Tiny JSON format.

Every op is pure, has no regions, and is verified by the rule of its name in `infer`. Ops print in MLIR's generic
form: ``%2 = "tiny.permute"(%1) {perm = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>``. Their classes come
in groups, by which passes and analyses tell them apart: `ElementwiseOp`, `MovementOp`, `ReduceOp`, `LeafOp`,
`DataDependentOp`.
"""

import types
from collections.abc import Mapping, Sequence
from typing import Any

from tinyc.dialects.tiny.op_verifier import check_typing
from tinyc.expr.extents import Dim
from tinyc.mlir import ext, fields, ir
from tinyc.mlir.verifying import report_op
from tinyc.vocabulary.attributes import assumption_of, encode, tensor_type, to_type
from tinyc.vocabulary.elements import is_elements
from tinyc.vocabulary.elementwise import ROWS
from tinyc.vocabulary.elementwise.row import Elementwise
from tinyc.vocabulary.infer import infer


class Tiny(ext.Dialect, name="tiny"):
    """Movement, element-wise, reduce, leaves, and the data-dependent group; no implicit broadcast, no implicit cast."""


class DimsAttr(Tiny.Attribute, name="dims"):
    """`#tiny.dims<["M", 3]>`: the extents of a tensor, the encoding of its type where one of them is symbolic."""

    extents: ir.ArrayAttr


class Pure(ir.MemoryEffectsOpInterface):
    """An op without effects, so that upstream CSE and DCE work on it."""

    @staticmethod
    def get_effects(op: ir.Operation, effects: object = None) -> list[Any]:
        """No effects."""
        return []


class TinyOp(Tiny.Operation, traits=[Pure]):
    """An op that computes a tensor: what every Tiny op but `assume` is."""

    def verify_invariants(self) -> bool:
        """Check the op against its typing rule; report the broken one at the op's location."""
        return report_op(self, check_typing)


# --- element-wise -----------------------------------------------------------------------------------------------------


class ElementwiseOp(TinyOp):
    """Element i of the result is computed from element i of each operand."""

    @property
    def row(self) -> Elementwise:
        """All else that is known of the op; `cast`, which is about two element types, has none."""
        return ROWS[self._op_name]


class UnaryOp(ElementwiseOp):
    """One operand; the result has its type."""

    operand: ext.Operand[Any]
    output: ext.Result[Any]


class BinaryOp(ElementwiseOp):
    """Two operands of the same type."""

    lhs: ext.Operand[Any]
    rhs: ext.Operand[Any]
    output: ext.Result[Any]


class WhereOp(ElementwiseOp, name="where"):
    """`if_true` where the condition holds, else `if_false`; the untaken side may hold anything."""

    condition: ext.Operand[Any]
    if_true: ext.Operand[Any]
    if_false: ext.Operand[Any]
    output: ext.Result[Any]


class CastOp(UnaryOp, name="cast"):
    """Conversion: to floats nearest even; float to integer truncates and saturates, NaN to 0; to bool `x != 0`."""


# The element-wise ops that a pass or an analysis knows by name; what they mean is in their rows.


class AddOp(BinaryOp, name="add"):
    """`lhs + rhs`."""


class Exp2Op(UnaryOp, name="exp2"):
    """`2 ** operand`."""


class FdivOp(BinaryOp, name="fdiv"):
    """`lhs / rhs` of floats."""


class MulOp(BinaryOp, name="mul"):
    """`lhs * rhs`."""


class NegOp(UnaryOp, name="neg"):
    """`-operand`."""


class SubOp(BinaryOp, name="sub"):
    """`lhs - rhs`."""


def _class_of(row: Elementwise) -> type[ElementwiseOp]:
    """Make the class of an op that none is written for: `ErfOp` for `erf`."""
    name = "".join(part.capitalize() for part in row.name.split("_")) + "Op"
    base = UnaryOp if row.arity == 1 else BinaryOp
    facts = {"__doc__": row.doc, "__module__": __name__}
    return types.new_class(name, (base,), {"name": row.name}, lambda body: body.update(facts))


_WRITTEN = {op._op_name for op in Tiny.operations}
#: The classes of all other element-wise ops, one for each row.
MADE_OF_ROWS = tuple(_class_of(row) for row in ROWS.values() if row.name not in _WRITTEN)


# --- movements --------------------------------------------------------------------------------------------------------


class MovementOp(TinyOp):
    """Each element of the result is one of the operand, or a constant beside it."""

    operand: ext.Operand[Any]


class ReshapeOp(MovementOp, name="reshape"):
    """The same elements in row-major order under another shape."""

    output: ext.Result[Any]


class PermuteOp(MovementOp, name="permute"):
    """Result axis `k` is operand axis `perm[k]`."""

    perm: fields.I64Array
    output: ext.Result[Any]


class ExpandOp(MovementOp, name="expand"):
    """Broadcast: operand axis `k` is result axis `broadcast_dimensions[k]`, repeated where its extent is 1."""

    broadcast_dimensions: fields.I64Array
    output: ext.Result[Any]


class PadOp(MovementOp, name="pad"):
    """`lo` and `hi` elements of `value` before and after each axis."""

    lo: fields.I64Array
    hi: fields.I64Array
    value: fields.Number
    output: ext.Result[Any]


class ShrinkOp(MovementOp, name="shrink"):
    """Elements `lo`, `lo + step`, … below `hi` of each axis; `lo` and `hi` may be symbolic extents."""

    lo: ir.ArrayAttr
    hi: ir.ArrayAttr
    step: fields.I64Array
    output: ext.Result[Any]


class FlipOp(MovementOp, name="flip"):
    """The listed axes reversed."""

    axes: fields.I64Array
    output: ext.Result[Any]


class ViewOp(MovementOp, name="view"):
    """Result element `i` is operand element `map(i)`: an affine map with `floordiv` and `mod`."""

    map: fields.AffineMap
    output: ext.Result[Any]


class PoolOp(MovementOp, name="pool"):
    """Sliding windows over the last axes: `[lead…, out…, kernel…]`; no copy."""

    kernel: fields.I64Array
    stride: fields.I64Array
    dilation: fields.I64Array
    output: ext.Result[Any]


# --- reduction and leaves ---------------------------------------------------------------------------------------------


class ReduceOp(TinyOp, name="reduce"):
    """`sum`, `max`, `min` or `prod` over `axes`, which are removed; the result's element type is the accumulator's."""

    operand: ext.Operand[Any]
    op: ir.StringAttr
    axes: fields.I64Array
    output: ext.Result[Any]


class LeafOp(TinyOp):
    """It reads no tensor: its elements are made of their position, or stored (`ConstOp`)."""


class ConstOp(LeafOp, name="const"):
    """`value` everywhere; or the tensor `value`, which lies in memory as an input does (`is_stored`)."""

    value: fields.Constant
    output: ext.Result[Any]

    @property
    def is_stored(self) -> bool:
        """Whether it is a tensor in memory: no kernel makes it, and it is passed to those that read it."""
        return is_elements(self.attributes["value"])


class IotaOp(LeafOp, name="iota"):
    """The index along `axis`."""

    axis: ir.IntegerAttr
    output: ext.Result[Any]


class RandOp(LeafOp, name="rand"):
    """Philox-4x32-10 numbers by seed, stream and position: `uniform` on [0, 1), or `normal`."""

    distribution: ir.StringAttr
    seed: ir.IntegerAttr
    stream: ir.IntegerAttr
    output: ext.Result[Any]


# --- data-dependent ops: they end a region ----------------------------------------------------------------------------


class DataDependentOp(TinyOp):
    """Which elements it reads or writes is for its data to say."""


class GatherOp(DataDependentOp, name="gather"):
    """`data[…, index, …]` along `axis`, the index's axes in its place (`numpy.take`).

    An index is checked when an element is read with it: where the result is empty, every index is fine.
    """

    data: ext.Operand[Any]
    index: ext.Operand[Any]
    axis: ir.IntegerAttr
    output: ext.Result[Any]


class ScatterOp(DataDependentOp, name="scatter"):
    """`data` with `updates` put (`set`: the last one wins) or added (`add`) at `index` along `axis`.

    An index is checked when an update is written with it: where `updates` is empty, every index is fine.
    """

    data: ext.Operand[Any]
    index: ext.Operand[Any]
    updates: ext.Operand[Any]
    axis: ir.IntegerAttr
    op: ir.StringAttr
    output: ext.Result[Any]


class TopkOp(DataDependentOp, name="topk"):
    """The `k` greatest (or least) along `axis`, best first, and their indices; NaN is greatest, ties by index."""

    operand: ext.Operand[Any]
    k: ir.IntegerAttr
    axis: ir.IntegerAttr
    largest: fields.Bool
    values: ext.Result[Any]
    indices: ext.Result[Any]

    @property
    def row_extents(self) -> tuple[Dim, ...]:
        """The extents of the axes that are searched independently: all but `axis`."""
        shape, axis = tensor_type(self.operand.type).shape, self.axis.value
        return (*shape[:axis], *shape[axis + 1 :])


# --- what a function relies on ----------------------------------------------------------------------------------------


class AssumeOp(Tiny.Operation, name="assume"):
    """A relation between extents that the function relies on, checked at run time: `lhs == rhs` or `lhs <= rhs`."""

    lhs: ir.StringAttr
    predicate: ir.StringAttr
    rhs: ir.StringAttr

    def verify_invariants(self) -> bool:
        """Check that both sides are extents in canonical text and the predicate is known."""
        return report_op(self, assumption_of)


OPS = {op._op_name: op for op in Tiny.operations}


def build(
    op: str, operands: Sequence[ir.Value], values: Mapping[str, Any], loc: ir.Location | None = None
) -> ir.OpView:
    """Create the Tiny op named `op` at the insertion point, its result types inferred, and return it.

    `operands` are MLIR values, `values` the op's arguments as plain data.

    Raises:
        TinycError: the broken typing rule.
    """
    results = infer(op, [tensor_type(operand.type) for operand in operands], values).types
    attributes = encode(op, values, results[0].element, results[0].rank)
    return create(op, operands, attributes, [to_type(tensor) for tensor in results], loc)


def create(
    op: str,
    operands: Sequence[ir.Value],
    attributes: Mapping[str, ir.Attribute],
    results: Sequence[ir.Type],
    loc: ir.Location | None = None,
) -> ir.OpView:
    """Create the Tiny op named `op` at the insertion point: for whoever has the name of an op and not its class."""
    return ir.Operation.create(f"tiny.{op}", list(results), list(operands), attributes, loc=loc)


def erase_unused(block: ir.Block) -> None:
    """Erase the Tiny ops of `block` that nothing needs: they have no say in what is a product's only use."""
    for op in reversed(list(block.operations)):
        if isinstance(op, TinyOp) and not any(list(result.uses) for result in op.results):
            op.erase()
