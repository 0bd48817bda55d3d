"""Tensors in files beside the model are mapped; what lies outside of its folder is not read."""

import os
from io import BytesIO, TextIOWrapper

import numpy as np
import onnx
import pytest

import tinyc
from importers.onnx.models import model_of, numbers
from tinyc import TinycError
from tinyc.driver.cli import main
from tinyc.importers.onnx.model_file import tensor_array


def with_tensor(location, **entries):
    """A model whose initialiser lies in a file."""
    model = model_of("y = Add(x, w)", more="<float[3] w = {1, 2, 3}>")
    tensor = model.graph.initializer[0]
    del tensor.float_data[:]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=str(value))
    return model


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "model"
    inside.mkdir()
    values = np.arange(8, dtype=np.float32)
    for place in (inside, tmp_path):
        (place / "w.bin").write_bytes(values.tobytes())
    return inside


def saved(folder, location, **entries):
    path = folder / "m.onnx"
    onnx.save(with_tensor(location, **entries), path)
    return path


def refusal(path):
    with pytest.raises(TinycError) as caught:
        tinyc.compile(path)
    return caught.value.name, caught.value.message


@pytest.mark.parametrize(("offset", "expected"), [(0, [0, 1, 2]), (8, [2, 3, 4])])
def test_a_tensor_in_a_file_is_read_where_it_lies(folder, offset, expected):
    x = numbers(2, 3)
    found = tinyc.compile(saved(folder, "w.bin", offset=offset, length=12)).run_named({"x": x})["y"]
    np.testing.assert_allclose(found, x + np.float32(expected))


def test_a_tensor_in_a_file_is_mapped(folder):
    array = tensor_array(with_tensor("w.bin").graph.initializer[0], folder)
    assert isinstance(array, np.memmap)
    assert not array.flags.writeable


def test_a_tensor_at_an_odd_offset_is_read(folder):
    (folder / "odd.bin").write_bytes(b"x" + np.float32([7, 8, 9]).tobytes())
    found = tinyc.compile(saved(folder, "odd.bin", offset=1)).run_named({"x": np.zeros((2, 3), np.float32)})["y"]
    np.testing.assert_array_equal(found, [[7, 8, 9]] * 2)


@pytest.mark.parametrize(
    "location", ["../w.bin", "/etc/hostname", "", "a\0b", "sub/../../w.bin", "link.bin", "out/w.bin"]
)
def test_a_file_outside_of_the_folder_is_refused(folder, location):
    (folder / "link.bin").symlink_to(folder.parent / "w.bin")
    (folder / "out").symlink_to(folder.parent, target_is_directory=True)
    name, message = refusal(saved(folder, location))
    assert name == "InvalidOnnx"
    assert message.endswith("is not in the model's folder")


def test_a_link_inside_of_the_folder_is_followed(folder):
    (folder / "link.bin").symlink_to(folder / "w.bin")
    tinyc.compile(saved(folder, "link.bin"))


def test_a_pipe_is_refused_and_not_waited_for(folder):
    os.mkfifo(folder / "pipe")
    assert refusal(saved(folder, "pipe")) == ("InvalidOnnx", "tensor 'w': 'pipe' is no regular file")


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"offset": 24}, "takes bytes 24 … 36 of 'w.bin', which has 32"),
        ({"offset": -4}, "takes bytes -4 … 8 of 'w.bin', which has 32"),
        ({"length": 8}, "has 12 bytes, and takes 8 of 'w.bin'"),
        ({"offset": "much"}, "its offset 'much' is no number"),
    ],
)
def test_a_place_that_the_file_has_not_is_refused(folder, entries, message):
    assert message in refusal(saved(folder, "w.bin", **entries))[1]


def test_a_file_that_is_not_there_is_named(folder):
    name, message = refusal(saved(folder, "none.bin"))
    assert (name, message) == ("UnreadableFile", "cannot read the file: No such file or directory")


def test_a_loaded_model_has_its_tensors_with_it(folder, tmp_path, monkeypatch):
    path = saved(folder, "w.bin", offset=0, length=12)
    monkeypatch.chdir(tmp_path)
    tinyc.compile(onnx.load(path))
    name, message = refusal(onnx.load(path, load_external_data=False))
    assert name == "InvalidOnnx"
    assert message.endswith("the model was given without its folder; give its path")


def test_a_model_comes_from_standard_input_without_files_beside_it(folder, monkeypatch, capsys):
    def given(model):
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(model.SerializeToString())))
        return main(["run", "-"])

    assert given(model_of("y = Neg(x)")) == 0
    monkeypatch.chdir(folder)
    assert given(with_tensor("w.bin")) == 1
    assert "was given without its folder" in capsys.readouterr().err
