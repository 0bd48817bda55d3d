"""`compile --self-test` and `run --self-test`: a saved model that tells by itself whether it runs right."""

import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import onnx
import pytest

import tinyc
from importers.onnx.models import model_of
from programs.example_bindings import EXAMPLES
from tinyc import TinycError
from tinyc.driver.sources import read_program
from tinyc.executors.random_inputs import random_inputs
from tinyc.runtime import self_test
from tinyc.runtime.artifact import write_artifact

GEMM, SOFTMAX = EXAMPLES / "gemm_bias_relu.json", EXAMPLES / "softmax.json"


def refused(call, *arguments, **options):
    with pytest.raises(TinycError) as caught:
        call(*arguments, **options)
    return caught.value


def onnx_file(path):
    """Write an ONNX model of a dynamic axis: a sum of products, and what is greater than 0."""
    body = "p = MatMul(x, w) y = Relu(p) c = Constant<value_float = 0.0>() z = Greater(p, c)"
    weights = "<float[3, 4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}>"
    onnx.save(model_of(body, "float[N, 3] x", "float[N, 4] y, bool[N, 4] z", more=weights), path)
    return path


#: Runs the command line where nothing of the compiler can be imported.
WITHOUT = """
import importlib.abc, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("onnx", "google", "numba_cuda_mlir", "mlir", "llvmlite", "islpy", "highspy"):
            raise ImportError(f"{name} is not installed")

sys.meta_path.insert(0, Absent())
from tinyc.driver import cli
sys.exit(cli.main(sys.argv[1:]))
"""


