"""`verify` of ONNX models: what goes wrong first has the name of the model's node; ONNX Runtime beside the target."""

import re
import sys
from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest

import tinyc
from importers.onnx.models import model_of
from programs.example_bindings import EXAMPLES
from tinyc.driver.verification import verify_model
from tinyc.formulas.registry import SCHEMAS
from tinyc.formulas.value import Value

#: Nodes and their names; the third has none.
BODY = "a = MatMul(x, w) b = Relu(a) c = Tanh(b) y = Softmax<axis = 1>(c)"
NAMES = ("first/MatMul", "first/Relu", "", "last/Softmax")
X = np.random.default_rng(0).uniform(-1, 1, (3, 4)).astype(np.float32)
W = np.random.default_rng(1).uniform(-1, 1, (4, 5)).astype(np.float32)


def layers():
    model = model_of(BODY, "float[N, 4] x, float[4, 5] w", "float[N, 5] y")
    for node, name in zip(model.graph.node, NAMES, strict=True):
        node.name = name
    return model


@pytest.fixture
def file(tmp_path):
    onnx.save(layers(), tmp_path / "m.onnx")
    return tmp_path / "m.onnx"


def changed(monkeypatch, op, choice, formula):
    """Give an op of the Frontend layer another formula."""
    monkeypatch.setitem(SCHEMAS[op], choice, replace(SCHEMAS[op][choice], function=formula))


def first_failure(model, **inputs):
    return next(step for step in verify_model(model, inputs) if step.failure)


def test_a_wrong_formula_is_named_by_the_first_node_that_has_it(monkeypatch):
    def wrong(x: Value) -> Value:
        return x * 1.0

    changed(monkeypatch, "elementwise", "relu", wrong)
    first = first_failure(tinyc.compile(layers()), x=X, w=W)
    assert first.title == "reference (tiny) against the reference (frontend)"
    assert first.mismatch is not None
    assert (first.mismatch.name, first.mismatch.kind) == ("first/Relu", "value")
    at = np.argwhere(X @ W < 0)[0]
    assert first.mismatch.mismatch.index == tuple(at)
    element = rf"element \[{at[0]}, {at[1]}\] is -0.\d+ and should be 0.0: error "
    assert re.search(rf"^{re.escape(first.title)}: value 'first/Relu': .*; {element}", first.failure)


def test_a_node_without_a_name_is_called_by_its_output(monkeypatch):
    def wrong(x: Value) -> Value:
        return x * 0.5

    changed(monkeypatch, "elementwise", "tanh", wrong)
    first = first_failure(tinyc.compile(layers()), x=X, w=W)
    assert first.mismatch is not None
    assert first.mismatch.name == "c"


def test_wrong_code_of_the_target_is_named_so_too(monkeypatch):
    # A kernel for each op; what the second one writes is changed behind it.
    model = tinyc.compile(layers(), fusion="none")
    run = tinyc.Model.run_named

    def wrong(self, inputs, *options, observe=None, **more):
        def told(name, value):
            observe(name, value + np.float32(0.125) * (name == "first/Relu"))

        return run(self, inputs, *options, observe=told, **more)

    monkeypatch.setattr(tinyc.Model, "run_named", wrong)
    first = first_failure(model, x=X, w=W)
    assert first.title == "cpu (llvm) against the reference (frontend)"
    assert first.mismatch is not None
    assert (first.mismatch.name, first.mismatch.mismatch.index) == ("first/Relu", (0, 0))


def test_the_tolerance_counts_the_sums_that_an_op_is_made_of():
    model = tinyc.compile(model_of("y = MatMul(x, w)", "float[N, 3000] x, float[3000, 2] w", "float[N, 2] y"))
    inputs = {"x": np.ones((2, 3000), np.float32), "w": np.ones((3000, 2), np.float32)}
    assert model.lowering.tolerances(inputs)["y"].atol == 2 * 3000 * 2.0**-24


# --- onnxruntime ------------------------------------------------------------------------------------------------------


def test_onnxruntime_runs_beside_the_target(run, file):
    status, out, err = run("verify", file, "--bind", "N=7", "--against", "onnxruntime")
    assert (status, err) == (0, "")
    assert [line for line in out.splitlines() if line.startswith("verify")] == [
        "verify   reference (frontend) against the f64 oracle",
        "verify   reference (tiny) against the reference (frontend)",
        "verify   reference (region) against the reference (frontend)",
        "verify   cpu (llvm) against the reference (frontend)",
        "verify   cpu (llvm) against onnxruntime",
    ]
    assert out.endswith("(rtol 1e-05, atol 1e-05): ok\nresult   all layers agree\n")


def test_what_onnxruntime_gives_otherwise_is_named(run, file, monkeypatch):
    right = onnxruntime.InferenceSession.run

    def wrong(self, *arguments):
        (y,) = right(self, *arguments)
        y[1, 2] += 1
        return [y]

    monkeypatch.setattr(onnxruntime.InferenceSession, "run", wrong)
    status, out, _ = run("verify", file, "--bind", "N=7", "--against", "onnxruntime")
    assert status == 1
    assert re.search(
        r"^result   FAILED, first at: cpu \(llvm\) against onnxruntime: output 'y': .*; element \[1, 2\] is",
        out,
        re.MULTILINE,
    )


@pytest.mark.parametrize("command", ["verify", "bench"])
def test_onnxruntime_takes_the_inputs_that_are_fixed(run, tmp_path, command):
    model = model_of("y = ReduceSum(x, axes)", "float[3, 4] x, int64[1] axes", "float[3, 1] y")
    onnx.save(model, tmp_path / "m.onnx")
    options = ("--constant", "axes=[1]", "--against", "onnxruntime", *(("--runs", "1") if command == "bench" else ()))
    status, out, err = run(command, tmp_path / "m.onnx", *options)
    assert (status, err) == (0, "")
    assert "FAILED" not in out


@pytest.mark.parametrize("command", ["verify", "bench"])
def test_where_it_is_not_installed_the_command_says_how_to(run, file, monkeypatch, command):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    status, out, err = run(command, file, "--bind", "N=7", "--against", "onnxruntime")
    assert (status, out) == (1, "")
    assert f"{file}: error: --against onnxruntime: it is not installed; pip install onnxruntime" in err


@pytest.mark.parametrize("command", ["verify", "bench"])
def test_it_runs_no_other_programs(run, command):
    softmax = EXAMPLES / "softmax.json"
    status, out, err = run(command, softmax, "--bind", "M=2,N=3", "--against", "onnxruntime")
    assert (status, out) == (1, "")
    assert f"{softmax}: error: --against onnxruntime: it runs files of ONNX models, and this is none" in err


def test_what_onnxruntime_refuses_is_an_error(run, tmp_path):
    (tmp_path / "m.onnx").write_bytes(layers().SerializeToString()[:-20])
    status, _, err = run("verify", tmp_path / "m.onnx", "--bind", "N=7", "--against", "onnxruntime")
    assert (status, f"{tmp_path / 'm.onnx'}: error: onnxruntime refuses the model: " in err) == (1, True)
