"""The log of a run: a row for each region, as a table and in a CSV file."""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tinyc
from importers.documents import node, program, tensor
from importers.onnx.models import model_of
from tinyc.diagnostics import TinycError
from tinyc.driver import predictions
from tinyc.driver.cli import main
from tinyc.driver.predictions import NOT_PRICED
from tinyc.driver.profile import LOG_COLUMNS

SOFTMAX = Path(__file__).parents[2] / "examples" / "softmax.json"
BY_SHAPE = ("float[N, M, 5] x", "float[?, ?] y")
SHAPE = "<int64[2] s = {-1, 6}>"
X = np.random.default_rng(0).standard_normal((4, 96), np.float32)


def rows(profile) -> list[dict]:
    return [dict(zip(LOG_COLUMNS, row, strict=True)) for row in profile.rows]


def test_each_region_has_a_row_with_what_was_predicted_and_measured():
    model = tinyc.compile(SOFTMAX, fusion="none")
    profile = model.profile(X=X)
    np.testing.assert_array_equal(profile.outputs["y"], model(X))
    found = rows(profile)
    assert [each["region"] for each in found] == [f"r{number}" for number in range(6)]
    first, second = found[:2]
    assert first["kernel"] == "reduce_max"
    assert (first["target"], first["arch"], first["sizes"], first["occupancy"]) == ("cpu", "", "X=4x96", "")
    assert (first["FLOPs"], first["bytes"]) == (4 * 96, 4 * 96 * 4 + 4 * 4)  # at these sizes, though M and N are open
    assert (second["FLOPs"], second["bytes"]) == (4 * 96, 2 * 4 * 96 * 4 + 4 * 4)
    assert all(each["actual_us"] > 0 and each["estimate_us"] > 0 and each["plan"] for each in found)
    assert str(profile).splitlines()[1].split() == [*LOG_COLUMNS[:-1], "GFLOP/s", "GB/s", "of", "peak", "plan"]
    for each, row in zip(found, profile.table.rows, strict=True):
        rates = (each[name] / each["actual_us"] / 1e3 for name in ("FLOPs", "bytes"))
        assert row[-4:-2] == pytest.approx(tuple(rates))


def test_the_simulator_has_occupancy_and_plans_and_no_time():
    model = tinyc.compile(SOFTMAX, target="sim", arch="sm_90a")
    (row,) = rows(model.profile(X=X))
    assert (row["target"], row["arch"], row["actual_us"]) == ("sim", "sm_90a", "")
    assert 0 < row["occupancy"] <= 1
    assert row["plan"].startswith("row_reduce")


def test_the_two_kernels_of_a_long_reduction_are_one_region():
    long = program(tensor("X", 4, 100_000), node("s", "REDUCE", "X", op="SUM", axes=[1], dtype="fp32"))
    (row,) = rows(tinyc.compile(long, target="sim").profile(X=np.ones((4, 100_000), np.float32)))
    assert row["kernel"] == "reduce_sum_parts reduce_sum"
    assert row["FLOPs"] == 400_000


def test_a_program_below_tiny_has_times_and_no_predictions():
    text = tinyc.compile(SOFTMAX, fusion="none").text("llvm")
    found = rows(tinyc.compile(text).profile(X=X))
    assert [each["kernel"] for each in found][:2] == ["reduce_max", "elementwise_sub"]
    assert all(each["actual_us"] > 0 and each["estimate_us"] == each["FLOPs"] == each["plan"] == "" for each in found)


def test_a_model_that_was_saved_has_times_without_the_compiler(tmp_path):
    file, log = tmp_path / "m.tinyc", tmp_path / "log.csv"
    tinyc.compile(SOFTMAX, fusion="none").save(file)
    found = rows(tinyc.load(file).profile(X=X))
    assert [(each["kernel"], each["estimate_us"]) for each in found][:1] == [("reduce_max", "")]
    code = (
        "import sys; from tinyc.driver import cli; status = cli.main(sys.argv[1:]); "
        "print(status, [m for m in ('numba_cuda_mlir', 'llvmlite', 'islpy', 'tinyc.mlir') if m in sys.modules])"
    )
    command = ["run", str(file), "--bind", "M=3,N=7", "--profile", "--log", str(log)]
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True)
    assert "X=3x7" in done.stdout
    assert done.stdout.splitlines()[-1] == "0 []"
    assert len(log.read_text().splitlines()) == 7


def test_what_cannot_be_measured_is_refused():
    with pytest.raises(TinycError, match="'reference' has no regions to measure; compile for 'cpu', 'sim' or 'cuda'"):
        tinyc.compile(SOFTMAX, target="reference").profile(X=X)
    model = tinyc.compile(SOFTMAX)
    with pytest.raises(TinycError, match="input 'X' is missing"):
        model.profile()
    model.free()
    with pytest.raises(TinycError, match="has been freed"):
        model.profile(X=X)


