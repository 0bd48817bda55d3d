"""`tinyc run --target sim --time`: each kernel's time by the clock, their sum, and the log."""

import csv
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import tinyc
from ptxsim_cases.estimates import made_up
from ptxsim_cases.sass_text import needs_sass_tools
from tinyc.diagnostics import TinycError
from tinyc.driver.clock_table import clock_table

SOFTMAX = Path(__file__).parents[2] / "examples" / "softmax.json"
X = np.random.default_rng(0).standard_normal((4, 96), np.float32)


class Named(NamedTuple):
    """What the table asks of a launch."""

    symbol: str
    grid: tuple[int, int, int]

    @property
    def kernel(self) -> "Named":
        return self


def test_launches_of_one_shape_are_a_row_and_the_sum_stands_below():
    one: Any
    other: Any
    one, other = Named("gemm", (8, 4, 1)), Named("relu", (2, 1, 1))
    # 4.5 us each, 10 % off: see `made_up`
    estimates = [
        (one, made_up(kernel="gemm")),
        (other, made_up(kernel="relu", cautions=())),
        (one, made_up(kernel="gemm")),
    ]
    table = clock_table(estimates)
    assert table.title == "time by the clock, on H100 SXM5 80 GB"
    assert table.rows == (("gemm", "8x4x1", 2, 3510, 9.0, "10%", "HBM"), ("relu", "2x1x1", 1, 3510, 4.5, "10%", "HBM"))
    assert table.note == "sum of 3 launches: 13.5 us ± 10%\ncaution: gemm: it takes less than 10 us"


def test_a_launch_that_is_not_told_says_why():
    refused = TinycError("InputMismatch", "the way is not found")
    launch: Any = Named("k", (1, 1, 1))
    table = clock_table([(launch, refused), (launch, refused)])
    assert table.rows == ()
    assert table.note == "sum of 0 launches: 0.0 us ± 0%\nnot told: k: the way is not found"


@needs_sass_tools
def test_a_run_is_checked_and_timed_and_its_numbers_are_as_without(run, tmp_path):
    log = tmp_path / "log.csv"
    options = ("--bind", "M=4,N=96", "--target", "sim", "--arch", "sm_90a", "--fusion", "none", "--check")
    status, out, err = run("run", SOFTMAX, *options, "--time", "--log", log)
    assert (status, err) == (0, "")
    assert "check    output 'y': largest error " in out
    assert "\ntime by the clock, on H100 SXM5 80 GB\n" in out
    (us,) = re.findall(r"^elementwise_exp2 +\S+ +1 +\d+ +(\S+) +\d+% +waits for", out, re.MULTILINE)
    assert re.search(r"^sum of \d launch(es)?: \d+\.\d us ± \d+%$", out, re.MULTILINE)
    with log.open(newline="") as file:
        (row,) = [each for each in csv.DictReader(file) if each["kernel"] == "elementwise_exp2"]
    assert (row["estimate_us"], row["actual_us"]) == (us, "")


@needs_sass_tools
def test_a_run_that_is_timed_has_the_numbers_of_one_that_is_not():
    model = tinyc.compile(SOFTMAX, target="sim")
    profile = model.profile_named({"X": X}, "h200")
    np.testing.assert_array_equal(profile.outputs["y"], model(X))
    ((_, told),) = profile.estimates
    assert isinstance(told, TinycError) or told.device.name == "h200"


def test_only_what_is_simulated_is_timed(run):
    status, _, err = run("run", SOFTMAX, "--bind", "M=4,N=96", "--time")
    said = "--time: the clock times what the simulator runs, and the target is 'cpu'; --profile measures there; give "
    assert (status, err) == (1, f"{SOFTMAX}: error: {said}--target sim [TC315 InvalidOption]\n")
    with pytest.raises(TinycError, match="the target is 'cpu'; compile for 'sim'"):
        tinyc.compile(SOFTMAX).profile_named({"X": X}, "h100")


def test_a_device_is_named_with_time(run):
    with pytest.raises(SystemExit):
        run("run", SOFTMAX, "--device", "h100")


def test_a_model_that_was_saved_for_another_target_is_not_timed(run, tmp_path):
    file = tmp_path / "m.tinyc"
    tinyc.compile(SOFTMAX).save(file)
    status, _, err = run("run", file, "--bind", "M=4,N=96", "--time")
    assert (status, "give --target sim" in err) == (1, True)
