"""The self-test in the file of a model: what is written is read, and what no tinyc wrote is refused."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import tinyc
from tinyc import TinycError
from tinyc.importers.files import replace_file
from tinyc.runtime.artifact import read_artifact
from tinyc.runtime.container import container_chunks, read_container

UNARY = {
    "uops": [
        {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "X", "dtype": "bf16", "shape": ["M", 2]}},
        {"id": "y", "uop": "NEG", "src": ["x"]},
        {"id": "p", "uop": "CMP_LT", "src": ["x", 0]},
    ]
}


@pytest.fixture
def file(tmp_path) -> Path:
    model = tinyc.compile(UNARY)
    model.add_self_test(sizes={"M": 3})
    model.save(tmp_path / "m.tinyc")
    return tmp_path / "m.tinyc"


def test_what_is_written_is_read(file):
    test = read_artifact(file).self_test
    assert test is not None
    x, p = test.inputs["X"], test.outputs["p"]
    assert (x.dtype, x.shape, p.dtype, p.shape) == (ml_dtypes.bfloat16, (3, 2), np.bool_, (3, 2))
    np.testing.assert_array_equal(p, x < 0)
    assert all(allowed.exact for allowed in test.tolerances.values())
    assert not any(array.flags.writeable for array in test.arrays)
    described = read_container(file)[0]["self_test"]
    assert described["inputs"] == [{"name": "X", "element": "bf16", "shape": [3, 2]}]
    assert described["outputs"][-1] == {"name": "p", "element": "i1", "shape": [3, 2], "rtol": 0.0, "atol": 0.0}


def test_a_file_without_one_is_as_it_was(file):
    rewrite(file, lambda test, sections: test.clear(), keep=False)
    model = tinyc.load(file)
    assert model.artifact().self_test is None
    assert model(np.zeros((1, 2), ml_dtypes.bfloat16))[0].shape == (1, 2)


def rewrite(file, change, keep=True):
    """Write the file again, its self-test changed."""
    manifest, sections = read_container(file)
    held = {name: bytes(data) for name, data in sections.items()}
    change(manifest["self_test"], held)
    if not keep:
        del manifest["self_test"]
        held = {name: data for name, data in held.items() if not name.startswith("test.")}
    replace_file(file, container_chunks(manifest, {name: memoryview(data) for name, data in held.items()}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda test, _: test.pop("inputs"), "'inputs'"),
        (lambda _, sections: sections.pop("test.input.X"), "'test.input.X'"),
        (
            lambda _, sections: sections.update({"test.input.X": bytes(10)}),
            "array 'X' is bf16 [3, 2], and its section has 10",
        ),
        (lambda test, _: test["inputs"].clear(), "its self-test has the inputs , and the program X"),
        (
            lambda test, _: test["inputs"][0].update(element="f16"),
            "its self-test has f16 [3, 2] for input 'X' (bf16 [M, 2])",
        ),
        (lambda test, _: test["inputs"][0].update(shape=[6]), "its self-test has bf16 [6] for input 'X'"),
        (lambda test, _: test["inputs"][0].update(shape=[-3, -2]), "negative dimensions"),
        (lambda test, _: test["outputs"].pop(), "its self-test has the outputs y, and the program y, p"),
        (lambda test, _: test["outputs"][0].update(rtol=-1), "the tolerance of output 'y' is rtol -1, atol 0.0"),
        (
            lambda test, _: test["outputs"][0].update(atol=float("nan")),
            "the tolerance of output 'y' is rtol 0.0, atol nan",
        ),
        (lambda test, _: test["outputs"][0].update(atol="much"), "the tolerance of output 'y' is"),
        (lambda test, _: test["outputs"][0].pop("atol"), "'atol'"),
    ],
)
def test_one_that_was_written_otherwise_is_refused(file, change, message):
    rewrite(file, change)
    with pytest.raises(TinycError) as caught:
        tinyc.load(file)
    assert (caught.value.name, caught.value.where.file) == ("InvalidModel", str(file))
    assert message in caught.value.message
    assert caught.value.message.endswith(": compile and save it again")


def test_one_that_is_no_object_is_refused(file):
    manifest, sections = read_container(file)
    for wrong in (5, [], "x", {"inputs": 3, "outputs": []}):
        chunks = container_chunks(
            {**manifest, "self_test": wrong}, {name: memoryview(bytes(d)) for name, d in sections.items()}
        )
        replace_file(file, chunks)
        with pytest.raises(TinycError, match="the model is not what this tinyc writes"):
            tinyc.load(file)


def test_a_damaged_byte_of_it_is_found(file):
    whole = bytearray(file.read_bytes())
    whole[-1] ^= 1
    file.write_bytes(whole)
    with pytest.raises(TinycError, match="the model is damaged"):
        tinyc.load(file)


def test_sizes_that_contradict_its_program_are_told_when_it_runs(file):
    rewrite(file, lambda test, sections: test["inputs"][0].update(shape=[2, 3]))
    with pytest.raises(TinycError) as caught:
        tinyc.load(file).self_test()
    assert caught.value.name == "InputMismatch"
