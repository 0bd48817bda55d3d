"""Contractions against numpy: f32 and 32-bit accumulation, broadcasting, equations."""

import ml_dtypes
import numpy as np
import pytest

import tinyc
from formulas.agreement import assert_op_agrees, results_of
from frontend_modules import module_of
from tinyc.expr import extents
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType


def random(*shape: int, dtype=np.float32) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("shapes", [((3, 1, 5, 7), (2, 7, 4)), ((7,), (2, 7, 3)), ((2, 5, 7), (7,)), ((7,), (7,))])
def test_matmul_broadcasts_as_numpy_does(shapes):
    a, b = (random(*shape) for shape in shapes)
    assert_op_agrees("matmul", {"a": a, "b": b}, np.asarray(a @ b), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("dtype", "rtol"),
    [(np.float16, 2**-10), (ml_dtypes.bfloat16, 2**-7), (np.float64, 1e-12), (np.int32, 0), (np.uint64, 0)],
)
@pytest.mark.parametrize("scales", [{}, {"alpha": 2.0, "beta": 3.0}, {"beta": 0.0}])
def test_gemm_is_rounded_once(dtype, rtol, scales):
    a, b, c = ((random(*shape) * 4).astype(dtype) for shape in ((7, 5), (3, 7), (3,)))
    wide = np.float64 if np.dtype(dtype).kind not in "iu" else dtype
    product = (a.T.astype(wide) @ b.T.astype(wide)) * wide(scales.get("alpha", 1))
    expected = (product + wide(scales.get("beta", 1)) * c.astype(wide)).astype(dtype)
    operands = {"a": a, "b": b, "c": c}
    assert_op_agrees("gemm", operands, expected, rtol=rtol, atol=rtol, trans_a=True, trans_b=True, **scales)


def test_small_integers_accumulate_in_32_bits():
    a = np.full((1, 300), 100, np.int8)
    (found,) = results_of("matmul", {"a": a, "b": a.T.copy()})
    assert found.dtype == np.int8
    assert found.item() == np.int32(300 * 10000).astype(np.int8)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij->ji", [(3, 4)]),
        ("ij", [(3, 4)]),
        ("ji", [(3, 4)]),
        ("ii", [(4, 4)]),
        ("...ii->...i", [(2, 3, 3)]),
        ("iij->j", [(3, 3, 2)]),
        ("->", [()]),
        ("i,i", [(5,), (5,)]),
        ("i,j->ij", [(5,), (3,)]),
        ("bij, bjk -> bik", [(2, 3, 4), (2, 4, 5)]),
        ("...ij,jk->...ik", [(2, 3, 4), (4, 5)]),
        ("ij...,j->i...", [(2, 3, 4, 5), (3,)]),
        ("...,...->...", [(3, 1), (2, 1, 4)]),
        ("abc,cde->a", [(2, 3, 4), (4, 5, 6)]),
        ("ab,cd->", [(2, 3), (4, 5)]),
        ("ab,b->ba", [(2, 3), (3,)]),
        ("ii,i->i", [(3, 3), (3,)]),
        ("bhmd,bhnd->bhmn", [(1, 2, 3, 4), (1, 2, 5, 4)]),
    ],
)
def test_einsum_is_that_of_numpy(equation, shapes):
    operands = dict(zip("xy", (random(*shape) for shape in shapes), strict=False))
    expected = np.asarray(np.einsum(equation, *operands.values()))
    assert_op_agrees("einsum", operands, expected, rtol=1e-4, atol=1e-5, equation=equation)


def test_the_extents_of_an_einsum_may_be_symbols():
    b, m = (extents.symbol(name) for name in "BM")
    types = {"x": TensorType(ElementType.F32, (b, m, m, 4)), "y": TensorType(ElementType.F32, (b, 4, 5))}
    model = tinyc.compile(module_of("einsum", types, equation="biij,bjk->bik"), "cpu")
    for size in (1, 3):
        x, y = random(2, size, size, 4), random(2, 4, 5)
        (found,) = model.run_named({"x": x, "y": y}).values()
        np.testing.assert_allclose(found, np.einsum("biij,bjk->bik", x, y), rtol=1e-4, atol=1e-5)
