"""`CONST` with a tensor: its values, or a tensor in a weights file; and inputs that are weights."""

import json

import ml_dtypes
import numpy as np
import pytest

import tinyc
from importers.documents import error_of, load, node, program, tensor
from tinyc.diagnostics import TinycError
from tinyc.dialects.tiny import ops as tiny
from tinyc.importers import tiny_json
from tinyc.importers.weights_file import SAFETENSORS_TYPES, tensor_at
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.elements import elements_of

NAMES = {element: name for name, element in SAFETENSORS_TYPES.items()}
W = np.arange(12, dtype=np.float32).reshape(3, 4) / 7
LARGE = np.arange(2**17, dtype=np.float32)


def constant(folder=None, **arg):
    """Return the elements of a constant that is the program's output; the program is a file in the folder."""
    source = program(node("c", "CONST", **arg), outputs=["c"])
    if folder is not None:
        (folder / "program.json").write_text(json.dumps(source))
        source = folder / "program.json"
    module = tiny_json.import_program(source)
    (op,) = [op for op in module.body.operations[0].regions[0].blocks[0].operations if isinstance(op, tiny.ConstOp)]
    return elements_of(op.value)


def write_safetensors(path, **arrays):
    header, data = {"__metadata__": {"made": "by a test"}}, b""
    for name, array in arrays.items():
        element = next(each for each in ElementType if each.dtype == array.dtype)
        offsets = [len(data), len(data) + array.nbytes]
        header[name] = {"dtype": NAMES[element], "shape": list(array.shape), "data_offsets": offsets}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


@pytest.mark.parametrize(
    ("arg", "expected"),
    [
        ({"values": [[1, 2], [3, 4]], "dtype": "i8"}, np.array([[1, 2], [3, 4]], np.int8)),
        ({"values": [1, 2, 3, 4], "shape": [2, "2"], "dtype": "fp16"}, np.array([[1, 2], [3, 4]], np.float16)),
        ({"values": [1.5], "shape": [], "dtype": "fp64"}, np.array(1.5)),
        ({"values": [[], []], "dtype": "fp32"}, np.empty((2, 0), np.float32)),
        ({"values": [True, False, 1], "dtype": "bool"}, np.array([True, False, True])),
        ({"values": [2**64 - 1, 0], "dtype": "u64"}, np.array([2**64 - 1, 0], np.uint64)),
        ({"values": [-(2**63)], "dtype": "i64"}, np.array([-(2**63)])),
        ({"values": [1, 0.1], "dtype": "bf16"}, np.array([1, 0.1], ml_dtypes.bfloat16)),
        ({"values": [float("nan"), float("-inf")], "dtype": "fp32"}, np.array([np.nan, -np.inf], np.float32)),
        ({"values": list(range(100)), "dtype": "u8"}, np.arange(100, dtype=np.uint8)),
    ],
)
def test_values_are_nested_as_the_axes_or_flat_with_a_shape(arg, expected):
    found = constant(**arg)
    assert (found.dtype, found.shape, found.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())


@pytest.mark.parametrize(
    ("arg", "name", "message"),
    [
        ({"values": [[1, 2], [3]], "dtype": "i8"}, "InvalidAttribute", "has a list of 1 and a list of 2 at depth 1"),
        ({"values": [1, [2]], "dtype": "i8"}, "InvalidAttribute", "has a list of 1 and a number at depth 1"),
        ({"values": 1, "dtype": "i8"}, "InvalidAttribute", "must be a list of numbers, or of such lists, not 1"),
        ({"values": [1, 2, 3], "dtype": "i8", "shape": [2, 2]}, "ShapeContradiction", "has 3 numbers, and 'shape' is"),
        ({"values": [1, 2], "dtype": "i8", "shape": ["M"]}, "InvalidExtent", "'shape' in the arg of CONST is [M]"),
        ({"values": [[1, 2], [3, 300]], "dtype": "u8"}, "DtypeMismatch", "element [1, 1]: 300 is not a value of u8"),
        ({"values": [1, -1], "dtype": "u8"}, "DtypeMismatch", "element [1]: -1 is not a value of u8"),
        ({"values": [1, 0.5], "dtype": "i8"}, "DtypeMismatch", "element [1]: 0.5 is not a value of i8"),
        ({"values": [1e6], "dtype": "fp16"}, "DtypeMismatch", "element [0]: 1000000.0 is beyond the numbers of fp16"),
        ({"values": [True], "dtype": "fp32"}, "InvalidAttribute", "element [0]: true is not a value of fp32"),
        ({"values": ["1"], "dtype": "fp32"}, "InvalidAttribute", 'element [0]: "1" is not a value of fp32'),
        ({"values": [1]}, "MissingArgument", "the arg of CONST needs 'dtype'"),
        ({"dtype": "i8"}, "MissingArgument", "needs 'value', 'values', or 'file' and 'name'"),
        ({"values": [1], "value": 1, "dtype": "i8"}, "InvalidAttribute", "has 'value' and 'values'; give one"),
        ({"valus": [1], "dtype": "i8"}, "UnknownKey", "did you mean 'values'"),
        ({"file": "w.npz"}, "MissingArgument", "needs 'name' beside 'file'"),
        ({"value": 1, "name": "w", "dtype": "i8"}, "InvalidAttribute", "has 'name' without 'file'"),
    ],
)
def test_what_is_no_tensor_is_an_error_at_its_node(arg, name, message):
    error = error_of(node("c", "CONST", **arg), outputs=["c"])
    assert (error.name, error.where.node) == (name, "c")
    assert message in error.message


