"""Progress on a terminal: one line while something takes longer than two seconds, and gone after it."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import tinyc
from tinyc.diagnostics import progress, watch_progress
from tinyc.driver import cli
from tinyc.driver.progress import shown_progress

#: The run of this program takes minutes.
LONG_SUMS = """{"uops": [
  {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "X", "dtype": "fp32", "shape": [20000]}},
  {"id": "e", "uop": "EXPAND", "src": ["x"],
   "arg": {"result_shape": [20000, 10000000], "broadcast_dimensions": [0]}},
  {"id": "y", "uop": "REDUCE", "src": ["e"], "arg": {"op": "SUM", "axes": [1], "dtype": "fp32"}}]}"""
#: So does that of this kernel.
LONG_LOOP = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k() { .reg .pred %p<1>; .reg .b32 %r<1>;
  mov.u32 %r0, 0;
$again:
  add.u32 %r0, %r0, 1;
  setp.lt.u32 %p0, %r0, 100000000;
  @%p0 bra $again;
  ret; }
"""


class Terminal:
    """A command whose stderr is a terminal; `shown` is what has been written there."""

    def __init__(self, *arguments):
        self.master, slave = pty.openpty()
        command = [sys.executable, "-m", "tinyc.driver.cli", *map(str, arguments)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=slave)
        os.close(slave)
        self.shown = ""

    def read(self):
        """Wait for more to be shown; return whether there is any: nobody may have the terminal open any more."""
        try:
            more = os.read(self.master, 4096).decode()
        except OSError:
            return False
        self.shown += more
        return bool(more)

    def end(self):
        """Read to the end, and return the exit status."""
        while self.read():
            pass
        os.close(self.master)
        self.process.communicate()
        return self.process.returncode


def interrupted_when_shown(terminal, pattern):
    """Wait until what is shown matches, then press Ctrl-C; return the exit status."""
    while not re.search(pattern, terminal.shown):
        assert terminal.read(), terminal.shown
    terminal.process.send_signal(signal.SIGINT)
    return terminal.end()


def test_a_long_run_says_what_it_does_and_how_far_it_is_on_one_line_that_goes(tmp_path):
    program = tmp_path / "sums.json"
    program.write_text(LONG_SUMS)
    terminal = Terminal("run", program)
    assert interrupted_when_shown(terminal, r"\rrun +kernel 'reduce_sum' \(1 of 1\), turn \d+ of 157  \(2 s\)") == 130
    *drawn, cleared, last = terminal.shown.split("\r")[:-1]
    assert (cleared.strip(), last) == ("", "interrupted")
    assert len(drawn) > 1
    assert "\n" not in "".join(drawn)


def test_a_long_simulation_does_so_too(tmp_path):
    ptx = tmp_path / "k.ptx"
    ptx.write_text(LONG_LOOP)
    terminal = Terminal("simulate", ptx, "--grid", "3", "--block", "32")
    assert interrupted_when_shown(terminal, r"\rsimulate \d+ warp-instructions, CTA \d of 3  \(\d s\)") == 130


def told(work):
    """Return what `work` tells, without the numbers of its steps, each once."""
    found = {}
    with watch_progress(lambda what, done, total: found.update({what: 0 <= done <= total})):
        work()
    assert all(found.values())
    return [re.sub(r"\d+", "N", what) for what in found]


EXAMPLE = {
    "uops": [
        {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "X", "dtype": "fp32", "shape": [3]}},
        {"id": "y", "uop": "NEG", "src": ["x"]},
    ]
}


def test_a_compilation_tells_its_import_its_passes_and_llvm():
    found = told(lambda: tinyc.compile(EXAMPLE))
    assert found[:3] == ["import, node", "import, op", "--tiny-to-region, pass"]
    assert {"regions, node", "--region-to-loops, pass", "LLVM, unit"} <= {*found}


def test_passes_are_numbered_through_the_walk():
    found = []
    with watch_progress(lambda what, done, total: found.append((what, done, total))):
        tinyc.compile(EXAMPLE)
    passes = [(done, total) for what, done, total in found if what.endswith(", pass")]
    assert passes == [(number, len(passes)) for number in range(1, len(passes) + 1)]


@pytest.mark.parametrize(
    ("target", "what"),
    [
        ("cpu", "kernel 'elementwise_neg' (N of N), turn"),
        ("sim", "kernel 'elementwise_neg', N warp-instructions, CTA"),
        ("reference", "reference, 'tiny.neg', op"),
    ],
)
def test_a_run_tells_its_kernels_or_ops(target, what):
    model = tinyc.compile(EXAMPLE, target=target)
    assert what in told(lambda: model(np.ones(3, np.float32)))


def test_nobody_needs_to_watch():
    progress("nothing, step", 1, 2)


def test_an_error_leaves_no_line_behind(monkeypatch):
    monkeypatch.setattr("tinyc.driver.progress._PATIENCE_SECONDS", 0)
    master, slave = pty.openpty()
    with open(slave, "w") as terminal, open(master, "rb", buffering=0) as screen:
        monkeypatch.setattr(sys, "stderr", terminal)
        shown = ""

        def fail():
            nonlocal shown
            with shown_progress("compile"):
                progress("a name that commands the terminal \x1b[31m, node", 1, 2)
                while "of 2" not in shown:
                    shown += screen.read(4096).decode()
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert "\x1b" not in shown
        while not shown.endswith("\r"):
            shown += screen.read(4096).decode()
        assert shown.split("\r")[-2].strip() == ""


def drawn_by(monkeypatch, patience_seconds, *arguments):
    """Return what a command draws on a terminal, where a line is shown for what takes longer than that."""
    monkeypatch.setattr("tinyc.driver.progress._PATIENCE_SECONDS", patience_seconds)
    master, slave = pty.openpty()
    shown: list[str] = []

    def read():
        with open(master, "rb", buffering=0) as screen, contextlib.suppress(OSError):
            while more := screen.read(4096).decode():
                shown.append(more)

    reader = threading.Thread(target=read)
    reader.start()
    with open(slave, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        assert cli.main([str(each) for each in arguments]) == 0
    reader.join()
    return "".join(shown)


@pytest.fixture
def example(tmp_path):
    program = tmp_path / "neg.json"
    program.write_text(json.dumps(EXAMPLE))
    return program


def test_what_takes_less_than_that_shows_nothing(example, monkeypatch):
    assert drawn_by(monkeypatch, 600, "run", example, "--check") == ""


@pytest.mark.parametrize("options", [(), ("--summary",), ("--fusion",), ("--memory",)])
def test_the_import_of_the_compiler_and_an_explanation_say_what_they_do(example, monkeypatch, options):
    shown = drawn_by(monkeypatch, 0, "explain", example, *options)
    titles = [line.split()[0] for line in shown.split("\r") if line.strip()]
    assert list(dict.fromkeys(titles)) == ["tinyc", "explain"]


def test_a_self_test_is_made_and_run_with_a_line(example, tmp_path, monkeypatch):
    shown = drawn_by(monkeypatch, 0, "compile", example, "--self-test", "-o", tmp_path / "m.tinyc")
    assert re.search(r"\rtest  ", shown)
    assert re.search(r"\rtest  ", drawn_by(monkeypatch, 0, "run", tmp_path / "m.tinyc", "--self-test"))
