"""Models from ONNX to a run on the CPU: regions, bytes, compile time, and the time beside ONNX Runtime. Prints tables.

    .venv/bin/python bench/models.py [NAME …]       # bench/results/models.txt is what it prints

Models are built by `onnx_models`. The two runtimes run by turns in one process, with as many threads each; between the
turns both are idle for a while, since threads of either spin for some time after a run. Where their numbers differ by
more than `ALLOWED`, the bench ends with an error. Programs of three small ops show what a call takes beside the work of
its kernels, in both. A layer is a block of a ResNet or of a transformer: it has the
regions that a model with one layer more has more. The memory of loading and running a model is that of processes of
their own (`model_memory`).
"""

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from statistics import geometric_mean, median
from typing import Any

import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper

import tinyc
from figures import Figures, machine, show
from model_memory import peaks
from onnx_models import MODELS, ModelCase
from onnxruntime_session import session_of
from timing import IDLE_SECONDS, least_seconds, repeated, seconds
from tinyc.analysis.graphs import main_function
from tinyc.driver.compiled_model import CompiledModel
from tinyc.driver.lowering import Lowering
from tinyc.driver.sources import read_program
from tinyc.executors.random_arrays import random_arrays
from tinyc.executors.signature import boundary_of
from tinyc.fusion.formation import form_regions
from tinyc.fusion.regions import Region
from tinyc.target import machine_of
from tinyc.target.cpu import GENERIC_CPU
from tinyc.text.table import Table

PACKAGES = ("onnx", "onnxruntime", "llvmlite", "numba-cuda-mlir", "numpy")
COLUMNS = (
    *("model", "nodes", "parameters", "regions", "a layer", "MB moved", "over boundary"),
    *("compile s", "largest error"),
)
SPEEDS = ("model", "ms", "onnxruntime ms", "ratio")
MEMORY = ("model", "MB", "after loading", "onnxruntime MB", "after loading", "ratio")
#: How many threads both have; how fast models are to be beside ONNX Runtime, as a geometric mean and at the least.
THREADS, FASTER, LEAST = (1, 2), 1.0, 0.7
#: The most memory over ONNX Runtime's that a process takes which loads a model and runs it.
MOST_MEMORY = 1.3
#: The most seconds that a model may take to compile, and the nodes and seconds of an import.
COMPILE_SECONDS, NODES, IMPORT_SECONDS = 15, 10_000, 5
#: The most regions that a layer of these may have.
A_LAYER = {"resnet18": 3, "resnet50": 3, "vit_tiny": 9, "bert": 9, "gpt2": 9, "gpt2_decoder": 9}
#: How far the numbers of the two runtimes may be apart, relatively and absolutely: specification 000 §9.
ALLOWED = 1e-3
#: Programs of three small ops: the body of a graph from a and b, of 64 numbers each, to y, and how many y has.
SMALL_OPS = {
    "Add, Mul, Relu": ("s = Add(a, b) m = Mul(s, a) y = Relu(m)", 64),
    "Add, Relu, ReduceSum": ("s = Add(a, b) r = Relu(s) y = ReduceSum(r)", 1),
    "Mul, Softmax, Add": ("m = Mul(a, b) p = Softmax(m) y = Add(p, a)", 64),
}
#: Calls of these are measured in windows of so many, so short that some meet no other work on the machine: the fastest
#: one of each side counts. How fast a call is to be beside ONNX Runtime's.
CALLS, WINDOWS, LEAST_OF_CALLS = 100, 200, 0.7
#: Runs of a turn, after one that is not counted, and turns.
RUNS, TURNS = 5, 3