def test_the_command_prints_the_table_and_appends_to_the_log(tmp_path, capsys):
    log = tmp_path / "log.csv"
    for target in ("cpu", "sim"):
        command = ["run", str(SOFTMAX), "--bind", "M=4,N=96", "--target", target, "--log", str(log)]
        assert main([*command, "--profile", "--fusion", "none"]) == 0
        assert "elementwise_exp2" in capsys.readouterr().out
    assert main(command) == 0
    assert "elementwise_exp2" not in capsys.readouterr().out
    with log.open(newline="") as file:
        head, *found = csv.reader(file)
    assert head == list(LOG_COLUMNS)
    assert [row[2] for row in found] == ["cpu"] * 6 + ["sim"] * 7
    assert all(len(row) == len(LOG_COLUMNS) for row in found)


def test_a_file_that_is_no_log_is_not_written_to(tmp_path, capsys):
    log = tmp_path / "notes.txt"
    log.write_text("mine")
    assert main(["run", str(SOFTMAX), "--bind", "M=4,N=96", "--log", str(log)]) == 1
    assert "the file is no log: its first line is not region,kernel," in capsys.readouterr().err
    assert log.read_text() == "mine"
    assert main(["run", str(SOFTMAX), "--bind", "M=4,N=96", "--log", str(tmp_path / "none" / "log.csv")]) == 1
    assert "cannot write the file" in capsys.readouterr().err
    assert (
        main(["run", str(SOFTMAX), "--bind", "M=4,N=96", "--log", str(log), "--outputs", str(tmp_path / "o.npz")]) == 1
    )
    assert not (tmp_path / "o.npz").exists(), "it is told before the run"


def test_a_log_that_breaks_off_in_its_head_is_refused(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text(",".join(LOG_COLUMNS))
    profile = tinyc.compile(SOFTMAX).profile(X=X)
    with pytest.raises(TinycError, match="the file is no log"):
        profile.append_to(log)
    log.write_text("")
    profile.append_to(log)
    profile.append_to(log)
    assert [line.split(",")[0] for line in log.read_text().splitlines()] == ["region", "r0", "r0"]


def test_the_regions_are_those_that_were_compiled_whatever_is_best_at_the_sizes_of_the_run():
    # A reshape of symbolic extents is no map, and ends a region that it would not end at these sizes.
    model = model_of("p = Transpose<perm = [0, 2, 1]>(x) r = Reshape(p, s) y = Relu(r)", *BY_SHAPE, more=SHAPE)
    x = np.ones((2, 3, 5), np.float32)
    copy, relu = rows(tinyc.compile(model).profile(x=x))
    assert (copy["kernel"], copy["bytes"], copy["plan"]) == ("copy", "", NOT_PRICED)  # it is none at these sizes
    assert (relu["kernel"], relu["bytes"]) == ("elementwise_relu", 2 * 4 * x.size)
    (both,) = rows(tinyc.compile(model, bind={"N": 2, "M": 3}).profile(x=x))
    assert both["bytes"] == 2 * 4 * x.size


def test_a_kernel_that_writes_values_of_several_nodes_is_priced_and_named_by_each():
    body = "a = Add(x, v) n = LayerNormalization<axis = 1>(a, s) w = MatMul(n, k) y = Add(a, w)"
    inputs = "float[N, 64] x, float[N, 64] v, float[64] s, float[64, 64] k"
    model = tinyc.compile(model_of(body, inputs, "float[N, 64] y, float[N, 64] a"))
    x, k = np.ones((4, 64), np.float32), np.ones((64, 64), np.float32)
    first, *_ = found = rows(model.profile(x=x, v=x, s=x[0], k=k))
    assert all(row["FLOPs"] and row["bytes"] and row["plan"] for row in found)
    nodes = {each.name: each.where.node for each in model.lowering.program().buffers}
    assert [nodes[name] for name in model.lowering.program().kernels[0].writes] == ["a", "n"]
    assert first["bytes"] == 4 * (4 * 64 * 4 + 64)
    assert 'tiny.names = ["a", "n"]' in model.text("region")


def test_a_region_that_is_none_at_the_sizes_is_marked(monkeypatch):
    monkeypatch.setattr(predictions, "_at_sizes", lambda *_: None)
    (row,) = rows(tinyc.compile(SOFTMAX).profile(X=X))
    assert (row["FLOPs"], row["estimate_us"], row["plan"]) == ("", "", NOT_PRICED)
