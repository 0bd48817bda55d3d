"""Exponentials, hyperbolic and trigonometric functions, powers: units in the last place, and what IEEE 754 says."""

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from formulas.agreement import assert_op_agrees, results_of
from frontend_modules import module_of
from programs.cpu_levels import LEVELS, runs_here
from tinyc.driver.compilation import cpu_artifact, lowerings_of
from tinyc.driver.request import request_for
from tinyc.runtime.cpu import CpuExecutable
from tinyc.runtime.cpu_features import HOST
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

COUNT = 2000
WIDE = np.longdouble


def spread(low: float, high: float) -> np.ndarray:
    """Numbers of both signs whose magnitudes are spread evenly over powers of ten."""
    random = np.random.default_rng(3)
    return np.exp(random.uniform(math.log(low), math.log(high), COUNT)) * random.choice([-1, 1], COUNT)


def evenly(low: float, high: float) -> np.ndarray:
    return np.random.default_rng(4).uniform(low, high, COUNT)


ZEROS_OF_COS = (np.arange(-300, 300) + 0.5) * math.pi

#: Function → where it is measured, its meaning, and by how many units in the last place it may be off.
PRECISION: dict[str, tuple[np.ndarray, Callable[..., np.ndarray], float]] = {
    "exp": (np.concatenate([evenly(-87, 88), spread(1e-8, 80)]), np.exp, 2),
    "sigmoid": (np.concatenate([evenly(-87, 40), spread(1e-8, 80)]), lambda x: 1 / (1 + np.exp(-x)), 2),
    "log": (np.abs(np.concatenate([spread(1e-30, 1e30), evenly(0.9, 1.1)])), np.log, 3),
    "elu": (np.concatenate([evenly(-20, 5), spread(1e-8, 20)]), lambda x: np.where(x < 0, np.expm1(x), x), 3),
    "softplus": (evenly(-80, 80), lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))), 5),
    "mish": (evenly(-80, 80), lambda x: x * np.tanh(np.logaddexp(WIDE(0), x)), 6),
    "sinh": (np.concatenate([evenly(-88, 88), spread(1e-8, 80)]), np.sinh, 7),
    "cosh": (evenly(-88, 88), np.cosh, 7),
    "asinh": (spread(1e-15, 1e30), np.arcsinh, 4),
    "acosh": (np.concatenate([1 + np.abs(spread(1e-6, 1e3)), np.abs(spread(1.001, 1e30))]), np.arccosh, 5),
    "atanh": (np.concatenate([evenly(-1, 1), spread(1e-10, 0.999999)]), np.arctanh, 5),
    "cos": (np.concatenate([evenly(-10, 10), evenly(-3000, 3000), ZEROS_OF_COS]), np.cos, 3),
    "tan": (np.concatenate([evenly(-10, 10), evenly(-3000, 3000), ZEROS_OF_COS]), np.tan, 4),
    "atan": (spread(1e-10, 1e10), np.arctan, 4),
    "asin": (np.concatenate([evenly(-1, 1), spread(1e-10, 1), 1 - np.abs(spread(1e-9, 0.1))]), np.arcsin, 5),
    "acos": (np.concatenate([evenly(-1, 1), spread(1e-10, 1), 1 - np.abs(spread(1e-9, 0.1))]), np.arccos, 5),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("fn", PRECISION)
def test_functions_are_good_to_some_units_in_the_last_place(fn, dtype):
    x, function, units = PRECISION[fn]
    x = x.astype(dtype)
    (found,) = results_of(f"elementwise {fn}", {"x": x})
    with np.errstate(all="ignore"):
        exact = function(x.astype(WIDE))
    off = np.abs(found.astype(WIDE) - exact) / np.spacing(np.abs(exact.astype(dtype)))
    assert np.nanmax(off) < units, x[np.nanargmax(off)]


# Far from 0 the cosine loses digits relative to itself, not relative to 1.
def test_cosine_of_large_angles():
    x = spread(1e4, 1e30).astype(np.float32)
    np.testing.assert_allclose(results_of("elementwise cos", {"x": x})[0], np.cos(x.astype(WIDE)), atol=3e-7)


