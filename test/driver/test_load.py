"""Models that are saved and loaded: the same bits without the compiler, and what is no such model is refused."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import tinyc
from programs.example_bindings import BIND, EXAMPLES
from runtime.fake_driver import FakeDriver
from tinyc import TinycError
from tinyc.driver.array_files import read_arrays, write_arrays
from tinyc.executors.random_inputs import random_inputs
from tinyc.importers.files import replace_file
from tinyc.runtime import cpu_features, cuda, cuda_driver
from tinyc.runtime.artifact import read_artifact, write_artifact
from tinyc.runtime.container import container_chunks, read_container

ROOT = Path(__file__).parents[2]
GEMM = EXAMPLES / "gemm_bias_relu.json"
MODELS = [(example, target) for example in BIND for target in ("cpu", "sim")]


def refused(call, *arguments, **options):
    with pytest.raises(TinycError) as caught:
        call(*arguments, **options)
    return caught.value


# --- without the compiler ---------------------------------------------------------------------------------------------

#: Runs every model in a folder on its inputs, where nothing of the compiler can be imported.
WITHOUT = """
import importlib.abc, pathlib, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numba_cuda_mlir", "mlir", "llvmlite", "islpy", "highspy"):
            raise ImportError(f"{name} is not installed")

sys.meta_path.insert(0, Absent())
import tinyc
from tinyc.driver.array_files import read_arrays, write_arrays

for path in sorted(pathlib.Path(sys.argv[1]).glob("*.tinyc")):
    model = tinyc.load(path)
    held = read_arrays(path.with_suffix(".npz"))
    inputs = {each.name: held[each.name].view(each.type.element.dtype) for each in model.signature.inputs}
    write_arrays(path.with_suffix(".out.npz"), model.run_named(inputs))
    print(repr(model), len(model.reports))
for call in (lambda: tinyc.compile("{}"), lambda: tinyc.pipeline):
    try:
        call()
    except ImportError as error:
        print(error)
