"""Element types in numpy: how a value is held, in what arithmetic runs, and how it is converted.

A `Precision` says which: the reference holds every value in its own type and computes 16-bit floats in f32; the oracle
holds and computes every float in f64, rounding only where the program says so (`cast`, constants, random numbers).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.element_type import element_of as element_of

_F64, _BF16 = ElementType.F64.dtype, ElementType.BF16.dtype


@dataclass(frozen=True)
class Precision:
    """How floats are held between ops, and in what type an op computes."""

    oracle: bool = False

    def held(self, element: ElementType) -> np.dtype:
        """The dtype in which values of that element type are held between ops."""
        return _F64 if self.oracle and element.is_float else element.dtype

    def arithmetic(self, element: ElementType) -> np.dtype:
        """The dtype in which ops on that element type compute."""
        return _F64 if self.oracle and element.is_float else element.accumulator.dtype

    def round(self, values: np.ndarray, element: ElementType) -> np.ndarray:
        """The result of an op as it is held: rounded to its element type, but not by the oracle."""
        return convert(values, self.held(element))


REFERENCE = Precision()
ORACLE = Precision(oracle=True)


def cast_array(values: np.ndarray, target: ElementType, precision: Precision) -> np.ndarray:
    """Convert as `tiny.cast` does: the rounding to a narrower float is part of the program, also for the oracle."""
    return convert(convert(values, target.dtype), precision.held(target))


def convert(values: Any, target: np.dtype) -> np.ndarray:
    """Convert numbers to `target`.

    Floats round once to nearest even; float to integer truncates and saturates, NaN gives 0; integers wrap; to bool is
    ``x != 0``.
    """
    values = np.asarray(values)
    if values.dtype == target:
        return values
    if target == np.bool_:
        return np.asarray(values != 0)
    with np.errstate(all="ignore"):
        if target.kind in "iu" and _is_float(values.dtype):
            return _saturated(values, target)
        return _to_bf16(values) if target == _BF16 else values.astype(target)


def _is_float(dtype: np.dtype) -> bool:
    return dtype.kind == "f" or dtype == _BF16


def _saturated(values: np.ndarray, target: np.dtype) -> np.ndarray:
    """Truncate; the bounds are compared as powers of two, which f64 holds exactly."""
    whole = np.trunc(values.astype(np.float64))
    info = np.iinfo(target)
    least, greatest = int(info.min), int(info.max)
    too_low, too_high = whole < least, whole >= float(greatest + 1)
    result = np.where(too_low | too_high | np.isnan(whole), 0, whole).astype(target)
    return np.where(too_high, target.type(greatest), np.where(too_low, target.type(least), result))


def _to_bf16(values: np.ndarray) -> np.ndarray:
    """Round once: by way of f64 and f32 that round to odd, which a later rounding to nearest cannot tell from exact."""
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        high = (values >> 32).astype(np.float64) * 2.0**32
        low = (values & 0xFFFFFFFF).astype(np.float64)
        total = high + low
        values = _round_to_odd(total, low - (total - high))
    values = values.astype(np.float64)
    nearest = values.astype(np.float32)
    return _round_to_odd(nearest, values - nearest).astype(_BF16)


def _round_to_odd(nearest: np.ndarray, error: np.ndarray) -> np.ndarray:
    """The neighbour of ``nearest + error`` whose last bit is odd, where the error is not 0."""
    pattern = nearest.view(np.uint32 if nearest.dtype.itemsize == 4 else np.uint64)
    move = (pattern & pattern.dtype.type(1) == 0) & (np.abs(error) > 0)
    towards = np.copysign(np.inf, error).astype(nearest.dtype)
    return np.where(move, np.nextafter(nearest, towards), nearest)
