"""Contractions."""

import numpy as np

from tinyc.executors.frontend.elementwise import NumpyFunctions


def _gemm(a, b, c, alpha, beta, trans_a, trans_b) -> np.ndarray:
    wide = np.float64 if a.dtype.kind == "f" else a.dtype
    product = (a.T if trans_a else a).astype(wide) @ (b.T if trans_b else b).astype(wide)
    scaled = product if alpha == 1 else product * np.asarray(alpha).astype(wide)
    return scaled if c is None or beta == 0 else scaled + np.asarray(beta).astype(wide) * c


def _einsum(x, y, equation) -> np.ndarray:
    operands = [each for each in (x, y) if each is not None]
    wide = np.float64 if x.dtype.kind == "f" else x.dtype
    return np.einsum(equation, *(each.astype(wide) for each in operands))


IN_NUMPY: NumpyFunctions = {"matmul": np.matmul, "gemm": _gemm, "einsum": _einsum}
