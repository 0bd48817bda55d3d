"""`tinyc explain` of a model: what it is made of, and each region with the machine that its time is predicted for."""

import onnx
import pytest

from importers.onnx.models import model_of
from tinyc.dialects.tiny import to_region
from tinyc.driver import cli
from tinyc.explain import fusion_subject

MODEL = model_of(
    "a = MatMul(x, w) y = Softmax<axis = 1>(a)",
    "float[N, 64] x",
    "float[N, 32] y",
    more="<float[64, 32] w = {" + ", ".join(["0.5"] * 2048) + "}>",
)


@pytest.fixture
def run(capfd):
    """Return a function that runs the command line and returns its status, stdout and stderr."""

    def call(*arguments):
        status = cli.main([str(each) for each in arguments])
        captured = capfd.readouterr()
        return status, captured.out, captured.err

    return call


@pytest.fixture
def summary(run, tmp_path):
    """Return a function that explains the model with options and returns its lines."""
    onnx.save(MODEL, tmp_path / "m.onnx")

    def call(*options):
        status, out, err = run("explain", tmp_path / "m.onnx", *options)
        assert (status, err) == (0, "")
        return out.splitlines()

    return call


def test_a_model_is_explained_by_its_totals_and_regions(summary):
    lines = summary("--bind", "N=8")
    totals = {line[: line.index("  ")]: line.split()[-2:] for line in lines[2:7]}
    assert lines[:2] == ["model", lines[1]]
    assert totals["inputs"] == ["1", str(8 * 64 * 4)]
    assert totals["parameters"] == ["2048", "8192"]
    assert totals["outputs"] == ["1", str(8 * 32 * 4)]
    assert any(line.startswith("arena (buffers; at the least)") for line in lines)
    assert any(line.startswith("FLOPs ") for line in lines)
    assert any(line.startswith("predicted us ") for line in lines)
    start = lines.index("regions, predicted for cpu: 100 GB/s, 768 GFLOP/s in f32, 5 us a launch")
    assert lines[start + 1].split()[:4] == ["region", "kernel", "nodes", "FLOPs"]
    assert all(each in lines[start + 1] for each in ("bytes", "predicted us", "part of all", "limited by"))
    rows = lines[start + 2 :]
    assert [row.split()[0] for row in rows] == [f"r{number}" for number in range(len(rows))]
    assert next(line for line in lines if line.startswith("regions (")).split()[-2] == str(len(rows))


def test_the_machine_of_a_gpu_is_its_product(summary):
    lines = summary("--bind", "N=8", "--target", "cuda", "--arch", "sm_90a")
    assert any(line.startswith("regions, predicted for sm_90a (NVIDIA H100") for line in lines)
    assert any("by tensor cores in f16" in line for line in lines)


def test_sizes_that_are_not_known_are_asked_for(run, tmp_path):
    onnx.save(MODEL, tmp_path / "m.onnx")
    status, _, err = run("explain", tmp_path / "m.onnx")
    assert (status, "the sizes N are not known; give --bind N=…" in err) == (1, True)


def test_regions_are_formed_once(summary, monkeypatch):
    formed = []
    for module in (to_region, fusion_subject):
        form = module.form_regions
        monkeypatch.setattr(module, "form_regions", lambda *given, form=form: formed.append(given) or form(*given))
    summary("--bind", "N=8")
    assert len(formed) == 1