def run_without_the_compiler(*arguments):
    command = [sys.executable, "-c", WITHOUT, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_an_onnx_model_tests_itself_without_onnx_mlir_and_llvm(run, tmp_path):
    model, file = onnx_file(tmp_path / "m.onnx"), tmp_path / "m.tinyc"
    status, out, err = run("compile", model, "-o", file, "--self-test", "N=5")
    assert (status, err) == (0, "")
    made = "random inputs, seed 0; expected outputs by the reference"
    assert f"\ntest     1 input, 2 outputs, 160 bytes: {made}\n" in out
    assert re.search(r", a self-test of 160 bytes; \d+ bytes$", out)
    done = run_without_the_compiler("run", file, "--self-test")
    assert (done.returncode, done.stderr) == (0, "")
    checks = [line for line in done.stdout.splitlines() if line.startswith(("check", "result"))]
    assert re.fullmatch(r"check    output 'y': largest error \S+ \(rtol 1e-05, atol 1e-05\): ok", checks[0])
    assert checks[1:] == ["check    output 'z': largest error 0 (exact): ok", "result   the self-test passes"]
    assert tinyc.load(file)(np.zeros((2, 3), np.float32))[0].shape == (2, 4)  # it is a model of any batch


def test_the_tolerance_is_that_of_check(run, tmp_path):
    # A product of 1000 terms: more than the least tolerance of f32.
    body = "p = MatMul(x, w) y = Neg(p)"
    onnx.save(model_of(body, "float[2, 1000] x, float[1000, 3] w", "float[2, 3] y"), tmp_path / "m.onnx")
    checked = run("run", tmp_path / "m.onnx", "--check")[1]
    assert run("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.tinyc", "--self-test")[0] == 0
    tested = run("run", tmp_path / "m.tinyc", "--self-test")[1]
    allowed = [re.search(r"^check +output 'y': .*\((rtol .*)\)", out, re.MULTILINE)[1] for out in (checked, tested)]
    assert allowed[0] == allowed[1] == f"rtol 1e-05, atol {2 * 1000 * 2.0**-24:.2g}"


def test_what_differs_first_is_named_and_has_status_1(run, tmp_path):
    model = tinyc.compile(onnx_file(tmp_path / "m.onnx"))
    model.add_self_test({"x": np.array([[1, 1, 1], [-1, 0, 0]], np.float32)})
    artifact = model.artifact()
    expected = artifact.self_test.outputs
    others = {**expected, "y": expected["y"] + np.array([[0], [0.5]], np.float32)}
    wrong = replace(artifact, self_test=replace(artifact.self_test, outputs=others))
    write_artifact(tmp_path / "m.tinyc", wrong)
    status, out, _ = run("run", tmp_path / "m.tinyc", "--self-test")
    assert status == 1
    first = r"output 'y': largest error 0\.5 \(.*\); element \[1, 0\] is 0\.0 and should be 0\.5: .*; 4 such elements"
    assert re.search(rf"^check    {first}: FAILED$", out, re.MULTILINE)
    assert re.search(rf"^result   FAILED, first at: {first}$", out, re.MULTILINE)
    assert "output 'z': largest error 0 (exact): ok" in out
    assert [each.ok for each in tinyc.load(tmp_path / "m.tinyc").self_test()] == [False, True]


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_from_python_on_every_target_that_has_code(tmp_path, target):
    model = tinyc.compile(GEMM, target)
    test = model.add_self_test(sizes={"M": 3, "N": 5, "K": 7}, seed=4)
    assert str(test) == "3 inputs, 1 output, 152 bytes"
    inputs = random_inputs(read_program(GEMM, {"M": 3, "N": 5, "K": 7}), 4)
    assert all(np.array_equal(test.inputs[name], inputs[name]) for name in inputs)
    assert [each.name for each in model.self_test() if each.ok] == ["Y"]
    model.save(tmp_path / "m.tinyc")
    loaded = tinyc.load(tmp_path / "m.tinyc")
    assert [each.name for each in loaded.self_test() if each.ok] == ["Y"]
    loaded.save(tmp_path / "again.tinyc")
    assert (tmp_path / "again.tinyc").read_bytes() == (tmp_path / "m.tinyc").read_bytes()


def test_inputs_may_come_from_a_file(run, tmp_path):
    np.savez(tmp_path / "in.npz", X=np.zeros((2, 5), np.float32))
    options = ("--self-test", "--inputs", tmp_path / "in.npz")
    status, out, _ = run("compile", SOFTMAX, "-o", tmp_path / "m.tinyc", *options)
    assert status == 0
    assert "test     1 input, 1 output, 80 bytes: the inputs that are given; expected" in out
    test = tinyc.load(tmp_path / "m.tinyc").artifact().self_test
    np.testing.assert_allclose(test.outputs["y"], np.full((2, 5), 0.2), rtol=1e-6)


def test_the_option_takes_sizes_and_no_program(run, tmp_path):
    assert run("compile", "--self-test", SOFTMAX, "--bind", "M=2,N=3", "-o", tmp_path / "m.tinyc")[0] == 0
    assert run("compile", "--self-test", "M=2,N=3", SOFTMAX, "-o", tmp_path / "m.tinyc")[0] == 0
    status, _, err = run("compile", SOFTMAX, "-o", tmp_path / "m.tinyc", "--self-test")
    assert status == 1
    assert "random inputs need the size of 'M', 'N'; bind them, as in --self-test M=16,N=16, or give inputs" in err
    status, _, err = run("compile", SOFTMAX, "-o", tmp_path / "m.tinyc", "--self-test", "M=2,Q=3")
    assert (status, "error: --self-test: the model has no symbol 'Q'; there are M, N" in err) == (1, True)
    with pytest.raises(SystemExit) as caught:
        run("compile", SOFTMAX, "--random", "3")
    assert caught.value.code == 2


def test_weights_are_set_before(run, tmp_path):
    weights = {"W": np.ones((3, 2), np.float16), "bias": np.zeros(2, np.float16)}
    model = tinyc.compile(GEMM, bind={"M": 2, "N": 2, "K": 3}, weights=("W", "bias"))
    error = refused(model.add_self_test)
    assert (error.name, "the weights W, bias are not set" in error.message) == ("InputMismatch", True)
    model = tinyc.compile(GEMM, bind={"M": 2, "N": 2, "K": 3}, weights=weights)
    test = model.add_self_test()
    assert set(test.inputs) == {"X"}
    model.save(tmp_path / "m.tinyc")
    loaded = tinyc.load(tmp_path / "m.tinyc")
    assert all(each.ok for each in loaded.self_test())
    loaded.set_weights({"bias": weights["bias"] + 1})  # for which other outputs would be right
    assert "has no self-test" in refused(loaded.self_test).message
    np.savez(tmp_path / "w.npz", **weights)
    options = ("--weights", tmp_path / "w.npz", "--bind", "M=2,N=2,K=3", "--self-test")
    assert run("compile", GEMM, "-o", tmp_path / "m.tinyc", *options)[0] == 0
    assert run("run", tmp_path / "m.tinyc", "--self-test")[0] == 0


def test_a_model_without_one_says_so(run, tmp_path):
    tinyc.compile(SOFTMAX).save(tmp_path / "m.tinyc")
    status, _, err = run("run", tmp_path / "m.tinyc", "--self-test")
    assert status == 1
    assert f"{tmp_path / 'm.tinyc'}: error: the model has no self-test; compile its program with --self-test" in err
    status, _, err = run("run", SOFTMAX, "--self-test")
    assert (status, "--self-test: a program has no inputs of its own; tinyc compile -o" in err) == (1, True)


@pytest.mark.parametrize("option", ["--random=1", "--bind=M=2", "--outputs=o.npz", "--profile", "--log=l.csv"])
def test_a_self_test_takes_no_other_options(run, tmp_path, option):
    model = tinyc.compile(SOFTMAX, bind={"M": 2, "N": 3})
    model.add_self_test()
    model.save(tmp_path / "m.tinyc")
    status, _, err = run("run", tmp_path / "m.tinyc", "--self-test", option)
    name = option.partition("=")[0]
    assert (status, f"{name}: a self-test runs on inputs and weights of the model's own" in err) == (1, True)


def test_what_has_no_reference_or_no_code_has_none(run, tmp_path):
    assert (
        refused(tinyc.compile(SOFTMAX, "reference").add_self_test, sizes={"M": 1, "N": 1}).name == "UnsupportedTarget"
    )
    ptx = tmp_path / "softmax.ptx"
    ptx.write_text(tinyc.compile(SOFTMAX, "sim", bind={"M": 2, "N": 3}).text("ptx"))
    status, _, err = run("compile", ptx, "--target", "sim", "-o", tmp_path / "m.tinyc", "--self-test")
    assert (status, "--self-test: the reference reads programs of frontend, tiny, region or plan" in err) == (1, True)


def test_arrays_that_are_too_large_for_it_are_refused(monkeypatch):
    monkeypatch.setattr(self_test, "SELF_TEST_LIMIT_BYTES", 100)
    model = tinyc.compile(SOFTMAX)
    for sizes, given, expected in (({"M": 4, "N": 4}, 64, 64), ({"M": 6, "N": 5}, 120, 0)):
        error = refused(model.add_self_test, sizes=sizes)
        assert error.name == "InvalidOption"
        assert (
            f"its inputs have {given} bytes and its outputs {expected}, and a model holds at most 100" in error.message
        )
    model.add_self_test(sizes={"M": 3, "N": 4})
