"""The approximate functions: rcp sqrt rsqrt div sin cos lg2 ex2 tanh with `.approx`, and div.full.

In: an instruction's modifiers. Out: its operation. What hardware gives lies within an error that the ISA states; here
it is the result in float64, rounded to nearest, well within it. Where the ISA fixes a result, at infinities, zeros and
out of the range of div.approx, it is that one; `.approx.ftz.f64` leaves out the low 32 bits of operands and results.
Source: PTX ISA § Floating-point instructions, § Half-precision floating-point instructions.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from ptxsim.semantics.float_format import FORMATS, PAIRS, Format, decode
from ptxsim.semantics.float_modifiers import FloatForm, Forms, one_type
from ptxsim.semantics.floating import float_elementwise
from ptxsim.semantics.operation import Builder, Operation, Registry
from ptxsim.semantics.rounding import rounded_bits

_APPROX = FloatForm(required=("approx",))
_APPROX_FTZ = FloatForm(flags=("ftz",), required=("approx",))
_MUST_FLUSH = FloatForm(required=("approx", "ftz"))
_SINGLE: Forms = {"f32": _APPROX_FTZ}
_HIGH_WORD = np.uint64(0xFFFFFFFF00000000)
#: The greatest divisor for which div.approx.f32 gives a quotient.
_GREATEST_DIVISOR = 2.0**126

_FUNCTIONS: dict[str, tuple[Forms, Callable[..., np.ndarray]]] = {
    "rcp": ({"f32": _APPROX_FTZ, "f64": _MUST_FLUSH}, lambda a: 1.0 / a),
    "sqrt": (_SINGLE, np.sqrt),
    "rsqrt": ({"f32": _APPROX_FTZ, "f64": _APPROX_FTZ}, lambda a: 1.0 / np.sqrt(a)),
    "sin": (_SINGLE, np.sin),
    "cos": (_SINGLE, np.cos),
    "lg2": (_SINGLE, np.log2),
    "ex2": (
        {"f32": _APPROX_FTZ, "f16": _APPROX, "f16x2": _APPROX, "bf16": _MUST_FLUSH, "bf16x2": _MUST_FLUSH},
        np.exp2,
    ),
    "tanh": (dict.fromkeys(("f32", "f16", "f16x2", "bf16", "bf16x2"), _APPROX), np.tanh),
}


def _rounded(function: Callable[..., np.ndarray], form: Format, *operands: np.ndarray) -> np.ndarray:
    """The function of patterns: in float64, rounded to nearest."""
    return rounded_bits(form, function(*(decode(form, each) for each in operands)), "rn")


def _high_word(function: Callable[..., np.ndarray], form: Format, operand: np.ndarray) -> np.ndarray:
    """The function of f64 patterns, of and with the upper 32 bits only."""
    return _rounded(function, form, operand & _HIGH_WORD) & _HIGH_WORD


def _unary(name: str) -> Builder:
    forms, function = _FUNCTIONS[name]

    def build(words: tuple[str, ...]) -> Operation | None:
        found = one_type(words, forms)
        if found is None:
            return None
        type_name, modifiers = found
        form = FORMATS.get(type_name) or PAIRS[type_name]
        gross = type_name == "f64" and "ftz" in modifiers.flags
        compute = partial(_high_word if gross else _rounded, function, form)
        return float_elementwise(type_name, 1, modifiers.flags, compute)

    return build


def _approximate_quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a / b`; a divisor too great for its reciprocal to be normal counts as infinite: inf / inf is NaN."""
    return a / np.where(np.abs(b) > _GREATEST_DIVISOR, np.copysign(np.inf, b), b)


def _div(words: tuple[str, ...]) -> Operation | None:
    for word, quotient in (("approx", _approximate_quotient), ("full", np.divide)):
        found = one_type(words, {"f32": FloatForm(flags=("ftz",), required=(word,))})
        if found is not None:
            return float_elementwise("f32", 2, found[1].flags, partial(_rounded, quotient, FORMATS["f32"]))
    return None


BUILDERS: Registry = {**{name: _unary(name) for name in _FUNCTIONS}, "div": _div}
