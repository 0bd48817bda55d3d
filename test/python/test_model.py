"""`tinyc.compile` and `Model`: every kind of source, every way to run, and what is refused."""

import json
import subprocess
import sys

import numpy as np
import pytest

import tinyc
from tinyc import text
from tinyc.diagnostics import TinycError
from tinyc.layers import NAMES
from tinyc.sources import load

PROGRAM = {
    "uops": [
        {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "X", "dtype": "fp32", "shape": ["M", "K"]}},
        {"id": "w", "uop": "INPUT", "arg": {"tensor_id": "W", "dtype": "fp32", "shape": ["M", "K"]}},
        {"id": "p", "uop": "MUL", "src": ["x", "w"]},
        {"id": "y", "uop": "REDUCE", "src": ["p"], "arg": {"op": "SUM", "axes": ["K"], "dtype": "fp32"}},
    ]
}
X = np.arange(6, dtype=np.float32).reshape(2, 3)
W = np.full((2, 3), 2, np.float32)
Y = np.array([6, 24], np.float32)


def refused(*arguments, **options):
    with pytest.raises(TinycError) as caught:
        tinyc.compile(*arguments, **options)
    return caught.value


def sources(folder):
    """Yield (kind, source) for each form in which a program may be given."""
    module = load(PROGRAM)
    ir_text = tinyc.compile(PROGRAM, target="reference").text("tiny")
    (folder / "program.json").write_text(json.dumps(PROGRAM))
    (folder / "program.mlir").write_text(ir_text)
    yield "dict", PROGRAM
    yield "JSON text", "// a comment\n" + json.dumps(PROGRAM)
    yield "JSON path", folder / "program.json"
    yield "path as text", str(folder / "program.json")
    yield "IR text", ir_text
    yield "IR path", folder / "program.mlir"
    yield "module", module
    yield "Region text", tinyc.compile(PROGRAM).text("region")


def test_every_form_of_source_runs_on_every_target(tmp_path):
    for kind, source in sources(tmp_path):
        for target in ("cpu", "reference"):
            model = tinyc.compile(source, target=target)
            assert (model.inputs, model.outputs) == (("X", "W"), ("y",)), kind
            np.testing.assert_array_equal(model(X, W), Y, err_msg=f"{kind} on {target}")


def test_symbols_bind_in_every_form_of_source(tmp_path):
    for kind, source in sources(tmp_path):
        model = tinyc.compile(source, bind={"K": 3})
        assert [str(each.type) for each in model.signature.inputs] == ["fp32 [M, 3]"] * 2, kind
        np.testing.assert_array_equal(model.run(X=X, W=W)["y"], Y, err_msg=kind)
        with pytest.raises(TinycError) as caught:
            model.run(X=X[:, :2], W=W[:, :2])
        assert caught.value.name == "InputMismatch", kind


def test_a_module_that_is_compiled_stays_as_it_was():
    module = load(PROGRAM)
    before = module.operation.get_asm(assume_verified=True)
    tinyc.compile(module, bind={"M": 2, "K": 3})
    assert module.operation.get_asm(assume_verified=True) == before


def test_a_model_runs_again_with_other_extents():
    model = tinyc.compile(PROGRAM)
    for rows, columns in ((2, 3), (1, 1), (0, 4), (5, 0)):
        x = np.ones((rows, columns), np.float32)
        assert model(x, x).tolist() == [columns] * rows


def test_outputs_are_fresh_arrays_and_inputs_are_not_written_to():
    model = tinyc.compile(PROGRAM)
    x, w = X.copy(), W.copy()
    x.flags.writeable = w.flags.writeable = False
    first, second = model(x, w), model(x, w)
    assert not np.shares_memory(first, second)


def test_several_outputs_come_as_a_tuple_in_order():
    uops = [*PROGRAM["uops"], {"id": "n", "uop": "NEG", "src": ["x"]}]
    p, n = tinyc.compile({"uops": uops, "outputs": ["y", "n"]})(X, W)
    np.testing.assert_array_equal(p, Y)
    np.testing.assert_array_equal(n, -X)


def test_arrays_with_dlpack_are_inputs():
    class Foreign:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    for target in ("cpu", "reference"):
        np.testing.assert_array_equal(tinyc.compile(PROGRAM, target=target)(Foreign(X), Foreign(W)), Y)


@pytest.mark.parametrize("target", ["cpu", "reference"])
def test_wrong_inputs_are_refused(target):
    model = tinyc.compile(PROGRAM, target=target)
    for inputs in ({"X": X}, {"X": X, "W": W, "Z": X}, {"X": X, "W": W.astype(np.float64)}, {"X": X, "W": [1, 2]}):
        with pytest.raises(TinycError) as caught:
            model.run(**inputs)
        assert caught.value.name == "InputMismatch"
    with pytest.raises(TinycError, match="takes 2 inputs"):
        model(X)


