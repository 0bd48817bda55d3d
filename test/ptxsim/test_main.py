"""`ptxsim` as a command: its exit status, and its errors, which have no codes of tinyc's."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from ptxsim.__main__ import main
from ptxsim.report import Finding, Thread

KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x) { .reg .b64 %d<1>; .reg .b32 %r<1>;
  ld.param.u64 %d0, [x];
  ld.global.u32 %r0, [%d0+4];
  ret; }
"""


@pytest.fixture
def ptx(tmp_path):
    path = tmp_path / "k.ptx"
    path.write_text(KERNEL)
    return path


def launch(path, argument):
    return [str(path), "--grid", "1", "--block", "1", "--arg", argument]


def test_the_status_says_whether_something_was_found(ptx, capsys):
    assert main(launch(ptx, "i32[2]:0")) == 0
    assert main(launch(ptx, "i32[1]:0")) == 1
    assert capsys.readouterr().out.endswith("\nresult   FAILED: 1 finding\n")


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.array([16843009, -(2**31)], np.int32), "i32 [2]  16843009 -2147483648"),
        (np.array([2**64 - 1], np.uint64), "u64 [1]  18446744073709551615"),
        (np.arange(8, dtype=np.int8), "i8 [8]  0 1 2 3 4 5 …"),
        (np.arange(8) % 3 == 0, "u8 [8]  1 0 0 1 0 0 …"),
        (np.array([1.5, 16843009], np.float32), "f32 [2]  1.5 1.6843e+07"),
    ],
)
def test_integers_are_shown_exactly_and_floats_with_six_digits(ptx, tmp_path, capsys, array, text):
    np.save(tmp_path / "x.npy", array)
    assert main(launch(ptx, f"x={tmp_path / 'x.npy'}")) == 0
    assert f"\narray    x: {text}\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("threads", "rounds", "more"), [(1, 1, ""), (5, 1, "; and 1 more time"), (8, 3, "; and 20 more times")]
)
def test_a_finding_says_how_many_times_more_it_happened(ptx, capsys, threads, rounds, more):
    loop = f"again: ld.global.u32 %r0, [%d0+4]; add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, {rounds}; @%p bra again;"
    text = KERNEL.replace("%r<1>;", "%r<2>; .reg .pred %p; mov.u32 %r1, 0;")
    ptx.write_text(text.replace("ld.global.u32 %r0, [%d0+4];", loop))
    assert main([str(ptx), "--grid", "1", "--block", str(threads), "--arg", "i32[1]:0"]) == 1
    (told,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  by thread")]
    assert told.endswith(f"of CTA (0, 0, 0){more}")


def test_the_text_of_a_finding_names_one_thread_and_how_many_times_more_it_happened():
    finding = Finding("trap", "m", 7, (Thread((0, 0, 0), (1, 0, 0)),))
    assert str(finding).endswith(", by thread (1, 0, 0) of CTA (0, 0, 0)")
    assert str(replace(finding, occurrences=2)).endswith("(0, 0, 0) and 1 more time")
    assert str(replace(finding, occurrences=9)).endswith("(0, 0, 0) and 8 more times")


def test_an_error_is_a_line_that_names_the_file(ptx, capsys):
    ptx.write_text(KERNEL.replace("ret;", "vanish;"))
    assert main(launch(ptx, "i32[2]:0")) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"{ptx}:7:3: error: 'vanish' is not an instruction that the simulator knows")
    assert "[TC" not in error


def test_an_error_of_the_launch_has_no_place(ptx, capsys):
    assert main(launch(ptx, "i32:1")) == 2
    assert capsys.readouterr().err == "error: 4 bytes are given for parameter 0 'x', which has 8\n"


def test_a_command_line_that_does_not_read_has_status_2(ptx, capsys):
    with pytest.raises(SystemExit) as ended:
        main([str(ptx)])
    assert ended.value.code == 2
    assert "usage: ptxsim" in capsys.readouterr().err


def test_the_module_is_the_command(ptx):
    command = [sys.executable, "-m", "ptxsim", str(ptx), "--list"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("kernel   k\n")


def test_ctrl_c_is_a_word_and_its_exit_status(ptx, capsys, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("ptxsim.__main__.simulate", interrupted)
    assert main(launch(ptx, "i32[2]:0")) == 130
    assert capsys.readouterr().err == "interrupted\n"


#: Each CTA stores the number of CTAs at its own place.
COUNTING = KERNEL.replace(
    "ld.global.u32 %r0, [%d0+4];",
    "mov.u32 %r0, %ctaid.x; mad.wide.u32 %d0, %r0, 4, %d0; mov.u32 %r0, %nctaid.x; st.global.u32 [%d0], %r0;",
)


@pytest.mark.parametrize(
    ("options", "stored", "told"),
    [
        (("--clusters", "0,2,last"), [6, 0, 6, 0, 0, 6], "of its clusters 0, 2, 5 only"),
        (("--cluster", "2", "--clusters", "last"), [0, 0, 0, 0, 6, 6], "cluster 2 × 1 × 1, of its clusters 2 only"),
        ((), [6] * 6, "block 1 × 1 × 1\n"),
    ],
)
def test_some_clusters_of_a_grid_are_run(ptx, tmp_path, capsys, options, stored, told):
    ptx.write_text(COUNTING)
    command = [str(ptx), "--grid", "6", "--block", "1", "--arg", "x=i32[6]:0", "--save", f"x={tmp_path / 'x.npy'}"]
    assert main([*command, *options]) == 0
    assert np.load(tmp_path / "x.npy").tolist() == stored
    assert told in capsys.readouterr().out


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        ("6", "error: there is no cluster 6; the grid has 6, numbered from 0 to 5, x fastest"),
        ("0,last,5", "error: cluster 5 is given 2 times in clusters"),
        ("first", "'first' does not read as numbers of clusters, as in 0,5,last"),
        ("-1", "'-1' does not read as numbers of clusters"),
    ],
)
def test_clusters_that_there_are_not_are_errors(ptx, capsys, clusters, message):
    ptx.write_text(COUNTING)
    try:
        status = main([str(ptx), "--grid", "6", "--block", "1", "--arg", "i32[6]:0", "--clusters", clusters])
    except SystemExit as ended:
        status = ended.code
    assert status == 2
    assert message in capsys.readouterr().err


def test_a_tensor_map_is_given_for_a_pointer(ptx, capsys):
    # the kernel reads the second word of the map's bytes
    assert main(launch(ptx, 'x=tma:{"array": "f32[8,16]:zeros", "box_dim": [16, 8]}')) == 0
    assert main(launch(ptx, 'x=tma:{"array": "f32[8,16]:zeros", "box_dim": [16]}')) == 2
