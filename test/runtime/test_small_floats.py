"""Conversions of 16-bit floats in generated code, against numpy and ml_dtypes; also on a CPU that has none.

Every f16 is converted to f32. In the other direction: all values next to the halfway points between neighbours, the
limits, and random bits. NaN has to stay NaN; its payload may change.
"""

import ml_dtypes
import numpy as np
import pytest

from runtime.hand_made import CPUS, elementwise, executable

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
NARROW = {"f16": np.dtype(np.float16), "bf16": BFLOAT16}


def every(dtype: np.dtype) -> np.ndarray:
    return np.arange(2**16, dtype=np.uint16).view(dtype)


def same(left: np.ndarray, right: np.ndarray) -> bool:
    """Compare bit by bit, NaNs as such."""
    bits = np.dtype(f"u{left.itemsize}")
    both_nan = (left != left) & (right != right)
    return bool(np.all(both_nan | (left.view(bits) == right.view(bits))))


def halfway_and_random(narrow: np.dtype) -> np.ndarray:
    """Return f32 values on, just below and just above each number of `narrow` and each midpoint of two, and more."""
    with np.errstate(all="ignore"):
        finite = np.sort(every(narrow).astype(np.float64)[np.isfinite(every(narrow).astype(np.float64))])
        middle = (finite[1:] + finite[:-1]) / 2
        exact = np.concatenate([finite, middle]).astype(np.float32)
        around = [np.nextafter(exact, np.float32(side)) for side in (-np.inf, np.inf)]
        random = np.random.default_rng(0).integers(0, 2**32, 100_000, dtype=np.uint32).view(np.float32)
    limits = [65504, 65519.996, 65520, 3.4028235e38, 1e-45]
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, *limits], np.float32)
    signalling = np.array([0x7F800001, 0xFF800001, 0x7FC00001], np.uint32).view(np.float32)
    return np.concatenate([exact, *around, random, special, signalling])


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("element", NARROW)
def test_every_value_widens_exactly(element, cpu):
    program = executable(elementwise(f"%r = arith.extf %v : {element} to f32", element, "f32"), cpu)
    values = every(NARROW[element])
    assert same(program.run({"x": values})["y"], values.astype(np.float32))


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("element", NARROW)
@pytest.mark.filterwarnings("ignore:.*encountered in cast")
def test_f32_rounds_to_nearest_even(element, cpu):
    program = executable(elementwise(f"%r = arith.truncf %v : f32 to {element}", "f32", element), cpu)
    values = halfway_and_random(NARROW[element])
    assert same(program.run({"x": values})["y"], values.astype(NARROW[element]))


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("element", NARROW)
@pytest.mark.filterwarnings("ignore:.*encountered in cast")
def test_arithmetic_rounds_once_to_the_element_type(element, cpu):
    body = f"""
    %w = arith.extf %v : {element} to f32
    %s = arith.mulf %w, %w : f32
    %r = arith.truncf %s : f32 to {element}"""
    program = executable(elementwise(body, element, element), cpu)
    values = every(NARROW[element])
    with np.errstate(all="ignore"):
        expected = (values.astype(np.float32) ** 2).astype(NARROW[element])
    assert same(program.run({"x": values})["y"], expected)


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("element", NARROW)
@pytest.mark.filterwarnings("ignore:.*encountered in cast")
def test_what_is_rounded_and_widened_again_is_what_is_stored(element, cpu):
    body = f"%n = arith.truncf %v : f32 to {element} %r = arith.extf %n : {element} to f32"
    program = executable(elementwise(body, "f32", "f32"), cpu)
    values = halfway_and_random(NARROW[element])
    assert same(program.run({"x": values})["y"], values.astype(NARROW[element]).astype(np.float32))
