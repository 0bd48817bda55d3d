"""Threads: the same bits with any number of them, each turn by one of them, errors, forks, callers at once, nested."""

import contextlib
import ctypes
import os
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

import tinyc
from programs.cpu_levels import needs_team
from runtime.hand_made import elementwise, executable
from tinyc.diagnostics import watch_progress
from tinyc.runtime.function_names import TEAM_FUNCTION
from tinyc.runtime.threads import MAX_THREADS, cpu_count, team, thread_count
from workloads.graph import Graph

THREADS = (1, 2, 5)
_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)


def network() -> Graph:
    """Return a product of several tiles, and a softmax of its rows."""
    graph = Graph()
    a, b = graph.input("a", "fp32", 700, 600), graph.input("b", "fp32", 600, 1100)
    space = (700, 1100, 600)
    product = (a.expand(space, 0, 2) * b.permute(1, 0).expand(space, 1, 2)).reduce("SUM", 2)
    powers = (product - product.spread("MAX", 1)).apply("EXP")
    graph.result = powers / powers.spread("SUM", 1)
    return graph


def arrays(*shapes):
    random = np.random.default_rng(0)
    return [random.standard_normal(shape, np.float32) for shape in shapes]


@needs_team
def test_bits_are_the_same_with_any_number_of_threads():
    graph = network()
    document = graph.program(graph.result)
    a, b = arrays((700, 600), (600, 1100))
    results = []
    for threads in THREADS:
        model = tinyc.compile(document, threads=threads)
        results += [model(a, b).tobytes() for _ in range(3)]
    assert len(set(results)) == 1


def in_a_team(kernel, turns, threads, at_once=1, bufs=0):
    """Have a team share the turns of a kernel that is a function of Python's."""
    program = executable(elementwise("%r = arith.addi %v, %v : i8", "i8", "i8"))
    function = _KERNEL(kernel)
    address = ctypes.cast(function, ctypes.c_void_p).value
    job = (ctypes.c_size_t * 9)(0, address, bufs, 256, 0, 0, turns, at_once, 0)
    team()(program._code.addresses[TEAM_FUNCTION], ctypes.addressof(job), threads)


@needs_team
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(("turns", "at_once"), [(1, 1), (7, 1), (1000, 3), (4, 9)])
def test_each_turn_is_computed_by_one_thread_with_addresses_of_its_own(threads, turns, at_once):
    found, bufs = [], 1 << 20

    def kernel(bufs, extents, low, high):
        found.append((threading.get_ident(), bufs, low, high))

    in_a_team(kernel, turns, threads, at_once, bufs)
    assert sorted(turn for _, _, low, high in found for turn in range(low, high)) == [*range(turns)]
    assert all(high - low <= at_once for _, _, low, high in found)
    owners = {(thread, bufs) for thread, bufs, _, _ in found}
    assert len(owners) == len({thread for thread, _ in owners}) == len({bufs for _, bufs in owners})
    assert {bufs for _, bufs in owners} <= {(1 << 20) + 256 * thread for thread in range(threads)}


@needs_team
def test_the_first_place_of_an_index_out_of_range_is_told_whichever_thread_meets_it():
    graph = Graph()
    data, index = graph.input("data", "fp32", 1000, 64), graph.input("index", "i64", 5000)
    document = graph.program(graph.add("fp32", (5000, 64), "GATHER", data, index, axis=0))
    (data,) = arrays((1000, 64))
    index = np.arange(5000) % 1000
    index[[40, 4000]] = 7000, -3
    messages = set()
    for threads in THREADS:
        model = tinyc.compile(document, threads=threads)
        for _ in range(3):
            with pytest.raises(tinyc.TinycError) as caught:
                model(data, index)
            messages.add(str(caught.value))
    (message,) = messages
    assert "index 7000 at [40]" in message


@needs_team
def test_callers_at_once_have_teams_of_their_own():
    graph = network()
    model = tinyc.compile(graph.program(graph.result), threads=2)
    a, b = arrays((700, 600), (600, 1100))
    expected, found = model(a, b), []
    callers = [threading.Thread(target=lambda: found.append(model(a, b))) for _ in range(4)]
    for each in callers:
        each.start()
    for each in callers:
        each.join()
    assert [result.tobytes() for result in found] == [expected.tobytes()] * 4


def in_time(work, callers=1):
    """Do work in as many threads of Python's at once, and fail where one of them does not come back."""
    found = []
    workers = [threading.Thread(target=lambda: found.append(work()), daemon=True) for _ in range(callers)]
    for each in workers:
        each.start()
    for each in workers:
        each.join(120)
    assert len(found) == callers, "a thread hangs, or has failed"
    return found


