"""`cvt` where an integer is involved, and `cvt.pack`; conversions of floating point alone are in `convert_float`.

In: an instruction's modifiers. Out: its operation. A value outside the target's range wraps between integers, unless
`.sat` is there; from floating point it is clamped always.
Source: PTX ISA § Data movement and conversion instructions: cvt, cvt.pack.
"""

from functools import partial

import numpy as np

from ptxsim.semantics import convert_float
from ptxsim.semantics.convert_float import INTEGRAL, plain_flags
from ptxsim.semantics.float_format import F64, FORMATS, Format, decode, encode, flush
from ptxsim.semantics.float_modifiers import FloatModifiers, sorted_modifiers
from ptxsim.semantics.floating import saturated
from ptxsim.semantics.operation import Operation, Registry
from ptxsim.semantics.rounding import DIRECTIONS, integral, nudged, odd_sum, rounded_bits, two_sum

_INTEGERS = frozenset(f"{sign}{bits}" for sign in "us" for bits in (8, 16, 32, 64))
_LOW_WORD = 0xFFFFFFFF


def _range(name: str) -> tuple[int, int]:
    """The least and the greatest number of an integer type."""
    bits = int(name[1:])
    return (0, (1 << bits) - 1) if name[0] == "u" else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def _pattern(name: str) -> np.dtype:
    """The dtype of an integer type's bit patterns."""
    return np.dtype(f"u{int(name[1:]) // 8}")


def _values(name: str, bits: np.ndarray) -> np.ndarray:
    """The integers that patterns of an integer type stand for."""
    return bits.view(f"{'i' if name[0] == 's' else 'u'}{int(name[1:]) // 8}")


def _clamped(target: str, source: str, values: np.ndarray) -> np.ndarray:
    """Integers of one type clamped to the range of another, as int64 or uint64."""
    wide = np.int64 if source[0] == "s" else np.uint64
    limits = np.iinfo(wide)
    low, high = _range(target)
    return np.clip(values.astype(wide), wide(max(low, int(limits.min))), wide(min(high, int(limits.max))))


def _may_exceed(target: str, source: str) -> bool:
    """Whether an integer type lacks numbers of another."""
    low, high = _range(target)
    source_low, source_high = _range(source)
    return source_low < low or source_high > high


def _between_integers(target: str, source: str, modifiers: FloatModifiers) -> Operation | None:
    if modifiers.rounding is not None or not modifiers.flags <= ({"sat"} if _may_exceed(target, source) else set()):
        return None
    saturates = "sat" in modifiers.flags

    def convert(bits: np.ndarray) -> tuple[np.ndarray, ...]:
        values = _values(source, bits)
        return ((_clamped(target, source, values) if saturates else values).astype(_pattern(target)),)

    return Operation((target,), (source,), convert)


def _from_integer(target: str, source: str, modifiers: FloatModifiers) -> Operation | None:
    form = FORMATS[target]
    direction = modifiers.rounding
    if direction not in DIRECTIONS or not modifiers.flags <= set(plain_flags(form)):
        return None
    saturates = "sat" in modifiers.flags

    def convert(bits: np.ndarray) -> tuple[np.ndarray, ...]:
        result = _float_of(form, direction, _values(source, bits))
        return (saturated(form, result) if saturates else result,)

    return Operation((target,), (source,), convert)


def _float_of(form: Format, direction: str, values: np.ndarray) -> np.ndarray:
    """Integers as patterns of a format; those of 64 bits as the sum of two float64, which has one rounding."""
    if values.dtype.itemsize < 8:
        return rounded_bits(form, values.astype(np.float64), direction)
    word = values.dtype.type(_LOW_WORD)
    high, low = (values & ~word).astype(np.float64), (values & word).astype(np.float64)
    if form is F64:
        return encode(F64, nudged(*two_sum(high, low), direction))
    return rounded_bits(form, odd_sum(high, low), direction)


def _to_integer(target: str, source: str, modifiers: FloatModifiers) -> Operation | None:
    form = FORMATS[source]
    direction = INTEGRAL.get(modifiers.rounding or "")
    if direction is None or not modifiers.flags <= set(plain_flags(form)):
        return None
    flushes = "ftz" in modifiers.flags
    # What a NaN becomes depends on the types: 0, or the sign bit alone.
    nan = 1 << (int(target[1:]) - 1) if form is F64 or target in ("s64", "u64") else 0
    convert = partial(_integer_of, target, direction, nan)

    def compute(bits: np.ndarray) -> tuple[np.ndarray, ...]:
        return (convert(decode(form, flush(form, bits) if flushes else bits)),)

    return Operation((target,), (source,), compute)


def _integer_of(target: str, direction: str, nan: int, values: np.ndarray) -> np.ndarray:
    """Float64 values as patterns of an integer type, rounded and clamped."""
    pattern = _pattern(target).type
    low, high = _range(target)
    whole = integral(values, direction)
    # The greatest float64 within the range: below `high` for 64 bits, where `high` is not a float64.
    greatest = float(high) if high < 1 << 53 else np.nextafter(float(high), 0)
    inside = np.clip(np.where(values != values, 0.0, whole), float(low), greatest)
    result = inside.astype(np.int64 if low < 0 or high < 1 << 53 else np.uint64).astype(pattern)
    result = np.where(whole > greatest, pattern(high), result)
    return np.where(values != values, pattern(nan), result)


def _pack(words: tuple[str, ...]) -> Operation | None:
    """`cvt.pack.sat`: two clamped integers in the low bits, below what `c` holds in its low bits."""
    match words:
        case ("sat", ("u16" | "s16") as name, "s32"):
            return Operation(("b32",), ("s32", "s32"), lambda a, b: (_packed(name, a, b),))
        case ("sat", ("u8" | "s8" | "u4" | "s4" | "u2" | "s2") as name, "s32", "b32"):
            shift = np.uint32(2 * int(name[1:]))
            return Operation(("b32",), ("s32", "s32", "b32"), lambda a, b, c: (_packed(name, a, b) | (c << shift),))
    return None


def _packed(name: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    bits = int(name[1:])
    mask = np.uint32((1 << bits) - 1)
    high, low = (_clamped(name, "s32", each.view(np.int32)).astype(np.uint32) & mask for each in (a, b))
    return (high << np.uint32(bits)) | low


def _cvt(words: tuple[str, ...]) -> Operation | None:
    if words[:1] == ("pack",):
        return _pack(words[1:])
    modifiers = sorted_modifiers(words, (*DIRECTIONS, "rna", *INTEGRAL))
    if modifiers is None or len(modifiers.types) != 2:
        return None
    target, source = modifiers.types
    if target in _INTEGERS and source in _INTEGERS:
        return _between_integers(target, source, modifiers)
    if target in FORMATS and source in _INTEGERS:
        return _from_integer(target, source, modifiers)
    if target in _INTEGERS and source in FORMATS:
        return _to_integer(target, source, modifiers)
    return convert_float.build(modifiers) if not {target, source} & _INTEGERS else None


BUILDERS: Registry = {"cvt": _cvt}
