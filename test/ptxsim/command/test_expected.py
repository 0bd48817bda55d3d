"""`--expect NAME=FILE.npy`: an array after the launch against a file, exactly or within a tolerance; exit statuses."""

import json

import ml_dtypes
import numpy as np
import pytest

from ptxsim.__main__ import main
from ptxsim_cases.kernel_text import kernel

#: Doubles the first word of `o`, and counts in `cnt`.
BODY = """
ld.param.u64 %d0, [out]; ld.global.f32 %f0, [%d0]; add.f32 %f0, %f0, %f0; st.global.f32 [%d0], %f0;
st.global.u32 [cnt], 3; ret;
"""
TEXT = kernel(
    ".reg .f32 %f<1>;" + BODY, module=".global .align 4 .u32 cnt[2]; .global .align 4 .b8 arr[8] = {0, 0, 192, 63};"
)


@pytest.fixture
def run(tmp_path, capsys):
    """Return a function that compares with an array and returns the status, stdout and stderr."""

    def call(expected, *options, name="o", argument="o=f32[2,2]:1.5"):
        (tmp_path / "k.ptx").write_text(TEXT)
        np.save(tmp_path / "e.npy", expected)
        file = f"{name}={tmp_path / 'e.npy'}"
        status = main(
            [str(tmp_path / "k.ptx"), "--grid", "1", "--block", "1", "--arg", argument, "--expect", file, *options]
        )
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def test_what_is_expected_has_status_0(run):
    status, out, _ = run(np.array([[3, 1.5], [1.5, 1.5]], np.float32))
    assert status == 0
    assert out.endswith("\nexpect   o: as expected\nresult   no findings\n")


def test_a_difference_has_status_1_and_is_shown_first_and_greatest(run, tmp_path):
    report = tmp_path / "r.json"
    status, out, _ = run(np.array([[3, 2], [1.5, -8]], np.float32), "--json", str(report))
    assert status == 1
    text = "2 of 4 elements differ; the first at [0, 1]: 1.5, expected 2.0; the greatest at [1, 1]: 1.5, expected -8.0"
    assert out.endswith(f"\nexpect   o: {text}\nresult   FAILED: 1 array not as expected\n")
    assert json.loads(report.read_text())["expect"] == [{"name": "o", "difference": text}]


@pytest.mark.parametrize(
    ("options", "status"),
    [((), 1), (("--rtol", "0.01"), 0), (("--atol", "0.02"), 0), (("--rtol", "0.001"), 1), (("--atol", "0.001"), 1)],
)
def test_tolerances_are_relative_to_what_is_expected_and_absolute(run, options, status):
    assert run(np.array([[3, 1.51], [1.5, 1.5]], np.float32), *options)[0] == status


def test_nan_agrees_with_nan_only_and_infinity_with_itself(run):
    argument = "o=f32[1]:inf"
    assert run(np.array([np.inf], np.float32), argument=argument)[0] == 0
    assert run(np.array([3e38], np.float32), "--rtol", "1", argument=argument)[0] == 1
    assert run(np.array([np.inf], np.float32), "--rtol", "1", argument="o=f32[1]:1")[0] == 1
    assert run(np.array([np.nan], np.float32), argument="o=f32[1]:nan")[0] == 0
    status, out, _ = run(np.array([1], np.float32), argument="o=f32[1]:nan")
    assert (status, "at [0]: nan, expected 1.0" in out) == (1, True)


def test_a_variable_and_a_type_that_files_lack_can_be_expected(run):
    assert run(np.array([3, 0], np.uint32), name="cnt")[0] == 0
    assert "at [1]: 0, expected 4294967295" in run(np.array([3, 2**32 - 1], np.uint32), name="cnt")[1]
    words = np.array([0, 0, 7, 7], ml_dtypes.bfloat16).view(np.uint16)
    assert run(words, argument="o=bf16[4]:0")[0] == 1
    assert run(np.zeros(4, np.uint16), argument="o=bf16[4]:0")[0] == 0


def test_a_variable_is_read_as_the_numbers_of_the_file(run):
    # nvcc writes `float arr[2] = {1.5}` as .b8 arr[8]
    assert run(np.array([1.5, 0], np.float32), name="arr")[0] == 0
    assert run(np.array([[1.5], [0]], np.float32), name="arr")[0] == 0
    assert run(np.array([1.5001, 0], np.float32), "--rtol", "1e-3", name="arr")[0] == 0
    status, out, _ = run(np.array([1.5, 0.25], np.float32), name="arr")
    assert (status, "1 of 2 elements differ; the first at [1]: 0.0, expected 0.25" in out) == (1, True)
    assert run(np.array([0x3FC00000], np.int64), name="arr")[0] == 0
    assert run(np.array([3, 0], np.int32), name="cnt")[0] == 0


@pytest.mark.parametrize(
    ("expected", "options", "message"),
    [
        (np.zeros(4, np.float32), {}, "--expect o: the file holds an array of shape [4], not [2, 2]"),
        (np.zeros((2, 2)), {}, "--expect o: the file holds f64, not f32"),
        (np.zeros(4), {"name": "x"}, "there is no array argument or variable 'x'; there are 0, o, cnt, arr"),
        (np.zeros(4), {"name": "arrr"}, "there is no array argument or variable 'arrr'; did you mean 'arr'?"),
        (np.zeros(3, np.float32), {"name": "arr"}, "--expect arr: variable 'arr' has 8 bytes; 12 are given"),
        (
            np.zeros(2, np.float32),
            {"name": "cnt"},
            "--expect cnt: variable 'cnt' is an integer (.u32); float32 is given",
        ),
        (np.zeros(1, complex), {"name": "arr"}, "--expect arr: the file holds complex128; give one of i8"),
    ],
)
def test_what_cannot_be_compared_has_status_2_before_anything_runs(run, expected, options, message):
    status, out, error = run(expected, **options)
    assert (status, out) == (2, "")
    assert message in error


@pytest.mark.parametrize("tolerance", ["-1", "nan", "inf", "x"])
def test_a_tolerance_is_a_number_from_0_on(run, tolerance):
    with pytest.raises(SystemExit) as caught:
        run(np.zeros(1), f"--rtol={tolerance}")
    assert caught.value.code == 2


def test_findings_have_status_1_and_what_cannot_run_has_status_2(run):
    assert run(np.zeros((), np.float32), argument="o=u64:0", name="cnt")[0] == 2
    status, out, _ = run(np.array([3, 0], np.uint32), name="cnt", argument="u64:0")
    assert (status, out.endswith("result   FAILED: 2 findings\n")) == (1, True)
    assert run(np.array([3, 0], np.uint32), "--checks", "bound", name="cnt")[0] == 2
    assert run(np.array([3, 0], np.uint32), "--save", "o=no/such/o.npy", name="cnt")[0] == 2