@needs_team
@pytest.mark.parametrize("callers", [1, 3])
@pytest.mark.parametrize("is_itself", [True, False])
@pytest.mark.parametrize("hook", ["values", "progress"])
def test_a_model_runs_inside_of_what_a_run_calls(hook, is_itself, callers):
    """What is told of the values, or of the progress, of a run of several threads may run it, or another one."""
    graph = network()
    outer = tinyc.compile(graph.program(graph.result), threads=2)
    inner = outer if is_itself else tinyc.compile(graph.program(graph.result), fusion="none", threads=5)
    a, b = arrays((700, 600), (600, 1100))
    expected, expected_inside = outer(a, b).tobytes(), inner(a, b).tobytes()

    def nested():
        inside, is_inside = [], []

        def called(*told):
            if not is_inside:  # what runs inside tells of its progress, too
                is_inside.append(True)
                inside.append(inner(a, b).tobytes())
                is_inside.clear()

        with watch_progress(called) if hook == "progress" else contextlib.nullcontext():
            outputs = outer.run_named({"a": a, "b": b}, observe=called if hook == "values" else None)
        (found,) = outputs.values()
        assert set(inside) == {expected_inside}
        return found.tobytes()

    assert in_time(nested, callers) == [expected] * callers


@needs_team
@pytest.mark.parametrize("threads", THREADS)
def test_a_model_runs_inside_of_a_team(threads):
    graph = network()
    model = tinyc.compile(graph.program(graph.result), threads=2)
    a, b = arrays((700, 600), (600, 1100))
    expected, found = model(a, b).tobytes(), []
    in_time(lambda: in_a_team(lambda *turn: found.append(model(a, b).tobytes()), 6, threads))
    assert found == [expected] * 6


_FORK = """
import os, sys
import numpy as np, tinyc
model = tinyc.load(sys.argv[1], threads=2)
a, b = np.load(sys.argv[2]), np.load(sys.argv[3])
before = model(a, b).tobytes()
child = os.fork()
if child == 0:
    os._exit(0 if model(a, b).tobytes() == before else 3)
_, status = os.waitpid(child, 0)
assert model(a, b).tobytes() == before
sys.exit(os.waitstatus_to_exitcode(status))
"""


@needs_team
def test_a_model_runs_in_a_child_and_goes_on_in_its_parent(tmp_path):
    graph = network()
    tinyc.compile(graph.program(graph.result)).save(tmp_path / "model.tinyc")
    for name, array in zip("ab", arrays((700, 600), (600, 1100)), strict=True):
        np.save(tmp_path / f"{name}.npy", array)
    files = [str(tmp_path / name) for name in ("model.tinyc", "a.npy", "b.npy")]
    done = subprocess.run([sys.executable, "-c", _FORK, *files], timeout=120, env=os.environ, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("threads", [0, -1, 1.5, "two", True, MAX_THREADS + 1])
def test_what_is_no_number_of_threads_is_refused(threads):
    with pytest.raises(tinyc.TinycError, match="InvalidOption") as caught:
        tinyc.compile(elementwise_document(), threads=threads)
    assert f"threads is {threads!r}; give a number of threads, 1 … {MAX_THREADS}" in str(caught.value)


def elementwise_document():
    graph = Graph()
    return graph.program(graph.input("x", "fp32", 8).apply("NEG"))


def test_the_environment_says_how_many_there_are(monkeypatch):
    monkeypatch.setenv("TINYC_THREADS", "1")
    assert (thread_count(), cpu_count()) == (1, 1)
    monkeypatch.setenv("TINYC_THREADS", "")
    assert cpu_count() == len(os.sched_getaffinity(0))
    assert thread_count() == (cpu_count() if team() else 1)
    monkeypatch.setenv("TINYC_THREADS", "many")
    with pytest.raises(tinyc.TinycError, match="TINYC_THREADS is 'many'"):
        thread_count()


def test_another_target_takes_no_threads():
    with pytest.raises(tinyc.TinycError, match="threads is 2, and on target 'sim' there is no such choice"):
        tinyc.compile(elementwise_document(), target="sim", threads=2)


RUNTIME_OF_ANOTHER = """
import ctypes, sys
from tinyc.runtime.threads import team
ctypes.CDLL(sys.argv[1])
run = team()
lines = open("/proc/self/maps").read().splitlines()
print(*{line.split()[5] for line in lines if "gomp" in line})
"""


@needs_team
def test_the_runtime_that_the_process_has_is_the_one_whose_threads_work(tmp_path):
    """Threads of another one would wait beside them for work."""
    code = "import ctypes; ctypes.CDLL('libgomp.so.1'); print(open('/proc/self/maps').read())"
    lines = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    ).stdout.splitlines()
    own = next((line.split()[5] for line in lines if "libgomp" in line), None)
    if own is None:
        pytest.skip("this system's OpenMP runtime is not GNU's")
    copy = shutil.copy(own, tmp_path / "libgomp-0123abcd.so.1")
    command = [sys.executable, "-c", RUNTIME_OF_ANOTHER, str(copy)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == [str(copy)]
