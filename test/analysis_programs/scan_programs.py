"""Cumulative reductions in the way in which Tiny spells them."""

from typing import Any

from analysis_programs.tiny_programs import Program
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.reductions import REDUCTIONS

FORMS = [  # pad before, pad after, reverse, exclusive
    (4, 0, False, False),
    (0, 4, True, False),
    (5, -1, False, True),
    (-1, 5, True, True),
]


def cumulative(
    p: Program, x: Any, before: int, after: int, value: float = 0.0, op: str = "sum", kernel: int = 5
) -> Any:
    """Reduce, for each i of the last axis of ``[…, 5]``, the elements from ``i - before`` on that are inside."""
    lead = len(tensor_type(x.type).shape) - 1
    rest, shape = (0,) * lead, tensor_type(x.type).shape
    x = p.pad(x, lo=(*rest, max(before, 0)), hi=(*rest, max(after, 0)), value=value)
    length = 5 + max(before, 0) + max(after, 0)
    hi = (*shape[:-1], length - max(-after, 0))
    x = p.shrink(x, lo=(*rest, max(-before, 0)), hi=hi, step=(1,) * (lead + 1))
    windows = p.pool(x, kernel=(kernel,), stride=(1,), dilation=(1,))
    return p.op("reduce", windows, op=op, axes=(lead + 1,), element="f64")


def running(p: Program, x: Any, axis: int, op: str, result: str, reverse: bool = False, exclusive: bool = False) -> Any:
    """Reduce, for each element along `axis`, those up to it, or from it on; `result` is the element type."""
    tensor = tensor_type(x.type)
    rank, extent = len(tensor.shape), tensor.shape[axis]
    value = REDUCTIONS[op].neutral(tensor.element)
    beyond = [0] * rank
    beyond[axis] = extent - 1 + exclusive
    pads = ([0] * rank, beyond) if reverse else (beyond, [0] * rank)
    x = p.pad(x, lo=pads[0], hi=pads[1], value=value)
    if exclusive:
        lo, hi = [0] * rank, list(tensor_type(x.type).shape)
        if reverse:
            lo[axis] = 1
        else:
            hi[axis] -= 1
        x = p.shrink(x, lo=lo, hi=hi, step=[1] * rank)
    pooled = rank - axis
    kernel = [extent] + [1] * (pooled - 1)
    windows = p.pool(x, kernel=kernel, stride=[1] * pooled, dilation=[1] * pooled)
    return p.op("reduce", windows, op=op, axes=tuple(range(rank, rank + pooled)), element=result)