def measured(case: ModelCase, figures: Figures) -> tuple[Any, ...]:
    """The row of a model; figures that have bounds go to `figures`."""
    model = case.build(**case.large)
    start = time.perf_counter()
    compiled = tinyc.compile(model, bind=case.bind)
    compiling = time.perf_counter() - start
    figures.row(f"{case.name}: compile", compiling, "s", COMPILE_SECONDS)
    regions = regions_of(compiled.lowering)
    moved = sum(each.priced.cost.read_bytes + each.priced.cost.written_bytes for each in regions)
    inputs = random_inputs_of(compiled)
    outputs = compiled.run_named(inputs)
    weights = sum(np.prod(each.dims) * 4 for each in model.graph.initializer)
    boundary = weights + sum(each.nbytes for each in (*inputs.values(), *outputs.values()))
    session, names = session_of(model.SerializeToString(), 0), list(outputs)
    pairs = list(zip(outputs.values(), session.run(names, inputs), strict=True))
    for one, other in pairs:
        np.testing.assert_allclose(
            one, np.asarray(other), ALLOWED, ALLOWED, err_msg=f"{case.name}, tinyc and onnxruntime"
        )
    error = max(float(np.abs(one - other).max()) for one, other in pairs)
    layer = None
    if case.deeper:
        layer = len(regions_of(Lowering(read_program(case.build(**case.deeper), case.bind)))) - len(regions)
        figures.row(f"{case.name}: regions a layer", layer, "", A_LAYER[case.name])
    sizes = len(model.graph.node), int(weights // 4), len(regions), "" if layer is None else layer
    moves = f"{moved / 1e6:.1f}", f"{moved / boundary:.2f}"
    return (case.name, *sizes, *moves, f"{compiling:.1f}", f"{error:.1e}")


def beside_onnxruntime(case: ModelCase, threads: int) -> tuple[float, float]:
    """The seconds of a run of a model with as many threads: tinyc's, ONNX Runtime's."""
    model = case.build(**case.large)
    compiled = tinyc.compile(model, bind=case.bind, threads=threads)
    session = session_of(model.SerializeToString(), threads)
    inputs = random_inputs_of(compiled)
    names = list(compiled.run_named(inputs))
    own, theirs = by_turns(lambda: compiled.run_named(inputs), lambda: session.run(names, inputs))
    return own, theirs


def regions_of(lowering: Lowering) -> Sequence[Region]:
    """The regions that a model is formed into for the CPU."""
    tiny = lowering.module("tiny")
    with tiny.context:
        return form_regions(main_function(tiny), machine_of(GENERIC_CPU.name)).regions


def random_inputs_of(model: CompiledModel) -> dict[str, np.ndarray]:
    """Random inputs; token ids are small enough for any table."""
    drawn = random_arrays(boundary_of(model.lowering.module("tiny")), 0)
    return {name: each % 2 if each.dtype == np.int64 else each for name, each in drawn.items()}


def by_turns(*works: Any) -> list[float]:
    """The median seconds of each, in turns of some runs."""
    found: list[list[float]] = [[] for _ in works]
    for _ in range(TURNS):
        for times, work in zip(found, works, strict=True):
            time.sleep(IDLE_SECONDS)
            work()
            times += [seconds(work) for _ in range(RUNS)]
    return [median(each) for each in found]


def imported(nodes: int) -> float:
    """The seconds that a chain of that many nodes takes to import."""
    chain = [helper.make_node("Relu" if at % 2 else "Neg", [f"x{at}"], [f"x{at + 1}"]) for at in range(nodes)]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 5]) for name in ("x0", f"x{nodes}")]
    model: onnx.ModelProto = helper.make_model(helper.make_graph(chain, "chain", ends[:1], ends[1:]))
    start = time.perf_counter()
    Lowering(read_program(model)).module("frontend")
    return time.perf_counter() - start


def speed_table(names: Sequence[str], threads: int, figures: Figures) -> Table:
    """The models beside ONNX Runtime, with as many threads each."""
    times = {name: beside_onnxruntime(MODELS[name], threads) for name in names}
    ratios = {name: theirs / own for name, (own, theirs) in times.items()}
    title = f"{threads} thread{'s' if threads > 1 else ''}"
    figures.row(
        f"{title}: speed over onnxruntime's, geometric mean", geometric_mean(ratios.values()), "×", least=FASTER
    )
    figures.row(f"{title}: speed over onnxruntime's, worst", min(ratios.values()), "×", least=LEAST)
    rows = [
        (name, f"{own * 1e3:.1f}", f"{theirs * 1e3:.1f}", f"{ratios[name]:.2f}")
        for name, (own, theirs) in times.items()
    ]
    return Table(f"beside ONNX Runtime, {title}", SPEEDS, tuple(rows))


