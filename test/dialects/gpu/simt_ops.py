"""What the ops of the scalar level compute, on numpy arrays with one element for each thread."""

import math
import operator

import ml_dtypes
import numpy as np

_FLOATS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
_INTEGERS = {"index": np.int64, "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}


def dtype_of(mlir_type):
    """Return the numpy type of a scalar type."""
    return np.dtype((_FLOATS | _INTEGERS)[str(mlir_type)])


def constant(op):
    """Return what an `arith.constant` is."""
    attribute = op.attributes["value"]
    dtype = dtype_of(attribute.type)
    return np.full(1, attribute.value if dtype != np.bool_ else bool(attribute.value)).astype(dtype)


def _result(function):
    """Return the op that `function` computes, converted to the type of the op's result."""
    return lambda op, *values: function(*values).astype(dtype_of(op.results[0].type))


def _unsigned(function):
    def compute(op, *values):
        kind = np.dtype(f"u{values[0].dtype.itemsize}") if values[0].dtype != np.bool_ else np.uint8
        return function(*(value.astype(kind) for value in values)).astype(dtype_of(op.results[0].type))

    return compute


def _compare_integers(op, left, right):
    name = ("eq", "ne", "lt", "le", "gt", "ge", "lt", "le", "gt", "ge")[op.attributes["predicate"].value]
    if op.attributes["predicate"].value >= 6:
        kind = np.dtype(f"u{left.dtype.itemsize}")
        left, right = left.astype(kind), right.astype(kind)
    return getattr(operator, name)(left, right)


#: Predicates in MLIR's order → bits of what holds: equal, greater, less, unordered.
_HOLDS = (0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 8, 15)


def _compare_floats(op, left, right):
    holds = _HOLDS[op.attributes["predicate"].value]
    facts = (left == right, left > right, left < right, np.isnan(left) | np.isnan(right))
    return np.any([fact & bool(holds >> bit & 1) for bit, fact in enumerate(facts)], axis=0)


def _quotient(left, right):
    """Divide towards zero."""
    safe = np.where(right == 0, 1, right)
    return (left - np.fmod(left, safe)) // safe


def _bitcast(op, value):
    return value.view(dtype_of(op.results[0].type))


def _extended_product(op, left, right):
    bits = left.dtype.itemsize * 8
    product = left.astype(f"u{left.dtype.itemsize}").astype(np.uint64) * right.astype(f"u{right.dtype.itemsize}")
    return product.astype(left.dtype), (product >> np.uint64(bits)).astype(left.dtype)


def _fma(left, right, total):
    return left.astype(np.float64) * right + total


def _erf(value):
    return np.array([math.erf(each) for each in value.ravel()]).reshape(value.shape)


#: Op → function of the op and the operands.
COMPUTE = {
    **{
        f"arith.{name}": _result(getattr(operator, word))
        for name, word in (
            ("addi", "add"),
            ("subi", "sub"),
            ("muli", "mul"),
            ("addf", "add"),
            ("subf", "sub"),
            ("mulf", "mul"),
            ("divf", "truediv"),
            ("negf", "neg"),
            ("andi", "and_"),
            ("ori", "or_"),
            ("xori", "xor"),
            ("shli", "lshift"),
            ("shrsi", "rshift"),
            ("floordivsi", "floordiv"),
        )
    },
    **{
        f"arith.{name}": _result(lambda value: value)
        for name in (
            "extf",
            "truncf",
            "extsi",
            "trunci",
            "index_cast",
            "sitofp",
            "fptosi",
        )
    },
    **{
        f"math.{name}": _result(getattr(np, name))
        for name in (
            "exp2",
            "log2",
            "log",
            "sqrt",
            "sin",
            "cos",
            "tanh",
            "floor",
        )
    },
    **{
        f"arith.{name}": _unsigned(function)
        for name, function in (
            ("divui", operator.floordiv),
            ("remui", operator.mod),
            ("shrui", operator.rshift),
            ("maxui", np.maximum),
            ("minui", np.minimum),
            ("extui", lambda value: value),
            ("uitofp", lambda value: value),
        )
    },
    "arith.fptoui": lambda op, value: value.astype(f"u{dtype_of(op.results[0].type).itemsize}").astype(
        dtype_of(op.results[0].type)
    ),
    "arith.divsi": _result(_quotient),
    "arith.remsi": _result(np.fmod),
    "arith.maximumf": _result(np.maximum),
    "arith.minimumf": _result(np.minimum),
    "arith.maxsi": _result(np.maximum),
    "arith.minsi": _result(np.minimum),
    "arith.cmpi": _compare_integers,
    "arith.cmpf": _compare_floats,
    "arith.select": lambda op, condition, left, right: np.where(condition, left, right),
    "arith.bitcast": _bitcast,
    "arith.mului_extended": _extended_product,
    "math.absf": _result(np.abs),
    "math.fma": _result(_fma),
    "math.erf": _result(_erf),
}
DIVISIONS = {"arith.divui", "arith.remui", "arith.divsi", "arith.remsi", "arith.floordivsi"}
