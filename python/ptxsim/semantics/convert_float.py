"""`cvt` between floating-point formats: one value, two values packed, and the 8-bit formats.

In: an instruction's modifiers. Out: its operation. `.relu` and `.satfinite` limit a value before it is rounded, which
gives what limiting the result would: the limits are numbers of the target. Source: PTX ISA § Data movement and
conversion instructions: cvt.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from ptxsim.semantics.float_format import (
    BF16,
    E4M3,
    E5M2,
    F16,
    F32,
    FORMATS,
    PAIRS,
    TF32,
    Format,
    decode,
    encode,
    flush,
    halves,
    joined,
    numbers,
)
from ptxsim.semantics.float_modifiers import FloatForm, FloatModifiers
from ptxsim.semantics.floating import saturated
from ptxsim.semantics.narrow import canonical
from ptxsim.semantics.operation import Operation
from ptxsim.semantics.rounding import DIRECTIONS, integral, rounded_bits, shortened

#: The rounding of each modifier that rounds to an integer.
INTEGRAL = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}
_LIMITED = FloatForm(("rn", "rz"), ("relu", "satfinite"))
_TO_BYTE = FloatForm(("rn",), ("relu",), required=("satfinite",))
#: Target and source → the form, where both limits or two values in a register are involved.
_SPECIAL: dict[tuple[str, str], tuple[FloatForm, ...]] = {
    **{(target, "f32"): (_LIMITED,) for target in ("f16", "bf16", "f16x2", "bf16x2")},
    ("tf32", "f32"): (FloatForm(("rn", "rz"), ("relu",)), FloatForm(("rna",), ("satfinite",))),
    **{(target, source): (_TO_BYTE,) for target in ("e4m3x2", "e5m2x2") for source in ("f32", "f16x2")},
    **{("f16x2", source): (FloatForm(("rn",), ("relu",)),) for source in ("e4m3x2", "e5m2x2")},
}


def build(modifiers: FloatModifiers) -> Operation | None:
    """The conversion from one floating-point type to another, or None if the ISA does not have it."""
    target, source = modifiers.types
    if any(form.allows(modifiers) for form in _SPECIAL.get((target, source), ())):
        return _special(target, source, modifiers)
    if target in FORMATS and source in FORMATS and _plain_form(FORMATS[target], FORMATS[source]).allows(modifiers):
        return Operation((target,), (source,), partial(_plain, FORMATS[target], FORMATS[source], modifiers))
    return None


def _plain_form(target: Format, source: Format) -> FloatForm:
    """The form of a conversion: a rounding, exactly where the target lacks numbers of the source."""
    flags = plain_flags(target, source)
    if target is source:
        return FloatForm((None, *INTEGRAL), flags)
    keeps = target.precision >= source.precision and target.least_exponent <= source.least_exponent
    if keeps and source is BF16:
        return FloatForm((None, *DIRECTIONS), flags)  # ptxas takes a rounding that has nothing to do
    return FloatForm((None,) if keeps else DIRECTIONS, flags)


def plain_flags(*formats: Format) -> tuple[str, ...]:
    """The flags of a conversion that has these formats: `.ftz` comes with f32, and bf16 has no `.sat`."""
    return (*(("ftz",) if F32 in formats else ()), *(() if BF16 in formats else ("sat",)))


def _plain(target: Format, source: Format, modifiers: FloatModifiers, bits: np.ndarray) -> tuple[np.ndarray, ...]:
    """One value converted, with `.ftz` and `.sat`."""
    if "ftz" in modifiers.flags and source is F32:
        bits = flush(source, bits)
    if modifiers.rounding in INTEGRAL:
        result = encode(target, integral(decode(source, bits), INTEGRAL[modifiers.rounding]))
    elif target is not source:
        result = converted(target, source, modifiers.rounding or "rn", bits)
    else:
        result = bits
    if "ftz" in modifiers.flags and target is F32:
        result = flush(target, result)
    return (saturated(target, result) if "sat" in modifiers.flags else result,)


def converted(target: Format, source: Format, direction: str, bits: np.ndarray) -> np.ndarray:
    """Patterns of one format rounded to another."""
    if source is F32 and target in (BF16, TF32):
        result = shortened(bits, source.precision - target.precision, direction)
        if target is BF16:
            result = (result >> np.uint32(16)).astype(np.uint16)
        return canonical(target, bits.view(np.float32), result)
    return rounded_bits(target, decode(source, bits), direction)


def _limited(target: Format, source: Format, modifiers: FloatModifiers, bits: np.ndarray) -> np.ndarray:
    """Patterns converted after `.relu` and `.satfinite` have limited their values; NaN passes both."""
    if modifiers.flags:
        values = numbers(source, bits)
        if "satfinite" in modifiers.flags:
            values = np.clip(values, values.dtype.type(-target.greatest), values.dtype.type(target.greatest))
        if "relu" in modifiers.flags:
            values = np.where(values <= 0, values.dtype.type(0), values)
        bits, source = values.view(np.uint32), F32
    return converted(target, source, modifiers.rounding or "rn", bits)


def _special(target: str, source: str, modifiers: FloatModifiers) -> Operation:
    """A conversion with limits: of one value, of two values into a register, or of both halves of one."""
    if target not in PAIRS:
        form = TF32 if target == "tf32" else FORMATS[target]
        result = "b32" if target == "tf32" else target
        return Operation((result,), (source,), lambda a: (_limited(form, F32, modifiers, a),))
    form = PAIRS[target]
    packed = {8: np.uint16, 16: np.uint32}[form.width]
    if source == "f32":

        def pack(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray]:
            high, low = (_limited(form, F32, modifiers, each).astype(packed) for each in (a, b))
            return ((high << packed(form.width)) | low,)

        return Operation((_register(target),), ("f32", "f32"), pack)
    convert = _half_converter(form, PAIRS[source], modifiers)
    storage = PAIRS[source].storage
    return Operation(
        (_register(target),), (_register(source),), lambda a: (joined(packed, convert(halves(storage, a))),)
    )


def _half_converter(target: Format, source: Format, modifiers: FloatModifiers) -> Callable[[np.ndarray], np.ndarray]:
    """The conversion of halves between f16 and an 8-bit format; f16 has all numbers of both."""
    if source in (E4M3, E5M2):
        widen = partial(converted, F16, source, "rn")
        return lambda bits: _limited(target, F16, modifiers, widen(bits))
    return partial(_limited, target, source, modifiers)


def _register(type_name: str) -> str:
    """The type of the register for a packed type: 8-bit formats lie in .b16."""
    return "b16" if PAIRS[type_name].width == 8 else type_name
