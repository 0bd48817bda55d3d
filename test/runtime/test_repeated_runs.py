"""Runs again and again, and in threads: nothing is allocated twice, nothing leaks, no run meets another's memory."""

import gc
import os
import signal
import threading
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import tinyc
from importers.documents import node, program, tensor
from tinyc.diagnostics import TinycError
from tinyc.driver.lowering import Lowering
from tinyc.driver.sources import read_program
from tinyc.runtime import arena, executable
from tinyc.runtime.cpu import CpuExecutable
from tinyc.runtime.cpu_frame import CpuFrame
from tinyc.runtime.jit import compile_object

SOFTMAX = Path(__file__).parents[2] / "examples" / "softmax.json"
THREADS = 8


@pytest.fixture(scope="module")
def softmax() -> Lowering:
    """Six kernels, whose values between them are in the arena; M and N come from the inputs."""
    return Lowering(read_program(SOFTMAX, None), "cpu", {"fusion": "none"})


@pytest.fixture
def device(softmax):
    return CpuExecutable(softmax.program(), compile_object(softmax.llvm_ir()).image)


def array(rows: int, columns: int) -> np.ndarray:
    return np.random.default_rng(rows * 1000 + columns).standard_normal((rows, columns), np.float32)


def free_arenas(device: CpuExecutable) -> list:
    return [each.memory for each in device._arenas._free]


def test_threads_with_different_sizes_give_the_bits_of_serial_runs(device):
    given = [array(rows, columns) for rows, columns in ((1, 1), (3, 70), (64, 200), (5, 7), (300, 40), (2, 1000))]
    serial = [device.run({"X": each})["y"] for each in given]

    def work(number: int) -> list[int]:
        order = np.random.default_rng(number).integers(0, len(given), 60)
        return [at for at in order if device.run({"X": given[at]})["y"].tobytes() != serial[at].tobytes()]

    with ThreadPoolExecutor(THREADS) as pool:
        assert [*pool.map(work, range(THREADS))] == [[]] * THREADS
    assert 1 <= len(free_arenas(device)) <= THREADS


def test_other_threads_work_while_a_kernel_runs():
    x = tensor("X", "M", "K")
    model = tinyc.compile(program(x, node("s", "REDUCE", "X", op="SUM", axes=[1], dtype="fp32")))
    wide = np.ones((1, 40_000_000), np.float32)  # one turn: one call that takes tens of milliseconds
    thread, turns = threading.Thread(target=lambda: model(wide)), 0
    thread.start()
    while thread.is_alive():
        turns += 1
    thread.join()
    assert turns > 1000, "the interpreter waited for the kernel"


def test_a_thousand_runs_allocate_one_arena_and_keep_nothing(device, monkeypatch):
    asked = []
    allocate = arena.allocate_arena
    monkeypatch.setattr(arena, "allocate_arena", lambda size: asked.append(size) or allocate(size))
    x, y = array(64, 128), np.empty((64, 128), np.float32)

    def runs(count: int) -> tuple[int, int]:
        for _ in range(count):
            device.run({"X": x}, {"y": y})
            device.run({"X": x})
        gc.collect()
        return tracemalloc.get_traced_memory()[0], resident_bytes()

    tracemalloc.start()
    try:
        before, after = runs(100), runs(1000)
    finally:
        tracemalloc.stop()
    assert len(asked) == 1
    assert after[0] - before[0] < 10_000, "Python's objects"
    assert after[1] - before[1] < 4_000_000, "the process"


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_what_depends_on_the_sizes_is_computed_once(device, monkeypatch):
    bound = []
    bind = executable.bind_program
    monkeypatch.setattr(executable, "bind_program", lambda *given: bound.append(given[1]) or bind(*given))
    for columns in (5, 9, 5, 9, 5):
        device.run({"X": array(2, columns)})
    assert bound == [((2, 5),), ((2, 9),)]


def test_the_sizes_that_are_kept_are_the_last_ones(device, monkeypatch):
    monkeypatch.setattr(executable, "KEPT_SIZES", 3)
    for columns in (1, 2, 3, 1, 4, 5):
        device.run({"X": array(2, columns)})
    assert [shape for (shape,) in device._known] == [(2, 1), (2, 4), (2, 5)]


def test_a_larger_run_takes_the_place_of_the_arena_of_a_smaller_one(device):
    for rows in (2, 500, 3, 1000, 2):
        device.run({"X": array(rows, 64)})
        assert len(free_arenas(device)) == 1
    largest = free_arenas(device)[0].nbytes
    device.run({"X": array(4, 4)})
    assert [each.nbytes for each in free_arenas(device)] == [largest]


def test_freeing_gives_the_memory_back_and_a_run_on_its_way_ends(device):
    device.run({"X": array(20, 30)})
    held = weakref.ref(free_arenas(device)[0])
    freed = []

    def observe(name, value):
        if not freed:
            device.release()
            freed.append(name)

    expected = device.run({"X": array(20, 30)})["y"]
    np.testing.assert_array_equal(device.run({"X": array(20, 30)}, observe=observe)["y"], expected)
    gc.collect()
    assert held() is None
    assert free_arenas(device) == []
    np.testing.assert_array_equal(device.run({"X": array(20, 30)})["y"], expected)


