"""Kernels of every kind, by their threads, as sequential functions and as PTX, against the reference."""

import json

import numpy as np
import pytest

from gpu_programs.running import OutOfRange, by_threads, on_the_simulator, sequentially
from parameters import pairwise
from programs.example_bindings import BIND, EXAMPLES
from programs.strategies import programs
from tinyc import pipeline
from tinyc.executors import reference
from tinyc.executors.compare import compare
from tinyc.executors.random_inputs import random_inputs
from tinyc.executors.rounding import output_tolerances
from tinyc.executors.tolerance import Tolerance
from tinyc.importers import tiny_json

each_way = pytest.mark.parametrize("run", [by_threads, sequentially, on_the_simulator])
#: Random programs run on the simulator in test/run/test_sim.py, for each architecture.
each_way_but_ptx = pytest.mark.parametrize("run", [by_threads, sequentially])


def run_kernels(run, document, inputs, bind):
    module = tiny_json.import_program(document, bind=bind)
    pipeline.parse("tiny-to-region,region-to-gpu").run(module)
    return run(module, inputs)


def assert_close(actual, module, inputs, errors=None):
    """Compare with the reference; an output of which `errors` says 0 must be exact."""
    derived = output_tolerances(module, inputs)
    for name, expected in reference.evaluate_module(module, inputs).items():
        tolerance = derived[name]
        if errors is not None:
            tolerance = tolerance if errors[name] else Tolerance()
            tolerance = Tolerance(tolerance.rtol, max(tolerance.atol, errors[name]))
        comparison = compare(name, actual[name], expected, tolerance)
        assert comparison.ok, str(comparison)


@each_way
@pytest.mark.parametrize("name", BIND)
def test_the_kernels_of_an_example_agree_with_the_reference(name, run):
    document = (EXAMPLES / f"{name}.json").read_text(encoding="utf-8")
    module = tiny_json.import_program(document, bind=BIND[name])
    inputs = random_inputs(module, seed=0)
    assert_close(run_kernels(run, document, inputs, BIND[name]), module, inputs)


@each_way_but_ptx
def test_the_kernels_of_random_programs_agree_with_the_reference(run, random_examples):
    @random_examples(programs(), 10)
    def check(program):
        module = tiny_json.import_program(program.document, bind=program.bind)
        actual = run_kernels(run, program.document, program.inputs, program.bind)
        assert_close(actual, module, program.inputs, program.errors)

    check()


#: Ways in which rows of [R, A, B] are read beside others: where a run is no neighbours, or shared by all rows.
MOVED = {
    "rows shared": ([], "EXPAND", {"broadcast_dimensions": [2]}, "B"),
    "in turn": ([], "EXPAND", {"broadcast_dimensions": [1]}, "A"),
    "flipped": (["x"], "FLIP", {"axes": [2]}, None),
    "turned": ([], "PERMUTE", {"perm": [0, 2, 1]}, "RBA"),
    "apart": ([], "PERMUTE", {"perm": [1, 0, 2]}, "ARB"),
}


def moved_sum(way, sizes, dtype, axes, alone):
    """The sum over axes of a tensor that is moved, by itself or added to one that is not."""
    source, uop, arg, order = MOVED[way]
    shape = dict(zip("RAB", sizes, strict=True))
    tensors = {"x": list(sizes), **({} if order is None else {"w": [shape[axis] for axis in order]})}
    arg = {**arg, "result_shape": list(sizes)} if uop == "EXPAND" else arg
    nodes = [
        {"id": name, "uop": "INPUT", "src": [], "arg": {"tensor_id": name, "dtype": dtype, "shape": extents}}
        for name, extents in tensors.items()
    ]
    nodes += [
        {"id": "moved", "uop": uop, "src": source or ["w"], "arg": arg},
        {"id": "y", "uop": "ADD", "src": ["moved", 1 if alone else "x"], "arg": {}},
        {"id": "s", "uop": "REDUCE", "src": ["y"], "arg": {"op": "SUM", "axes": axes, "dtype": "fp32"}},
    ]
    return json.dumps({"uops": nodes, "outputs": ["s"]})


@pairwise(way=MOVED, dtype=["fp16", "i8"], axes=[[1, 2], [0]], alone=[True, False])
def test_rows_of_any_pitch_are_summed_however_they_are_moved(way, dtype, axes, alone):
    for sizes in ((5, 3, 2), (5, 2, 8), (7, 3, 12), (40, 9, 4), (2, 100, 37)):
        document = moved_sum(way, sizes, dtype, axes, alone)
        module = tiny_json.import_program(document)
        inputs = random_inputs(module, seed=0)
        for run in (by_threads, sequentially):
            assert_close(run_kernels(run, document, inputs, {}), module, inputs)


def scatter(op, dtype="fp32", size=9):
    sources = {"x": (dtype, [size, 2]), "i": ("i64", [4]), "u": (dtype, [4, 2])}
    nodes = [
        {"id": name, "uop": "INPUT", "src": [], "arg": {"tensor_id": name, "dtype": element, "shape": shape}}
        for name, (element, shape) in sources.items()
    ]
    return json.dumps(
        {"uops": [*nodes, {"id": "y", "uop": "SCATTER", "src": list("xiu"), "arg": {"axis": 0, "op": op}}]}
    )


@each_way
@pytest.mark.parametrize("op", ["SET", "ADD"])
def test_updates_that_meet_are_added_or_the_last_one_stays(op, run):
    rng = np.random.default_rng(0)
    inputs = {
        "x": rng.integers(-9, 9, (9, 2)).astype(np.float32),
        "i": np.array([7, 0, 7, 7]),
        "u": rng.integers(-9, 9, (4, 2)).astype(np.float32),
    }
    expected = inputs["x"].copy()
    for position, update in zip(inputs["i"], inputs["u"], strict=True):
        expected[position] = update if op == "SET" else expected[position] + update
    np.testing.assert_array_equal(run_kernels(run, scatter(op), inputs, {})["y"], expected)


@each_way
@pytest.mark.parametrize("op", ["SET", "ADD"])
@pytest.mark.parametrize("position", [-1, 9])
def test_a_position_out_of_range_is_noted(position, op, run):
    inputs = {"x": np.zeros((9, 2), np.float32), "i": np.array([7, 0, position, 7]), "u": np.ones((4, 2), np.float32)}
    with pytest.raises(OutOfRange, match=str(position)):
        run_kernels(run, scatter(op), inputs, {})


@each_way
@pytest.mark.parametrize("op", ["SET", "ADD"])
def test_updates_of_an_axis_without_elements_are_all_out_of_range(op, run):
    inputs = {"x": np.zeros((0, 2), np.float32), "i": np.zeros(4, np.int64), "u": np.ones((4, 2), np.float32)}
    with pytest.raises(OutOfRange, match="0"):
        run_kernels(run, scatter(op, size=0), inputs, {})


@each_way
def test_an_index_of_a_gather_out_of_range_is_noted(run):
    document = (EXAMPLES / "gather.json").read_text(encoding="utf-8")
    inputs = random_inputs(tiny_json.import_program(document, bind=BIND["gather"]), seed=0)
    (name,) = (name for name, array in inputs.items() if array.dtype.kind == "i")
    inputs[name].reshape(-1)[3] = BIND["gather"]["V"]
    with pytest.raises(OutOfRange, match=str(BIND["gather"]["V"])):
        run_kernels(run, document, inputs, BIND["gather"])