@pytest.mark.parametrize("element", ElementType)
def test_a_safetensors_file_has_every_type_and_is_mapped(tmp_path, element):
    array = (np.arange(90_000).reshape(3000, 30) % 2).astype(element.dtype)
    write_safetensors(tmp_path / "w.safetensors", empty=np.empty((0, 2), element.dtype), before=array[:1], w=array)
    found = constant(tmp_path, file="w.safetensors", name="w", dtype=element.json_name, shape=[3000, 30])
    assert (found.dtype, found.tobytes()) == (array.dtype, array.tobytes())
    assert isinstance(found, np.memmap)
    assert constant(tmp_path, file="w.safetensors", name="empty").shape == (0, 2)


def test_members_of_an_npz_are_mapped_where_they_lie_as_they_are_needed(tmp_path):
    np.savez(tmp_path / "w.npz", w=LARGE, columns=np.asfortranarray(W), half=W.astype(ml_dtypes.bfloat16))
    np.savez_compressed(tmp_path / "small.npz", w=LARGE)
    mapped, read = (constant(tmp_path, file=name, name="w") for name in ("w.npz", "small.npz"))
    assert isinstance(mapped, np.memmap)
    assert not isinstance(read, np.memmap)
    assert mapped.tobytes() == read.tobytes() == LARGE.tobytes()
    assert constant(tmp_path, file="w.npz", name="columns").tobytes() == W.tobytes()
    found = constant(tmp_path, file="w.npz", name="half", dtype="bf16")
    assert found.tobytes() == W.astype(ml_dtypes.bfloat16).tobytes()


def test_a_path_is_relative_to_the_file_and_without_one_to_the_working_directory(tmp_path, monkeypatch):
    (tmp_path / "inner").mkdir()
    np.savez(tmp_path / "inner" / "w.npz", w=W)
    np.testing.assert_array_equal(constant(tmp_path / "inner", file="w.npz", name="w"), W)
    monkeypatch.chdir(tmp_path)
    np.testing.assert_array_equal(constant(file="inner/w.npz", name="w"), W)


