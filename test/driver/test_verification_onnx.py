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
from tinyc.analysis.graphs import main_function
from tinyc.driver.verification import verify_model
from tinyc.formulas.registry import SCHEMAS
from tinyc.formulas.value import Value
from tinyc.mlir import ir

#: Nodes and their names; the third has none.
BODY = "a = MatMul(x, w) b = Relu(a) c = Tanh(b) y = Softmax<axis = 1>(c)"
NAMES = ("first/MatMul", "first/Relu", "", "last/Softmax")
X = np.random.default_rng(0).uniform(-1, 1, (3, 4)).astype(np.float32)
W36 = np.random.default_rng(2).standard_normal((6, 6)).astype(np.float32)
X8 = np.random.default_rng(3).standard_normal((6, 8)).astype(np.float32)
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


# --- names ------------------------------------------------------------------------------------------------------------


def compared(model, inputs):
    """The names of the values that are compared, layer by layer; all of them agree."""
    steps = list(verify_model(model, inputs))
    assert [step.failure for step in steps] == [None] * len(steps)
    return [[each.name for each in step.comparisons if each.kind == "value"] for step in steps]


def test_a_folded_constant_that_stays_in_memory_is_not_taken_for_its_reader():
    body = "wt = Transpose(w) m = Mul(x, wt) y = Softmax(m)"
    model = model_of(body, "float[6, 6] x", "float[6, 6] y")
    model.graph.initializer.append(onnx.numpy_helper.from_array(W36, "w"))
    for node, name in zip(model.graph.node, ("tr", "scale", "soft"), strict=True):
        node.name = name
    _, tiny, region, _ = compared(tinyc.compile(model), {"x": W36})
    assert tiny == ["tr", "scale", "soft"]
    assert region[:1] == ["tr"]
    assert "scale" not in region


def test_a_mask_that_is_made_of_ones_is_not_taken_for_them():
    body = "o = ConstantOfShape<value = float[1] {1}>(n) t = Trilu<upper = 0>(o) y = Mul(x, t)"
    model = model_of(body, "float[9, 9] x", "float[9, 9] y", more="<int64[2] n = {9, 9}>")
    compared(tinyc.compile(model), {"x": np.ones((9, 9), np.float32)})


def test_the_results_of_one_kernel_are_compared_each_by_its_own_name():
    body = "a = Add(x, v) n, m, i = LayerNormalization<axis = 1>(a, s) y = Add(a, n)"
    model = model_of(body, "float[N, 8] x, float[N, 8] v, float[8] s", "float[N, 8] y, float[N, 1] m, float[N, 1] i")
    compared(tinyc.compile(model), {"x": W36[:, :1] + np.eye(6, 8, dtype=np.float32), "v": X8, "s": X8[0]})


def test_names_that_several_values_have_are_left_out():
    model = tinyc.compile(layers())
    names = compared(model, {"x": X, "w": W})[1]
    assert {"first/Relu", "c"} <= {*names}
    # As if a layer below called two of its values so.
    module = model.lowering.module("region")
    with module.context:
        for op in main_function(module).regions[0].blocks[0].operations:
            if len(op.results):
                op.location = ir.Location.name("first/Relu")
    assert not any("first/Relu" in each for each in compared(model, {"x": X, "w": W}))


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


def test_a_target_that_failed_is_not_compared_with_onnxruntime(monkeypatch):
    def fails(self, *given, **options):
        raise tinyc.TinycError("SimulationFinding", "a kernel reads behind its buffer")

    def unasked(inputs):
        raise AssertionError("there is nothing to compare with")

    monkeypatch.setattr(tinyc.Model, "run_named", fails)
    *_, last = verify_model(tinyc.compile(layers()), {"x": X, "w": W}, onnxruntime=unasked)
    assert last.title == "cpu (llvm) against the reference (frontend)"
    assert last.fault is not None


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
    assert f"{file}: error: --against onnxruntime: it is not installed; python -m pip install onnxruntime" in err


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


def test_a_bench_compares_least_times_in_its_table_and_its_drawing(run, file, tmp_path):
    options = ("--bind", "N=7", "--against", "onnxruntime", "--runs", "3", "--svg", tmp_path / "times.svg")
    status, out, _ = run("bench", file, *options)
    assert status == 0
    head, *rows = out[out.index("runtime ") :].splitlines()[:3]
    assert re.fullmatch(r"runtime +least ms +median ms +least over tinyc's", head)
    (one, other) = ([row.split()[0], *map(float, row.split()[1:4])] for row in rows)
    assert (one[0], other[0], one[3]) == ("tinyc", "onnxruntime", 1)
    assert abs(other[3] - other[1] / one[1]) <= 0.01 + 0.05 * other[3]  # both are rounded
    drawing = (tmp_path / "times.svg").read_text()
    assert all(f"{row[1]:.3f} ms, {row[3]:.2f} ×" in drawing for row in (one, other))
