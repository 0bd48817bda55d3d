"""Models that are bad on purpose, from the command line: one error each that names the node, and nothing else."""

import os
import resource
import time

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from importers.onnx.models import errors_of, model_of, run_model
from tinyc import TinycError
from tinyc.driver.cli import main
from tinyc.importers.onnx.model import import_model

_OWN = '<domain: "own", opset_import: ["" : 21, "own" : 1]>'


def changed(model, change):
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    change(copy.graph)
    return copy


def said(raw, tmp_path, capsys, command="run"):
    """What the command line says of a model, which it has to refuse in time and without much memory."""
    path = tmp_path / "bad.onnx"
    path.write_bytes(raw)
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    assert main([command, str(path)]) == 1
    assert time.monotonic() - started < 10  # it takes 0.2 s
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**18  # KiB
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    assert "InternalError" not in captured.err
    return captured.err


_RAW = model_of("h = Neg(x) y = Relu(h)").SerializeToString()


@pytest.mark.parametrize("command", ["run", "compile", "explain", "verify"])
@pytest.mark.parametrize(
    "raw", [b"", _RAW[: len(_RAW) // 2], b"hello\n", b"\x89PNG\r\n\x1a\n" + bytes(64), b"\x08\x0a" + bytes(range(256))]
)
def test_what_is_no_model_is_refused_by_each_command(raw, command, tmp_path, capsys):
    assert "the file is no ONNX model" in said(raw, tmp_path, capsys, command)


def _calls(count):
    """Functions each of which calls the next one twice: 2^count nodes."""
    pairs = (f"a = own.f{at + 1}(v) w = own.f{at + 1}(a)" for at in range(count))
    return "".join(f"{_OWN} f{at} (v) => (w) {{ {body} }} " for at, body in enumerate(pairs)) + (
        f"{_OWN} f{count} (v) => (w) {{ w = Neg(v) }}"
    )


@pytest.mark.parametrize(
    ("model", "node", "message"),
    [
        (
            model_of(
                "y = MelWeightMatrix(a, b, c, d, e)",
                more="<int64 a = {1000000000}, int64 b = {9}, int64 c = {8}, float d = {0}, float e = {1}>",
            ),
            "y",
            "MelWeightMatrix: 1000000000 filters",
        ),
        (
            model_of("y = RNN(x, w, r)", "float[20000, 1, 3] x, float[1, 2, 3] w, float[1, 2, 2] r"),
            "y",
            "20000 steps of time would be as many products",
        ),
        (model_of("y = own.f0(x)", functions=_calls(30)), "y", "functions and branches have more than 200000 nodes"),
        (
            model_of("y = own.f(x)", functions=f"{_OWN} f (v) => (w) {{ w = own.f(v) }}"),
            "y/w",
            "the function 'f' calls itself",
        ),
        (model_of("y = Neg(x)", "float[1000000000000, 1000000000000] x"), "x", "cannot address them"),
        (model_of("y = Tile(x, p)", "float[2] x", more="<int64[1] p = {-2}>"), "y", "extent -2 of"),
        (model_of("y = Gather(x, i)", "float x", more="<int64 i = {0}>"), "y", "Gather is not as ONNX has it: "),
        (
            changed(
                model_of("y = Add(x, w)"), lambda graph: graph.initializer.add(name="w", data_type=1, dims=[2**40])
            ),
            "w",
            "tensor 'w' is damaged",
        ),
        (
            changed(model_of("y = Add(x, w)"), lambda graph: graph.initializer.add(name="w", data_type=1, dims=[-3])),
            "w",
            "tensor 'w' has the shape [-3], which is negative",
        ),
        (
            changed(model_of("y = Neg(x)"), lambda graph: graph.output[0].type.sequence_type.SetInParent()),
            "y",
            "'y' is declared to be of kind sequence, and is a tensor",
        ),
        (
            changed(model_of("y = Neg(x)"), lambda graph: graph.output.append(graph.output[0])),
            "y",
            "two outputs are called 'y'",
        ),
        (model_of("y = Scan<num_scan_inputs = 1>(x)"), "y", "Scan needs the attribute 'body'"),
    ],
)
def test_a_model_is_refused_by_the_name_of_its_node(model, node, message, tmp_path, capsys):
    shown = said(model.SerializeToString(), tmp_path, capsys)
    assert f"bad.onnx, node '{node}': error: " in shown
    assert message in shown


@pytest.mark.parametrize("shape", [(10**6, 10**6), (10**6, 10**6, 10**6)])
def test_inputs_that_memory_has_no_room_for_are_not_made(shape, tmp_path, capsys):
    model = model_of("y = Neg(x)", f"float{list(shape)} x", f"float{list(shape)} y")
    assert "OutOfMemory" in said(model.SerializeToString(), tmp_path, capsys)


def test_results_that_memory_has_no_room_for_are_not_made(tmp_path, capsys):
    model = model_of("y = Expand(x, s)", "float[1] x", "float[?] y", more="<int64[1] s = {1000000000000000}>")
    assert "a run needs 4000000000000000 bytes" in said(model.SerializeToString(), tmp_path, capsys)


def test_a_graph_that_computes_nothing_is_refused():
    empty = changed(model_of("y = Neg(x)"), lambda graph: graph.ClearField("output"))
    assert errors_of(empty) == [("InvalidOnnx", None, "the graph has no outputs: there is nothing to compute")]


# --- what lies in other files -----------------------------------------------------------------------------------------


def constant_in_file(location):
    model = model_of("c = Constant<value = float[3] {1, 2, 3}>() y = Add(x, c)")
    tensor = model.graph.node[0].attribute[0].t
    del tensor.float_data[:]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    return model


def test_a_constant_in_a_file_is_read_from_the_models_folder_and_not_from_the_current_one(tmp_path, monkeypatch):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "c.bin").write_bytes(np.float32([1, 2, 3]).tobytes())
    (tmp_path / "c.bin").write_bytes(np.float32([7, 8, 9]).tobytes())
    onnx.save(constant_in_file("c.bin"), folder / "m.onnx")
    monkeypatch.chdir(tmp_path)
    np.testing.assert_array_equal(run_model(folder / "m.onnx", {"x": np.zeros((2, 3), np.float32)})[0][0], [1, 2, 3])
    with pytest.raises(TinycError, match="was given without its folder"):
        import_model(constant_in_file("c.bin"))


@pytest.mark.parametrize("location", ["../secret", "link", "/etc/hostname"])
def test_a_constant_in_a_file_outside_of_the_folder_is_refused(location, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(bytes(12))
    os.symlink(tmp_path / "secret", folder / "link")
    onnx.save(constant_in_file(location), folder / "m.onnx")
    with pytest.raises(TinycError, match="is not in the model's folder"):
        import_model(folder / "m.onnx")


# --- branches in branches, names --------------------------------------------------------------------------------------


def nested(count):
    """Branches in branches, each of which calls what it computes `y`."""
    model = model_of("y = Neg(x)", more="<bool c = {1}>")
    graph = model.graph
    for _ in range(count):
        node = graph.node[0]
        node.op_type, node.input[0] = "If", "c"
        node.attribute.add(name="else_branch", type=onnx.AttributeProto.GRAPH).g.CopyFrom(
            helper.make_graph(
                [helper.make_node("Neg", ["x"], ["e"])], "e", [], [helper.make_empty_tensor_value_info("e")]
            )
        )
        graph = node.attribute.add(name="then_branch", type=onnx.AttributeProto.GRAPH).g
        graph.output.add(name="y")
        graph.node.add(op_type="Neg", input=["x"], output=["y"])
    return model


def test_a_branch_may_call_its_values_as_its_node_does():
    x = np.float32([[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(run_model(nested(20), {"x": x})[0], -x)


def test_branches_that_lie_too_deep_are_refused(tmp_path):
    assert errors_of(nested(200))[0][2].startswith("graphs lie in each other deeper than protobuf reads")
    deep = tmp_path / "deep.onnx"
    deep.write_bytes(_nested_bytes(200))
    with pytest.raises(TinycError, match="graphs lie in each other deeper than protobuf reads"):
        import_model(deep)


def _field(number, payload):
    size, length = [], len(payload)
    while True:
        size.append(length & 127 | (128 if length > 127 else 0))
        length >>= 7
        if not length:
            return bytes([number << 3 | 2, *size]) + payload


def _nested_bytes(count):
    """A model with branches in branches that protobuf itself does not write: graph, node, attribute, graph …"""
    graph = b""
    for _ in range(count):
        graph = _field(1, _field(5, _field(6, graph)))
    return b"\x08\x0a" + _field(7, graph)


@pytest.mark.parametrize("name", ["a b", "é/⊕", "nul\0", 'q"%>', "\x1b[31mred\n"])
def test_names_may_be_any_text(name, tmp_path, capsys):
    def rename(graph):
        graph.node[0].name = graph.node[0].output[0] = graph.node[1].input[0] = f"{name}h"
        graph.node[1].output[0] = graph.output[0].name = f"{name}y"

    model = changed(model_of("h = Neg(x) y = Relu(h)"), rename)
    x = np.float32([[1, -2, 3], [-4, 5, 6]])
    np.testing.assert_array_equal(run_model(model, {"x": x})[0], np.maximum(-x, 0))
    model.graph.node[0].op_type = "Det"
    shown = said(model.SerializeToString(), tmp_path, capsys)
    assert "tinyc has no op Det" in shown
    assert "\x1b" not in shown
    assert "\0" not in shown


def test_a_very_long_name_is_shown_without_its_middle():
    model = changed(model_of("y = Det(x)"), lambda graph: graph.node.__getitem__(0).__setattr__("name", "n" * 9999))
    with pytest.raises(TinycError) as caught:
        import_model(model)
    assert len(str(caught.value)) < 400
