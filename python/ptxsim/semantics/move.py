"""Moves between registers, and of bytes within them: mov prmt. Source: PTX ISA §9.7.9.2 and §9.7.9.7.

In: an instruction's modifiers. Out: its operation. That `mov` packs and unpacks vectors, and takes addresses, is the
engine's matter.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from ptxsim.semantics.integer_type import BIT_TYPES, INTEGERS, integer_elementwise
from ptxsim.semantics.operation import Operation, Registry

_MOVABLE = ("pred", *BIT_TYPES, "b128", *INTEGERS, "f32", "f64")
_BYTES = np.arange(4)

# The bytes of {b, a} that go to bytes 0 to 3 of the result, for the two low bits of the selector.
_MODES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "f4e": lambda selector: selector + _BYTES,
    "b4e": lambda selector: (selector - _BYTES) & 7,
    "rc8": lambda selector: selector + 0 * _BYTES,
    "ecl": lambda selector: np.maximum(selector, _BYTES),
    "ecr": lambda selector: np.minimum(selector, _BYTES),
    "rc16": lambda selector: 2 * (selector & 1) + (_BYTES & 1),
}


def _mov(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case (name,) if name in _MOVABLE:
            return integer_elementwise(name, 1, lambda a: a)
    return None


def _prmt(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case ("b32",):
            return integer_elementwise("b32", 3, _permute)
        case ("b32", name) if name in _MODES:
            indices = _MODES[name]
            return integer_elementwise(
                "b32", 3, lambda a, b, c: _gather(a, b, c, lambda selector: indices(selector & 3))
            )
    return None


def _permute(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Nibble i of c names byte i of the result, and with its bit 3 that byte's sign instead, in all eight bits."""
    return _gather(a, b, c, lambda selector: (selector >> 4 * _BYTES) & 15)


def _gather(a: np.ndarray, b: np.ndarray, c: np.ndarray, select: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The bytes of {b, a} that the nibbles [..., 4] `select(c[..., None])` name, the first one's lowest."""
    if not any(c.strides):  # an immediate: the same bytes for all
        return _gather_same(a, b, select(c.ravel()[:1].astype(np.int64)).tolist())
    a, b, c = np.broadcast_arrays(a, b, c)
    nibbles = select(c[..., None].astype(np.int64))
    chosen = np.take_along_axis(np.stack((a, b), axis=-1).view(np.uint8), nibbles & 7, axis=-1)
    signs = np.uint8(0xFF) * (chosen >> np.uint8(7))
    return np.where(nibbles & 8, signs, chosen).view(np.uint32)[..., 0]


def _gather_same(a: np.ndarray, b: np.ndarray, nibbles: Sequence[int]) -> np.ndarray:
    """Do what `_gather` does where the nibbles are the same for all: bytes that move equally far move together."""
    sources = (a, b)
    masks: defaultdict[tuple[int, int], int] = defaultdict(int)
    result = np.asarray(np.uint32(0))
    for i, nibble in enumerate(nibbles):
        source, byte = divmod(nibble & 7, 4)
        if nibble & 8:
            sign = sources[source] >> np.uint32(8 * byte + 7)
            result = result | (sign & np.uint32(1)) * np.uint32(0xFF << 8 * i)
        else:
            masks[source, i - byte] |= 0xFF << 8 * i
    for (source, distance), mask in masks.items():
        bits, by = sources[source], np.uint32(8 * abs(distance))
        result = result | ((bits << by if distance > 0 else bits >> by) & np.uint32(mask))
    return result


BUILDERS: Registry = {"mov": _mov, "prmt": _prmt}
