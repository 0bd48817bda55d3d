"""Progress on a terminal: one line while something takes longer than two seconds, and gone after it."""

import os
import pty
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import tinyc
from tinyc.diagnostics import progress, watch_progress
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


def test_what_takes_no_two_seconds_shows_nothing(tmp_path):
    program = tmp_path / "neg.json"
    program.write_text(
        '{"uops": [{"id": "x", "uop": "INPUT", "arg": {"dtype": "fp32", "shape": [3], "tensor_id": "X"}},'
        ' {"id": "y", "uop": "NEG", "src": ["x"]}]}'
    )
    terminal = Terminal("run", program, "--check")
    assert terminal.end() == 0
    assert terminal.shown == ""


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
    assert {"--region-to-loops, pass", "LLVM, step"} <= {*found}


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
