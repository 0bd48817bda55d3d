"""What regions save: their number, the bytes that kernels move, CPU time; and how fast they are formed. Prints tables.

    .venv/bin/python bench/regions.py --than ../before     # bench/results/regions.txt is what it prints

A program is compiled as it is now, with one op in a region, and by another checkout of tinyc. Three processes run them
by turns, so that all meet the same machine; a ratio is the median of the rounds. Bytes are those of the buffers that
kernels read and write, from the host program. Formation is timed alone, on the processor's clock, and is linear if its
time a node is the same on small and large graphs.
"""

import argparse
import functools
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import tinyc
from checkout import TREE, Checkout
from figures import Figures, machine, show
from timing import seconds
from tinyc import pipeline
from tinyc.analysis.graphs import main_function
from tinyc.expr import extents
from tinyc.fusion.formation import form_regions
from tinyc.importers import tiny_json
from tinyc.target import machine_of
from tinyc.text.table import Table
from workloads import WORKLOADS, Program, Workload, chain, deep, fan_out, fan_out_sums, fan_out_tree, movements, tangled

PACKAGES = ("islpy", "llvmlite", "numba-cuda-mlir", "numpy")
WORKER = "regions_worker.py"
ROUNDS = 9
#: The workloads that are run, and how they are called.
MEASURED = {
    "GEMM with a prologue": "gemm_prologue",
    "MLP": "mlp",
    "softmax": "softmax",
    "layer norm": "layer_norm",
    "GELU-MLP block": "gelu_mlp",
    "ResNet block": "resnet",
    "transformer block": "transformer_gelu",
}
#: What regions are formed for, and the element types of the programs.
CASES = [(machine, dtype) for machine in ("cpu", "sm_80", "sm_90a") for dtype in ("fp32", "fp16")]
#: What is compared: this compiler, the same with one op in a region, and the other checkout.
NOW, ONE_OP, BEFORE = "now", "one op a region", "before"
#: How much slower it may seem where it is as fast: the noise of a median of ratios.
NOISE = 1.05
SMALL, LARGE = 1_000, 10_000
#: Graphs that regions are formed of, deep ones and wide ones.
GRAPHS = {
    "transformer": deep,
    "element-wise chain": chain,
    "chains of movements": movements,
    "one value, many outputs": fan_out,
    "one value, many sums": fan_out_sums,
    "fan-out tree": fan_out_tree,
    "tangled": tangled,
}
FORMATION_MS, CHAIN_OPS, CHAIN_SECONDS = 1.0, 3_000, 3.0
EXPANDED = {"rows": 1024, "columns": 1024}


@dataclass(frozen=True)
class Measured:
    """A program as one compiler made it: its regions, what they move, and the seconds of each round."""

    regions: int
    bytes: int
    seconds: Sequence[float]
    means: Sequence[float]


def compared(than: Path) -> dict[str, dict[str, Measured]]:
    """Each program by the compilers that made it."""
    checkouts = {
        NOW: Checkout(TREE, WORKER, "{}"),
        ONE_OP: Checkout(TREE, WORKER, json.dumps({"fusion": "none"})),
        BEFORE: Checkout(than, WORKER, "{}"),
    }
    return {title: _measured(checkouts, title) for title in MEASURED}


def _measured(checkouts: dict[str, Checkout], title: str) -> dict[str, Measured]:
    workload = WORKLOADS[MEASURED[title]]
    question = {"compile": title, "program": workload.build(**workload.large)}
    facts = {name: checkout.ask(question) for name, checkout in checkouts.items()}
    facts = {name: each for name, each in facts.items() if each is not None}
    rounds = [{name: checkouts[name].ask({"run": title}) for name in facts} for _ in range(ROUNDS)]
    return {
        name: Measured(each["regions"], each["bytes"], [times[name] for times in rounds], each["means"])
        for name, each in facts.items()
    }


def side_by_side(results: dict[str, dict[str, Measured]]) -> Table:
    """What each compiler makes of a program."""
    rows = [
        (title, name, each.regions, each.bytes / 1e6, median(each.seconds) * 1e3)
        for title, by_name in results.items()
        for name, each in by_name.items()
    ]
    return Table("programs on the CPU, fp32", ("program", "compiler", "regions", "MB moved", "ms"), tuple(rows))