SPECIAL_POWERS = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 4.0, 2.5, math.inf, -math.inf, math.nan]


# Every pair of special numbers has the power that IEEE 754 gives it, in each type.
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_powers_of_what_is_special(dtype):
    x, y = (np.asarray(each, dtype) for each in zip(*itertools.product(SPECIAL_POWERS, repeat=2), strict=True))
    with np.errstate(all="ignore"):
        expected = np.power(x, y)
    (found,) = results_of("elementwise pow", {"x": x, "y": y})
    np.testing.assert_allclose(found, expected, rtol=1e-3 if dtype == np.float16 else 1e-6)
    is_number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[is_number]), np.signbit(expected[is_number]))


# Powers of integers are exact in floats wherever they have the digits for them.
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers_of_integers_in_floats_are_exact(dtype):
    x, y = np.meshgrid(np.arange(-12.0, 13), np.arange(0.0, 7))
    expected = (x**y).astype(dtype)
    (found,) = results_of("elementwise pow", {"x": x.astype(dtype), "y": y.astype(dtype)})
    np.testing.assert_array_equal(found, expected)
    y = y.astype(np.int64)
    np.testing.assert_array_equal(results_of("elementwise pow", {"x": x.astype(dtype), "y": y})[0], expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers_of_floats(dtype):
    x, y = np.abs(spread(1e-3, 1e3)).astype(dtype), evenly(-10, 10).astype(dtype)
    exact = np.power(x.astype(WIDE), y.astype(WIDE)).astype(dtype)
    assert_op_agrees("elementwise pow", {"x": x, "y": y}, exact, rtol=1.2e-7 if dtype == np.float32 else 1e-13)


@pytest.mark.parametrize("base", [np.int8, np.int32, np.int64, np.uint8, np.uint64])
@pytest.mark.parametrize("exponent", [np.int8, np.uint32, np.int64])
def test_powers_of_integers(base, exponent):
    x = np.array([0, 1, 2, 3, 5, 7, 100, 1, 0], base)
    y = np.array([0, 100, 6, 4, 3, 2, 1, 127, 64], exponent)
    assert_op_agrees("elementwise pow", {"x": x, "y": y})


def test_negative_exponents_of_integers_truncate():
    x, y = np.array([1, -1, -1, 2, -3, 0], np.int32), np.array([-3, -3, -2, -1, -2, -1], np.int32)
    assert results_of("elementwise pow", {"x": x, "y": y})[0].tolist() == [1, -1, 1, 0, 0, 0]


# The result has the type of the base; an integer base and a float exponent meet in f64.
def test_powers_of_mixed_types():
    x, y = np.array([3, 2, 10], np.int32), np.array([2.0, 0.5, 3.0], np.float32)
    assert results_of("elementwise pow", {"x": x, "y": y})[0].tolist() == [9, 1, 1000]


@pytest.mark.parametrize("exponent", [2.0, 3.0, 7.0, 0.0, 1.0, -1.0, -2.0, 0.5, -0.5, 2.5, 100.0])
def test_power_of_one_exponent(exponent):
    x = np.abs(spread(0.5, 1.5)).astype(np.float32)
    expected = np.power(x.astype(np.float64), exponent).astype(np.float32)
    assert_op_agrees("elementwise power", {"x": x}, expected, rtol=1e-6, exponent=exponent)


def test_power_of_integers_by_one_exponent():
    x = np.array([-2, 3, 4], np.int32)
    assert_op_agrees("elementwise power", {"x": x}, x**3, exponent=3.0)
    assert results_of("elementwise power", {"x": np.array([4, 9], np.int32)}, exponent=0.5)[0].tolist() == [2, 3]


# --- exp and sigmoid of every float -----------------------------------------------------------------------------------

#: Function → its meaning; they are good to two units in the last place at each argument, subnormal results among them.
OF_EVERY_FLOAT: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exp": np.exp,
    "sigmoid": lambda x: np.where(x < 0, np.exp(x), 1) / (1 + np.exp(-np.abs(x))),
}
#: Magnitudes where a formula, its result or its rounding may turn: powers of two, where the power of two of an
#: exponential does (each half of ln 2), where one is subnormal, 0 or infinite, and the greatest number.
TURNS = [0, 2**-126, *2.0 ** np.arange(-30, 8), *np.arange(1, 302) * math.log(2) / 2, 104, math.log(3), 3.4e38]


