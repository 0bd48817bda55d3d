"""Dot products of the bytes of a register: dp4a dp2a. Source: PTX ISA §9.7.1.23 and §9.7.1.24.

In: an instruction's modifiers. Out: its operation.
"""

import numpy as np

from ptxsim.semantics.operation import Operation, Registry


def _parts(kind: str, bits: np.ndarray, width: int) -> np.ndarray:
    """The groups of `width` bits [..., 32 / width], lowest first, as int64 with the signs that `kind` has."""
    return bits[..., None].view(f"{kind[0].replace('s', 'i')}{width // 8}").astype(np.int64)


def _dp4a(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case ("u32" | "s32" as a_kind, "u32" | "s32" as b_kind):
            return _dot(a_kind, b_kind, a_width=8, b_bytes=slice(0, 4))
    return None


def _dp2a(modifiers: tuple[str, ...]) -> Operation | None:
    match modifiers:
        case ("lo" | "hi" as mode, "u32" | "s32" as a_kind, "u32" | "s32" as b_kind):
            return _dot(a_kind, b_kind, a_width=16, b_bytes=slice(0, 2) if mode == "lo" else slice(2, 4))
    return None


def _dot(a_kind: str, b_kind: str, a_width: int, b_bytes: slice) -> Operation:
    """C plus the products of a's parts and these bytes of b, modulo 2^32."""
    result = "u32" if a_kind == b_kind == "u32" else "s32"

    def function(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, ...]:
        products = _parts(a_kind, a, a_width) * _parts(b_kind, b, 8)[..., b_bytes]
        return ((products.sum(-1) + c).astype(np.uint32),)

    return Operation((result,), (a_kind, b_kind, result), function)


BUILDERS: Registry = {"dp4a": _dp4a, "dp2a": _dp2a}
