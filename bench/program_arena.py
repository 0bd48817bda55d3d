"""How well arenas are packed: their peaks over the bytes that are alive at once. A part of `program.py`.

Sizes are rounded to the alignment, and a buffer is alive in whole generations. Examples and networks are compiled as
they come, and with a kernel for each op, which leaves the most buffers.
"""

from collections.abc import Mapping
from typing import Any

from figures import Figures
from programs.example_bindings import BIND, EXAMPLES
from timing import seconds
from tinyc.analysis.arena import Request, packed
from tinyc.driver.lowering import Lowering
from tinyc.driver.sources import read_program
from tinyc.explain.arena import lower_bound_bytes
from tinyc.expr.maximum import maximum_at
from tinyc.runtime.program import Program
from tinyc.text.table import Table
from workloads import WORKLOADS, random_graph

COLUMNS = ("program", "kernels", "buffers", "generations", "peak, bytes", "lower bound", "peak / bound")
NETWORKS = ("mlp", "gelu_mlp", "resnet", "attention", "transformer_gelu", "transformer_swiglu")
#: How often the bound may go into the peak.
MOST = 1.1
RANDOM_GRAPHS, SYMBOLIC_GRAPHS, BATCHES = 100, 20, (64, 150, 1024)
#: Buffers of a made-up program whose packing is timed, each alive for some generations.
MANY, SPAN = 10_000, 7


def arenas() -> tuple[Table, Figures]:
    """The arena of each example and network, and the figures that have bounds."""
    rows, worst = [], 1.0
    for name, (document, bind) in _documents().items():
        for fusion in ({}, {"fusion": "none"}):
            program = _host_program(document, bind, **fusion)
            row, ratio = _row(f"{name}{', a kernel for each op' if fusion else ''}", program)
            worst = max(worst, ratio)
            if program.arena_lifetimes:
                rows.append(row)
    figures = Figures("arenas")
    figures.row("peak over bound, the most of the programs above", worst, "×", MOST)
    drawn = [_host_program(random_graph(seed, 50 + seed), fusion="none") for seed in range(RANDOM_GRAPHS)]
    figures.row(f"the same of {RANDOM_GRAPHS} random graphs", max(_ratio(each, {}) for each in drawn), "×", MOST)
    symbolic = [_host_program(random_graph(seed, "B"), fusion="none") for seed in range(SYMBOLIC_GRAPHS)]
    most = max(_ratio(each, {"B": batch}) for each in symbolic for batch in BATCHES)
    figures.row(f"the same of {SYMBOLIC_GRAPHS} with a symbolic batch, at {BATCHES}", most, "×", MOST)
    requests = [Request(256 * (1 + each * 7919 % 97), each, each + each % SPAN) for each in range(MANY)]
    figures.row(f"packing {MANY} buffers", seconds(lambda: packed(requests)), "s")
    return Table("arenas", COLUMNS, tuple(rows), "programs that need no arena are left out"), figures


def _documents() -> dict[str, tuple[Any, Mapping[str, int]]]:
    """The programs with what their symbols are bound to."""
    examples = {name: (EXAMPLES / f"{name}.json", bind) for name, bind in BIND.items()}
    networks = {name: (WORKLOADS[name].build(**WORKLOADS[name].large), {}) for name in NETWORKS}
    return {**examples, **networks}


def _host_program(document: Any, bind: Mapping[str, int] | None = None, **options: Any) -> Program:
    return Lowering(read_program(document, bind), "cpu", options).program()


def _row(name: str, program: Program) -> tuple[tuple[str, ...], float]:
    peak, bound, ratio = maximum_at(program.arena_bytes, {}), lower_bound_bytes(program, {}), _ratio(program, {})
    generations = 1 + max(kernel.generation for kernel in program.kernels)
    counts = len(program.kernels), len(program.arena_lifetimes), generations
    return (name, *map(str, counts), str(peak), str(bound), f"{ratio:.3f}"), ratio


def _ratio(program: Program, values: Mapping[str, int]) -> float:
    """How often the bound goes into the peak, at some sizes."""
    bound = lower_bound_bytes(program, values)
    return maximum_at(program.arena_bytes, values) / bound if bound else 1.0
