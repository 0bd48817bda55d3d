"""Element-wise functions: arithmetic, comparisons, rounding, casts, and their values on what is special."""

import math

import ml_dtypes
import numpy as np
import pytest

import tinyc
from formulas.agreement import assert_op_agrees, results_of
from frontend_modules import module_of
from tinyc import TinycError
from tinyc.expr import extents
from tinyc.formulas.registry import SCHEMAS
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

INTEGERS = [np.int8, np.int32, np.int64, np.uint8, np.uint16, np.uint64]
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
ROUNDING = {np.float16: 1e-3, ml_dtypes.bfloat16: 8e-3, np.float32: 1e-6, np.float64: 1e-14}
INF, NAN = math.inf, math.nan
#: A number of each kind; where a function is not defined, numpy too gives NaN.
SPECIAL = [0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -3.5, 40.0, -40.0, 1e-6, -1e-6, INF, -INF, NAN]


def numbers(dtype, shape=(3, 7), scale=3.0):
    return (np.random.default_rng(0).standard_normal(shape) * scale).astype(dtype)


def integers(dtype, shape=(3, 7)):
    info = np.iinfo(dtype)
    drawn = np.random.default_rng(1).integers(info.min, info.max, shape, dtype, endpoint=True)
    drawn.flat[:3] = info.min, info.max, 0
    return drawn


UNARY_OF_FLOATS = sorted(
    choice
    for choice, schema in SCHEMAS["elementwise"].items()
    if schema.operands == ("x",)
    and choice != "not"
    and not any(each.is_required for each in schema.attributes.values())
)


# Every function of one operand agrees with numpy on infinities, NaN and zeros; some in each type of floats.
@pytest.mark.parametrize("fn", UNARY_OF_FLOATS)
def test_functions_of_floats(fn):
    for dtype in FLOATS if fn in ("exp", "round", "sinh", "acosh", "atan", "cos", "gelu") else [np.float32]:
        with np.errstate(all="ignore"):
            x = np.concatenate([np.asarray(SPECIAL).astype(dtype), numbers(dtype).ravel()])
            assert_op_agrees(f"elementwise {fn}", {"x": x}, rtol=ROUNDING[dtype], atol=ROUNDING[dtype] / 10)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_sign_and_magnitude_of_integers(dtype):
    x = integers(dtype)
    assert_op_agrees("elementwise abs", {"x": x}, np.abs(x))
    assert_op_agrees("elementwise sign", {"x": x}, np.sign(x))


# The least integer has no positive counterpart: it stays what it is.
def test_abs_of_the_least_integer():
    assert results_of("elementwise abs", {"x": np.array([-128, -127], np.int8)})[0].tolist() == [-128, 127]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("fn", ["max", "min", "add", "mul", "cmp_le", "modulo", "fmod", "idiv"])
def test_pairs_of_integers(fn, dtype):
    x, y = integers(dtype), np.random.default_rng(2).permutation(integers(dtype).ravel()).reshape(3, 7)
    with np.errstate(all="ignore"):
        expected = {
            "max": np.maximum, "min": np.minimum, "add": np.add, "mul": np.multiply, "cmp_le": np.less_equal
        }.get(fn)  # fmt: skip
        assert_op_agrees(f"elementwise {fn}", {"x": x, "y": y}, None if expected is None else expected(x, y))


def test_division_truncates_and_modulo_floors():
    x, y = np.array([7, -7, 7, -7, 6, -6], np.int32), np.array([3, 3, -3, -3, 3, -3], np.int32)
    assert results_of("elementwise idiv", {"x": x, "y": y})[0].tolist() == [2, -2, -2, 2, 2, 2]
    assert results_of("elementwise fmod", {"x": x, "y": y})[0].tolist() == [1, -1, 1, -1, 0, 0]
    assert results_of("elementwise modulo", {"x": x, "y": y})[0].tolist() == [1, 2, -2, -1, 0, 0]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("fn", ["modulo", "fmod"])
def test_remainders_of_floats(fn, dtype):
    x = np.array([5.5, -5.5, 5.5, -5.5, 0.0, 3.0, -3.0, 3.0, INF, 1.0, NAN, 1.0, 300.0]).astype(dtype)
    y = np.array([2.0, 2.0, -2.0, -2.0, -2.0, INF, INF, -INF, 2.0, 0.0, 2.0, NAN, 0.375]).astype(dtype)
    with np.errstate(all="ignore"):
        wide = (np.mod if fn == "modulo" else np.fmod)(x.astype(np.float64), y.astype(np.float64))
        assert_op_agrees(f"elementwise {fn}", {"x": x, "y": y}, wide.astype(dtype))


# A quotient that is rounded up to the next integer leaves no negative remainder.
def test_a_remainder_is_never_negative():
    x, y = np.array([0.3, 1.0, 5.3, 8.7e6], np.float32), np.array([0.1, 0.1, 0.1, 0.1], np.float32)
    assert_op_agrees("elementwise fmod", {"x": x, "y": y}, np.fmod(x, y), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("fn", ["shift_left", "shift_right"])
def test_shifts(fn, dtype):
    x, bits = integers(dtype), np.iinfo(dtype).bits
    y = (np.arange(x.size).reshape(x.shape) * (bits + 1) // x.size).astype(dtype)
    y.flat[-1] = 127
    assert_op_agrees(f"elementwise {fn}", {"x": x, "y": y})


def test_shifts_of_signed_integers_keep_the_sign():
    x, y = np.array([-8, -1, 4, -8, 4], np.int8), np.array([1, 9, 9, -1, -1], np.int8)
    assert results_of("elementwise shift_right", {"x": x, "y": y})[0].tolist() == [-4, -1, 0, -1, 0]
    assert results_of("elementwise shift_left", {"x": x, "y": y})[0].tolist() == [-16, 0, 0, 0, 0]


# Half an integer goes to the even one, and what is just below half does not go up.
@pytest.mark.parametrize("dtype", FLOATS)
def test_round_to_even(dtype):
    with np.errstate(over="ignore"):
        x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, -1e-30, 1e6, 8388609.0]).astype(dtype)
    assert_op_agrees("elementwise round", {"x": x}, np.rint(x.astype(np.float64)).astype(dtype), rtol=0, atol=0)


