"""Sums of absolute differences of the bytes or halves of a register: vabsdiff2 vabsdiff4. Source: PTX ISA §9.7.18.2.

In: an instruction's modifiers. Out: its operation. Of the video instructions these are the ones that nvcc emits for
sm_80 and later, on whole registers and with differences that fit their lanes; the others are unknown.
"""

import numpy as np

from ptxsim.semantics.operation import Builder, Operation, Registry


def _differences(width: int) -> Builder:
    """Lanes of `width` bits: each lane's difference in its place, or with `.add` c plus all of them."""

    def build(modifiers: tuple[str, ...]) -> Operation | None:
        match modifiers:
            case ("u32", "u32" | "s32" as kind, other, *rest) if other == kind and rest in ([], ["add"]):
                operands = (kind, kind, "u32")
                if rest:
                    return Operation(
                        ("u32",), operands, lambda a, b, c: (c + _lanes(width, kind, a, b).sum(-1, dtype=np.uint32),)
                    )
                return Operation(
                    ("u32",), operands, lambda a, b, c: (_lanes(width, kind, a, b).view(np.uint32)[..., 0],)
                )
        return None

    return build


def _lanes(width: int, kind: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The absolute differences [..., 32 / width] of the lanes, lowest first."""
    lane = f"{kind[0].replace('s', 'i')}{width // 8}"
    first, second = (bits[..., None].view(lane).astype(np.int64) for bits in (a, b))
    return np.abs(first - second).astype(f"u{width // 8}")


BUILDERS: Registry = {"vabsdiff2": _differences(16), "vabsdiff4": _differences(8)}
