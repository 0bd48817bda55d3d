"""D = A · B + C of the tensor cores on numbers, and its rounding to the accumulator's type.

In: A, B and C as float64. Out: D as bit patterns. Products are exact and the whole sum, C included, is
formed in float64 and rounded once, to nearest even. The ISA asks for less and leaves open: the order of the sums, the
rounding ("at least single precision"; for f16 accumulators "at least half"), subnormal inputs, NaN payloads (here
always the canonical NaN), and sums that leave the range of f32 only on the way (here they do not overflow). So
floating-point results agree with a GPU's within the error of single precision sums, not bit for bit. Integers are
exact: 32 products of 8-bit numbers and C fit in 53 bits; `.satfinite` clamps their sum, and without it the sum wraps.

Source: PTX ISA §9.7.14.5.14 and §9.7.15.5.2, "Precision and rounding".
"""

import numpy as np

from ptxsim.matrix.elements import ELEMENTS
from ptxsim.semantics import operation

_CANONICAL_NAN = {"f16": 0x7FFF, "f32": 0x7FFFFFFF}
_INT32 = np.iinfo(np.int32)


def multiply_accumulate(
    a: np.ndarray, b: np.ndarray, c: np.ndarray | None, accumulator: str, saturating: bool = False
) -> np.ndarray:
    """A · B + C, or A · B where C is None, as bit patterns of the accumulator's type, "f16", "f32" or "s32".

    Shapes: a [..., m, k], b [..., k, n] and c [..., m, n] float64; the result [..., m, n].
    """
    with np.errstate(all="ignore"):
        total = a @ b
        if c is not None:
            total += c
        return _rounded(total, accumulator, saturating)


def _rounded(numbers: np.ndarray, accumulator: str, saturating: bool) -> np.ndarray:
    if accumulator == "s32":
        limited = numbers.clip(_INT32.min, _INT32.max) if saturating else numbers
        return limited.astype(np.int64).astype(np.uint32)
    narrow = numbers.astype(np.float16 if accumulator == "f16" else np.float32)
    bits = narrow.view(ELEMENTS[accumulator].dtype)
    np.putmask(bits, np.isnan(narrow), _CANONICAL_NAN[accumulator])
    return bits


def fused_chain(a: np.ndarray, b: np.ndarray, c: np.ndarray, rounding: str) -> np.ndarray:
    """A · B + C of f64 as a chain of fused multiply-adds along k, from C on.

    The ISA asks for the precision of `fma.f64`, with its rounding, and leaves the order open.

    Shapes: a [..., m, k], b [..., k, n], c and the result [..., m, n]: uint64 bit patterns.
    """
    fma = operation("fma", (rounding, "f64"))
    assert fma is not None
    total = c
    for step in range(a.shape[-1]):
        (total,) = fma.function(a[..., :, step, None], b[..., None, step, :], total)
    return total
