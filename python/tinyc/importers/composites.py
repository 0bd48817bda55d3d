"""The uops of Tiny JSON that the vocabulary lacks, composed of what it has: `EXP`, `MATMUL`, `SOFTMAX` and others.

Each takes a `_Formula`, the values of its sources and its arguments, and returns the value of the result. Functions of
floats are computed in fp32 where the operand is fp16 or bf16, so that the result is as good as one operation's, and
rounded once at the end.
"""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tinyc.diagnostics import TinycError, Where
from tinyc.expr.extents import Dim
from tinyc.formulas.steps import Steps
from tinyc.importers.repairs import Immediate, align_operands
from tinyc.importers.written_shapes import normal_axis
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType


def compose_uop(uop: str, steps: Steps, operands: Sequence[int], arguments: Mapping[str, Any], where: Where) -> int:
    """Add the steps of one of `spellings.COMPOSITES` and return its result.

    Raises:
        TinycError: the broken rule.
    """
    return _COMPOSITES[uop](_Formula(uop, steps, where), *operands, **arguments)


class _Formula:
    """Steps as formulas: `do("mul", x, 0.5)` for the uop that is composed; a float among the operands is a number."""

    def __init__(self, uop: str, steps: Steps, where: Where) -> None:
        self.uop, self.steps, self.where = uop, steps, where

    def __call__(self, op: str, *operands: int | float | Immediate) -> int:
        values = [Immediate(operand) if isinstance(operand, float) else operand for operand in operands]
        return self.steps.add(op, align_operands(self.steps, values, self.where), {}, self.where)

    def type(self, value: int) -> TensorType:
        return self.steps.types[value]

    def cast(self, value: int, element: ElementType) -> int:
        return self.steps.cast(value, element, self.where)

    def reduce(self, op: str, value: int, axes: Sequence[int], element: ElementType) -> int:
        return self.steps.add("reduce", (value,), {"op": op, "axes": tuple(axes), "element": element}, self.where)

    def expand(self, value: int, shape: Sequence[Dim], axes: Sequence[int]) -> int:
        """The value with its axes at `axes` of the result."""
        arguments = {"shape": tuple(shape), "broadcast_dimensions": tuple(axes)}
        return self.steps.add("expand", (value,), arguments, self.where)


# --- functions of floats ----------------------------------------------------------------------------------------------


def _of_floats(function: Callable[..., int]) -> Callable[..., int]:
    """The function, computed in the accumulator's type of its operand."""

    @functools.wraps(function)
    def rounded_once(do: _Formula, x: int, **arguments: Any) -> int:
        element = do.type(x).element
        if not element.is_float:
            raise TinycError("DtypeMismatch", f"{do.uop} takes floats, and its operand is {element.json_name}; CAST it")
        return do.cast(function(do, do.cast(x, element.accumulator), **arguments), element)

    return rounded_once


def _exp(do: _Formula, x: int) -> int:
    return do("exp2", do("mul", x, math.log2(math.e)))


def _log(do: _Formula, x: int) -> int:
    return do("mul", do("log2", x), math.log(2))


def _sigmoid(do: _Formula, x: int) -> int:
    """Compute 1 / (1 + exp(-x)): where exp overflows, the result is 0 as it should be."""
    return do("recip", do("add", do("exp2", do("mul", x, -math.log2(math.e))), 1.0))


def _silu(do: _Formula, x: int) -> int:
    return do("mul", x, _sigmoid(do, x))


def _gelu(do: _Formula, x: int) -> int:
    """Compute the tanh form: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))."""
    cube = do("mul", do("mul", x, x), x)
    inner = do("mul", do("add", x, do("mul", cube, 0.044715)), math.sqrt(2 / math.pi))
    return do("mul", do("mul", x, 0.5), do("add", do("tanh", inner), 1.0))


