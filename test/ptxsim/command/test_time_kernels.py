"""`ptxsim time`: what it prints and writes, its exit status, and its errors."""

import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest

import ptxsim
from ptxsim.__main__ import main
from ptxsim.command import time_kernels
from ptxsim.errors import InputError
from ptxsim_cases.kernel_text import OWN_WORD, kernel
from ptxsim_cases.sass_text import needs_sass_tools

#: Each thread adds one to its word.
ADD = kernel(f"{OWN_WORD}\nld.global.u32 %r4, [%d0];\nadd.u32 %r4, %r4, 1;\nst.global.u32 [%d0], %r4; ret;")
SHAPE = ("--grid", "264", "--block", "256", "--arg", "out=u32[256]:0")


@pytest.fixture
def ptx(tmp_path):
    path = tmp_path / "add.ptx"
    path.write_text(ADD)
    return path


def refused(capsys, *arguments):
    """The last line of what goes to stderr, and the exit status."""
    try:
        status = main(["time", *map(str, arguments)])
    except SystemExit as ended:
        status = ended.code
    return status, capsys.readouterr().err.strip().splitlines()[-1]


@needs_sass_tools
def test_a_kernel_is_told_with_its_launch_its_limiter_and_what_it_is_not_good_for(ptx, capsys):
    assert main(["time", str(ptx), *SHAPE, "--device", "h200"]) == 0
    told = capsys.readouterr().out
    for line in (
        rf"kernel   k of {re.escape(str(ptx))}",
        r"launch   grid 264 × 1 × 1, block 256 × 1 × 1",
        r"device   H200 SXM5 141 GB, sm_90a",
        r"cycles   [\d,]+ of an SM, and 2.50 us for the launch itself",
        r"time     \d.\d\d us ± \d\d.\d % at 1755 MHz, the nominal clock",
        r"limiter  waits for results of earlier instructions; without it .*",
        r"resident 8 CTAs of an SM at most, by warps; 2 on the busiest, in 1 round",
        r" +\d+  results of earlier instructions +\d+.\d % +add.u32 %r4, %r4, 1;",
        r"caution: it takes less than 10 us: starts, first fetches and cold caches decide",
        r"not good for: tiny or irregular kernels; .*",
    ):
        assert re.search(f"^{line}$", told, re.MULTILINE), (line, told)


@needs_sass_tools
def test_the_files_that_are_asked_for_are_written(ptx, tmp_path, capsys):
    files = {name: tmp_path / name for name in ("r.json", "t.json", "roof.svg", "stalls.svg")}
    options = zip(("--json", "--trace", "--roofline", "--stalls"), map(str, files.values()), strict=True)
    assert main(["time", str(ptx), *SHAPE, *(word for pair in options for word in pair), "--device-table"]) == 0
    facts = json.loads(files["r.json"].read_text())
    assert (facts["kernels"][0]["kernel"], facts["kernels"][0]["grid"]) == ("k", [264, 1, 1])
    assert facts["device"]["figures"]["sms"]["value"] == 132
    rows = json.loads(files["t.json"].read_text())["traceEvents"]
    named = {each["args"]["name"] for each in rows if each["name"] == "thread_name"}
    assert {f"CTA 0 in place 0, warp {warp}" for warp in range(8)} <= named
    for name in ("roof.svg", "stalls.svg"):
        ElementTree.parse(files[name])
    assert "\n  sms " in capsys.readouterr().out


