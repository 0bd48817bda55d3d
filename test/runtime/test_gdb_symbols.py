"""gdb knows kernels by their names, where it is asked for: it stops in them, tells who calls them, and shows them."""

import ctypes
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import tinyc
from runtime.hand_made import elementwise, executable
from tinyc.runtime import gdb_symbols
from tinyc.runtime.cpu import CpuExecutable
from tinyc.runtime.gdb_symbols import _Descriptor, _Entry

SOURCE = elementwise("%r = arith.addi %v, %v : i8", "i8", "i8")
SCRIPT = """
import sys
import numpy, tinyc
model = tinyc.load(sys.argv[1], threads=1)
assert not {"llvmlite", "mlir"} & {each.partition(".")[0] for each in sys.modules}
print("y is", model.run(x=numpy.zeros(4, "float32"))["y"].tolist())
"""
PROGRAM = """{"uops": [
  {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": [4]}},
  {"id": "y", "uop": "EXP2", "src": ["x"]}
]}"""


@pytest.fixture
def is_asked_for(monkeypatch):
    monkeypatch.setenv("TINYC_GDB", "1")


def listed() -> list[bytes]:
    """Return the objects in gdb's list, from the first one on."""
    found, before = [], None
    address = _Descriptor.in_dll(gdb_symbols._library(), "__jit_debug_descriptor").first
    while address:
        entry = _Entry.from_address(address)
        assert entry.previous == before
        found.append(ctypes.string_at(entry.address, entry.size_bytes))
        address, before = entry.next, address
    return found


@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed, and what it sees was not tested")
def test_gdb_stops_in_a_kernel_by_its_name_and_tells_who_calls_it(tmp_path):
    model = tinyc.compile(PROGRAM)
    (kernel,) = {launch.symbol for launch in model.artifact().program.launches}
    model.save(tmp_path / "model.tinyc")
    before = "set debuginfod enabled off", "set breakpoint pending on"
    commands = *before, f"break kernel.{kernel}", "run", "bt", "disassemble", "delete", "continue"
    script = sys.executable, "-c", SCRIPT, str(tmp_path / "model.tinyc")
    command = "gdb", "-q", "-nx", "-batch", *(f"--eval-command={each}" for each in commands), "--args", *script
    environment = {**os.environ, "TINYC_GDB": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    if re.search("ptrace|could not trace|not permitted", done.stderr, re.IGNORECASE):
        pytest.skip("the system lets gdb trace no process, and what it sees was not tested")
    assert re.search(rf"^#0 .* in kernel\.{kernel} \(\)$", done.stdout, re.MULTILINE), done.stdout + done.stderr
    assert re.search(r"^#\d+ .* in ffi_call \(\)", done.stdout, re.MULTILINE)
    assert f"Dump of assembler code for function kernel.{kernel}:" in done.stdout
    assert "y is [1.0, 1.0, 1.0, 1.0]" in done.stdout


def test_each_object_is_in_the_list_until_one_comes_after_it_is_gone(is_asked_for):
    first, second, third = (executable(SOURCE) for _ in range(3))
    (held, *_), count = listed(), len(listed())
    assert places_of(third) <= section_addresses(held)
    assert not places_of(first) <= section_addresses(held)
    del second, third, first
    fourth = executable(SOURCE)
    assert len(listed()) == count - 2
    assert places_of(fourth) <= section_addresses(listed()[0])


def places_of(program: CpuExecutable) -> set[int]:
    """Return where the sections of a program's code are."""
    return {*program._code._memory.starts.values()}


def section_addresses(image: bytes) -> set[int]:
    """Return the addresses in the headers of an object's sections."""
    start, count = int.from_bytes(image[0x28:0x30], "little"), int.from_bytes(image[0x3C:0x3E], "little")
    return {*np.frombuffer(image, np.uint64, count * 8, start).reshape(count, 8)[:, 2].tolist()}


def test_nothing_is_registered_where_it_is_not_asked_for(monkeypatch):
    monkeypatch.delenv("TINYC_GDB", raising=False)
    monkeypatch.setattr(gdb_symbols, "_library", lambda: pytest.fail("a library was loaded"))
    executable(SOURCE)


def test_a_system_that_takes_no_library_from_memory_runs_kernels_without_names(is_asked_for, monkeypatch):
    def refused(*_):
        raise OSError("not permitted")

    monkeypatch.setattr(gdb_symbols, "_library", refused)
    (found,) = executable(SOURCE).run({"x": np.ones(3, np.int8)}).values()
    assert found.tolist() == [2, 2, 2]
