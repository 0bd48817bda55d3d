"""Models for several architectures: code and launches of each in one file, and the GPU that is there decides."""

import json

import numpy as np
import pytest

import tinyc
from programs.example_bindings import EXAMPLES
from runtime.fake_driver import FakeDriver
from tinyc import TinycError
from tinyc.diagnostics import collect_remarks
from tinyc.runtime import cuda, cuda_driver
from tinyc.runtime.artifact import read_artifact
from tinyc.runtime.container import container_chunks, read_container
from tinyc.runtime.frozen_json import frozen_to_json

GEMM, SIZES = EXAMPLES / "gemm_bias_relu.json", {"M": 1024, "N": 1024, "K": 256}
BOTH = ("sm_80", "sm_90a")
#: What is fastest with this tile at these sizes is by threads on sm_80, and by TMA on sm_90a.
PLAN = {"scheme": "mma", "tile": [64, 32, 64]}
RANDOM = np.random.default_rng(0)
INPUTS = {
    name: RANDOM.standard_normal(shape).astype(np.float16)
    for name, shape in {"X": (1024, 256), "W": (256, 1024), "bias": (1024,)}.items()
}


def compiled(**options):
    return tinyc.compile(GEMM, "cuda", **{"arch": BOTH, "bind": SIZES, "plan": PLAN, **options})


@pytest.fixture(scope="module")
def model():
    return compiled()


@pytest.fixture(scope="module")
def file(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "m.tinyc"
    model.save(path)
    return path


def refused(call, *arguments, **options) -> TinycError:
    with pytest.raises(TinycError) as caught:
        call(*arguments, **options)
    return caught.value


def install(monkeypatch, capability, program):
    """Make a GPU of that capability the driver's; gives it, and the launches on it."""
    seen = []
    kernels = {
        each.symbol: (len(each.parameters), lambda _, grid, given: seen.append((tuple(grid), given)))
        for each in program.launches
    }
    driver = FakeDriver(kernels, capability=capability)
    monkeypatch.setattr(cuda_driver, "_imported", lambda: driver)
    monkeypatch.setattr(cuda, "find_ptxas", lambda: None)
    return driver, seen


# --- what is in it ----------------------------------------------------------------------------------------------------


def test_one_artifact_has_the_ptx_and_the_launches_of_each_by_age(model):
    for order in ("sm_90a,sm_80", "sm_80, sm_90a", ["sm90", "sm_80", "sm_80"]):
        artifact = compiled(arch=order).artifact()
        assert artifact.architectures == BOTH
        (other,) = artifact.others
        alone = [tinyc.compile(GEMM, "cuda", arch=arch, bind=SIZES, plan=PLAN).artifact() for arch in BOTH]
        assert [artifact.code, other.code] == [each.code for each in alone]
        assert [artifact.program, other.program] == [each.program for each in alone]
    (first,), (second,) = artifact.program.kernels, other.program.kernels
    assert not first.tensor_maps
    assert second.tensor_maps
    assert first.block != second.block
    assert str(artifact).count("bytes of PTX for sm_") == 2


def test_the_file_gives_the_same_back_and_an_older_reader_the_first_one(model, file, tmp_path):
    read, artifact = read_artifact(file), model.artifact()
    assert [(each.arch, each.code, frozen_to_json(each.program)) for each in (read, *read.others)] == [
        (each.arch, each.code, frozen_to_json(each.program)) for each in (artifact, *artifact.others)
    ]
    manifest, sections = read_container(file)
    assert [*sections] == ["program", "code", "sm_90a.program", "sm_90a.code"]
    assert manifest["others"] == [{"arch": "sm_90a", "arrays": []}]
    del manifest["others"]  # as a reader that does not know of it
    (tmp_path / "old.tinyc").write_bytes(b"".join(container_chunks(manifest, sections)))
    assert read_artifact(tmp_path / "old.tinyc").architectures == ("sm_80",)


# Weights are set once for all; an array that is in the same memory for both stands in the file once.
def test_weights_and_constants_are_shared(tmp_path):
    model = compiled(weights={"W": INPUTS["W"]})
    model.save(tmp_path / "m.tinyc")
    manifest, sections = read_container(tmp_path / "m.tinyc")
    assert [name for name in sections if "array" in name] == ["array.weight_0"]
    assert manifest["others"][0]["arrays"] == manifest["arrays"]
    read = read_artifact(tmp_path / "m.tinyc")
    for each in (read, *read.others):
        np.testing.assert_array_equal(each.arrays["weight_0"], INPUTS["W"])
    expected = np.maximum(INPUTS["X"].astype(np.float32) @ INPUTS["W"] + INPUTS["bias"], 0)
    for arch in BOTH:
        found = tinyc.load(tmp_path / "m.tinyc", "sim", arch)(INPUTS["X"], INPUTS["bias"])
        np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-3)


def test_what_is_damaged_in_another_ones_part_is_told(file, tmp_path):
    manifest, sections = read_container(file)
    for change, said in (({"arch": 5, "arrays": []}, "'arch' of the manifest is 5"), ({"arch": "sm_90a"}, "'arrays'")):
        chunks = container_chunks({**manifest, "others": [change]}, sections)
        (tmp_path / "m.tinyc").write_bytes(b"".join(chunks))
        assert said in refused(tinyc.load, tmp_path / "m.tinyc").message


