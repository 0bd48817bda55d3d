"""The models of `examples/models`: written by their programs, then compiled for GPUs and simulated at small sizes."""

import functools
import runpy

import numpy as np
import pytest

import tinyc
from node_tests import ARCHITECTURES
from programs.example_bindings import EXAMPLES

MODELS = EXAMPLES / "models"
PAST = (1, 4, 3, 16)
#: The inputs at a small size, by the names of the model's.
INPUTS = {
    "mlp": {"x": (3, 64)},
    "cnn": {"image": (1, 3, 28, 28)},
    "bert_block": {"x": (1, 3, 64)},
    "gpt_block": {"x": (1, 1, 64), "past_key": PAST, "past_value": PAST},
}
#: Each is compiled for both architectures, and simulated for one.
SIMULATED_FOR = {"mlp": "sm_80", "cnn": "sm_90a", "bert_block": "sm_90a", "gpt_block": "sm_80"}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Run the program of each model, once, and return the folder that they write to."""
    folder = tmp_path_factory.mktemp("models")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in INPUTS:
            runpy.run_path(str(MODELS / f"{name}.py"), run_name="__main__")
    return folder


@pytest.fixture(scope="module")
def compiled(written):
    """Return a function that compiles a model for the simulator, for an architecture once."""
    return functools.cache(lambda name, arch: tinyc.compile(written / f"{name}.onnx", target="sim", arch=arch))


def test_every_example_is_run_here():
    assert {path.stem for path in MODELS.glob("*.py")} == set(INPUTS)


@pytest.mark.parametrize("name", INPUTS)
def test_a_model_compiles_for_every_architecture(name, compiled):
    for arch in ARCHITECTURES:
        ptx = compiled(name, arch).text("ptx")
        assert f".target {arch}" in ptx
        assert ".entry" in ptx


@pytest.mark.parametrize("name", INPUTS)
def test_a_model_gives_on_sim_what_it_gives_on_the_cpu(name, written, compiled):
    random = np.random.default_rng(0)
    inputs = {each: random.standard_normal(shape, np.float32) for each, shape in INPUTS[name].items()}
    model = compiled(name, SIMULATED_FOR[name])
    found, expected = model.run_named(inputs), tinyc.compile(written / f"{name}.onnx").run_named(inputs)
    assert list(found) == list(expected)
    for each, array in found.items():
        np.testing.assert_allclose(array, expected[each], rtol=1e-4, atol=1e-5)
