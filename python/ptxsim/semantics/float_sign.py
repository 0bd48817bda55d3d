"""Signs, classes, and the lesser of two: neg, abs, copysign, testp, min and max on floating point.

In: an instruction's modifiers. Out: its operation. `neg` and `abs` change the sign of a NaN as that of any number,
which the ISA leaves open. Source: PTX ISA § Floating-point instructions, § Half-precision floating-point instructions.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from ptxsim.semantics.float_format import FORMATS, PAIRS, Format, numbers
from ptxsim.semantics.float_modifiers import FloatForm, Forms, one_type
from ptxsim.semantics.floating import float_elementwise
from ptxsim.semantics.operation import Builder, Operation, Registry

_SIGN: Forms = {
    "f64": FloatForm(),
    **{name: FloatForm(flags=("ftz",)) for name in ("f32", "f16", "f16x2")},
    **{name: FloatForm() for name in ("bf16", "bf16x2")},
}
_COPY: Forms = {"f32": FloatForm(), "f64": FloatForm()}
_EXTREME: Forms = {
    "f64": FloatForm(),
    **{name: FloatForm(flags=("ftz", "NaN", "xorsign", "abs")) for name in ("f32", "f16", "f16x2")},
    **{name: FloatForm(flags=("NaN", "xorsign", "abs")) for name in ("bf16", "bf16x2")},
}

Patterns = Callable[..., np.ndarray]


def _negated(form: Format, bits: np.ndarray) -> np.ndarray:
    return bits ^ form.sign


def _absolute(form: Format, bits: np.ndarray) -> np.ndarray:
    return bits & ~form.sign


def _with_sign(form: Format, sign: np.ndarray, bits: np.ndarray) -> np.ndarray:
    return (bits & ~form.sign) | (sign & form.sign)


def _extreme(form: Format, is_min: bool, flags: frozenset[str], a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The lesser or the greater; -0 is less than +0, and a NaN loses unless `.NaN` is there."""
    sign = (a ^ b) & form.sign
    if "abs" in flags:
        a, b = a & ~form.sign, b & ~form.sign
    x, y = numbers(form, a), numbers(form, b)
    a_nan, b_nan = x != x, y != y
    negative = (a if is_min else b) & form.sign != 0
    first = ((x < y) if is_min else (x > y)) | ((x == y) & negative)
    result = np.where((first | b_nan) & ~a_nan, a, b)
    if "xorsign" in flags:
        result = result | sign
    return np.where((a_nan | b_nan) if "NaN" in flags else (a_nan & b_nan), form.nan, result)


def _on_format(operand_count: int, forms: Forms, function: Patterns) -> Builder:
    """The builder of an instruction that only looks at bits."""

    def build(words: tuple[str, ...]) -> Operation | None:
        found = one_type(words, forms)
        if found is None:
            return None
        type_name, modifiers = found
        form = FORMATS.get(type_name) or PAIRS[type_name]
        return float_elementwise(type_name, operand_count, modifiers.flags, partial(function, form))

    return build


def _extreme_builder(is_min: bool) -> Builder:
    def build(words: tuple[str, ...]) -> Operation | None:
        found = one_type(words, _EXTREME)
        if found is None or ("xorsign" in found[1].flags) != ("abs" in found[1].flags):
            return None
        type_name, modifiers = found
        form = FORMATS.get(type_name) or PAIRS[type_name]
        return float_elementwise(type_name, 2, modifiers.flags, partial(_extreme, form, is_min, modifiers.flags))

    return build


def _finite(form: Format, magnitude: np.ndarray) -> np.ndarray:
    return magnitude < form.exponent_mask


def _subnormal(form: Format, magnitude: np.ndarray) -> np.ndarray:
    return (magnitude & form.exponent_mask == 0) & (magnitude != 0)


#: What `testp` asks of a pattern without its sign; a zero is a normal number.
_CLASSES: dict[str, Callable[[Format, np.ndarray], np.ndarray]] = {
    "finite": _finite,
    "infinite": lambda form, magnitude: magnitude == form.exponent_mask,
    "number": lambda form, magnitude: magnitude <= form.exponent_mask,
    "notanumber": lambda form, magnitude: magnitude > form.exponent_mask,
    "normal": lambda form, magnitude: _finite(form, magnitude) & ~_subnormal(form, magnitude),
    "subnormal": _subnormal,
}


def _testp(words: tuple[str, ...]) -> Operation | None:
    match words:
        case (name, ("f32" | "f64") as type_name) if name in _CLASSES:
            form, belongs = FORMATS[type_name], _CLASSES[name]
            return Operation(("pred",), (type_name,), lambda a: (belongs(form, a & ~form.sign),))
    return None


BUILDERS: Registry = {
    "neg": _on_format(1, _SIGN, _negated),
    "abs": _on_format(1, _SIGN, _absolute),
    "copysign": _on_format(2, _COPY, _with_sign),
    "min": _extreme_builder(is_min=True),
    "max": _extreme_builder(is_min=False),
    "testp": _testp,
}
