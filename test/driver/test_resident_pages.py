"""The memory of a model that is loaded: what has been read of its file is given back, weights are held once."""

import mmap
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx.helper
import onnx.numpy_helper
import pytest
from onnx import TensorProto

import tinyc

ROOT = Path(__file__).parents[1]
SMAPS = Path("/proc/self/smaps")
pytestmark = pytest.mark.skipif(not SMAPS.exists(), reason="only Linux says which pages of a file are in memory")
ROWS, WIDTH, COLUMNS, WORDS = 8, 256, 4096, 3000
#: What is read of a file again that was given back: the system maps some pages around each.
FEW_BYTES = 1 << 18


def resident_bytes(path):
    """Of all that is mapped from a file."""
    lines = SMAPS.read_text().splitlines()
    starts = [at for at, line in enumerate(lines) if re.match("[0-9a-f]+-[0-9a-f]+ ", line)]
    sections = (lines[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True))
    found = [section for section in sections if section[0].endswith(str(path))]
    assert found, f"{path} is not mapped"
    return sum(int(line.split()[1]) * 1024 for section in found for line in section if line.startswith("Rss:"))


def anonymous_bytes():
    """Of all memory of this process that is no file's."""
    rollup = Path("/proc/self/smaps_rollup").read_text()
    return int(re.search(r"Anonymous:\s*(\d+) kB", rollup)[1]) * 1024


@pytest.fixture(scope="module")
def weights():
    """A table of words, which runs read, and a matrix, which is packed in panels."""
    generator = np.random.default_rng(0)
    shapes = {"table": (WORDS, WIDTH), "matrix": (WIDTH, COLUMNS)}
    return {name: generator.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


@pytest.fixture(scope="module")
def saved(weights, tmp_path_factory):
    nodes = [
        onnx.helper.make_node("Gather", ["table", "ids"], ["x"]),
        onnx.helper.make_node("MatMul", ["x", "matrix"], ["y"]),
    ]
    graph = onnx.helper.make_graph(
        nodes,
        "words",
        [onnx.helper.make_tensor_value_info("ids", TensorProto.INT64, [ROWS])],
        [onnx.helper.make_tensor_value_info("y", TensorProto.FLOAT, [ROWS, COLUMNS])],
        [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    path = tmp_path_factory.mktemp("saved") / "words.tinyc"
    tinyc.compile(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)])).save(path)
    return path


def test_no_pages_of_the_file_stay_in_memory_once_a_model_has_run(saved, weights):
    ids = np.arange(ROWS)
    model = tinyc.load(saved, threads=1)
    assert resident_bytes(saved) <= FEW_BYTES, "the hash was computed part by part"
    for _ in range(2):
        np.testing.assert_allclose(
            model.run_named({"ids": ids})["y"], weights["table"][ids] @ weights["matrix"], rtol=1e-3, atol=1e-3
        )
        assert resident_bytes(saved) <= FEW_BYTES


#: Loads a model and runs it twice, in a process whose memory nothing else takes; prints how much more there is then.
TWO_RUNS = """
import sys
import numpy as np
import tinyc
from driver.test_resident_pages import ROWS, anonymous_bytes

model = tinyc.load(sys.argv[1], threads=1)
before = anonymous_bytes()
for _ in range(2):
    model.run_named({"ids": np.arange(ROWS)})
print(anonymous_bytes() - before)
"""


def test_weights_are_held_once(saved, weights):
    size = sum(each.nbytes for each in weights.values())
    printed = subprocess.run(
        [sys.executable, "-c", TWO_RUNS, saved], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    assert size <= int(printed) < size + weights["matrix"].nbytes // 2, "the matrix is held in panels alone"


def test_pages_that_were_given_back_are_read_again(saved, weights, tmp_path):
    model = tinyc.load(saved)
    model.run_named({"ids": np.arange(ROWS)})
    model.save(tmp_path / "again.tinyc")
    assert (tmp_path / "again.tinyc").read_bytes() == saved.read_bytes()


def test_where_the_system_takes_no_advice_pages_stay(saved, monkeypatch):
    monkeypatch.delattr(mmap, "MADV_DONTNEED")
    model = tinyc.load(saved)
    assert resident_bytes(saved) > saved.stat().st_size // 2
    assert model.run_named({"ids": np.arange(ROWS)})["y"].shape == (ROWS, COLUMNS)
