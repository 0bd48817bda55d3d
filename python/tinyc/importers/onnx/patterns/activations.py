"""GELU by erf and by tanh, SiLU."""

import math
from collections.abc import Callable

from tinyc.importers.onnx.patterns.language import Captured, Product, each_of
from tinyc.importers.onnx.patterns.rule import FusionRule, Matched

_X = Captured("x")
_erf, _exp, _sigmoid, _tanh = (each_of(fn) for fn in ("erf", "exp", "sigmoid", "tanh"))

#: `x/2 (1 + erf(x / sqrt(2)))`.
_BY_ERF = Product(0.5, _X, _erf(Product(math.sqrt(0.5), _X)) + 1.0)
#: `x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x³)))`, or with `x (1 + 0.044715 x²)` inside.
_ROOT = math.sqrt(2 / math.pi)
_CUBIC = Product(_ROOT, _X + Product(0.044715, _X, _X, _X)) | Product(_ROOT, _X, Product(0.044715, _X, _X) + 1.0)
_BY_TANH = Product(0.5, _X, _tanh(_CUBIC) + 1.0)
#: `x sigmoid(x)`, or with `1 / (1 + exp(-x))` in place of it.
_DIVISOR = _exp(Product(-1.0, _X)) + 1.0
_RECIPROCAL = each_of("recip")(_DIVISOR) | 1.0 / _DIVISOR
_SILU = Product(1.0, _X, _sigmoid(_X)) | Product(1.0, _X, _RECIPROCAL) | _X / _DIVISOR


def _gelu(approximate: str) -> Callable[[Matched], int | None]:
    def rewrite(matched: Matched) -> int | None:
        if not matched.type(_X).element.is_float:
            return None
        return matched.add("elementwise gelu", matched.bound[_X], approximate=approximate)

    return rewrite


def _silu(matched: Matched) -> int | None:
    return matched.add("elementwise silu", matched.bound[_X]) if matched.type(_X).element.is_float else None


RULES = (
    FusionRule("gelu", _BY_ERF, _gelu("none")),
    FusionRule("gelu by tanh", _BY_TANH, _gelu("tanh")),
    FusionRule("silu", _SILU, _silu),
)
