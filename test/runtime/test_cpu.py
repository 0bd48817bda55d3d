"""A run on the CPU: kernels in chunks of their parallel loop, which an interrupt comes between; and the C entry."""

import ctypes
import os
import signal
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import tinyc
from runtime.hand_made import elementwise, executable
from tinyc.diagnostics import watch_progress
from tinyc.dialects.exec.to_program import program_of
from tinyc.runtime import cpu, sizes
from tinyc.runtime.arena import allocate_arena
from tinyc.runtime.arrays import address_of
from tinyc.runtime.cpu import in_chunks
from tinyc.runtime.cpu_calls import Pace
from tinyc.runtime.jit import compile_object
from tinyc.runtime.object_code import Code


def chunks(turns, seconds_of_one=0.0, pace=None):
    """Return the ranges that a kernel is called on whose turns take so long."""
    found = []

    def work(low, high):
        found.append((low, high))
        time.sleep(seconds_of_one * (high - low))

    in_chunks(work, turns, pace or Pace(), "kernel")
    return found


@pytest.mark.parametrize("turns", [0, 1, 2, 9, 10_000])
def test_chunks_make_up_the_whole_range_in_order(turns):
    assert [turn for low, high in chunks(turns) for turn in range(low, high)] == [*range(turns)]


def test_chunks_of_no_work_are_few():
    assert len(chunks(10**9)) < 20


def test_a_turn_that_takes_long_is_a_chunk():
    assert chunks(4, seconds_of_one=0.06) == [(0, 1), (1, 2), (2, 3), (3, 4)]


def test_a_loop_that_is_known_to_be_short_is_one_call():
    pace = Pace()
    assert len(chunks(1000, pace=pace)) > 1
    assert chunks(1000, pace=pace) == [(0, 1000)]


def test_a_loop_that_has_become_slow_is_cut_again():
    pace = Pace(turns=4)
    assert chunks(8, seconds_of_one=0.03, pace=pace)[0] == (0, 4)
    assert pace.turns == 1


@pytest.mark.parametrize(
    ("turns", "seconds_of_one", "ranges"),
    [(16, 0.0034, [8, 8]), (16, 0.0064, [6, 6, 4]), (17, 0.003, [10, 7]), (5, 0.06, [2, 2, 1]), (32, 0.001, [32])],
)
def test_chunks_are_about_equal_and_whole_for_all_threads(monkeypatch, turns, seconds_of_one, ranges):
    now, found = [0.0], []

    def work(low, high):
        found.append(high - low)
        now[0] += seconds_of_one * (high - low)

    monkeypatch.setattr(cpu, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    in_chunks(work, turns, Pace(turns=int(0.05 / seconds_of_one)), "kernel", threads=2)
    assert found == ranges


#: Ctrl-C comes while this is computed, which takes minutes: Y[0, m, n] is the sum over r of X[0, m] · W[n].
SUMS = {
    "uops": [
        {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "X", "dtype": "fp32", "shape": [1, "M"]}},
        {"id": "w", "uop": "INPUT", "arg": {"tensor_id": "W", "dtype": "fp32", "shape": ["N"]}},
        {
            "id": "xe",
            "uop": "EXPAND",
            "src": ["x"],
            "arg": {"result_shape": [1, "M", 100000, "N"], "broadcast_dimensions": [0, 1]},
        },
        {
            "id": "we",
            "uop": "EXPAND",
            "src": ["w"],
            "arg": {"result_shape": [1, "M", 100000, "N"], "broadcast_dimensions": [3]},
        },
        {"id": "p", "uop": "MUL", "src": ["xe", "we"]},
        {"id": "y", "uop": "REDUCE", "src": ["p"], "arg": {"op": "SUM", "axes": [2], "dtype": "fp32"}},
    ]
}


def test_ctrl_c_comes_between_chunks_and_the_model_stays_usable():
    model = tinyc.compile(SUMS)
    x, w = np.ones((1, 20_000), np.float32), np.ones(1000, np.float32)
    interrupt = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    started = time.perf_counter()
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        model(x, w)
    assert time.perf_counter() - started < 10, "the run went on to its end, or nearly"
    interrupt.join()
    assert model(x[:, :2], w[:3]).tolist() == [[[100_000.0] * 3] * 2]


@pytest.fixture
def run_of(monkeypatch):
    """Two turns by two threads, which take as many seconds of the clock as they are said to."""

    def run(pace, seconds):
        monkeypatch.setattr(cpu, "time", SimpleNamespace(perf_counter=iter((0.0, seconds)).__next__))
        assert in_chunks(lambda low, high: None, 2, pace, "kernel", threads=2) == seconds

    return run


