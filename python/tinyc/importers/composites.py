"""The functions of the 000 spelling that the vocabulary lacks, composed of what it has.

Each takes the steps, one value and its node's place, and returns the value of the result. They are computed in fp32
where the operand is fp16 or bf16, so that the result is as good as one operation's, and rounded once at the end.
"""

import math
from collections.abc import Callable

from tinyc.diagnostics import Where
from tinyc.importers.repairs import Immediate, align_operands
from tinyc.importers.steps import Steps


def compose_function(function: str, steps: Steps, operand: int, where: Where) -> int:
    """Add the steps of one of `spellings.COMPOSITES` and return its result."""
    element = steps.types[operand].element
    wide = steps.cast(operand, element.accumulator, where)
    result = _FUNCTIONS[function](_Arithmetic(steps, where), wide)
    return steps.cast(result, element, where)


class _Arithmetic:
    """Steps as formulas: `do("mul", x, 0.5)`."""

    def __init__(self, steps: Steps, where: Where) -> None:
        self.steps, self.where = steps, where

    def __call__(self, op: str, *operands: int | float) -> int:
        values = [Immediate(operand) if isinstance(operand, float) else operand for operand in operands]
        return self.steps.add(op, align_operands(self.steps, values, self.where), {}, self.where)


def _exp(do: _Arithmetic, x: int) -> int:
    return do("exp2", do("mul", x, math.log2(math.e)))


def _log(do: _Arithmetic, x: int) -> int:
    return do("mul", do("log2", x), math.log(2))


def _sigmoid(do: _Arithmetic, x: int) -> int:
    """Compute 1 / (1 + exp(-x)): where exp overflows, the result is 0 as it should be."""
    return do("recip", do("add", do("exp2", do("mul", x, -math.log2(math.e))), 1.0))


def _silu(do: _Arithmetic, x: int) -> int:
    return do("mul", x, _sigmoid(do, x))


def _gelu(do: _Arithmetic, x: int) -> int:
    """Compute the tanh form: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))."""
    cube = do("mul", do("mul", x, x), x)
    inner = do("mul", do("add", x, do("mul", cube, 0.044715)), math.sqrt(2 / math.pi))
    return do("mul", do("mul", x, 0.5), do("add", do("tanh", inner), 1.0))


_FUNCTIONS: dict[str, Callable[[_Arithmetic, int], int]] = {
    "exp": _exp,
    "log": _log,
    "sigmoid": _sigmoid,
    "silu": _silu,
    "gelu": _gelu,
}
