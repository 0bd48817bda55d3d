"""What the ops of arith and math compute, on numpy arrays with one element for each thread.

Integers are signless; an op that means them unsigned takes their bits as such. Signed integers wrap, as numpy's do.
"""

import math as mathematics
import operator
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from tinyc.executors.gpu.memory import Array
from tinyc.mlir import arith, ir, math
from tinyc.vocabulary.element_type import ElementType

_DTYPES: dict[str, np.dtype[Any]] = {
    **{str(element): element.dtype for element in ElementType if not element.is_unsigned},
    "index": np.dtype(np.int64),
}

#: What an op computes from its operands.
_Numeric: TypeAlias = Callable[..., Any]
Compute: TypeAlias = Callable[..., Array | tuple[Array, ...]]


def scalar_dtype(mlir_type: ir.Type) -> np.dtype[Any]:
    """The numpy type of a scalar type."""
    return _DTYPES[str(mlir_type)]


def constant_array(op: arith.ConstantOp) -> Array:
    """The value of an `arith.constant`, as an array of one element."""
    value = op.value
    assert isinstance(value, ir.IntegerAttr | ir.FloatAttr | ir.BoolAttr)
    dtype = scalar_dtype(op.result.type)
    return np.full(1, value.value if dtype != np.bool_ else bool(value.value)).astype(dtype)


def _result_dtype(op: ir.OpView) -> np.dtype[Any]:
    return scalar_dtype(op.results[0].type)


def _signed(function: _Numeric) -> Compute:
    """The op that `function` computes, converted to the type of the op's result."""

    def compute(op: ir.OpView, *values: Array) -> Array:
        return function(*values).astype(_result_dtype(op))

    return compute


def _unsigned(function: _Numeric) -> Compute:
    def compute(op: ir.OpView, *values: Array) -> Array:
        return function(*map(_bits, values)).astype(_result_dtype(op))

    return compute


def _bits(value: Array) -> Array:
    """Signless integers as unsigned ones."""
    return value.astype(np.uint8 if value.dtype == np.bool_ else np.dtype(f"u{value.dtype.itemsize}"))


def _same(value: Array) -> Array:
    return value


#: Predicates in MLIR's order; those from `ult` on compare as unsigned.
_HOLDS_FOR_INTEGERS = tuple(
    getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge", "lt", "le", "gt", "ge")
)


def _compare_integers(op: arith.CmpIOp, left: Array, right: Array) -> Array:
    predicate = ir.IntegerAttr(op.predicate).value
    if predicate >= arith.CmpIPredicate.ult:
        left, right = _bits(left), _bits(right)
    return _HOLDS_FOR_INTEGERS[predicate](left, right)


#: Predicates in MLIR's order → bits of what holds: equal, greater, less, unordered.
_HOLDS_FOR_FLOATS = (0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 8, 15)


def _compare_floats(op: arith.CmpFOp, left: Array, right: Array) -> Array:
    holds = _HOLDS_FOR_FLOATS[ir.IntegerAttr(op.predicate).value]
    facts = (left == right, left > right, left < right, np.isnan(left) | np.isnan(right))
    return np.any([fact & bool(holds >> bit & 1) for bit, fact in enumerate(facts)], axis=0)


def _quotient(left: Array, right: Array) -> Array:
    """The quotient towards zero."""
    safe = np.where(right == 0, 1, right)
    return (left - np.fmod(left, safe)) // safe


def _bitcast(op: arith.BitcastOp, value: Array) -> Array:
    return value.view(_result_dtype(op))


def _extended_product(op: arith.MulUIExtendedOp, left: Array, right: Array) -> tuple[Array, Array]:
    product = _bits(left).astype(np.uint64) * _bits(right)
    return product.astype(left.dtype), (product >> np.uint64(left.dtype.itemsize * 8)).astype(left.dtype)


def _select(op: arith.SelectOp, condition: Array, left: Array, right: Array) -> Array:
    return np.where(condition, left, right)


def _to_unsigned(op: arith.FPToUIOp, value: Array) -> Array:
    dtype = _result_dtype(op)
    return value.astype(f"u{dtype.itemsize}").astype(dtype)


def _fma(left: Array, right: Array, total: Array) -> Array:
    return left.astype(np.float64) * right + total


def _erf(value: Array) -> Array:
    return np.array([mathematics.erf(each) for each in value.ravel()]).reshape(value.shape)


#: Op → function of the op and its operands.
COMPUTE: dict[type[ir.OpView], Compute] = {
    arith.AddIOp: _signed(np.add),
    arith.SubIOp: _signed(np.subtract),
    arith.MulIOp: _signed(np.multiply),
    arith.MulUIExtendedOp: _extended_product,
    arith.DivSIOp: _signed(_quotient),
    arith.RemSIOp: _signed(np.fmod),
    arith.FloorDivSIOp: _signed(np.floor_divide),
    arith.DivUIOp: _unsigned(np.floor_divide),
    arith.RemUIOp: _unsigned(np.remainder),
    arith.AndIOp: _signed(np.bitwise_and),
    arith.OrIOp: _signed(np.bitwise_or),
    arith.XOrIOp: _signed(np.bitwise_xor),
    arith.ShLIOp: _signed(np.left_shift),
    arith.ShRSIOp: _signed(np.right_shift),
    arith.ShRUIOp: _unsigned(np.right_shift),
    arith.MaxSIOp: _signed(np.maximum),
    arith.MinSIOp: _signed(np.minimum),
    arith.MaxUIOp: _unsigned(np.maximum),
    arith.MinUIOp: _unsigned(np.minimum),
    arith.CmpIOp: _compare_integers,
    arith.AddFOp: _signed(np.add),
    arith.SubFOp: _signed(np.subtract),
    arith.MulFOp: _signed(np.multiply),
    arith.DivFOp: _signed(np.true_divide),
    arith.NegFOp: _signed(np.negative),
    arith.MaximumFOp: _signed(np.maximum),
    arith.MinimumFOp: _signed(np.minimum),
    arith.CmpFOp: _compare_floats,
    arith.SelectOp: _select,
    arith.ExtFOp: _signed(_same),
    arith.TruncFOp: _signed(_same),
    arith.ExtSIOp: _signed(_same),
    arith.ExtUIOp: _unsigned(_same),
    arith.TruncIOp: _signed(_same),
    arith.IndexCastOp: _signed(_same),
    arith.SIToFPOp: _signed(_same),
    arith.UIToFPOp: _unsigned(_same),
    arith.FPToSIOp: _signed(_same),
    arith.FPToUIOp: _to_unsigned,
    arith.BitcastOp: _bitcast,
    math.AbsFOp: _signed(np.abs),
    math.CosOp: _signed(np.cos),
    math.ErfOp: _signed(_erf),
    math.Exp2Op: _signed(np.exp2),
    math.FloorOp: _signed(np.floor),
    math.FmaOp: _signed(_fma),
    math.LogOp: _signed(np.log),
    math.Log2Op: _signed(np.log2),
    math.SinOp: _signed(np.sin),
    math.SqrtOp: _signed(np.sqrt),
    math.TanhOp: _signed(np.tanh),
}
#: Integer divisions, which are undefined by 0.
DIVISIONS = (arith.DivUIOp, arith.RemUIOp, arith.DivSIOp, arith.RemSIOp, arith.FloorDivSIOp)
