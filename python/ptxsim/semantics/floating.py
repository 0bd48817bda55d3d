"""Correctly rounded arithmetic: add, sub, mul, fma, mad, div, rcp and sqrt on f64, f32, f16 and bf16.

In: an instruction's modifiers. Out: its operation. The numbers come from `double` and `narrow`; here are the forms that
the ISA has, and what `.ftz`, `.sat` and `.relu` do to operands and results.
Source: PTX ISA § Floating-point instructions, § Half-precision floating-point instructions.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from ptxsim.semantics import double, narrow
from ptxsim.semantics.float_format import F64, FORMATS, PAIRS, Format, encode, flush, on_halves
from ptxsim.semantics.float_modifiers import FloatForm, FloatModifiers, Forms, one_type
from ptxsim.semantics.operation import Builder, Operation, Registry
from ptxsim.semantics.rounding import DIRECTIONS

_DIRECTED, _ANY = DIRECTIONS, (*DIRECTIONS, None)
_HALF_FLAGS = {"f16": ("ftz", "sat"), "f16x2": ("ftz", "sat"), "bf16": (), "bf16x2": ()}
_SUM: Forms = {
    "f32": FloatForm(_ANY, ("ftz", "sat")),
    "f64": FloatForm(_ANY),
    **{name: FloatForm(("rn", None), flags) for name, flags in _HALF_FLAGS.items()},
}
_FUSED_SINGLE: Forms = {"f32": FloatForm(_DIRECTED, ("ftz", "sat")), "f64": FloatForm(_DIRECTED)}
_FUSED: Forms = {
    **_FUSED_SINGLE,
    **{name: FloatForm(("rn",), (*flags, "relu"), exclusive=("sat", "relu")) for name, flags in _HALF_FLAGS.items()},
}
_QUOTIENT: Forms = {"f32": FloatForm(_DIRECTED, ("ftz",)), "f64": FloatForm(_DIRECTED)}


def saturated(form: Format, bits: np.ndarray) -> np.ndarray:
    """Patterns clamped to [+0, 1]; NaN becomes +0 (`.sat`)."""
    one = encode(form, np.array(1.0))
    positive = (bits & form.sign == 0) & (bits <= form.exponent_mask)  # +0 to infinity, in the order of their patterns
    return np.where(positive, np.minimum(bits, one), form.storage(0))


def rectified(form: Format, bits: np.ndarray) -> np.ndarray:
    """Patterns with negative numbers as +0; a NaN stays one (`.relu`)."""
    negative = (bits & form.sign != 0) & (bits & ~form.sign <= form.exponent_mask)
    return np.where(negative, form.storage(0), bits)


def finished(form: Format, flags: frozenset[str], bits: np.ndarray) -> np.ndarray:
    """Results as `.ftz`, `.sat` and `.relu` change them."""
    if "ftz" in flags:
        bits = flush(form, bits)
    if "sat" in flags:
        bits = saturated(form, bits)
    return rectified(form, bits) if "relu" in flags else bits


def _double(name: str, direction: str, *operands: np.ndarray) -> np.ndarray:
    """An operation on patterns of f64."""
    return encode(F64, double.compute(name, direction, *(each.view(np.float64) for each in operands)))


def float_elementwise(
    type_name: str, operand_count: int, flags: frozenset[str], function: Callable[..., np.ndarray]
) -> Operation:
    """The operation whose operands and result have one type, packed or not, from the one on its format."""
    form = FORMATS.get(type_name) or PAIRS[type_name]

    def one(*operands: np.ndarray) -> np.ndarray:
        if "ftz" in flags:
            operands = tuple(flush(form, each) for each in operands)
        return finished(form, flags, function(*operands))

    run = on_halves(form, one) if type_name in PAIRS else one

    def compute(*operands: np.ndarray) -> tuple[np.ndarray, ...]:
        return (run(*operands),)

    return Operation((type_name,), (type_name,) * operand_count, compute)


def _arithmetic(name: str, operand_count: int, forms: Forms) -> Builder:
    """The builder of an operation that is correctly rounded in every form."""

    def build(words: tuple[str, ...]) -> Operation | None:
        found = one_type(words, forms)
        if found is None:
            return None
        type_name, modifiers = found
        return float_elementwise(type_name, operand_count, modifiers.flags, _function(name, type_name, modifiers))

    return build


def _function(name: str, type_name: str, modifiers: FloatModifiers) -> Callable[..., np.ndarray]:
    """The effect of a builder's instruction on patterns of its format; rcp divides one."""
    form = FORMATS.get(type_name) or PAIRS[type_name]
    direction = modifiers.rounding or "rn"
    if name == "rcp":
        return partial(_function("div", type_name, modifiers), encode(form, np.array(1.0)))
    return partial(_double, name, direction) if form is F64 else narrow.operation_on(name, form, direction)


BUILDERS: Registry = {
    "add": _arithmetic("add", 2, _SUM),
    "sub": _arithmetic("sub", 2, _SUM),
    "mul": _arithmetic("mul", 2, _SUM),
    "fma": _arithmetic("fma", 3, _FUSED),
    "mad": _arithmetic("fma", 3, _FUSED_SINGLE),
    "div": _arithmetic("div", 2, _QUOTIENT),
    "rcp": _arithmetic("rcp", 1, _QUOTIENT),
    "sqrt": _arithmetic("sqrt", 1, _QUOTIENT),
}
