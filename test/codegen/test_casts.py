"""Casts in code: what is exact is not rounded."""

import numpy as np
import pytest

import tinyc


@pytest.mark.parametrize(("integer", "narrow", "roundings"), [("i8", "fp16", 0), ("u8", "bf16", 0), ("i16", "fp16", 1)])
def test_an_integer_that_a_float_holds_is_not_rounded(integer, narrow, roundings):
    nodes = [
        {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "X", "dtype": integer, "shape": [256]}},
        {"id": "h", "uop": "CAST", "src": ["x"], "arg": {"to": narrow}},
        {"id": "y", "uop": "CAST", "src": ["h"], "arg": {"to": "fp32"}},
    ]
    model = tinyc.compile({"uops": nodes, "outputs": ["y"]})
    assert model.text("loops").count("arith.truncf") == roundings
    values = np.arange(256, dtype=np.uint8).view(np.int8) if integer == "i8" else np.arange(256)
    x = values.astype({"i8": np.int8, "u8": np.uint8, "i16": np.int16}[integer])
    np.testing.assert_array_equal(model(x), x.astype(np.float32))
