"""Kernels of one generation that a team takes together: when, with which turns, with the same bits, in one call."""

import ctypes
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, combinations_with_replacement
from types import SimpleNamespace

import numpy as np
import pytest

import tinyc
from programs.cpu_levels import needs_team
from programs.joined_calls import JoinedExecutable, known_pace
from tinyc.diagnostics import watch_progress
from tinyc.runtime import cpu_calls
from tinyc.runtime.cpu import CpuExecutable
from tinyc.runtime.cpu_calls import KernelArguments, Kernels, Pace, kernel_call, together
from tinyc.runtime.threads import team
from workloads.graph import Graph

THREADS = (1, 2, 5)
_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
#: Sizes of `projections`: some of one turn, of several, and kernels that have none.
SIZES = ((1, 5), (70, 300), (33, 0), (0, 4), (0, 0))

pytestmark = needs_team


def projections():
    """Return three products of one input and rows of a table, one generation, and two kernels behind it."""
    graph = Graph()
    x, table, index = (
        graph.input("x", "fp32", "M", 40),
        graph.input("table", "fp32", 9, 5),
        graph.input("i", "i64", "N"),
    )
    products = []
    for number, width in enumerate((24, 130, 130)):
        space = ("M", width, 40)
        weights = graph.input(f"w{number}", "fp32", 40, width).permute(1, 0)
        products.append((x.expand(space, 0, 2) * weights.expand(space, 1, 2)).reduce("SUM", 2))
    rows = graph.add("fp32", ("N", 5), "GATHER", table, index, axis=0)
    q, k, v = products
    return graph.program(q.reduce("MAX", 1), k + v, rows)


def arrays(m, n):
    random = np.random.default_rng(m)
    shapes = {"x": (m, 40), "table": (9, 5), "w0": (40, 24), "w1": (40, 130), "w2": (40, 130)}
    given = {name: random.standard_normal(shape, np.float32) for name, shape in shapes.items()}
    return {**given, "i": np.arange(n) % 9}


@pytest.fixture(scope="module")
def device():
    """What makes the device for a program of its own, `projections` by default."""
    own = tinyc.compile(projections(), fusion="none").artifact()

    def made(kind, threads, artifact=own):
        return kind(artifact.program, artifact.code, artifact.arrays, threads)

    return made


def shapes_of(device, given):
    return tuple(given[name].shape for name in device.program.inputs)


def frame_of(device, m, n):
    return device._bound_to(shapes_of(device, arrays(m, n)))[1].take()


def bits(outputs):
    return {name: array.tobytes() for name, array in outputs.items()}


@pytest.mark.parametrize("threads", THREADS[1:])
@pytest.mark.parametrize(("m", "n"), SIZES)
def test_bits_are_those_of_kernels_one_after_the_other(device, threads, m, n):
    given, joined = arrays(m, n), device(JoinedExecutable, threads)
    expected = bits(device(CpuExecutable, 1).run(given))
    for _ in range(5):
        assert bits(joined.run(given)) == expected


def test_only_kernels_that_have_something_to_do_are_called(device):
    calls = [frame_of(device(JoinedExecutable, 2), *size).joined_calls for size in SIZES]
    assert [[each.title.split(",")[0] for each in of_size] for of_size in calls] == [
        ["4 kernels at once", "2 kernels at once"],
        ["4 kernels at once", "2 kernels at once"],
        ["3 kernels at once", "2 kernels at once"],
        ["kernel 'gather' (4 of 6)"],
        [],
    ]


@pytest.fixture
def starts(monkeypatch):
    """How many threads each team had that has started since."""
    counts, run = [], team()
    monkeypatch.setattr(cpu_calls, "team", lambda: lambda *given: (counts.append(given[2]), run(*given)))
    return counts


def test_a_generation_is_one_call_of_a_team(device, starts):
    joined, given = device(JoinedExecutable, 2), arrays(70, 300)
    joined.run(given)
    assert len(starts) > 2, "the first run is in chunks: nothing is known of all kernels together"
    (frame,) = joined._bound_to(shapes_of(joined, given))[1]._free
    for call in frame.joined_calls:
        call.pace.turns = call.turns
    starts.clear()
    joined.run(given)
    assert starts == [2, 2]


