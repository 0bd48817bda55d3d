"""The log of a run: a row for each region, as a table and in a CSV file."""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tinyc
from importers.documents import node, program, tensor
from tinyc.diagnostics import TinycError
from tinyc.driver.cli import main
from tinyc.driver.profile import LOG_COLUMNS

SOFTMAX = Path(__file__).parents[2] / "examples" / "softmax.json"
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
    assert str(profile).splitlines()[1].split() == list(LOG_COLUMNS)


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