@pytest.mark.parametrize(
    ("arg", "name", "message"),
    [
        ({"file": "none.npz", "name": "w"}, "UnreadableFile", "'none.npz': cannot read the file: No such file"),
        ({"file": "w.npz", "name": "v"}, "UnreadableFile", "'w.npz': the file has no array 'v'"),
        ({"file": "w.safetensors", "name": "v"}, "UnreadableFile", "the file has no tensor 'v'"),
        ({"file": "w.bin", "name": "w"}, "UnreadableFile", "'.bin' is no format of weights"),
        ({"file": "w.npz", "name": "objects"}, "UnreadableFile", "holds pickled objects, which are code"),
        ({"file": "w.npz", "name": "complex"}, "DtypeMismatch", "is of type complex64, which Tiny lacks"),
        ({"file": "w.npz", "name": "w", "dtype": "fp16"}, "DtypeMismatch", "is float32, and 'dtype' says fp16"),
        ({"file": "w.npz", "name": "w", "shape": [4, 3]}, "ShapeContradiction", "is [3, 4], and 'shape' says [4, 3]"),
        ({"file": "odd.safetensors", "name": "w"}, "UnreadableFile", "is of type F8_E4M3, which Tiny lacks"),
        ({"file": "odd.safetensors", "name": "short"}, "UnreadableFile", "the file is damaged or cut off"),
        ({"file": "odd.safetensors", "name": "no"}, "UnreadableFile", "the entry of the tensor 'no' is damaged"),
    ],
)
def test_what_is_wrong_with_a_file_is_an_error_at_the_node(tmp_path, monkeypatch, arg, name, message):
    monkeypatch.chdir(tmp_path)
    np.savez("w.npz", w=W, objects=np.array([None]), complex=W.astype(np.complex64))
    write_safetensors(tmp_path / "w.safetensors", w=W)
    (tmp_path / "w.bin").write_bytes(b"")
    odd = {
        "w": {"dtype": "F8_E4M3", "shape": [1], "data_offsets": [0, 1]},
        "short": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        "no": {"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]},
    }
    text = json.dumps(odd).encode()
    (tmp_path / "odd.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + b"\0\0\0\0")
    error = error_of(node("c", "CONST", **arg), outputs=["c"])
    assert (error.name, error.where.node) == (name, "c")
    assert message in error.message


@pytest.mark.parametrize("kind", ["w.safetensors", "w.npz"])
def test_a_file_that_is_cut_off_anywhere_is_refused_by_name(tmp_path, kind):
    if kind == "w.npz":
        np.savez(tmp_path / kind, w=W)
    else:
        write_safetensors(tmp_path / kind, w=W)
    whole = (tmp_path / kind).read_bytes()
    for length in range(0, len(whole), 7):
        (tmp_path / kind).write_bytes(whole[:length])
        with pytest.raises(TinycError, match=kind) as caught:
            constant(tmp_path, file=kind, name="w")
        assert caught.value.name == "UnreadableFile"


def test_a_module_is_written_with_small_constants_as_values_and_large_ones_as_their_files(tmp_path):
    np.savez(tmp_path / "w.npz", other=W, w=LARGE)
    write_safetensors(tmp_path / "v.safetensors", other=W, v=LARGE)
    module = load(
        node("c", "CONST", values=[[1.5, float("inf")]], dtype="bf16"),
        node("w", "CONST", file=str(tmp_path / "w.npz"), name="w"),
        node("v", "CONST", file=str(tmp_path / "v.safetensors"), name="v"),
        {**tensor("x", 2), "arg": {"tensor_id": "x", "dtype": "fp32", "shape": [2], "weight": True}},
        outputs=["c", "w", "v", "x"],
    )
    written = tiny_json.dump(module)
    args = {each["id"]: each["arg"] for each in json.loads(written)["uops"]}
    assert args["c"] == {"values": [1.5, float("inf")], "dtype": "bf16", "shape": [1, 2]}
    assert args["w"] == {"file": str(tmp_path / "w.npz"), "name": "w", "dtype": "fp32", "shape": [2**17]}
    assert args["v"]["name"] == "v"
    assert args["x"]["weight"] is True
    assert tiny_json.dump(tiny_json.import_program(written)) == written
    assert tensor_at(tmp_path / "w.npz", 3) is None


def test_a_large_constant_that_is_in_no_file_is_not_written():
    module = load(node("c", "CONST", values=[0] * 70_000, dtype="i8"), outputs=["c"])
    with pytest.raises(TinycError, match="a constant of 70000 elements is too large for a list"):
        tiny_json.dump(module)


def test_an_input_may_be_declared_a_weight_at_all_of_its_nodes():
    declared = {"tensor_id": "w", "dtype": "fp32", "shape": [2]}
    both = [node("a", "INPUT", **declared, weight=True), node("b", "INPUT", **declared, weight=True)]
    source = program(*both, node("y", "ADD", "a", "b"))
    assert tinyc.compile(source, target="reference").weights == ("w",)
    error = error_of(both[0], node("b", "INPUT", **declared), node("y", "ADD", "a", "b"))
    assert error.name == "ShapeContradiction"
    assert "tensor 'w' is a weight at one of 'b' and 'a' only" in error.message
    assert error_of(node("a", "INPUT", **declared, weight=1), node("y", "NEG", "a")).name == "InvalidAttribute"