def memory_table(names: Sequence[str], figures: Figures) -> Table:
    """What processes take at their highest that load a model and run it once: tinyc's, ONNX Runtime's."""
    rows: list[tuple[str, ...]] = []
    ratios: list[float] = []
    for name in names:
        case = MODELS[name]
        model = case.build(**case.large)
        compiled = tinyc.compile(model, bind=case.bind)
        own, theirs = peaks(model, compiled, random_inputs_of(compiled))
        ratios.append(own.run / theirs.run)
        figures.row(f"{name}: memory over onnxruntime's", ratios[-1], "×", MOST_MEMORY)
        rows.append((name, *(f"{each / 1e6:.0f}" for each in (*reversed(own), *reversed(theirs))), f"{ratios[-1]:.2f}"))
    figures.row("memory over onnxruntime's, worst", max(ratios), "×", MOST_MEMORY)
    return Table("memory of a process that loads a model and runs it once, 1 thread", MEMORY, tuple(rows))


def calls_table(threads: int, figures: Figures) -> Table:
    """The calls of programs of three small ops beside those of ONNX Runtime, with as many threads each."""
    called = f"{threads} thread{'s' if threads > 1 else ''}"
    rows: list[tuple[str, ...]] = []
    for name, (body, length) in SMALL_OPS.items():
        graph = f"case (float[64] a, float[64] b) => (float[{length}] y) {{ {body} }}"
        model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 23]> {graph}')
        compiled, session = tinyc.compile(model, threads=threads), session_of(model.SerializeToString(), threads)
        inputs = random_inputs_of(compiled)
        (expected,) = session.run(["y"], inputs)
        np.testing.assert_allclose(compiled.run_named(inputs)["y"], np.asarray(expected), ALLOWED, ALLOWED)
        works = partial(compiled.run_named, inputs), partial(session.run, ["y"], inputs)
        own, theirs = (min(each) / CALLS for each in zip(*(_windows(works) for _ in range(TURNS)), strict=True))
        figures.row(f"{called}: speed of a call, {name}", theirs / own, "×", least=LEAST_OF_CALLS)
        rows.append((name, f"{own * 1e6:.1f}", f"{theirs * 1e6:.1f}", f"{theirs / own:.2f}"))
    columns = ("ops on 64 numbers", "us", "onnxruntime us", "ratio")
    return Table(f"calls of three small ops beside ONNX Runtime's, {called}", columns, tuple(rows))


def _windows(works: Sequence[Callable[[], Any]]) -> list[float]:
    """The seconds of the fastest window of each side, one after the other."""
    found: list[float] = []
    for work in works:
        time.sleep(IDLE_SECONDS)
        found.append(least_seconds(partial(repeated, work, CALLS), WINDOWS))
    return found


def main() -> int:
    """Measure the models that are named, print the tables, and return 1 if a bound is missed."""
    figures = Figures("bounds")
    names = sys.argv[1:] or list(MODELS)
    rows = tuple(measured(MODELS[name], figures) for name in names)
    speeds = [speed_table(names, threads, figures) for threads in THREADS]
    memory = memory_table(names, figures)
    called = [calls_table(threads, figures) for threads in THREADS]
    half, whole = imported(NODES // 2), imported(NODES)
    figures.row(f"import of {NODES} nodes", whole, "s", IMPORT_SECONDS)
    figures.row(f"the same over that of {NODES // 2}", whole / half, "×", 2.5)
    show(machine(PACKAGES), Table("models on the CPU", COLUMNS, rows), *speeds, memory, *called, figures.table)
    return int(figures.missed > 0)


if __name__ == "__main__":
    sys.exit(main())
