"""`tinyc.compile` and `Model`: every kind of source, every way to run, and what is refused."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

import tinyc
from tinyc import text
from tinyc.diagnostics import TinycError
from tinyc.driver.listings import LISTINGS
from tinyc.driver.sources import read_module

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
    module = read_module(PROGRAM)
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
    module = read_module(PROGRAM)
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
    with pytest.raises(TinycError, match=r"input 'W' is missing; give an array of fp32 \[M, K\]"):
        model(X)


def test_every_layer_has_a_text_and_a_file(tmp_path):
    model = tinyc.compile(PROGRAM, dump=tmp_path)
    assert [path.name for path in sorted(tmp_path.iterdir())] == [
        "01_tiny.mlir",
        "02_indexbook.mlir",
        "03_poly_view.mlir",
        "04_region.mlir",
        "05_plan.mlir",
        "06_exec.mlir",
        "07_loops.mlir",
        "08_llvm.ll",
        "09_asm.s",
    ]
    for name, path in zip(LISTINGS["cpu"][1:], sorted(tmp_path.iterdir()), strict=True):
        assert path.read_text() == model.text(name)
    assert "define void @kernel_main" in model.text("llvm")


def test_every_layer_of_ir_parses_back():
    model = tinyc.compile(PROGRAM)
    for name in LISTINGS["cpu"][1:-2]:
        again = text.parse(model.text(name))
        assert text.print_ir(again).rstrip() == model.text(name).rstrip(), name
        assert text.print_ir(again, stock=True).rstrip() == model.lowering.text(name, stock=True).rstrip(), name


def test_the_lines_of_ptx_are_those_of_the_dumped_gpu_layer(tmp_path):
    ptx = tinyc.compile(PROGRAM, target="sim", line_info=tmp_path).text("ptx")
    (listing,) = tmp_path.iterdir()
    assert f'"{listing}"' in ptx.replace("\\", "")
    lines = listing.read_text().splitlines()
    named = {lines[int(number) - 1].strip() for number in re.findall(r"\.loc\s+1 (\d+)", ptx) if number != "0"}
    ops = {line.partition("(")[0] for line in named}
    assert ops == {"gpu.func @mul_reduce_sum", '"tgpu.reduce_rows"', "gpu.return"}
    assert ".loc" not in tinyc.compile(PROGRAM, target="sim").text("ptx")


def test_layers_that_there_are_not():
    model = tinyc.compile(tinyc.compile(PROGRAM).text("region"), target="reference")
    for name, message in (
        ("ptx", "there is no layer 'ptx'"),
        ("tiny", "was read at layer 'region' and has no layer 'tiny'; it has region"),
    ):
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
        (
            {"target": "sim", "arch": "sm_70"},
            "'arch' is 'sm_70', no GPU architecture; choose sm_80 or sm_90a",
        ),
        ({"target": "tpu"}, "'target' is 'tpu', no target"),
        ({"arch": "sm_90a"}, "target 'cpu' takes no 'arch'"),
        ({"target": "reference", "plan": {}}, "target 'reference' takes no 'plan'"),
        ({"line_info": "folder"}, "target 'cpu' takes no 'line_info'"),
        (
            {"target": "cuda", "arch": "sm_70"},
            "'arch' is 'sm_70', no GPU architecture; choose sm_80 or sm_90a",
        ),
    ],
)
def test_targets_that_there_are_not(options, message):
    error = refused(PROGRAM, **options)
    assert error.name == "UnsupportedTarget"
    assert message in error.message


ON_CUDA = ("tiny", "region", "plan", "gpu")


def test_a_program_is_compiled_for_a_gpu_where_there_is_none(monkeypatch):
    monkeypatch.setattr("tinyc.runtime.cuda_driver._BINDINGS", "tinyc.there_is_no_such_module")
    model = tinyc.compile(PROGRAM, target="cuda", arch="sm_90a")
    assert model.layers == ("tiny", "region", "plan", "gpu", "exec", "nvvm", "ptx")
    assert ".target sm_90a" in model.text("ptx")
    assert (model.inputs, model.outputs) == (("X", "W"), ("y",))
    with pytest.raises(TinycError, match="pip install") as caught:
        model(X, W)
    assert caught.value.name == "NoDriver"


def test_the_default_architecture_runs_on_all():
    assert ".target sm_80" in tinyc.compile(PROGRAM, target="cuda").text("ptx")


def test_every_layer_on_the_way_to_a_gpu_is_a_source():
    for arch in ("sm_80", "sm_90a"):
        model = tinyc.compile(PROGRAM, target="cuda", arch=arch)
        for layer in ON_CUDA:
            # a plan and a kernel say which architecture they are for
            asked = arch if layer in ("tiny", "region") else None
            again = tinyc.compile(model.text(layer), target="cuda", arch=asked)
            assert again.lowering.entry == layer
            assert again.text("ptx") == model.text("ptx"), layer


def test_the_files_of_a_gpu_program_are_in_walk_order(tmp_path):
    model = tinyc.compile(PROGRAM, target="cuda", dump=tmp_path)
    assert [path.name for path in sorted(tmp_path.iterdir())] == [
        "01_tiny.mlir",
        "02_indexbook.mlir",
        "03_poly_view.mlir",
        "04_region.mlir",
        "05_plan.mlir",
        "06_gpu.mlir",
        "07_exec.mlir",
        "08_nvvm.mlir",
        "09_ptx.ptx",
        "10_cu.cu",
    ]
    assert "__global__" in model.text("cu")


PLAN = {"scheme": "naive_2x2_per_thread", "tile": [32, 32, 16], "stages": 1}
MATMUL = {
    "uops": [
        {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "X", "dtype": "fp32", "shape": ["M", 1, "K"]}},
        {"id": "w", "uop": "INPUT", "arg": {"tensor_id": "W", "dtype": "fp32", "shape": [1, "N", "K"]}},
        {"id": "p", "uop": "MUL", "src": ["x", "w"]},
        {"id": "y", "uop": "REDUCE", "src": ["p"], "arg": {"op": "SUM", "axes": [2], "dtype": "fp32"}},
    ]
}


def test_a_plan_may_be_given_in_every_form(tmp_path):
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    dsl = 'set scheme="naive_2x2_per_thread"; set tile=[32, 32, 16]; set stages=1'
    forms = [PLAN, json.dumps(PLAN), dsl, tmp_path / "plan.json", str(tmp_path / "plan.json")]
    texts = {tinyc.compile(MATMUL, target="cuda", plan=plan).text("plan") for plan in forms}
    assert len(texts) == 1
    assert "tile = array<i64: 32, 32, 16>" in texts.pop()


def test_a_plan_that_is_given_takes_the_place_of_the_programs():
    planned = tinyc.compile(MATMUL, target="cuda").text("plan")
    assert "tile = array<i64: 32, 32, 16>" not in planned
    assert "tile = array<i64: 32, 32, 16>" in tinyc.compile(planned, target="cuda", plan=PLAN).text("plan")


def test_what_a_program_at_the_gpu_layer_does_not_take():
    gpu = tinyc.compile(MATMUL, target="cuda").text("gpu")
    for options, message in (
        ({"target": "cuda", "plan": PLAN}, "read at layer 'gpu', where its plans are realised"),
        ({"target": "cuda", "arch": "sm_90a"}, "the program's kernels are for sm_80 already"),
        ({"target": "cpu"}, "at layer 'gpu' on the way to 'sim' or 'cuda', and the target is 'cpu'"),
        ({"target": "reference"}, "on the way to 'sim' or 'cuda', and the target is 'reference'"),
    ):
        error = refused(gpu, **options)
        assert error.name == "UnsupportedTarget"
        assert message in error.message


def test_a_program_with_plans_runs_on_the_cpu():
    planned = tinyc.compile(PROGRAM, target="cuda").text("plan")
    np.testing.assert_array_equal(tinyc.compile(planned, target="cpu")(X, W), Y)


def test_what_is_wrong_with_a_plan_is_told_before_the_program_is_read():
    assert refused("/does/not/exist.json", target="cuda", plan='{"tile": 3}').name == "InvalidPlan"


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
        with pytest.raises(TinycError, match="not a mapping from names to arrays") as caught:
            tinyc.model_run(model, inputs)
        assert caught.value.name == "InputMismatch"


def test_importing_tinyc_loads_neither_mlir_nor_numpy():
    code = "import sys, tinyc; print([m for m in ('numpy', 'tinyc.mlir', 'rich', 'llvmlite') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