"""


@pytest.fixture(scope="module")
def models():
    return {
        (example, target): tinyc.compile(EXAMPLES / f"{example}.json", target, bind=BIND[example])
        for example, target in MODELS
    }


def test_every_example_gives_the_same_bits_in_a_process_without_mlir_llvm_and_islpy(models, tmp_path):
    expected = {}
    for (example, target), model in models.items():
        inputs = random_inputs(model.lowering.module("tiny"), 0)
        model.save(tmp_path / f"{example}_{target}.tinyc")
        write_arrays(tmp_path / f"{example}_{target}.npz", inputs)
        expected[f"{example}_{target}"] = model.run_named(inputs)
    command = [sys.executable, "-c", WITHOUT, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stderr == ""
    said = done.stdout.splitlines()
    assert said[len(models) :] == ["numba_cuda_mlir is not installed"] * 2
    shown = {f"{example}_{target}": f"{model!r} {len(model.reports)}" for (example, target), model in models.items()}
    assert said[: len(models)] == [shown[name] for name in sorted(shown)]
    for name, outputs in expected.items():
        found = read_arrays(tmp_path / f"{name}.out.npz")
        shown = [{k: (a.shape, a.tobytes()) for k, a in arrays.items()} for arrays in (found, outputs)]
        assert shown[0] == shown[1], name


def test_a_model_whose_sizes_come_from_the_inputs_is_loaded_with_them(tmp_path):
    tinyc.compile(GEMM).save(tmp_path / "m.tinyc")
    model = tinyc.load(tmp_path / "m.tinyc")
    for m, n, k in ((1, 1, 1), (7, 5, 3), (65, 129, 33)):
        x, w, bias = np.ones((m, k), np.float16), np.ones((k, n), np.float16), np.full(n, -1, np.float16)
        np.testing.assert_array_equal(model(x, w, bias), np.full((m, n), k - 1))


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_alternatives_for_sizes_are_saved(tmp_path, target):
    compiled = tinyc.compile(EXAMPLES / "softmax.json", target, sizes=[{"M": 3}])
    compiled.save(tmp_path / "m.tinyc")
    model, generator = tinyc.load(tmp_path / "m.tinyc"), np.random.default_rng(0)
    assert model.artifact().program.kernels[0].alternatives
    assert str(model.artifact()).startswith("2 kernels, 2 buffers, ")
    for rows in (3, 4):
        x = generator.standard_normal((rows, 9)).astype(np.float32)
        assert model(x).tobytes() == compiled(x).tobytes()


# --- the model --------------------------------------------------------------------------------------------------------


@pytest.fixture
def loaded(tmp_path):
    compiled = tinyc.compile(GEMM)
    assert compiled.save(tmp_path / "m.tinyc") == (tmp_path / "m.tinyc").stat().st_size
    return compiled, tinyc.load(str(tmp_path / "m.tinyc"))


def test_a_loaded_model_has_the_interface_of_the_compiled_one(loaded):
    compiled, model = loaded
    assert isinstance(model, tinyc.Model)
    assert (model.inputs, model.outputs, model.signature) == (compiled.inputs, compiled.outputs, compiled.signature)
    assert (repr(model), model.target, model.layers, model.reports) == (repr(compiled), "cpu", (), ())
    x, w, bias = np.ones((3, 4), np.float16), np.ones((4, 2), np.float16), np.array([0.5, -8], np.float16)
    expected, out = [[4.5, 0]] * 3, np.empty((3, 2), np.float16)
    assert model(x, W=w, bias=bias, out=out) is out
    assert out.tolist() == model.run(X=x, W=w, bias=bias)["Y"].tolist() == expected
    assert tinyc.model_run(model, {"X": x, "W": w, "bias": bias})["Y"].tolist() == expected
    assert refused(model, x).name == "InputMismatch"
    model.free()
    assert refused(model, x, w, bias).message == "the model has been freed; compile or load it again"
    assert refused(model.save, "m.tinyc").name == "ModelFreed"
    assert ", freed: (" in repr(model)


def test_a_loaded_model_has_no_text(loaded):
    error = refused(loaded[1].text, "llvm")
    assert error.name == "UnknownLayer"
    assert error.message == "a model that was loaded has code, and no layer 'llvm'; compile its program for that"


def test_random_numbers_and_errors_are_those_of_the_compiled_model(tmp_path):
    nodes = [
        {"id": "i", "uop": "INPUT", "arg": {"tensor_id": "i", "dtype": "i64", "shape": ["N"]}},
        {"id": "t", "uop": "RAND", "arg": {"shape": [4], "dtype": "fp32", "seed": 3, "distribution": "uniform"}},
        {"id": "y", "uop": "GATHER", "src": ["t", "i"], "arg": {"axis": 0}},
    ]
    compiled = tinyc.compile({"uops": nodes})
    compiled.save(tmp_path / "m.tinyc")
    model, index = tinyc.load(tmp_path / "m.tinyc"), np.arange(4)
    for seed in (None, 5, 5):
        np.testing.assert_array_equal(model(index, seed=seed), compiled(index, seed=seed))
    error, expected = (refused(each, index + 1) for each in (model, compiled))
    assert (error.name, str(error)) == ("IndexOutOfRange", str(expected))


def test_a_model_for_a_gpu_goes_to_the_driver(models, tmp_path, monkeypatch):
    monkeypatch.setattr(cuda, "find_ptxas", lambda: None)
    path, compiled = tmp_path / "m.tinyc", tinyc.compile(EXAMPLES / "softmax.json", "cuda", bind=BIND["softmax"])
    compiled.save(path)
    driver = FakeDriver({compiled.artifact().program.kernels[0].symbol: (2, lambda *_: None)})
    monkeypatch.setattr(cuda_driver, "_imported", lambda: driver)
    model = tinyc.load(path)
    assert repr(model) == repr(compiled)
    model(np.ones((7, 5), np.float32))
    names = [call[0] for call in driver.calls]
    assert "cuLaunchKernel" in names
    model.free()
    assert model.target == "cuda"


# --- the file ---------------------------------------------------------------------------------------------------------


def test_the_same_model_gives_the_same_file(models, tmp_path):
    for (example, target), model in models.items():
        again = tinyc.compile(EXAMPLES / f"{example}.json", target, bind=BIND[example])
        files = [tmp_path / name for name in ("one", "two", "three")]
        model.save(files[0])
        again.save(files[1])
        tinyc.load(files[0]).save(files[2])
        assert len({file.read_bytes() for file in files}) == 1, (example, target)


def test_a_file_does_not_tell_where_its_program_lay(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / GEMM.name).write_bytes(GEMM.read_bytes())
        tinyc.compile(tmp_path / folder / GEMM.name).save(tmp_path / folder / "m.tinyc")
    assert (tmp_path / "one" / "m.tinyc").read_bytes() == (tmp_path / "two" / "m.tinyc").read_bytes()


def test_the_manifest_says_what_the_file_is_for(models, tmp_path):
    models["softmax", "cpu"].save(tmp_path / "cpu", cpu="x86-64-v2")
    models["softmax", "sim"].save(tmp_path / "sim")
    cpu, sim = (read_container(tmp_path / name)[0] for name in ("cpu", "sim"))
    assert (cpu["tinyc"], cpu["target"], cpu["arch"]) == (tinyc.__version__, "cpu", "x86-64")
    assert (cpu["cpu"], "sse4_2" in cpu["flags"], "avx" in cpu["flags"]) == ("x86-64-v2", True, False)
    assert (sim["target"], sim["arch"], sim["cpu"], sim["flags"]) == ("sim", "sm_80", "", [])


def test_code_for_a_level_gives_the_numbers_of_the_reference(tmp_path):
    model = tinyc.compile(EXAMPLES / "softmax.json")
    x = np.random.default_rng(0).standard_normal((5, 70)).astype(np.float32)
    for cpu in ("x86-64", "x86-64-v2", "x86-64-v3"):
        model.save(tmp_path / cpu, cpu=cpu)
        np.testing.assert_allclose(tinyc.load(tmp_path / cpu)(x), model(x), rtol=1e-5)


def test_arrays_are_kept_aligned_mapped_and_read_only(loaded, tmp_path):
    generator = np.random.default_rng(0)
    arrays = {
        "weights": generator.standard_normal((3, 5)).astype(ml_dtypes.bfloat16),
        "ids": np.arange(7),
        "none": np.empty((0, 4), np.float32),
        "one": np.float64(3).reshape(()),
        "flags": np.array([True, False]),
        "turned": generator.standard_normal((4, 3)).T,
        "bytes": np.arange(9, dtype=np.uint8),
    }
    artifact = replace(loaded[0].artifact(), arrays=arrays)
    size = write_artifact(tmp_path / "w.tinyc", artifact)
    found = read_artifact(tmp_path / "w.tinyc")
    assert size == (tmp_path / "w.tinyc").stat().st_size
    assert list(found.arrays) == list(arrays)
    for name, array in arrays.items():
        assert (found.arrays[name].dtype, found.arrays[name].shape) == (array.dtype, array.shape)
        assert found.arrays[name].tobytes() == array.tobytes()
        assert not found.arrays[name].flags.writeable
        assert found.arrays[name].ctypes.data % 64 == 0 or not array.size
    assert replace(found, arrays={}, program=artifact.program) == replace(artifact, arrays={})
    assert str(found).endswith(f", 7 arrays of {sum(a.nbytes for a in arrays.values())} bytes")


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_what_is_no_model_is_refused_with_its_file(tmp_path):
    path = tmp_path / "m.tinyc"
    error = refused(tinyc.load, path)
    assert (error.name, error.where.file) == ("UnreadableFile", str(path))
    path.write_bytes(GEMM.read_bytes())
    error = refused(tinyc.load, path)
    assert (error.name, error.where.file) == ("InvalidModel", str(path))
    assert error.message.startswith("this is no tinyc model: it begins with b'// GEMM '")
    assert refused(tinyc.load, 5).message == "'path' is 5, not a file; give a path"
    assert refused(tinyc.load, tmp_path).name == "UnreadableFile"


def test_a_damaged_model_is_refused_and_nothing_of_it_is_run(loaded, tmp_path, monkeypatch):
    path = tmp_path / "m.tinyc"
    whole = bytearray(path.read_bytes())
    monkeypatch.setattr(json, "loads", lambda _: pytest.fail("it was read"))
    generator = np.random.default_rng(1)
    for byte, bit in zip(generator.integers(0, len(whole), 200), generator.integers(0, 8, 200), strict=True):
        whole[byte] ^= 1 << bit
        path.write_bytes(whole)
        assert refused(tinyc.load, path).name == "InvalidModel"
        whole[byte] ^= 1 << bit
    for end in range(0, len(whole), 64):
        path.write_bytes(whole[:end])
        assert refused(tinyc.load, path).name == "InvalidModel"


def rewritten(path, program=None, **changes):
    """Write the file again, with changes of its manifest, and of its program by a function."""
    manifest, sections = read_container(path)
    kept = {name: bytes(data) for name, data in sections.items()}
    if program is not None:
        data = json.loads(kept["program"])
        kept["program"] = (program(data) or json.dumps(data)).encode()
    kept["code"] = changes.pop("code", kept["code"])
    whole = {name: value for name, value in {**manifest, **changes}.items() if value is not None}
    replace_file(path, container_chunks(whole, {name: memoryview(data) for name, data in kept.items()}))


def deepened(_):
    return "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"program": lambda p: p.update(streams=3)}, "program, a Program, has the field 'streams', which is not known"),
        ({"program": lambda p: p.pop("arena_bytes") and None}, "program, a Program, lacks the field 'arena_bytes'"),
        ({"target": "tpu"}, "its target is 'tpu'"),
        ({"target": None}, "'target'"),
        ({"flags": "avx"}, "'flags' of the manifest is 'avx'"),
        ({"arrays": [{"name": "w", "element": "f32", "shape": [4]}]}, "'array.w'"),
        ({"code": b"\x7fELF"}, "the machine code does not load: "),
        ({"target": "sim", "code": b"\xff"}, "can't decode byte 0xff"),
        ({"program": lambda p: p["inputs"].append("z")}, "it has 4 inputs, and 3 buffers for them"),
        ({"program": lambda p: p["buffers"][3].update(name="b")}, "works on 'output_0', which is no buffer"),
        ({"program": deepened}, "maximum recursion depth exceeded"),
    ],
)
def test_a_model_that_was_written_otherwise_is_refused(loaded, tmp_path, changes, message):
    rewritten(tmp_path / "m.tinyc", **changes)
    error = refused(tinyc.load, tmp_path / "m.tinyc")
    assert (error.name, error.where.file) == ("InvalidModel", str(tmp_path / "m.tinyc"))
    assert message in error.message
    assert error.message.endswith(("compile and save it again", "compile the program again"))


def test_a_model_of_another_tinyc_says_which(loaded, tmp_path):
    rewritten(tmp_path / "m.tinyc", program=lambda p: p.update(streams=3), tinyc="7.0")
    said = refused(tinyc.load, tmp_path / "m.tinyc").message
    assert said.endswith(f"; tinyc 7.0 made it, and this is {tinyc.__version__}: compile and save it again")


def test_a_model_for_another_machine_is_refused(loaded, tmp_path, monkeypatch):
    path = tmp_path / "m.tinyc"
    rewritten(path, flags=["amx_tile", "zzz"])
    error = refused(tinyc.load, path)
    assert (error.name, error.where.file) == ("UnsupportedTarget", str(path))
    assert "needs a CPU with" in error.message
    assert "zzz" in error.message
    monkeypatch.setattr(cpu_features.platform, "machine", lambda: "riscv64")
    assert "and this machine is riscv64" in refused(tinyc.load, path).message


def test_what_cannot_be_saved_is_refused(models, loaded, tmp_path):
    path = tmp_path / "other.tinyc"
    for model, options, name, message in (
        (tinyc.compile(GEMM, "reference"), {}, "UnsupportedTarget", "target 'reference' runs the program itself"),
        (models["softmax", "sim"], {"cpu": "x86-64"}, "UnsupportedTarget", "its code runs on a GPU; leave it out"),
        (loaded[1], {"cpu": "x86-64"}, "UnsupportedTarget", "the model was loaded, and its code is as it is"),
        (loaded[0], {"cpu": "pentium"}, "UnsupportedTarget", "'cpu' is 'pentium'; choose 'host', 'x86-64', "),
    ):
        error = refused(model.save, path, **options)
        assert error.name == name
        assert message in error.message
    assert refused(loaded[0].save, tmp_path / "no" / "m").name == "UnreadableFile"
    assert refused(loaded[0].save, tmp_path).name == "UnreadableFile"
    assert refused(loaded[0].save, None).message == "'path' is None, not a file; give a path"
    assert os.listdir(tmp_path) == ["m.tinyc"]


def test_a_model_is_no_program(loaded, tmp_path):
    error = refused(tinyc.compile, tmp_path / "m.tinyc")
    assert (error.name, error.where.file) == ("UnreadableFile", str(tmp_path / "m.tinyc"))
    said = "this is a compiled model; run it by tinyc run, load it by tinyc.load, or give its program"
    assert error.message == said


#: y = x + w · c, with a weight and a constant.
SCALED = {
    "uops": [
        {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": [3, 4]}},
        {"id": "w", "uop": "INPUT", "arg": {"tensor_id": "w", "dtype": "fp32", "shape": [4], "weight": True}},
        {"id": "c", "uop": "CONST", "arg": {"values": [1, 2, 3, 4], "dtype": "fp32"}},
        {"id": "v", "uop": "MUL", "src": ["w", "c"]},
        {"id": "e", "uop": "EXPAND", "src": ["v"], "arg": {"result_shape": [3, 4]}},
        {"id": "y", "uop": "ADD", "src": ["x", "e"]},
    ]
}


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (None, "constant_0 has no array"),
        (np.zeros(4, np.int8), "constant_0 is f32 [4] of 16 bytes, and its array int8 [4]"),
        (np.zeros(5, np.float32), "constant_0 is f32 [4] of 16 bytes, and its array float32 [5]"),
        (np.zeros((2, 2), np.float32), "constant_0 is f32 [4] of 16 bytes, and its array float32 [2, 2]"),
    ],
)
def test_arrays_that_are_not_the_programs_are_refused(tmp_path, array, message):
    artifact = tinyc.compile(SCALED, fusion="none").artifact()
    write_artifact(tmp_path / "m.tinyc", replace(artifact, arrays={} if array is None else {"constant_0": array}))
    error = refused(tinyc.load, tmp_path / "m.tinyc")
    assert (error.name, error.where.file) == ("InvalidModel", str(tmp_path / "m.tinyc"))
    assert message in error.message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"arrays": [{"name": "constant_0", "element": "f32", "shape": [2**70]}]}, "and its section has 16 bytes"),
        ({"program": lambda p: p.update(pool_bytes=300)}, "prepared_0 is at 512, 16 bytes long, in 300 bytes"),
    ],
)
def test_a_pool_that_does_not_hold_its_arrays_is_refused(tmp_path, changes, message):
    tinyc.compile(SCALED, fusion="none").save(tmp_path / "m.tinyc")
    rewritten(tmp_path / "m.tinyc", **changes)
    assert message in refused(tinyc.load, tmp_path / "m.tinyc").message


@pytest.mark.parametrize("change", ["cut off", "written to"])
@pytest.mark.parametrize("use", ["run", "save"])
def test_a_model_whose_file_has_changed_since_is_refused(tmp_path, change, use):
    path, (x, _, c, _, _, y) = tmp_path / "m.tinyc", SCALED["uops"]
    expanded = {"id": "e", "uop": "EXPAND", "src": ["c"], "arg": {"result_shape": [3, 4]}}
    tinyc.compile({"uops": [x, c, expanded, y]}).save(path)
    model = tinyc.load(path)
    if change == "cut off":
        os.truncate(path, 100)
    else:
        os.utime(path, ns=(0, 1))
    calls = {"run": lambda: model.run(x=np.zeros((3, 4), np.float32)), "save": lambda: model.save(tmp_path / "other")}
    error = refused(calls[use])
    assert (error.name, error.where.file) == ("UnreadableFile", str(path))


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_weights_and_constants_are_saved_and_may_be_set_anew(target, tmp_path):
    model, x = tinyc.compile(SCALED, target=target, fusion="none"), np.zeros((3, 4), np.float32)
    model.save(tmp_path / "unset.tinyc")
    with pytest.raises(TinycError, match="the weights 'w' have not been set"):
        tinyc.load(tmp_path / "unset.tinyc")(x)
    model.set_weights({"w": np.full(4, 2, np.float32)})
    model.save(tmp_path / "set.tinyc")
    loaded = tinyc.load(tmp_path / "set.tinyc")
    assert loaded.weights == ("w",)
    np.testing.assert_array_equal(loaded(x)[0], [2, 4, 6, 8])
    loaded.set_weights({"w": np.ones(4, np.float32)})
    np.testing.assert_array_equal(loaded(x)[0], [1, 2, 3, 4])
    np.testing.assert_array_equal(model(x)[0], [2, 4, 6, 8])
