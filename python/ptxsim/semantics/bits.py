"""Bit counting and bit fields: popc clz bfind fns brev bfe bfi bmsk szext. Source: PTX ISA §9.7.1.14-22.

In: an instruction's modifiers. Out: its operation.
"""

import numpy as np

from ptxsim.semantics import shift
from ptxsim.semantics.integer_type import IntegerType, integer_elementwise
from ptxsim.semantics.operation import Operation, Registry

_NOT_FOUND = np.uint32(0xFFFFFFFF)
_BYTE = 0xFF


def bit_length(bits: np.ndarray) -> np.ndarray:
    """One more than the position of the most significant 1, as uint32; 0 where there is none."""
    width = 8 * bits.dtype.itemsize
    distance = 1
    while distance < width:  # afterwards all bits below the most significant 1 are one
        bits = bits | (bits >> bits.dtype.type(distance))
        distance *= 2
    return np.bitwise_count(bits).astype(np.uint32)


def _popc(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case ("b32" | "b64" as name,):
            return Operation(("u32",), (name,), lambda a: (np.bitwise_count(a).astype(np.uint32),))
    return None


def _clz(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case ("b32" | "b64" as name,):
            width = np.uint32(IntegerType(name).bits)
            return Operation(("u32",), (name,), lambda a: (width - bit_length(a),))
    return None


def _bfind(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case ("u32" | "u64" | "s32" | "s64" as name,):
            return _find(IntegerType(name), is_shift=False)
        case ("shiftamt", "u32" | "u64" | "s32" | "s64" as name):
            return _find(IntegerType(name), is_shift=True)
    return None


def _find(kind: IntegerType, is_shift: bool) -> Operation:
    def function(a: np.ndarray) -> tuple[np.ndarray, ...]:
        found = bit_length(np.where(kind.values(a) < 0, ~a, a))
        position = np.uint32(kind.bits) - found if is_shift else found - np.uint32(1)
        return (np.where(found == 0, _NOT_FOUND, position),)

    return Operation(("u32",), (kind.name,), function)


def _fns(modifiers: tuple[str, ...]) -> Operation | None:
    return Operation(("b32",), ("b32", "b32", "s32"), _find_nth_set) if modifiers == ("b32",) else None


def _find_nth_set(mask: np.ndarray, base: np.ndarray, offset: np.ndarray) -> tuple[np.ndarray, ...]:
    """The position of the |offset|-th 1 from `base` on, upwards where offset > 0; of the one at base for 0."""
    mask, base, offset = (x[..., None] for x in np.broadcast_arrays(mask, base, offset))
    position = np.arange(32)
    start, count = base.view(np.int32), offset.view(np.int32).astype(np.int64)
    is_set = (mask >> position.astype(np.uint32)) & np.uint32(1) != 0
    upwards = is_set & (position >= start)
    downwards = is_set & (position <= start)
    hit = np.where(
        count > 0,
        upwards & (upwards.cumsum(-1) == count),
        downwards & (downwards[..., ::-1].cumsum(-1)[..., ::-1] == np.maximum(-count, 1)),
    )
    hit &= ((count != 0) | (position == start)) & (start >= 0) & (start < 32)
    return (np.where(hit.any(-1), hit.argmax(-1).astype(np.uint32), _NOT_FOUND),)


def _brev(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case ("b32" | "b64" as name,):
            return integer_elementwise(name, 1, _reverse)
    return None


def _reverse(bits: np.ndarray) -> np.ndarray:
    """Swap neighbouring groups of 1, 2, 4 … bits."""
    dtype = bits.dtype
    distance = 1
    while distance < 8 * dtype.itemsize:
        every_other = dtype.type(np.iinfo(dtype).max // ((1 << distance) + 1))
        by = dtype.type(distance)
        bits = ((bits >> by) & every_other) | ((bits & every_other) << by)
        distance *= 2
    return bits


def _bfe(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case ("u32" | "u64" | "s32" | "s64" as name,):
            kind = IntegerType(name)
            extract = _extract_signed if kind.is_signed else _extract_unsigned
            return Operation((name,), (name, "u32", "u32"), lambda a, b, c: (extract(kind, a, b & _BYTE, c & _BYTE),))
    return None


def _extract_unsigned(kind: IntegerType, a: np.ndarray, start: np.ndarray, length: np.ndarray) -> np.ndarray:
    return shift.right(a, start) & shift.low_bits(kind.dtype, length)


def _extract_signed(kind: IntegerType, a: np.ndarray, start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Bring the field's last bit, or the operand's where the field goes beyond it, to the top, and down again."""
    above = kind.bits - np.minimum(start + length, kind.bits)
    field = shift.arithmetic_right(kind, shift.left(a, above), above + start)
    return np.where(length == 0, kind.dtype.type(0), field)


def _bfi(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case ("b32" | "b64" as name,):
            return Operation(
                (name,), (name, name, "u32", "u32"), lambda a, b, c, d: (_insert(a, b, c & _BYTE, d & _BYTE),)
            )
    return None


def _insert(a: np.ndarray, b: np.ndarray, start: np.ndarray, length: np.ndarray) -> np.ndarray:
    field = shift.left(shift.low_bits(b.dtype, length), start)
    return (b & ~field) | (shift.left(a, start) & field)


def _bmsk(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case ("clamp", "b32"):
            return integer_elementwise("b32", 2, lambda a, b: shift.left(shift.low_bits(b.dtype, b), a))
        case ("wrap", "b32"):
            return integer_elementwise("b32", 2, lambda a, b: shift.left(shift.low_bits(b.dtype, b & 31), a & 31))
    return None


def _szext(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case ("clamp" | "wrap" as mode, "u32" | "s32" as name):
            kind = IntegerType(name)
            extract = _extract_signed if kind.is_signed else _extract_unsigned

            def extend(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, ...]:
                length = b & np.uint32(31) if mode == "wrap" else np.minimum(b, np.uint32(32))
                return (extract(kind, a, np.zeros_like(b), length),)

            return Operation((name,), (name, "u32"), extend)
    return None


BUILDERS: Registry = {
    "popc": _popc,
    "clz": _clz,
    "bfind": _bfind,
    "fns": _fns,
    "brev": _brev,
    "bfe": _bfe,
    "bfi": _bfi,
    "bmsk": _bmsk,
    "szext": _szext,
}