# --- which of them runs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("capability", "arch"), [((8, 0), "sm_80"), ((8, 9), "sm_80"), ((9, 0), "sm_90a"), ((10, 0), "sm_80")]
)
@pytest.mark.parametrize("is_loaded", [False, True], ids=["compiled", "loaded"])
def test_the_gpu_that_is_there_decides(monkeypatch, file, model, capability, arch, is_loaded):
    whole = model.artifact()
    program = whole.for_architecture(arch).program
    driver, seen = install(monkeypatch, capability, program)
    chosen = tinyc.load(file) if is_loaded else compiled()
    assert f"on cuda, {arch}," in repr(chosen)
    assert driver.named("cuDevicePrimaryCtxRetain") == [], "looking at the device opens nothing"
    chosen.run(**INPUTS)
    (launch,) = program.kernels
    assert seen[0][0] == tuple(map(int, launch.grid))
    assert bool(driver.encoded) == (arch == "sm_90a")
    assert f".target {arch}".encode() in driver.named("cuModuleLoadDataEx")[0][1]
    assert chosen.artifact().architectures == BOTH, "what is saved again has all"


def test_a_gpu_that_runs_none_says_what_it_lacks(monkeypatch, file, model):
    install(monkeypatch, (7, 5), model.artifact().program)
    error = refused(tinyc.load(file).run, **INPUTS)
    assert error.name == "UnsupportedTarget"
    assert "has compute capability 7.5, and code for sm_80 needs 8.0 or newer" in error.message


def test_one_is_taken_that_is_named(monkeypatch, file, model):
    _, seen = install(monkeypatch, (9, 0), model.artifact().program)
    tinyc.load(file, arch="sm_80").run(**INPUTS)
    assert len(seen) == 1
    said = "the model has code for sm_80, and none for sm_90a; compile its program with that arch, too"
    tinyc.load(file, arch="sm_80").save(file.with_name("one.tinyc"))
    assert said in refused(tinyc.load, file.with_name("one.tinyc"), arch="sm_90a").message


def test_the_simulator_runs_one_that_is_named(file):
    expected = np.maximum(INPUTS["X"].astype(np.float32) @ INPUTS["W"] + INPUTS["bias"], 0)
    for arch in BOTH:
        simulated = tinyc.load(file, target="sim", arch=arch)
        np.testing.assert_allclose(simulated.run(**INPUTS)["Y"], expected, rtol=2e-3, atol=2e-3)
        assert len(simulated.reports) == 1
    said = "several architectures, and target 'sim' runs one; give 'arch', 'sm_80' or 'sm_90a'"
    assert said in refused(tinyc.load, file, target="sim").message
    said = "'arch' names sm_80 and sm_90a, and target 'sim' runs one"
    assert said in refused(tinyc.compile, GEMM, "sim", arch=BOTH).message


def test_other_targets_and_architectures_are_refused(file, tmp_path):
    assert "does not run on 'cpu'; compile its program" in refused(tinyc.load, file, target="cpu").message
    tinyc.compile(EXAMPLES / "softmax.json").save(tmp_path / "cpu.tinyc")
    assert "takes no 'arch'" in refused(tinyc.load, tmp_path / "cpu.tinyc", arch="sm_80").message
    assert "no GPU architecture" in refused(compiled, arch="sm_80,sm_75").message
    assert "no GPU architecture" in refused(compiled, arch=["sm_80", 5]).message
    assert "'arch' names no architecture" in refused(compiled, arch=[]).message
    assert "takes no 'arch'" in refused(tinyc.compile, GEMM, "cpu", arch=BOTH).message


# --- its texts --------------------------------------------------------------------------------------------------------


def test_texts_are_those_of_an_architecture(model, tmp_path):
    assert model.text("tiny") == model.text("tiny", arch="sm_90a")
    assert ".target sm_90a" in model.text("ptx", arch="sm90")
    said = "'arch' is None, and layer 'ptx' is there for 'sm_80' or 'sm_90a'; give one of these"
    assert said in refused(model.text, "ptx").message
    written = {path.relative_to(tmp_path).as_posix() for path in model.dump(tmp_path, ("ptx", "plan"))}
    assert written == {f"{arch}/{name}" for arch in BOTH for name in ("05_plan.mlir", "09_ptx.ptx")}
    alone = tinyc.compile(GEMM, "sim", bind=SIZES)
    assert alone.text("ptx", arch="sm_80") == alone.text("ptx")
    assert "there for 'sm_80'" in refused(alone.text, "ptx", arch="sm_90a").message


def test_lines_of_each_are_in_a_folder_of_its_name(tmp_path):
    model = compiled(line_info=tmp_path)
    for arch in BOTH:
        assert f"{tmp_path / arch / '06_gpu.mlir'}" in model.text("ptx", arch=arch)


def test_decisions_about_each_are_told():
    with collect_remarks():
        model = compiled()
    chosen = [each.message for each in model.remarks if "has the plan that was given" in each.message]
    assert len(chosen) == len(BOTH)
    assert json.dumps(chosen).count("mma") == len(BOTH)
