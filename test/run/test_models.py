"""Whole ONNX models, small ones of each kind that the benches measure, compared with ONNX Runtime."""

import numpy as np
import onnxruntime
import pytest

import tinyc
from onnx_models import MODELS
from onnx_models.transformers import bert, gpt2_decoder

SMALL = {"layers": 1, "width": 24, "heads": 3, "words": 50}


def inputs_of(session, sizes, seed=0):
    """Return random inputs of a session: token ids, which any table has, and numbers."""
    random = np.random.default_rng(seed)
    found = {}
    for each in session.get_inputs():
        shape = [extent if isinstance(extent, int) else sizes[extent] for extent in each.shape]
        is_index = each.type == "tensor(int64)"
        found[each.name] = random.integers(0, 2, shape) if is_index else random.standard_normal(shape, np.float32)
    return found


def assert_same(model, session, inputs):
    found, expected = model.run_named(inputs), session.run(None, inputs)
    assert len(found) == len(expected)
    for one, other in zip(found.values(), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


def session_of(model):
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("name", MODELS)
def test_a_model_gives_the_numbers_of_onnxruntime(name):
    model = MODELS[name].build(**MODELS[name].small)
    session = session_of(model)
    assert_same(tinyc.compile(model), session, inputs_of(session, {}))


@pytest.mark.parametrize(
    ("model", "axis"),
    [(bert(rows="rows", **SMALL), "rows"), (gpt2_decoder(past="past", **SMALL), "past")],
    ids=["bert", "gpt2_decoder"],
)
def test_one_compilation_serves_every_size_of_a_dynamic_axis(model, axis):
    session, compiled = session_of(model), tinyc.compile(model)
    for size in (1, 7, 40):
        assert_same(compiled, session, inputs_of(session, {axis: size}, size))