def _softmax(do: _Formula, x: int, axis: int) -> int:
    """Compute exp(x - max) / sum of exp(x - max): with the maximum taken off, exp does not overflow."""
    tensor = do.type(x)
    axis = normal_axis(axis, tensor.rank)
    kept = [each for each in range(tensor.rank) if each != axis]
    greatest = do.expand(do.reduce("max", x, (axis,), tensor.element), tensor.shape, kept)
    terms = _exp(do, do("sub", x, greatest))
    total = do.expand(do.reduce("sum", terms, (axis,), tensor.element), tensor.shape, kept)
    return do("fdiv", terms, total)


# --- others -----------------------------------------------------------------------------------------------------------


def _abs(do: _Formula, x: int) -> int:
    """Compute x where 0 < x, else 0 - x: exact, with 0 - -0.0 = 0.0, and NaN for NaN."""
    return do("where", do("cmp_lt", Immediate(0), x), x, do("sub", Immediate(0), x))


def _mean(do: _Formula, x: int, axes: Sequence[int], element: ElementType | None = None) -> int:
    """Compute sum / count in the accumulator's type of the result."""
    tensor = do.type(x)
    result = element or tensor.element.accumulator
    if not result.is_float:
        message = f"MEAN gives floats, and {result.json_name} is none; give it a 'dtype' such as \"fp32\""
        raise TinycError("DtypeMismatch", message)
    total = do.reduce("sum", x, axes, result.accumulator)
    count = _count(do, [tensor.shape[axis] for axis in axes], do.type(total))
    return do.cast(do("fdiv", total, count), result)


def _count(do: _Formula, extents: Sequence[Dim], like: TensorType) -> int | float:
    """The product of extents; what is not known before the run is counted, in integers, which do not round."""
    known = math.prod(extent for extent in extents if isinstance(extent, int))
    unknown = tuple(extent for extent in extents if not isinstance(extent, int))
    if not unknown:
        return float(known)
    ones = do.steps.constant(known, TensorType(ElementType.I64, unknown), do.where)
    counted = do.reduce("sum", ones, range(len(unknown)), ElementType.I64)
    return do.expand(do.cast(counted, like.element), like.shape, ())


def _matmul(do: _Formula, a: int, b: int, element: ElementType | None = None) -> int:
    """Compute the sum over k of a[…, m, k] · b[…, k, n]."""
    left, right = do.type(a), do.type(b)
    _require_matrices(left, right)
    *lead, m, n, k = range(left.rank + 1)
    lhs = do.expand(a, (*left.shape[:-1], right.shape[-1], left.shape[-1]), (*lead, m, k))
    rhs = do.expand(b, (*right.shape[:-2], left.shape[-2], right.shape[-1], right.shape[-2]), (*lead, k, n))
    product = do("mul", lhs, rhs)
    return do.reduce("sum", product, (k,), element or _accumulator(do.type(product).element))


def _require_matrices(left: TensorType, right: TensorType) -> None:
    if left.rank != right.rank or left.rank < 2:
        message = f"MATMUL takes matrices, or stacks of equal rank, not {left} and {right}; RESHAPE them"
        raise TinycError("BroadcastMismatch", message)
    if left.shape[-1] != right.shape[-2]:
        message = (
            f"MATMUL adds up over the last axis of {left}, of extent {left.shape[-1]}, and the second last of {right}, "
            f"of extent {right.shape[-2]}; make them equal"
        )
        raise TinycError("BroadcastMismatch", message)


def _accumulator(element: ElementType) -> ElementType:
    """The type in which products are added up where the program says none: one that small numbers do not overflow."""
    if element.is_integer and element.bits < 32:
        return ElementType.I32 if element.is_signed else ElementType.UI32
    return element.accumulator


_COMPOSITES: dict[str, Callable[..., int]] = {
    "EXP": _of_floats(_exp),
    "LOG": _of_floats(_log),
    "SIGMOID": _of_floats(_sigmoid),
    "SILU": _of_floats(_silu),
    "GELU": _of_floats(_gelu),
    "SOFTMAX": _of_floats(_softmax),
    "ABS": _abs,
    "MEAN": _mean,
    "MATMUL": _matmul,
}