def test_turns_that_a_team_has_done_soon_are_tried_in_one_thread(run_of):
    pace = Pace()
    assert pace.wants_team  # nothing is known
    run_of(pace, 9e-4)
    assert (pace.alone_seconds, pace.wants_team) == (np.inf, False)
    run_of(pace, 5e-5)
    assert (pace.alone_seconds, pace.is_short, pace.wants_team) == (5e-5, False, False)
    run_of(pace, 1e-5)  # what was slow once may have been disturbed
    assert pace.is_short
    assert not pace.wants_team


def test_turns_that_are_not_short_in_one_thread_go_to_a_team_for_good(run_of):
    pace = Pace()
    for _ in range(4):
        run_of(pace, 3e-5)
    assert pace.wants_team
    run_of(pace, 1e-6)
    assert (pace.alone_seconds, pace.wants_team) == (3e-5, True)


@pytest.mark.parametrize(("size", "wants_team"), [(100, False), (1 << 20, True)])
def test_a_launch_over_few_bytes_waits_for_no_team_at_first(size, wants_team):
    _, frames = executable(elementwise("%r = arith.addi %v, %v : i8", "i8", "i8"))._bound_to(((size,),))
    assert [pace.wants_team for pace in frames._paces] == [wants_team]


def test_turns_that_take_long_in_a_team_are_not_tried_without(run_of):
    pace = Pace()
    run_of(pace, 2e-3)
    assert pace.wants_team


@pytest.mark.parametrize(("alone_seconds", "short"), [(1e-6, True), (1e-3, False)])
def test_a_short_launch_is_one_call_that_nobody_times(monkeypatch, alone_seconds, short):
    device = executable(elementwise("%r = arith.addi %v, %v : i8", "i8", "i8"))
    _, frames = device._bound_to(((100,),))
    frames._paces[:] = [Pace(turns=1000, alone_seconds=alone_seconds, tries=0)]
    timed = []
    monkeypatch.setattr(cpu, "in_chunks", lambda *arguments: timed.append(arguments) or in_chunks(*arguments))
    values = np.arange(100, dtype=np.int8)
    seen, told = [], []
    with watch_progress(lambda *event: seen.append(event)):
        (found,) = device.run({"x": values}).values()
    np.testing.assert_array_equal(found, values + values)
    assert len(timed) == (not short)
    assert [done for _, done, _ in seen] == [0]
    device.run({"x": values}, timer=lambda *launch: told.append(launch))  # who measures is told, of short ones too
    assert len(told) == 1
    assert len(timed) == 1 + (not short)


@pytest.mark.parametrize(
    "array", [np.zeros(3), np.zeros((4, 6), "i1")[1:, 2:], np.zeros(0), np.ma.zeros(3), np.ones(())]
)
def test_the_address_of_an_array_is_numpys(array):
    assert address_of(array) == array.ctypes.data


def test_the_c_entry_runs_the_kernels_of_all_generations():
    softmax = Path(__file__).parents[2] / "examples" / "softmax.json"
    model = tinyc.compile(softmax, bind={"M": 5, "N": 70}, fusion="none")
    x = np.random.default_rng(0).standard_normal((5, 70)).astype(np.float32)
    program = program_of(model.lowering.module("exec"))
    output = np.full((5, 70), np.nan, np.float32)
    arena = allocate_arena(sizes.extent_value(program.arena_bytes, {}))
    addresses = [array.ctypes.data for array in (x, output, arena, np.zeros(2, np.int64))]
    code = Code(compile_object(model.text("llvm")).image, ["kernel_main"])
    entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(code.addresses["kernel_main"])
    entry((ctypes.c_void_p * len(addresses))(*addresses), None)
    assert len(program.kernels) > 1
    np.testing.assert_array_equal(output, model(x))


def test_who_watches_a_run_is_told_of_buffers_beyond_2_gib():
    size = 2**31 + 1
    device = executable(elementwise("%r = arith.addi %v, %v : i8", "i8", "i8"))
    bound, frames = device._bound_to(((size,),))
    frame, untouched = frames.take(), np.empty(size, np.int8)  # whose pages nobody writes
    frame.fill([untouched], [untouched], 0, 0)
    assert bound.sizes["output_0"] == frame.contents("output_0", size).size == size


def test_a_row_whose_number_is_a_quotient_is_read_inside_of_a_guard():
    # LLVM's vectoriser computes such a quotient for the first lane alone, which is in the border (divisions are calls).
    nodes = [
        {"id": "x", "uop": "INPUT", "src": [], "arg": {"tensor_id": "x", "dtype": "fp32", "shape": [1, "M", "M"]}},
        {"id": "y", "uop": "PAD", "src": ["x"], "arg": {"pad": [[1, 0], [0, 0], [1, 0]]}},
    ]
    model = tinyc.compile({"uops": nodes}, target="cpu")
    for rows in (3, 4, 18, 33):
        x = np.arange(rows * rows, dtype=np.float32).reshape(1, rows, rows) + 1
        np.testing.assert_array_equal(model.run(x=x)["y"], np.pad(x, [[1, 0], [0, 0], [1, 0]]))
