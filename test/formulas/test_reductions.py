"""Reductions, and what is made of them along an axis."""

import numpy as np
import pytest

from formulas.agreement import assert_op_agrees


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_softmax_is_that_of_numpy(axis, dtype):
    x = (np.random.default_rng(0).standard_normal((3, 7, 5)) * 30).astype(dtype)
    wide = x.astype(np.float64)
    terms = np.exp(wide - wide.max(axis, keepdims=True))
    expected = (terms / terms.sum(axis, keepdims=True)).astype(dtype)
    assert_op_agrees("softmax", {"x": x}, expected, rtol=2e-3 if dtype == np.float16 else 1e-5, axis=axis)
