"""How fast the analyses are: the IndexBook and the Poly-View an op, and `can_compute_at` a query. Prints a table.

    .venv/bin/python bench/analysis.py        # bench/results/analysis.txt is what it prints

The graphs are transformer-like (layers of attention, normalisation and a SwiGLU network, 9 contractions each) and
movement-heavy (ten movements to each element-wise op). Times are the least of several runs, each on a graph of its
own, and times of the processor, for other work shares it. The ratio of the time an op on the large graph to that on the
small one shows that the work is linear.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from figures import Figures, machine, show
from timing import least_seconds, seconds
from tinyc.analysis.graphs import main_function
from tinyc.analysis.index_book.book import index_book
from tinyc.analysis.patterns.classification import pattern_of
from tinyc.analysis.poly.edge import PolyEdge
from tinyc.analysis.poly.view import poly_view
from tinyc.analysis.poly_core import can_compute_at
from tinyc.dialects.tiny.ops import ReduceOp
from tinyc.expr import axes
from tinyc.importers import tiny_json
from workloads import Program, deep, movements

SMALL, LARGE = 1_000, 10_000
RUNS = 3
PACKAGES = ("islpy", "numba-cuda-mlir", "numpy")
TILE = 16
GRAPHS: dict[str, Callable[[int], Program]] = {"transformer": deep, "movements": movements}
#: Milliseconds: an op in the IndexBook and in the Poly-View, and a query.
BOUNDS = {"IndexBook": 0.1, "Poly-View": 1.0}
QUERY_BOUND = 2.0
ANALYSES: dict[str, Callable[[Any], Any]] = {"IndexBook": index_book, "Poly-View": poly_view}


def milliseconds_an_op(graph: Callable[[int], Program], ops: int, analysis: Callable[[Any], Any]) -> float:
    """Return the least time that an analysis takes on graphs of about `ops` ops, an op of the module."""
    least = float("inf")
    for _ in range(RUNS):
        module = tiny_json.import_program(json.dumps(graph(ops)))
        function = main_function(module)
        count = len(function.regions[0].blocks[0].operations)
        with module.context:
            least = min(least, seconds(lambda function=function: analysis(function), time.process_time) / count)
    return least * 1e3


def detections() -> list[float]:
    """Return the milliseconds that finding the pattern takes for each reduction of a transformer layer."""
    module = tiny_json.import_program(json.dumps(deep(1)))
    with module.context:
        ops = main_function(module).regions[0].blocks[0].operations
        reductions = [op for op in ops if isinstance(op, ReduceOp)]
        return sorted(least_milliseconds(lambda op=op: pattern_of(op)) for op in reductions)


def query_milliseconds(edge: PolyEdge) -> float:
    """Return the least time that `can_compute_at` takes for an edge, in tiles of 16 along the axes of the target."""
    rows = (axes.positions(row) for row in edge.target.write)
    tile = {edge.target.statement.axes[min(row)]: TILE for row in rows if row}
    return least_milliseconds(lambda: can_compute_at(edge.source, edge.target, tile))


def least_milliseconds(work: Callable[[], Any]) -> float:
    """Return the least time of the processor that `work` takes."""
    return least_seconds(work, RUNS, time.process_time) * 1e3


def queries() -> list[float]:
    """Return the milliseconds of the query for each edge of a transformer layer."""
    module = tiny_json.import_program(json.dumps(deep(1)))
    with module.context:
        return sorted(query_milliseconds(edge) for edge in poly_view(main_function(module)).edges)


def main() -> int:
    """Measure everything, print the table, and return 1 if a bound is missed."""
    figures = Figures("the analyses")
    for graph, program in GRAPHS.items():
        for name, analysis in ANALYSES.items():
            milliseconds_an_op(program, SMALL // 10, analysis)  # the first run imports modules
            small, large = (milliseconds_an_op(program, ops, analysis) for ops in (SMALL, LARGE))
            figures.row(f"{name}, {graph}, {SMALL} ops", small, "ms an op", BOUNDS[name])
            figures.row(f"{name}, {graph}, {LARGE} ops", large, "ms an op", BOUNDS[name])
            figures.row("the same, large over small", large / small, "×", 2)
    found = detections()
    figures.row(f"pattern_of alone, {len(found)} reductions: median", found[len(found) // 2], "ms")
    figures.fact("isl loaded for that", "islpy" in sys.modules, expected=False)
    times = queries()
    figures.row(f"can_compute_at, {len(times)} edges: median", times[len(times) // 2], "ms", QUERY_BOUND)
    figures.row("can_compute_at: slowest", times[-1], "ms", QUERY_BOUND)
    show(machine(PACKAGES), figures.table)
    return int(figures.missed > 0)


if __name__ == "__main__":
    sys.exit(main())
