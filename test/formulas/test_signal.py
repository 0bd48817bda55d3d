"""Windows and spectra, against numpy's."""

import numpy as np
import pytest

import tinyc
from formulas.agreement import assert_op_agrees, results_of
from frontend_modules import module_of
from parameters import pairwise
from tinyc.diagnostics import TinycError
from tinyc.expr.extents import symbol
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

WINDOWS = {np.hanning: (0.5, 0.5), np.blackman: (0.42, 0.5, 0.08), np.hamming: (0.54, 0.46)}


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("size", [2, 7, 10])
def test_windows_are_those_of_numpy(window, size):
    facts = {"shape": (size,), "element": ElementType.F32, "coefficients": WINDOWS[window]}
    assert_op_agrees("cosine_window", {}, window(size).astype(np.float32), periodic=False, **facts)
    assert_op_agrees("cosine_window", {}, window(size + 1)[:-1].astype(np.float32), periodic=True, **facts)


def test_a_window_has_one_axis():
    with pytest.raises(TinycError, match="a window has one axis and some coefficients"):
        module_of("cosine_window", {}, shape=(2, 3), element=ElementType.F32, coefficients=(1.0,))


def test_filters_rise_and_fall_between_their_edges():
    edges = np.array([0, 2, 2, 5], np.int64)
    columns = [0, 0.5, 1, 0, 0, 0], [0, 0, 1, 2 / 3, 1 / 3, 0]
    expected = np.array(columns).T.astype(np.float32)
    assert_op_agrees("triangular_filters", {"edges": edges}, expected, bins=6, element=ElementType.F32)


def test_filters_want_three_edges():
    types = {"edges": TensorType(ElementType.I64, (2,))}
    with pytest.raises(TinycError, match="edges are a vector of three integers at least"):
        module_of("triangular_filters", types, bins=6, element=ElementType.F32)


@pairwise(parts=[1, 2], length=[None, 4, 9], inverse=[False, True], onesided=[False, True])
def test_transforms_are_those_of_numpy(parts, length, inverse, onesided):
    x = drawn(2, 7, 3, parts)
    facts = {"axis": 1, "length": length, "inverse": inverse, "onesided": onesided}
    facts = {name: each for name, each in facts.items() if each is not None}
    assert_op_agrees("dft", {"x": x}, rtol=1e-4, atol=1e-5, **facts)


def test_a_transform_and_its_inverse_give_the_signal():
    x = drawn(3, 60, 2)
    (there,) = results_of("dft", {"x": x}, axis=1)
    (back,) = results_of("dft", {"x": there}, axis=1, inverse=True)
    np.testing.assert_allclose(back, x, atol=1e-5)


def test_the_other_axes_of_a_transform_may_be_symbols():
    types = {"x": TensorType(ElementType.F32, (symbol("B"), 6, 1))}
    model = tinyc.compile(module_of("dft", types, axis=1), "cpu")
    for batch in (1, 3):
        x = drawn(batch, 6, 1)
        found = model.run_named({"x": x}).values()
        np.testing.assert_allclose(*found, *results_of("dft", {"x": x}, "frontend", axis=1), atol=1e-5)


def test_the_transformed_axis_is_none_of_parts_and_a_number():
    with pytest.raises(TinycError, match="for the real and the imaginary part"):
        module_of("dft", {"x": TensorType(ElementType.F32, (6, 3))}, axis=0)
    with pytest.raises(TinycError, match="must be a number: bind it, or give a length"):
        module_of("dft", {"x": TensorType(ElementType.F32, (symbol("N"), 1))}, axis=0)


@pytest.mark.parametrize("onesided", [False, True])
@pytest.mark.parametrize("parts", [1, 2])
def test_frames_are_transformed_through_a_window(onesided, parts):
    held = {"x": drawn(2, 20, parts), "window": np.hanning(8).astype(np.float32)}
    facts = {"frame_step": 3, "frame_length": 8, "onesided": onesided}
    assert_op_agrees("stft", held, rtol=1e-4, atol=1e-5, **facts)
    assert_op_agrees("stft", {"x": held["x"]}, rtol=1e-4, atol=1e-5, **facts)
