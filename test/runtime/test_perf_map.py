"""The map of `perf` has each kernel with its place in memory, where it is asked for."""

import os
import re

import numpy as np
import pytest

import tinyc
from tinyc.runtime import perf_map

PROGRAM = """{"uops": [
  {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": [4]}},
  {"id": "y", "uop": "EXP2", "src": ["x"]}
]}"""


@pytest.fixture
def map_file(tmp_path, monkeypatch):
    monkeypatch.setattr(perf_map, "_FOLDER", tmp_path)
    return tmp_path / f"perf-{os.getpid()}.map"


def test_kernels_are_where_the_map_says(map_file, monkeypatch):
    monkeypatch.setenv("TINYC_PERF_MAP", "1")
    model = tinyc.compile(PROGRAM)
    model.run(x=np.zeros(4, np.float32))
    found = {}
    for line in map_file.read_text().splitlines():
        address, size, name = re.fullmatch("([0-9a-f]+) ([0-9a-f]+) (.+)", line).groups()
        found[name] = int(address, 16), int(size, 16)
    (kernel,) = {launch.symbol for launch in model.artifact().program.launches}
    start, size = found[f"kernel.{kernel}"]
    with open("/proc/self/maps") as maps:
        ranges = [line.split()[0].split("-") for line in maps if line.split()[1] == "r-xp"]
    assert size > 0
    assert any(int(low, 16) <= start < start + size <= int(high, 16) for low, high in ranges)


def test_nothing_is_written_where_it_is_not_asked_for(map_file, monkeypatch):
    monkeypatch.delenv("TINYC_PERF_MAP", raising=False)
    tinyc.compile(PROGRAM)
    assert not map_file.exists()


def test_a_map_that_cannot_be_written_is_left(map_file, monkeypatch):
    monkeypatch.setenv("TINYC_PERF_MAP", "1")
    map_file.symlink_to("/dev/null")
    assert tinyc.compile(PROGRAM).run(x=np.zeros(4, np.float32))["y"].tolist() == [1, 1, 1, 1]
    assert map_file.is_symlink()
