"""The models of `examples/models`: written by their programs, then compiled for GPUs and simulated at small sizes."""

import runpy

import numpy as np
import pytest

import tinyc
from node_tests import ARCHITECTURES
from programs.example_bindings import EXAMPLES

MODELS = EXAMPLES / "models"
DEPTH = (1, 4, 3, 16)
#: The inputs at a small size, by the names of the model's.
INPUTS = {
    "mlp": {"x": (3, 64)},
    "cnn": {"image": (1, 3, 28, 28)},
    "bert_block": {"x": (1, 3, 64)},
    "gpt_block": {"x": (1, 1, 64), "past_key": DEPTH, "past_value": DEPTH},
}


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """Run the program of each model, once, and return the folder that they write to."""
    folder = tmp_path_factory.mktemp("models")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in INPUTS:
            runpy.run_path(str(MODELS / f"{name}.py"), run_name="__main__")
    return folder


def test_every_example_is_run_here():
    assert {path.stem for path in MODELS.glob("*.py")} == set(INPUTS)


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", INPUTS)
def test_a_model_gives_on_sim_what_it_gives_on_the_cpu(name, arch, written):
    random = np.random.default_rng(0)
    inputs = {each: random.standard_normal(shape, np.float32) for each, shape in INPUTS[name].items()}
    found = tinyc.compile(written / f"{name}.onnx", target="sim", arch=arch).run_named(inputs)
    expected = tinyc.compile(written / f"{name}.onnx").run_named(inputs)
    assert list(found) == list(expected)
    for each, array in found.items():
        np.testing.assert_allclose(array, expected[each], rtol=1e-4, atol=1e-5)
