"""Quantisation: rounding half to even, saturation, and scales for a tensor, an axis or a block."""

import numpy as np
import pytest

from formulas.agreement import assert_op_agrees
from frontend_modules import module_of
from tinyc.diagnostics import TinycError
from tinyc.expr.extents import symbol
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

INTEGERS = [ElementType.I8, ElementType.UI8, ElementType.I16, ElementType.UI16]
F32 = ElementType.F32


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def test_halves_go_to_the_even_neighbour_and_what_is_too_large_saturates():
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 126.5, 127.5, 1e9, -1e9, np.inf, -np.inf], np.float32)
    expected = np.array([0, 2, 2, 0, -2, 126, 127, 127, -128, 127, -128], np.int8)
    held = {"x": x, "scale": np.array(1, np.float32)}
    assert_op_agrees("quantize", held, expected, element=ElementType.I8, precision=F32)


def test_numbers_beside_a_half_are_not_taken_for_one():
    x = np.array([0.49999997, 0.50000006, -0.49999997, -0.50000006, 8388607.0, 4194303.5], np.float32)
    expected = np.rint(x.astype(np.float64)).clip(0, 65535).astype(np.uint16)
    held = {"x": x, "scale": np.array(1, np.float32)}
    assert_op_agrees("quantize", held, expected, element=ElementType.UI16, precision=F32)


@pytest.mark.parametrize("element", INTEGERS)
def test_a_zero_point_is_where_0_goes(element):
    least, greatest = element.integer_range
    x, scale = (drawn(7, 5) * (greatest - least) * 0.02).astype(np.float32), np.array(0.05, np.float32)
    zero_point = np.array((least + greatest) // 2 + 1, element.dtype)
    expected = (np.rint(x / scale) + int(zero_point)).clip(least, greatest).astype(element.dtype)
    held = {"x": x, "scale": scale, "zero_point": zero_point}
    assert_op_agrees("quantize", held, expected, element=element, precision=F32)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_a_scale_for_each_index_along_an_axis(axis):
    x = (drawn(3, 5, 7) * 100).astype(np.float32)
    shape = [-1 if each == axis % 3 else 1 for each in range(3)]
    scale = np.linspace(0.5, 2, x.shape[axis]).astype(np.float32)
    zero_point = np.arange(x.shape[axis]).astype(np.int8)
    expected = (np.rint(x / scale.reshape(shape)) + zero_point.reshape(shape)).clip(-128, 127).astype(np.int8)
    held = {"x": x, "scale": scale, "zero_point": zero_point}
    assert_op_agrees("quantize", held, expected, element=ElementType.I8, precision=F32, axis=axis)
    back = ((expected.astype(np.int32) - zero_point.reshape(shape)) * scale.reshape(shape)).astype(np.float32)
    assert_op_agrees("dequantize", {**held, "x": expected}, back, element=F32, axis=axis)


@pytest.mark.parametrize(("axis", "blocks", "block_size"), [(0, 2, 2), (1, 3, 2), (2, 1, 7)])
def test_a_scale_for_each_block_the_last_of_which_may_be_short(axis, blocks, block_size):
    x = (drawn(3, 5, 7) * 100).astype(np.float32)
    shape = tuple(blocks if each == axis else extent for each, extent in enumerate(x.shape))
    scale, zero_point = (np.abs(drawn(*shape)) + 0.5).astype(np.float32), np.full(shape, 3, np.uint8)
    each = np.repeat(scale, block_size, axis).take(range(x.shape[axis]), axis)
    expected = (np.rint(x / each) + 3).clip(0, 255).astype(np.uint8)
    held = {"x": x, "scale": scale, "zero_point": zero_point}
    facts = {"axis": axis, "block_size": block_size}
    assert_op_agrees("quantize", held, expected, element=ElementType.UI8, precision=F32, **facts)
    back = ((expected.astype(np.int32) - 3) * each).astype(np.float32)
    assert_op_agrees("dequantize", {**held, "x": expected}, back, element=F32, **facts)


@pytest.mark.parametrize("element", [*INTEGERS, ElementType.I32])
@pytest.mark.parametrize("to", [ElementType.F16, ElementType.BF16, F32])
def test_every_integer_comes_back_as_every_float(element, to):
    x = np.arange(-5, 8).astype(element.dtype)
    scale = np.array(0.5, to.dtype)
    assert_op_agrees("dequantize", {"x": x, "scale": scale}, rtol=1e-2, element=to)


@pytest.mark.parametrize("precision", [ElementType.F16, ElementType.BF16, F32])
def test_the_division_is_rounded_to_the_precision_that_is_asked_for(precision):
    x = (drawn(40) * 300).astype(np.float32)
    scale = np.array(0.37, np.float32)
    quotient = (x.astype(precision.dtype).astype(np.float64) / np.float64(scale.astype(precision.dtype))).astype(
        precision.dtype
    )
    expected = np.rint(quotient.astype(np.float64)).astype(np.int16)
    assert_op_agrees("quantize", {"x": x, "scale": scale}, expected, element=ElementType.I16, precision=precision)


def test_integers_are_divided_as_exactly_as_f64_can():
    x = np.array([2**24 + 1, -(2**31), 7, -7], np.int32)
    held = {"x": x, "scale": np.array(2**10, np.int32)}
    expected = np.rint(x / 2**10).clip(-(2**15), 2**15 - 1).astype(np.int16)
    assert_op_agrees("quantize", held, expected, element=ElementType.I16, precision=ElementType.I32)


def test_sums_of_products_become_quantised_numbers():
    x = np.random.default_rng(0).integers(-5000, 5000, (3, 4)).astype(np.int32)
    multiplier = np.linspace(0.01, 0.04, 4).astype(np.float32)
    expected = (np.rint(x * multiplier) + 3).clip(-128, 127).astype(np.int8)
    held = {"x": x, "multiplier": multiplier, "zero_point": np.array(3, np.int8)}
    assert_op_agrees("requantize", held, expected, element=ElementType.I8)


@pytest.mark.parametrize("x", [[0, 2, -3, -2.5, 1.34, 0.5], [-1, -2.1, -1.3], [1, 2.1, 1.3], [0, 0]])
def test_dynamic_quantisation_has_0_in_its_range(x):
    x = np.array(x, np.float32)
    low, high = min(x.min(), 0), max(x.max(), 0)
    scale = np.float32((high - low) / 255 if high > low else 1 / 255)
    zero_point = np.rint(np.clip(-low / scale, 0, 255)).astype(np.uint8)
    y = (np.rint(x / scale) + zero_point).clip(0, 255).astype(np.uint8)
    assert_op_agrees("dynamic_quantize", {"x": x}, [y, np.array(scale), np.array(zero_point)])


def test_a_scale_that_is_none_of_these_is_refused():
    types = {"x": TensorType(F32, (4, 6)), "scale": TensorType(F32, (2, 6))}
    with pytest.raises(TinycError, match="is not a scale of"):
        module_of("quantize", types, element=ElementType.I8, precision=F32)


def test_extents_may_be_symbols():
    types = {"x": TensorType(F32, (symbol("N"), 6)), "scale": TensorType(F32, (symbol("N"),))}
    assert "tiny.assume" not in str(module_of("quantize", types, element=ElementType.I8, precision=F32, axis=0))