@needs_sass_tools
def test_json_on_stdout_is_all_of_it(ptx, capsys):
    assert main(["time", str(ptx), *SHAPE, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["kernels"][0]["device"] == "h100"


@needs_sass_tools
def test_a_kernel_stands_beside_another_and_each_may_have_its_own_launch(ptx, tmp_path, capsys):
    other = tmp_path / "mul.ptx"
    other.write_text(ADD.replace("add.u32 %r4, %r4, 1;", "mul.lo.u32 %r4, %r4, %r4;").replace("entry k", "entry m"))
    assert main(["time", str(ptx), str(other), *SHAPE, "--grid", "132", "--json", str(tmp_path / "j.json")]) == 0
    told = capsys.readouterr().out
    assert re.search(r"^faster   not told: (add|mul).ptx is 1.0\d\d times as fast as ", told, re.MULTILINE)
    assert re.search(r"^  what +add.ptx +mul.ptx$", told, re.MULTILINE)
    facts = json.loads((tmp_path / "j.json").read_text())
    assert [(each["kernel"], each["grid"][0]) for each in facts["kernels"]] == [("k", 264), ("m", 132)]
    assert facts["pair"]["is_told"] is False


@needs_sass_tools
def test_the_second_kernel_may_have_its_own_arguments(ptx, tmp_path, capsys):
    other = tmp_path / "other.ptx"
    other.write_text(ADD.replace(".param .u64 out", ".param .u64 out, .param .u32 n"))
    assert main(["time", str(ptx), str(other), *SHAPE]) == 2
    assert capsys.readouterr().err.startswith(f"{other}: error: the kernel has 2 parameters; 1 arguments are given")
    own = ("--second-arg", "u32[256]:0", "--second-arg", "i32:1")
    assert main(["time", str(ptx), str(other), *SHAPE, *own]) == 0


def test_the_numbers_of_a_device_need_no_kernel(capsys):
    assert main(["time", "--device-table", "--device", "a100"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("A100 SXM4 80 GB (a100), sm_80\n")
    assert re.search(r"^  mbarrier_lane_interval +0.5 +cycles +fitted +fast.cu", told, re.MULTILINE)


def test_what_does_not_read_ends_with_the_usage(ptx, capsys):
    for arguments, said in (
        ((), "the following arguments are required: ptx"),
        ((ptx,), "the following arguments are required: --grid"),
        ((ptx, ptx, ptx, "--grid", "1"), "argument ptx: 3 files are given; give one, or two to be compared"),
        (
            (ptx, "--grid", "1", "--grid", "2"),
            "argument --grid: it is given 2 times, and files are 1; give it once for each",
        ),
        (
            (ptx, "--grid", "1", "--second-arg", "i32:1"),
            "argument --second-arg: it is for a second kernel; give its file, too, or --arg",
        ),
        (
            (ptx, "--grid", "1", "--clusters", "0"),
            "argument --clusters: '0' is no number of them; give an integer from 1 on",
        ),
    ):
        assert refused(capsys, *arguments) == (2, f"ptxsim time: error: {said}")


def test_a_device_that_is_none_is_an_error_with_a_suggestion(ptx, capsys):
    said = "error: there is no device 'h10'; did you mean 'h100'?; there are "
    status, line = refused(capsys, ptx, *SHAPE, "--device", "h10")
    assert (status, line[: len(said)]) == (2, said)


def test_where_files_cannot_be_is_told_before_anything_runs(ptx, tmp_path, capsys):
    none = tmp_path / "none"
    said = f"{none}/s.svg: error: cannot write the file: there is no folder {none}"
    assert refused(capsys, ptx, *SHAPE, "--stalls", none / "s.svg") == (2, said)
    said = f"{ptx}: error: that is a kernel, which would be gone; name another file"
    assert refused(capsys, ptx, *SHAPE, "--trace", ptx) == (2, said)
    assert ptx.read_text() == ADD


@needs_sass_tools
def test_a_file_that_cannot_be_written_is_an_error(ptx, tmp_path, capsys):
    status, line = refused(capsys, ptx, *SHAPE, "--roofline", tmp_path)
    assert (status, line) == (2, f"{tmp_path}: error: cannot write the file: Is a directory")


def test_what_is_missing_is_told_before_anything_runs(ptx, capsys, monkeypatch):
    message = "there is no ptxas …; install the package nvidia-cuda-nvcc (pip install 'tinyc[clock]')"

    def missing():
        raise InputError(message)

    monkeypatch.setattr(time_kernels, "versions_in_use", missing)
    assert refused(capsys, ptx, *SHAPE) == (2, f"error: {message}")


@needs_sass_tools
def test_what_cannot_be_timed_is_an_error(ptx, tmp_path, capsys):
    assert refused(capsys, tmp_path / "none.ptx", *SHAPE)[1].endswith(
        "none.ptx: error: cannot read the file: No such file or directory"
    )
    assert refused(capsys, ptx, *SHAPE, "--entry", "kk") == (2, "error: there is no kernel 'kk'; did you mean 'k'?")
    said = "error: the PTX is for sm_90a, and A100 SXM4 80 GB is sm_80; take the device h100 or h200"
    assert refused(capsys, ptx, *SHAPE, "--device", "a100") == (2, said)
    ptx.write_text(ADD.replace("add.u32 %r4", "vanish.u32 %r4"))
    assert refused(capsys, ptx, *SHAPE)[1].startswith(f"{ptx}:")


@needs_sass_tools
def test_a_module_times_a_launch_and_takes_the_cluster_of_the_kernel():
    module = ptxsim.load(ADD.replace(".param .u64 out)", ".param .u64 out)\n.reqnctapercluster 2, 1, 1"))
    out = np.zeros(256, np.uint32)
    estimate = module.time("k", (264, 1, 1), (256, 1, 1), [out], device="h200")
    assert isinstance(estimate, ptxsim.Estimate)
    assert (estimate.device.name, estimate.schedule.groups) == ("h200", 66)
    assert module.text.count("reqnctapercluster") == 1
    with pytest.raises(InputError, match="there is no kernel 'kk'"):
        module.time("kk", (1, 1, 1), (1, 1, 1), [out])


@needs_sass_tools
def test_variables_that_were_written_are_what_is_timed():
    body = f"""{OWN_WORD} ld.global.u32 %r2, [rounds]; mov.u32 %r1, 0;
    again: st.global.u32 [%d0], %r1; add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, %r2; @%p0 bra again; ret;"""
    module = ptxsim.load(kernel(body, module=".global .u32 rounds;"))
    cycles = []
    for rounds in (10, 100):
        module.variable("rounds").write(np.uint32(rounds))
        cycles.append(module.time("k", (1, 1, 1), (32, 1, 1), [np.zeros(32, np.uint32)]).cycles)
    assert cycles[1] > cycles[0] + 90


def test_without_sass_a_time_is_between_bounds(ptx, capsys, monkeypatch):
    monkeypatch.setenv("TINYC_CLOCK_CODE", "weights")
    assert main(["time", str(ptx), *SHAPE]) == 0
    told = capsys.readouterr().out
    assert re.search(r"^code     class weights: [\d,]+ to [\d,]+ cycles$", told, re.MULTILINE), told
    assert "what instructions cost is told by the weights of their classes" in told


@needs_sass_tools
def test_arrays_that_are_not_in_l2_take_longer(ptx, capsys):
    cycles = []
    for option in ([], ["--cold"]):
        assert main(["time", str(ptx), *SHAPE, *option, "--json", "-"]) == 0
        cycles.append(json.loads(capsys.readouterr().out)["kernels"][0]["cycles"])
    assert cycles[1] > cycles[0]
