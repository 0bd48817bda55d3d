"""`tinyc explain` of a model: what it is made of, and each region with the machine that its time is predicted for."""

import re

import numpy as np
import onnx
import pytest

from importers.onnx.models import model_of
from programs.example_bindings import EXAMPLES
from tinyc.dialects.tiny import to_region
from tinyc.explain import fusion_subject

MODEL = model_of(
    "a = MatMul(x, w) y = Softmax<axis = 1>(a)",
    "float[N, 64] x",
    "float[N, 32] y",
    more="<float[64, 32] w = {" + ", ".join(["0.5"] * 2048) + "}>",
)


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
    rows, note = lines[start + 2 : -1], lines[-1]
    assert note == "times as they are measured: tinyc run --profile"
    assert [row.split()[0] for row in rows] == [f"r{number}" for number in range(len(rows))]
    assert next(line for line in lines if line.startswith("regions (")).split()[-2] == str(len(rows))


def test_names_of_nodes_that_are_long_or_many_are_cut_in_the_middle(run, tmp_path):
    model = model_of("a = MatMul(x, w) b = Relu(a) y = Exp(b)", "float[2, 3] x, float[3, 4] w", "float[2, 4] y")
    outputs = [model.graph.value_info.add(name=name) for name in ("a", "b")]
    for output in outputs:
        output.type.CopyFrom(model.graph.output[0].type)
    model.graph.output.extend(outputs)
    for node, name in zip(model.graph.node, ("first", "second", "third"), strict=True):
        node.name = f"/encoder/layer.0/attention/self/{name}/Op"
    onnx.save(model, tmp_path / "m.onnx")
    status, out, _ = run("explain", tmp_path / "m.onnx")
    assert status == 0
    assert "  /encoder…n/self/first/Op … /encoder…n/self/third/Op (3 in all)  " in out


def test_inputs_that_shapes_depend_on_and_weights_are_given_as_to_run(run, tmp_path):
    model = model_of("m = MatMul(x, w) y = ReduceSum(m, axes)", "float[2, 3] x, float[3, 4] w, int64[1] axes")
    onnx.save(model, tmp_path / "m.onnx")
    status, _, err = run("explain", tmp_path / "m.onnx")
    assert (status, "or --constant axes=…" in err) == (1, True)
    np.savez(tmp_path / "w.npz", w=np.ones((3, 4), np.float32))
    options = ("--constant", "axes=[1]", "--weights", tmp_path / "w.npz")
    status, out, _ = run("explain", tmp_path / "m.onnx", *options)
    assert (status, re.search(r"^parameters +12  48$", out, re.MULTILINE) is not None) == (0, True)
    status, out, _ = run("explain", tmp_path / "m.onnx", "--memory", *options)
    assert (status, re.search(r"^pool +\d", out, re.MULTILINE) is not None) == (0, True)
    status, _, err = run("explain", EXAMPLES / "softmax.json", *options[2:])
    assert (status, "weights: the program has no input 'w'" in err) == (1, True)


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