def test_who_asks_for_each_kernel_has_them_one_after_the_other(device, starts):
    joined, given, told = device(JoinedExecutable, 2), arrays(70, 300), []
    joined.run(given, timer=lambda bound, launch, seconds: told.append((launch.kernel.symbol, seconds > 0)))
    symbols = ["matmul", "matmul_1", "matmul_1", "gather", "reduce_max", "elementwise_add"]
    assert told == [(symbol, True) for symbol in symbols]
    assert len(starts) == 2, "the gather and the sum have several turns"
    seen = {}
    outputs = joined.run(given, observe=lambda node, values: seen.update({node: values}))
    assert len(seen) == 6
    assert {array.tobytes() for array in seen.values()} > {array.tobytes() for array in outputs.values()}


def test_runs_tell_which_kernels_are_sooner_together(device, monkeypatch):
    given, usual = arrays(70, 300), device(CpuExecutable, 2)
    monkeypatch.setattr(cpu_calls, "_TEAM_SECONDS", 0.0)  # else these kernels would be too short
    seen = []
    for _ in range(8):
        usual.run(given)
        seen.append(len(frame_of(usual, 70, 300).joined_calls))
    assert seen[0] == 6
    assert seen[-1] < 6


def test_one_thread_calls_each_kernel(device):
    assert len(frame_of(device(JoinedExecutable, 1), 70, 300).joined_calls) == 6


def test_callers_at_once_have_generations_of_their_own(device):
    joined, sizes = device(JoinedExecutable, 2), [*SIZES, (64, 64)] * 6
    expected = {size: bits(device(CpuExecutable, 1).run(arrays(*size))) for size in sizes}
    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(lambda size: bits(joined.run(arrays(*size))), sizes)]
    assert found == [expected[size] for size in sizes]


def test_a_model_runs_between_chunks_of_a_generation(device):
    joined, given, inside = device(JoinedExecutable, 2), arrays(70, 300), []
    expected = bits(device(CpuExecutable, 1).run(given))

    def called(title, done, total):
        if "at once" in title and not inside:
            inside.append(None)
            inside.append(bits(joined.run(given)))

    with watch_progress(called):
        assert bits(joined.run(given)) == expected
    assert inside[1:] == [expected]


def test_an_interrupt_comes_between_chunks_of_a_generation(device):
    joined, given, seen = device(JoinedExecutable, 2), arrays(70, 300), []

    def interrupted(title, done, total):
        seen.append((title, done, total))
        if done:
            raise KeyboardInterrupt

    with watch_progress(interrupted), pytest.raises(KeyboardInterrupt):
        joined.run(given)
    title = "4 kernels at once, from kernel 'matmul' (1 of 6), turn"
    assert seen == [(title, 0, 303), (title, 2, 303)]
    assert bits(joined.run(given)) == bits(device(CpuExecutable, 1).run(given))


def test_a_child_of_a_process_with_threads_goes_without_a_team(device, monkeypatch, starts):
    monkeypatch.setattr(cpu_calls, "is_forked", lambda: True)
    joined, given = device(JoinedExecutable, 2), arrays(70, 300)
    assert bits(joined.run(given)) == bits(device(CpuExecutable, 1).run(given))
    assert starts == []


@pytest.mark.parametrize("wrong", [(0,), (1,), (0, 1)])
def test_an_index_out_of_range_is_told_beside_other_kernels(device, wrong):
    """Of several kernels of a generation it is the first one's, whichever thread meets what first."""
    graph = Graph()
    table, *indexes = (graph.input("t", "fp32", 6, 3), *(graph.input(f"i{k}", "i64", 40) for k in range(2)))
    rows = [graph.add("fp32", (40, 3), "GATHER", table, each, axis=0) for each in indexes]
    own = tinyc.compile(graph.program(*rows, table.apply("NEG")), fusion="none").artifact()
    given = {"t": np.ones((6, 3), np.float32), **{f"i{k}": np.arange(40) % 6 for k in range(2)}}
    bad = {f"i{k}": np.where(np.arange(40) < 20 - k, 0, 77 + k) for k in wrong}
    for threads in THREADS:
        joined = device(JoinedExecutable, threads, own)
        joined.run(given)
        for _ in range(3):
            with pytest.raises(tinyc.TinycError, match=f"index {77 + wrong[0]} at .{20 - wrong[0]}."):
                joined.run({**given, **bad})
        assert all((array == 1).all() for name, array in joined.run(given).items() if "gather" in name)


# --- turns of several kernels -----------------------------------------------------------------------------------------


@pytest.fixture
def calls_of(device):
    """Calls of functions of Python's, each with so many turns, by the seconds that they take in one thread."""
    held = [device(CpuExecutable, 2)]  # whose code has the function of a team
    team_function = held[0]._kernels.team_function

    def made(parts, threads=2):
        kernels = Kernels({}, team_function, threads)
        calls = []
        for number, (work, turns, pace) in enumerate(parts):
            function = _KERNEL(work)
            held.append(function)
            arguments = KernelArguments(ctypes.cast(function, ctypes.c_void_p).value, (number + 1) << 20, 256, number)
            calls.append(kernel_call(kernels, SimpleNamespace(), arguments, turns, pace, f"kernel {number}"))
        return kernels, calls

    return made