def test_infinities_of_one_sign():
    x = np.array([INF, -INF, NAN, 1.0], np.float16)
    found = [
        results_of("elementwise is_inf", {"x": x}, detect_negative=negative, detect_positive=positive)[0].tolist()
        for negative, positive in ((True, True), (True, False), (False, True), (False, False))
    ]
    assert found == [[True, True, False, False], [False, True, False, False], [True, False, False, False], [False] * 4]


def test_comparisons_with_nan_are_false():
    x, y = np.array([NAN, 1.0, 1.0, INF], np.float32), np.array([NAN, NAN, 1.0, INF], np.float32)
    assert results_of("elementwise cmp_le", {"x": x, "y": y})[0].tolist() == [False, False, True, True]
    assert results_of("elementwise is_nan", {"x": x})[0].tolist() == [True, False, False, False]


def test_operands_broadcast_and_where_chooses():
    condition, x, y = np.array([[True], [False]]), numbers(np.float16, (3,)), numbers(np.float16, (2, 1))
    assert_op_agrees("where", {"condition": condition, "x": x, "y": y}, np.where(condition, x, y))
    assert_op_agrees("elementwise swiglu", {"x": x, "y": y}, rtol=1e-3, alpha=1.5)


# One program for all extents: compiled once, run at two sizes.
@pytest.mark.parametrize("fn", ["acosh", "modulo", "round", "cos", "swiglu", "shift_left"])
def test_symbolic_extents(fn):
    dtype, element = (np.int32, ElementType.I32) if fn.startswith("shift") else (np.float32, ElementType.F32)
    names = SCHEMAS["elementwise"][fn].operands
    kind = TensorType(element, (extents.symbol("N"), 3))
    compiled = tinyc.compile(module_of(f"elementwise {fn}", dict.fromkeys(names, kind)), "cpu")
    for size in (1, 5):
        operands = {
            name: (np.arange(size * 3).reshape(size, 3) + at + 1).astype(dtype) for at, name in enumerate(names)
        }
        (found,) = compiled.run_named(operands).values()
        (expected,) = results_of(f"elementwise {fn}", operands, "frontend")
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("fn", ["exp", "round", "acos", "hard_sigmoid"])
def test_functions_of_floats_refuse_integers(fn):
    with pytest.raises(TinycError, match="it takes floats, and its operand is i32; cast it"):
        results_of(f"elementwise {fn}", {"x": np.arange(3, dtype=np.int32)})


# --- casts ------------------------------------------------------------------------------------------------------------


# Floats to integers truncate and saturate, NaN gives 0; integers wrap; to bool is "not 0".
def test_casts():
    x = np.array([1.9, -1.9, 300.0, -INF, NAN, 0.0], np.float32)
    assert results_of("cast", {"x": x}, element=ElementType.UI8)[0].tolist() == [1, 0, 255, 0, 0, 0]
    assert results_of("cast", {"x": x}, element=ElementType.I8)[0].tolist() == [1, -1, 127, -128, 0, 0]
    assert results_of("cast", {"x": x}, element=ElementType.BOOL)[0].tolist() == [True] * 5 + [False]
    wide = np.array([300, -1, 2**40 + 7], np.int64)
    assert results_of("cast", {"x": wide}, element=ElementType.UI8)[0].tolist() == [44, 255, 7]


def test_bits_of_another_size():
    with pytest.raises(TinycError, match="bitcast of fp32 to i16: both must have as many bits"):
        results_of("bitcast", {"x": np.zeros(2, np.float32)}, element=ElementType.I16)


NUMBERS = [each for each in ElementType if not each.is_bool]


@pytest.mark.parametrize(
    ("source", "target"), [(one, other) for one in NUMBERS for other in NUMBERS if one.bits == other.bits]
)
def test_bits_of_a_number(source, target):
    bits = np.random.default_rng(5).integers(0, 2**source.bits, 40, np.uint64).astype(f"u{source.bits // 8}")
    x = bits.view(source.dtype)
    if source.is_float:
        tiny = float(ml_dtypes.finfo(source.dtype).smallest_subnormal)
        more = [0.0, -0.0, INF, -INF, 1.0, -1.5, tiny, -tiny, float(ml_dtypes.finfo(source.dtype).tiny)]
        x = np.concatenate([x, np.asarray(more).astype(source.dtype)])
    for float_type in (each for each in (source, target) if each.is_float):  # the payload of a NaN is not kept
        x = x[~np.isnan(x.view(float_type.dtype).astype(np.float64))]
    (found,) = results_of("bitcast", {"x": x}, element=target)
    bits_of_both = (each.view(f"u{target.bits // 8}") for each in (found, x.view(target.dtype)))
    np.testing.assert_array_equal(*bits_of_both)