def ratios(results: dict[str, dict[str, Measured]]) -> Figures:
    """What this compiler makes of each program, over what the others do: each figure is to be at least as good."""
    figures = Figures("regions, now over the others")
    for title, by_name in results.items():
        now = by_name[NOW]
        figures.row(f"{title}: regions", now.regions, "", WORKLOADS[MEASURED[title]].most("cpu", "fp32"))
        for name in (ONE_OP, BEFORE):
            if name in by_name:
                _compare(figures, title, now, name, by_name[name])
    return figures


def _compare(figures: Figures, title: str, now: Measured, name: str, other: Measured) -> None:
    times = (mine / others for mine, others in zip(now.seconds, other.seconds, strict=True))
    figures.row(f"{title}: regions over {name}", now.regions / other.regions, "×", 1)
    figures.row(f"{title}: bytes over {name}", now.bytes / other.bytes, "×", 1)
    figures.row(f"{title}: CPU time over {name}", median(times), "×", NOISE)
    pairs = zip(now.means, other.means, strict=True)
    figures.fact(f"{title}: numbers as {name}", all(abs(a - b) <= 1e-3 * abs(b) for a, b in pairs), expected=True)


def counted() -> tuple[Table, int]:
    """How many regions each workload has, by machine and element type, and how many of these are too many."""
    found = {name: [regions_of(each, *case) for case in CASES] for name, each in WORKLOADS.items()}
    most = {name: [each.most(*case) for case in CASES] for name, each in WORKLOADS.items()}
    rows = tuple((name, max(most[name]), *counts) for name, counts in found.items())
    columns = ("program", "at most", *(f"{machine} {dtype}" for machine, dtype in CASES))
    missed = sum(count > each for name, counts in found.items() for count, each in zip(counts, most[name], strict=True))
    return Table("regions, at the sizes of networks", columns, rows, f"{missed} are too many" if missed else ""), missed


def regions_of(workload: Workload, machine: str, dtype: str) -> int:
    """The number of regions that a workload has for a machine."""
    module = tiny_json.import_program(workload.build(dtype=dtype, **workload.large))
    with module.context:
        return len(form_regions(main_function(module), machine_of(machine)).regions)


def formation() -> Figures:
    """How long it takes to form regions, and to compile what they save."""
    figures = Figures("region formation")
    for name, graph in GRAPHS.items():
        small, large = (formation_milliseconds(graph, nodes) for nodes in (SMALL, LARGE))
        figures.row(f"{name}, {SMALL} nodes", small, "ms a node", FORMATION_MS)
        figures.row(f"{name}, {LARGE} nodes", large, "ms a node", FORMATION_MS)
        figures.row("the same, large over small", large / small, "×", 2)
    program = chain(CHAIN_OPS)
    for target in ("cpu", "sim"):
        taken = min(seconds(functools.partial(tinyc.compile, program, target=target)) for _ in range(2))
        figures.row(f"{CHAIN_OPS} element-wise ops for {target}, JSON to callable", taken, "s", CHAIN_SECONDS)
    model = tinyc.compile(WORKLOADS["sum_of_expanded"].build(**EXPANDED))
    arena = sum(extents.evaluate(buffer.size, {}) for buffer in model.lowering.program().of_kind("arena"))
    figures.row(
        "sum(cast(expand(x))), {rows} × {columns}: buffers between kernels".format(**EXPANDED), arena, "bytes", 0
    )
    return figures


def formation_milliseconds(graph: Callable[[int], Program], nodes: int) -> float:
    """The least time that regions take to form, a node of the program."""
    steps, text = pipeline.parse("tiny-to-region"), json.dumps(graph(nodes))

    def formed() -> float:
        module = tiny_json.import_program(text)
        count = len(main_function(module).regions[0].blocks[0].operations)
        return seconds(lambda: steps.run(module, verify_each=False), time.process_time) / count

    return min(formed() for _ in range(3)) * 1e3


def main() -> int:
    """Measure everything, print the tables, and return 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description="Measure regions beside one op a region, and beside another checkout.")
    parser.add_argument("--than", type=Path, required=True, help="the other checkout, as `git worktree add` makes one")
    results = compared(parser.parse_args().than.resolve())
    tables, (counts, too_many) = (ratios(results), formation()), counted()
    show(machine(PACKAGES), side_by_side(results), counts, *(each.table for each in tables))
    return int(too_many > 0 or any(each.missed for each in tables))


if __name__ == "__main__":
    sys.exit(main())