def test_an_error_in_the_midst_of_a_run_leaves_the_pools_whole(device):
    expected = device.run({"X": array(20, 30)})["y"]

    def observe(name, value):
        raise ValueError("no more")

    for _ in range(20):
        with pytest.raises(ValueError, match="no more"):
            device.run({"X": array(20, 30)}, observe=observe)
    assert len(free_arenas(device)) == 1
    np.testing.assert_array_equal(device.run({"X": array(20, 30)})["y"], expected)


TAKEN = program(
    tensor("X", "M", "K"),
    tensor("I", "N", dtype="i64"),
    node("g", "GATHER", "X", "I", axis=0),
    node("s", "REDUCE", "g", op="SUM", axes=[1], dtype="fp32"),
)


def test_an_index_out_of_range_is_of_its_run_alone():
    model = tinyc.compile(TAKEN, fusion="none")
    x, good, bad = array(5, 40), np.array([0, 4, 2]), np.array([0, 5, 2])
    expected = model(x, good)

    def work(number: int) -> bool:
        if number % 2:
            with pytest.raises(TinycError, match=r"index 5 at \[1\]"):
                model(x, bad)
            return True
        return bool((model(x, good) == expected).all())

    with ThreadPoolExecutor(THREADS) as pool:
        assert all(pool.map(work, range(200)))


def test_an_interrupt_leaves_the_pools_whole(device):
    x = array(4000, 3000)
    expected = device.run({"X": x})["y"]
    raised = 0
    for delay in (0.01, 0.02, 0.05):
        timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
        try:
            timer.start()
            while True:
                device.run({"X": x})
        except KeyboardInterrupt:
            raised += 1
        timer.join()
    assert raised == 3
    assert len(free_arenas(device)) <= 1
    np.testing.assert_array_equal(device.run({"X": x})["y"], expected)


def test_a_frame_is_filled_anew_where_an_interrupt_came_between_its_addresses(device, monkeypatch):
    x, point = array(3, 70), CpuFrame._point
    expected, first = device.run({"X": x})["y"], device._arenas.take(1)

    def interrupted(frame, offsets, base):
        point(frame, dict([*offsets.items()][:1]), base)
        raise KeyboardInterrupt

    monkeypatch.setattr(CpuFrame, "_point", interrupted)
    with pytest.raises(KeyboardInterrupt):
        device.run({"X": x})  # in an arena of its own
    monkeypatch.undo()
    second = device._arenas.take(1)
    second.memory[...] = 0xAB
    device._arenas.give_back(first)
    np.testing.assert_array_equal(device.run({"X": x})["y"], expected)
    assert (second.memory == 0xAB).all(), "it is another run's"


RANDOM = program(
    tensor("x", "N"),
    node("u", "RAND", distribution="uniform", seed=7, stream=0, dtype="fp32", shape=["N"]),
    node("s", "ADD", "x", "u"),
)


def test_threads_with_one_seed_have_a_run_each():
    x = np.zeros(5, np.float32)
    serial, model = tinyc.compile(RANDOM), tinyc.compile(RANDOM)
    expected = {serial(x, seed=5).tobytes() for _ in range(160)}
    with ThreadPoolExecutor(THREADS) as pool:
        found = [*pool.map(lambda _: model(x, seed=5).tobytes(), range(160))]
    assert len(expected) == 160
    assert {*found} == expected


def test_a_remark_of_many_threads_is_kept_once():
    model = tinyc.compile(RANDOM)
    x = np.zeros(10, np.float32)[::2]
    with ThreadPoolExecutor(THREADS) as pool:
        [*pool.map(lambda _: model(x), range(100))]
    assert [each.code for each in model.remarks].count("strided-copy") == 1


def test_the_reports_are_those_of_one_run():
    model = tinyc.compile(SOFTMAX, target="sim", fusion="none")
    with ThreadPoolExecutor(4) as pool:
        results = [*pool.map(lambda columns: model(array(2, columns)), [3, 5, 3, 5])]
    assert len(model.reports) == 6
    np.testing.assert_array_equal(results[0], results[2])
    np.testing.assert_array_equal(results[1], results[3])


def test_model_init_run_and_free_repeat_runs():
    model = tinyc.model_init(SOFTMAX, fusion="none")
    first = tinyc.model_run(model, {"X": array(3, 8)})["y"]
    out = np.empty_like(first)
    for _ in range(3):
        assert tinyc.model_run(model, {"X": array(3, 8)}, out=out)["y"] is out
        np.testing.assert_array_equal(out, first)
    tinyc.model_free(model)
    with pytest.raises(TinycError, match="has been freed"):
        tinyc.model_run(model, {"X": array(3, 8)})
