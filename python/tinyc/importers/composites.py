"""The uops of Tiny JSON that the vocabulary lacks, composed of what it has: `EXP`, `MATMUL`, `SOFTMAX` and others.

Most are formulas of `tinyc.formulas`, which the Frontend layer shares; here stands what Tiny JSON asks of them besides.
Each takes the values of its sources and its arguments, and returns the value of the result.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tinyc.diagnostics import TinycError, Where
from tinyc.formulas.elementwise import absolute, exp, gelu, log, sigmoid, silu
from tinyc.formulas.products import product_accumulator
from tinyc.formulas.reductions import mean_of, softmax
from tinyc.formulas.steps import Steps
from tinyc.formulas.value import Builder, Value
from tinyc.importers.repairs import align_operands
from tinyc.vocabulary.element_type import ElementType


def compose_uop(uop: str, steps: Steps, operands: Sequence[int], arguments: Mapping[str, Any], where: Where) -> int:
    """Add the steps of one of `spellings.COMPOSITES` and return its result.

    Raises:
        TinycError: the broken rule.
    """
    builder = Builder(steps, where)
    values = [builder.value(operand) for operand in operands]
    if uop in _OF_FLOATS:
        element = values[0].element
        if not element.is_float:
            raise TinycError("DtypeMismatch", f"{uop} takes floats, and its operand is {element.json_name}; CAST it")
        return _OF_FLOATS[uop](*values, **arguments).number
    return _OTHERS[uop](*values, **arguments).number


def _mean(x: Value, *, axes: Sequence[int], element: ElementType | None = None) -> Value:
    """Compute sum / count in the accumulator's type of the result."""
    result = element or x.element.accumulator
    if not result.is_float:
        message = f"MEAN gives floats, and {result.json_name} is none; give it a 'dtype' such as \"fp32\""
        raise TinycError("DtypeMismatch", message)
    wide = x if x.element.accumulator == result.accumulator else x.to(result.accumulator)
    return mean_of(wide, tuple(axes)).to(result)


def _matmul(a: Value, b: Value, *, element: ElementType | None = None) -> Value:
    """Compute the sum over k of a[…, m, k] · b[…, k, n], in an accumulator that is the result.

    Unlike the formula `matmul` it takes stacks of equal rank only, repairs operands with a remark, and does not round.
    """
    _require_matrices(a, b)
    *lead, m, n, k = range(a.rank + 1)
    lhs = a.expand((*a.shape[:-1], b.shape[-1], a.shape[-1]), (*lead, m, k))
    rhs = b.expand((*b.shape[:-2], a.shape[-2], b.shape[-1], b.shape[-2]), (*lead, k, n))
    builder = a.builder
    left, right = map(builder.value, align_operands(builder.steps, (lhs.number, rhs.number), builder.where))
    product = builder.add("mul", left, right)
    return product.reduce("sum", k, element=element or product_accumulator(product.element))


def _require_matrices(a: Value, b: Value) -> None:
    if a.rank != b.rank or a.rank < 2:
        message = f"MATMUL takes matrices, or stacks of equal rank, not {a.type} and {b.type}; RESHAPE them"
        raise TinycError("BroadcastMismatch", message)
    if a.shape[-1] != b.shape[-2]:
        message = (
            f"MATMUL adds up over the last axis of {a.type}, of extent {a.shape[-1]}, and the second last of {b.type}, "
            f"of extent {b.shape[-2]}; make them equal"
        )
        raise TinycError("BroadcastMismatch", message)


_OF_FLOATS: dict[str, Callable[..., Value]] = {
    "EXP": exp,
    "LOG": log,
    "SIGMOID": sigmoid,
    "SILU": silu,
    "GELU": functools.partial(gelu, approximate="tanh"),
    "SOFTMAX": softmax,
}
_OTHERS: dict[str, Callable[..., Value]] = {"ABS": absolute, "MEAN": _mean, "MATMUL": _matmul}
