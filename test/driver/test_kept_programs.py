"""Compiled programs by the cache: a second start gives the same without MLIR, and never what another program gives."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tinyc
from cache.damage import damaged_at
from tinyc.diagnostics import TinycError, collect_remarks
from tinyc.executors.random_arrays import random_arrays

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
SOFTMAX = EXAMPLES / "softmax.json"
SIZES = {"M": 4, "N": 6}
X = np.arange(24, dtype=np.float32).reshape(4, 6)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("TINYC_CACHE", str(folder))
    return folder


def kinds(cache):
    return sorted(path.name.partition("-")[0] for path in cache.glob("*.entry"))


def program(op):
    """Return a program of one element-wise op, as a text."""
    x = {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": [3]}}
    return json.dumps({"uops": [x, {"id": "y", "uop": op, "src": ["x"]}]}, indent=0)


@pytest.mark.parametrize("target", ["cpu", "sim", "cuda"])
def test_what_was_compiled_before_is_the_same_model(target, cache):
    first, second = (tinyc.compile(SOFTMAX, target, bind=SIZES) for _ in range(2))
    assert (first.from_cache, second.from_cache) == (False, True)
    assert (second.boundary, second.signature, second.layers) == (first.boundary, first.signature, first.layers)
    assert [each.to_json() for each in second.remarks] == [each.to_json() for each in first.remarks]
    assert repr(second) == repr(first)
    assert second.artifact().program == first.artifact().program
    if target != "cuda":
        inputs = random_arrays(second.boundary, 3)
        for name, array in first.run_named(inputs).items():
            np.testing.assert_array_equal(second.run_named(inputs)[name], array)


def test_its_layers_are_made_anew_where_they_are_asked_for():
    first, second = (tinyc.compile(SOFTMAX, bind=SIZES) for _ in range(2))
    assert second.from_cache
    assert second.text("loops") == first.text("loops")
    assert second.artifact("x86-64-v2").cpu == "x86-64-v2"


def test_a_program_that_has_changed_since_has_no_layers(tmp_path):
    path = tmp_path / "p.json"
    shutil.copy(SOFTMAX, path)
    tinyc.compile(path, bind=SIZES)
    model = tinyc.compile(path, bind=SIZES)
    path.write_text(path.read_text() + "\n")
    with pytest.raises(TinycError, match="has changed since it was compiled"):
        model.text("loops")
    assert not tinyc.compile(path, bind=SIZES).from_cache


@pytest.mark.parametrize(
    "options",
    [
        {"bind": {"M": 4, "N": 7}},
        {"bind": {}},
        {"bind": SIZES, "fusion": "none"},
        {"bind": SIZES, "target": "sim"},
        {"bind": {"M": 4}, "sizes": [{"N": 1}]},
        {"bind": SIZES, "weights": ["X"]},
    ],
)
def test_what_is_asked_for_is_part_of_the_key(options):
    tinyc.compile(SOFTMAX, bind=SIZES)
    assert not tinyc.compile(SOFTMAX, **options).from_cache
    assert tinyc.compile(SOFTMAX, **options).from_cache
    assert tinyc.compile(SOFTMAX, bind=SIZES).from_cache


def test_a_gpu_program_is_by_its_architecture_and_its_plan():
    gemm, bind = EXAMPLES / "gemm_bias_relu.json", {"M": 16, "N": 16, "K": 16}
    given = [{"arch": "sm_80"}, {"arch": "sm_90a"}, {"arch": "sm_80", "plan": "set tile = [32, 32, 32];"}]
    for _ in range(2):
        models = [tinyc.compile(gemm, "cuda", bind=bind, **each) for each in given]
    assert all(each.from_cache for each in models)
    assert len({each.artifact().code for each in models}) == 3


def test_the_number_of_threads_makes_no_other_program():
    tinyc.compile(SOFTMAX, bind=SIZES, threads=1)
    assert tinyc.compile(SOFTMAX, bind=SIZES, threads=2).from_cache


def test_weights_are_set_on_what_is_taken():
    for _ in range(2):
        model = tinyc.compile(SOFTMAX, bind=SIZES, weights={"X": X})
        assert model.missing_weights == ()
        np.testing.assert_allclose(model.run()["y"].sum(1), 1, rtol=1e-6)
    assert model.from_cache
    assert tinyc.compile(SOFTMAX, bind=SIZES, weights=["X"]).missing_weights == ("X",)


def test_texts_are_kept_by_their_content():
    values = [tinyc.compile(program(op)).run(x=np.array([4.0, 9.0, 16.0], np.float32))["y"] for op in ("NEG", "SQRT")]
    again = tinyc.compile(program("SQRT"))
    assert again.from_cache
    assert values[0].tolist() == [-4, -9, -16]
    assert again.run(x=np.array([4.0, 9.0, 16.0], np.float32))["y"].tolist() == values[1].tolist() == [2, 3, 4]


def test_the_same_kernels_are_compiled_once(cache):
    tinyc.compile(program("NEG"))
    assert kinds(cache) == ["object", "object", "program"], "the kernel, and what calls it"
    tinyc.compile(program("NEG") + " ")
    assert kinds(cache) == ["object", "object", "program", "program"]


def test_nothing_is_kept_of_what_fails_or_is_dumped_or_is_the_reference(cache, tmp_path):
    with pytest.raises(TinycError):
        tinyc.compile("{}")
    tinyc.compile(SOFTMAX, "reference")
    tinyc.compile(SOFTMAX, "sim", dump=tmp_path / "dump")
    assert kinds(cache) == []


def test_nothing_is_kept_where_the_environment_says_so(cache, monkeypatch):
    monkeypatch.setenv("TINYC_CACHE", "")
    assert not any(tinyc.compile(SOFTMAX, bind=SIZES).from_cache for _ in range(2))
    assert not cache.exists()


def test_a_damaged_entry_is_compiled_anew(cache):
    tinyc.compile(SOFTMAX, bind=SIZES)
    for path in cache.glob("*.entry"):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    model = tinyc.compile(SOFTMAX, bind=SIZES)
    assert not model.from_cache
    told = [each.code for each in model.remarks if each.code.startswith("cache")]
    assert told == ["cache-entry-dropped"] * 3
    np.testing.assert_allclose(model.run(X=X)["y"].sum(1), 1, rtol=1e-6)
    assert tinyc.compile(SOFTMAX, bind=SIZES).from_cache


@pytest.mark.long
@pytest.mark.parametrize("way", ["cut off", "one bit"])
def test_a_program_whose_entry_is_damaged_at_any_byte_is_compiled_anew(cache, way):
    tinyc.compile(program("NEG"))
    (path,) = cache.glob("program-*.entry")
    whole = path.read_bytes()
    for byte in range(len(whole)):
        path.write_bytes(damaged_at(whole, byte, way if way == "cut off" else byte % 8))
        model = tinyc.compile(program("NEG"))
        told = [each.code for each in model.remarks if each.code.startswith("cache")]
        assert (model.from_cache, told, path.read_bytes() == whole) == (False, ["cache-entry-dropped"], True), byte


def onnx_of_weights(folder, values):
    """Write a model that adds weights, which lie in a file beside it, to x."""
    onnx = pytest.importorskip("onnx")
    path, helper, kind = folder / "m.onnx", onnx.helper, onnx.TensorProto.FLOAT
    x, y = (helper.make_tensor_value_info(name, kind, [3]) for name in "xy")
    weight = onnx.numpy_helper.from_array(np.array(values, np.float32), "w")
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", [x], [y], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    onnx.save(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    return path


def replaced(folder, values):
    (folder / "new").write_bytes(np.array(values, np.float32).tobytes())
    (folder / "new").rename(folder / "w.bin")


ZEROS = np.zeros(3, np.float32)


def test_weights_in_another_file_are_part_of_it(tmp_path):
    path = onnx_of_weights(tmp_path, [1, 2, 3])
    for _ in range(2):
        found = tinyc.compile(path)
    assert (found.from_cache, found.run(x=ZEROS)["y"].tolist()) == (True, [1, 2, 3])
    replaced(tmp_path, [2, 3, 4])
    found = tinyc.compile(path)
    assert (found.from_cache, found.run(x=ZEROS)["y"].tolist()) == (False, [2, 3, 4])
    (tmp_path / "w.bin").unlink()
    with pytest.raises(TinycError, match=r"w\.bin"):
        tinyc.compile(path)


def test_weights_that_change_while_a_program_is_compiled_keep_nothing(tmp_path, monkeypatch, cache):
    from tinyc.driver import compilation

    path, compiled = onnx_of_weights(tmp_path, [1, 2, 3]), compilation.compiled

    def slowly(*given):
        model = compiled(*given)
        replaced(tmp_path, [7, 8, 9])
        return model

    monkeypatch.setattr(compilation, "compiled", slowly)
    assert tinyc.compile(path).run(x=ZEROS)["y"].tolist() == [1, 2, 3]
    monkeypatch.undo()
    monkeypatch.setenv("TINYC_CACHE", str(cache))
    again = tinyc.compile(path)
    assert (again.from_cache, again.run(x=ZEROS)["y"].tolist()) == (False, [7, 8, 9])


def test_a_model_is_not_lowered_again_from_other_weights(tmp_path):
    path = onnx_of_weights(tmp_path, [1, 2, 3])
    tinyc.compile(path)
    model = tinyc.compile(path)
    replaced(tmp_path, [7, 8, 9])
    assert model.from_cache
    assert model.run(x=ZEROS)["y"].tolist() == [1, 2, 3]
    for work in (lambda: model.save(tmp_path / "m.tinyc", cpu="x86-64-v2"), model.add_self_test):
        with pytest.raises(TinycError, match="has changed since it was compiled"):
            work()


def test_fixed_inputs_are_part_of_the_key_whatever_they_are(tmp_path):
    path, long = onnx_of_weights(tmp_path, [0, 0, 0]), np.zeros(3, np.float32)
    compiled = [tinyc.compile(path, constants={"x": value}) for value in (long, [0, 5, 0], [np.float64(0), 0, 6])]
    long[:] = 3  # the caller's own, which is no part of what was compiled
    assert [each.run()["y"].tolist() for each in compiled] == [[0, 0, 0], [0, 5, 0], [0, 0, 6]]
    assert tinyc.compile(path, constants={"x": np.array([0.0, 5.0, 0.0])}).run()["y"].tolist() == [0, 5, 0]
    assert tinyc.compile(path, constants={"x": [0, 5, 0]}).from_cache


def test_symbols_that_are_no_names_are_refused_as_ever():
    with pytest.raises(TinycError):
        tinyc.compile(SOFTMAX, bind={"M": 4, 1: 2})


def test_a_profile_needs_no_source(tmp_path):
    path = tmp_path / "p.json"
    shutil.copy(SOFTMAX, path)
    for _ in range(2):
        model = tinyc.compile(path, bind=SIZES)
    with collect_remarks() as remarks:
        told = model.profile(X=X)
    assert (told.rows[0][5] != "", remarks) == (True, [])
    model = tinyc.compile(path, bind=SIZES)
    path.unlink()
    (row,) = model.profile(X=X).rows
    assert row[5] == ""
    assert row[9] > 0


def in_a_process(*arguments):
    command = [sys.executable, "-X", "importtime", "-m", "tinyc", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ))


def test_a_second_start_loads_neither_mlir_nor_llvm():
    arguments = ("run", SOFTMAX, "--bind", "M=4,N=6")
    first, second = in_a_process(*arguments), in_a_process(*arguments)
    for run, wanted in (first, True), (second, False):
        assert [name in run.stderr for name in ("numba_cuda_mlir", "llvmlite")] == [wanted] * 2
        assert wanted or "islpy" not in run.stderr
    shown = [re.sub("^(compile|run) .*$", "", run.stdout, flags=re.MULTILINE) for run in (first, second)]
    assert shown[0] == shown[1]
    assert "s, from the cache" in second.stdout


#: What a first result from the cache has no use of, and what takes long to import: tables of GPUs, plans, profiles and
#: comparisons, the layout of arenas, all of ELF, a type that the program does not have, and messages of errors; options
#: that are not given, equations that have been solved, arrays on a GPU, and what LLVM and gdb are told.
NOT_LOADED = (
    *("numba_cuda_mlir", "llvmlite", "islpy", "onnx", "ml_dtypes", "elftools", "rich", "difflib", "secrets"),
    *("ptxsim", "tinyc.target", "tinyc.plan", "tinyc.schemes", "tinyc.mlir", "tinyc.simulator"),
    *("tinyc.analysis.arena", "tinyc.driver.profile", "tinyc.driver.machine_peak", "tinyc.executors.compare"),
    *("tinyc.dialects", "tinyc.fusion", "tinyc.expr.equations", "tinyc.executors.philox", "tinyc.runtime.self_test"),
    *("tinyc.runtime.device_array", "tinyc.runtime.jit", "tinyc.runtime.gdb_symbols"),
)
FROM_THE_CACHE = """
import sys
import numpy, tinyc
model = tinyc.compile(sys.argv[1])
assert model.from_cache
model.run(X=numpy.ones((4, 6), "float32"))
print(*sys.modules)
"""


def test_a_second_start_loads_nothing_that_a_first_result_has_no_use_of():
    tinyc.compile(SOFTMAX)
    command = [sys.executable, "-c", FROM_THE_CACHE, str(SOFTMAX)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ))
    assert "tinyc.runtime.cpu" in run.stdout.split()
    assert {*NOT_LOADED} & {*run.stdout.split()} == set()


def test_the_command_lists_bounds_and_clears(capsys, cache):
    from tinyc.driver import cli

    def told(*arguments):
        assert cli.main(["cache", *arguments]) == 0
        return capsys.readouterr().out

    assert f"cache    {cache}: 0 entries, 0 bytes of at most 4294967296\n" == told()
    tinyc.compile(SOFTMAX, bind=SIZES)
    listed = told()
    assert f"{SOFTMAX}, compiled for cpu" in listed
    assert re.search(r"^kernel\.\w+, object code for ", listed, re.MULTILINE)
    assert "host, object code for " in listed
    assert "3 entries, " in listed
    assert f"cache    {cache}: 0 entries dropped; 3 entries" in told("--bound", "1G")
    assert f"cache    {cache}: 3 entries dropped; 0 entries" in told("--clear")
    assert not tinyc.compile(SOFTMAX, bind=SIZES).from_cache


def test_the_command_says_what_is_wrong(capsys, cache, monkeypatch):
    from tinyc.driver import cli

    cache.mkdir()
    cache.chmod(0o755)
    assert cli.main(["cache"]) == 1
    assert "chmod 700" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["cache", "--bound", "much"])
    assert "'much' is no number of bytes" in capsys.readouterr().err
    monkeypatch.setenv("TINYC_CACHE", "")
    assert cli.main(["cache"]) == 0
    assert capsys.readouterr().out == "cache    none: TINYC_CACHE is empty\n"