@pytest.mark.parametrize("threads", THREADS[1:])
def test_each_turn_of_each_kernel_is_computed_once_with_addresses_of_its_thread(calls_of, threads):
    found, counts = [], (3, 1, 40, 1)

    def work(bufs, extents, low, high):
        found.extend((extents or 0, turn, bufs, threading.get_ident()) for turn in range(low, high))

    kernels, calls = calls_of([(work, turns, known_pace()) for turns in counts], threads)
    (call,) = together(kernels, calls)
    bounds = range(0, sum(counts) + 1, 5)
    for low, high in (*combinations_with_replacement(bounds, 2), (0, sum(counts))):
        found.clear()
        call.work(low, high)
        owned = {(bufs, thread) for _, _, bufs, thread in found}
        assert {bufs & (1 << 20) - 1 for bufs, _ in owned} <= {256 * thread for thread in range(threads)}
        assert len({(bufs & (1 << 20) - 1, thread) for bufs, thread in owned}) == len({thread for _, thread in owned})
        assert len({each[:2] for each in found}) == len(found) == high - low
    assert sorted(each[:2] for each in found) == [*chain(*([(k, t) for t in range(n)] for k, n in enumerate(counts)))]


def test_kernels_of_one_turn_run_at_the_same_time(calls_of):
    """Each waits for the other one."""
    met = threading.Barrier(2, timeout=60)
    kernels, calls = calls_of([(lambda *turns: met.wait(), 1, known_pace()) for _ in range(2)])
    (call,) = together(kernels, calls)
    call.work(0, call.turns)
    assert not met.broken


def nothing(*turns):
    pass


#: Kernels as (turns, µs in one thread), and how many calls two threads make of them.
GENERATIONS = {
    "nothing would be saved": ([(1, 8), (1, 8)], 2),
    "one is as long as all others": ([(1, 100), (1, 4), (1, 4)], 3),
    "two that are not shared": ([(1, 40), (1, 40)], 1),
    "few turns": ([(3, 40), (3, 40)], 1),
    "one start of a team less": ([(100, 40), (100, 40)], 1),
    "many short ones": ([(1, 8)] * 6, 1),
    "three of a size": ([(1, 9)] * 3, 3),
}


@pytest.mark.parametrize("kind", GENERATIONS)
def test_kernels_are_called_together_where_that_is_sooner(calls_of, kind):
    parts, count = GENERATIONS[kind]
    kernels, calls = calls_of([(nothing, turns, known_pace(each * 1e-6)) for turns, each in parts])
    joined = together(kernels, calls)
    assert len(joined) == count
    assert sum(each.turns for each in joined) == sum(turns for turns, _ in parts)


def test_the_longest_kernel_is_the_first_that_a_team_takes(calls_of):
    order = []
    works = [lambda *_, number=number: order.append(number) for number in range(3)]
    times = (30e-6, 90e-6, 60e-6)
    kernels, calls = calls_of([(work, 1, known_pace(each)) for work, each in zip(works, times, strict=True)])
    (call,) = together(kernels, calls)
    for turn in range(3):
        call.work(turn, turn + 1)
    assert order == [1, 2, 0]


def test_a_long_kernel_of_many_turns_stays_by_itself(calls_of):
    long = Pace(turns=10, seconds=0.5)
    kernels, calls = calls_of([(nothing, 1, known_pace()), (nothing, 1000, long), (nothing, 1, known_pace())])
    joined = together(kernels, calls)
    assert [each.turns for each in joined] == [2, 1000]
    assert joined[1] is calls[1]
    few = Pace(turns=1, seconds=0.5)  # two threads have three turns of it: one of them waits, or takes another kernel
    kernels, calls = calls_of([(nothing, 3, few), (nothing, 3, few)])
    assert [each.turns for each in together(kernels, calls)] == [6]


@pytest.mark.parametrize("pace", [Pace(), Pace(seconds=0.0), Pace(seconds=1e-4, alone_seconds=1e-4, tries=1)])
def test_kernels_are_apart_until_it_is_known_how_long_each_takes(calls_of, pace):
    kernels, calls = calls_of([(nothing, 1, known_pace()), (nothing, 4, pace)])
    assert together(kernels, calls) is None