def test_every_layer_has_a_text_and_a_file(tmp_path):
    model = tinyc.compile(PROGRAM, dump=tmp_path)
    assert [path.name for path in sorted(tmp_path.iterdir())] == [
        "00_tiny.mlir",
        "01_indexbook.mlir",
        "02_poly_view.mlir",
        "03_region.mlir",
        "04_exec.mlir",
        "05_loops.mlir",
        "06_llvm.ll",
    ]
    for name, path in zip(NAMES, sorted(tmp_path.iterdir()), strict=True):
        assert path.read_text() == model.text(name)
    assert "define void @kernel_main" in model.text("llvm")


def test_every_layer_of_ir_parses_back():
    model = tinyc.compile(PROGRAM)
    for name in NAMES[:-1]:
        again = text.parse(model.text(name))
        assert again.operation.get_asm(assume_verified=True).rstrip() == model.text(name).rstrip(), name


def test_layers_that_there_are_not():
    model = tinyc.compile(tinyc.compile(PROGRAM).text("region"), target="reference")
    for name, message in (("ptx", "there is no layer 'ptx'"), ("tiny", "was read at layer 'region'")):
        with pytest.raises(TinycError, match=message) as caught:
            model.text(name)
        assert caught.value.name == "UnknownLayer"


def test_remarks_of_the_compilation_are_kept():
    uops = [dict(each) for each in PROGRAM["uops"]]
    uops[1] = {"id": "w", "uop": "INPUT", "arg": {"tensor_id": "W", "dtype": "fp16", "shape": [1, "K"]}}
    codes = {remark.code for remark in tinyc.compile({"uops": uops}).remarks}
    assert {"broadcast-inserted", "operand-widened"} <= codes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "sim"}, "no target 'sim' yet; use 'cpu' or 'reference'"),
        ({"target": "cuda"}, "no target 'cuda' yet"),
        ({"target": "tpu"}, "there is no target 'tpu'"),
        ({"arch": "sm_90a"}, "target 'cpu' takes no arch"),
        ({"target": "reference", "plan": {}}, "target 'reference' takes no plan"),
    ],
)
def test_targets_that_there_are_not(options, message):
    error = refused(PROGRAM, **options)
    assert error.name == "UnsupportedTarget"
    assert message in error.message


@pytest.mark.parametrize("size", [-1, 2**63, 1.5, "3", True])
def test_a_size_is_a_non_negative_integer(size):
    assert refused(PROGRAM, bind={"M": size}).name == "InvalidExtent"


def test_a_bind_of_an_unknown_symbol_is_refused():
    for source in (PROGRAM, tinyc.compile(PROGRAM).text("tiny")):
        assert refused(source, bind={"Q": 3}).name == "UnboundSymbol"


def test_a_bind_that_breaks_an_assumption_is_refused():
    uops = [PROGRAM["uops"][0], {"id": "y", "uop": "SHRINK", "src": ["x"], "arg": {"lo": [2, 0], "hi": ["M", "K"]}}]
    source = tinyc.compile({"uops": uops}).text("tiny")
    assert "tiny.assume" in source
    assert "tiny.assume" not in tinyc.compile(source, bind={"M": 2}).text("tiny")
    assert refused(source, bind={"M": 1}).name == "AssumptionViolated"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("/does/not/exist.json", "UnreadableFile"),
        ("nul\0byte", "UnreadableFile"),
        (17, "UnreadableFile"),
        ("{", "InvalidJson"),
        ("module {", "InvalidIr"),
        ("module {}", "InvalidIr"),
        ("module { func.func private @main() }", "InvalidIr"),
        ('module { "gpu.barrier"() : () -> () }', "InvalidIr"),
    ],
)
def test_what_is_no_program(source, name):
    assert refused(source).name == name


def test_the_functions_of_specification_000():
    model = tinyc.model_init(PROGRAM, bind={"M": 2})
    np.testing.assert_array_equal(tinyc.model_run(model, {"X": X, "W": W})["y"], Y)
    tinyc.model_free(model)
    with pytest.raises(TinycError, match="has been freed") as caught:
        model(X, W)
    assert caught.value.name == "ModelFreed"


def test_a_call_that_does_not_fit_is_refused():
    assert refused(PROGRAM, dump=5).name == "UnreadableFile"
    model = tinyc.compile(PROGRAM, target="reference")
    for inputs in ({1: X}, [X, W]):
        with pytest.raises(TinycError, match="no mapping from names to arrays") as caught:
            tinyc.model_run(model, inputs)
        assert caught.value.name == "InputMismatch"


def test_importing_tinyc_loads_neither_mlir_nor_numpy():
    code = "import sys, tinyc; print([m for m in ('numpy', 'tinyc.mlir', 'rich', 'llvmlite') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