def floats_near(magnitudes: Sequence[float], count: int) -> np.ndarray:
    """The next `count` floats above and below each magnitude, with both signs."""
    bits = np.array(magnitudes, np.float32).view(np.int32)[:, None] + np.arange(-count, count)
    found = np.unique(np.maximum(bits, 0)).astype(np.int32).view(np.float32)
    return np.concatenate([found, -found])


def compiled_for(cpu: str, fn: str, count: int) -> Callable[[np.ndarray], np.ndarray]:
    """A function of `count` elements of f32, as code for a CPU."""
    module = module_of(f"elementwise {fn}", {"x": TensorType(ElementType.F32, (count,))})
    (lowering,) = lowerings_of(module, request_for("cpu")).values()
    made = cpu_artifact(lowering, None if cpu == HOST else cpu)
    executable = CpuExecutable(made.program, made.code, made.arrays, 1)
    return lambda x: next(iter(executable.run({"x": x}).values()))


def assert_good_to_two_units(found: np.ndarray, x: np.ndarray, function: Callable[[np.ndarray], np.ndarray]) -> None:
    """Compare results with those in a wider type: each is off by less than two units in its last place."""
    with np.errstate(all="ignore"):
        exact = function(x.astype(np.float64 if x.dtype == np.float32 else WIDE))
        nearest = exact.astype(x.dtype)
        off = np.abs(found - exact) / np.spacing(nearest)
    is_same = (found == nearest) | (np.isnan(found) & np.isnan(nearest))
    off = np.where(np.isfinite(nearest), off, np.where(is_same, 0, np.inf))
    worst = np.argmax(off)  # NaN is the greatest
    assert off[worst] < 2, (x[worst], found[worst], exact[worst], off[worst])


# Each level of x86-64 that this machine has gives the same bits.
@pytest.mark.parametrize("fn", OF_EVERY_FLOAT)
def test_of_floats_where_a_formula_turns_and_same_bits_at_every_level(fn):
    x = np.concatenate([floats_near(TURNS, 1000), [np.inf, -np.inf, np.nan]]).astype(np.float32)
    results = [compiled_for(cpu, fn, x.size)(x) for cpu in LEVELS if runs_here(cpu)]
    assert_good_to_two_units(results[0], x, OF_EVERY_FLOAT[fn])
    for each in results[1:]:
        np.testing.assert_array_equal(each.view(np.int32), results[0].view(np.int32))


@pytest.mark.long
@pytest.mark.parametrize("fn", OF_EVERY_FLOAT)
def test_of_every_float(fn):
    compute, count = compiled_for(HOST, fn, 2**22), 2**22
    for first in range(0, 2**32, count):
        x = np.arange(first, first + count, dtype=np.uint32).view(np.float32)
        assert_good_to_two_units(compute(x), x, OF_EVERY_FLOAT[fn])


# Doubles beside the ends of the range, where the power alone would be infinite or 0 too early.
@pytest.mark.parametrize("fn", OF_EVERY_FLOAT)
def test_of_doubles_at_the_ends_of_the_range(fn):
    ends = np.array([709.782712893384, 708.3964185322641, 745.1332191019411, 746.0])
    beside = (ends.view(np.int64)[:, None] + np.arange(-3, 4)).view(np.float64).ravel()
    x = np.concatenate([beside, -beside, [0, 1.7e308, -1.7e308, np.inf, -np.inf, np.nan]])
    (found,) = results_of(f"elementwise {fn}", {"x": x})
    assert_good_to_two_units(found, x, OF_EVERY_FLOAT[fn])
