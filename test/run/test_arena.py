"""The arena of whole programs: small, and never read where nothing, or something else, has been written.

Random programs run from poisoned memory: each byte of the arena is all ones before the first kernel, and again when
what lies there is needed no more. `--random-examples N` runs more of them.
"""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import assume

import tinyc
from parameters import in_turn
from programs.agreement import assert_agree
from programs.example_bindings import BIND, EXAMPLES
from programs.poisoned import poisoned
from programs.strategies import fusion_programs, programs
from tinyc.driver.lowering import Lowering
from tinyc.driver.sources import read_program
from tinyc.executors import reference
from tinyc.executors.compare import compare
from tinyc.executors.random_inputs import random_inputs
from tinyc.executors.tolerance import Tolerance
from tinyc.explain.arena import lower_bound_bytes
from tinyc.expr.maximum import maximum_at
from tinyc.text import print_ir
from tinyc.vocabulary.alignment import aligned_size
from workloads import WORKLOADS, random_graph
from workloads.graph import Graph

#: Sizes of symbols at which a symbolic arena is compared with its bound.
SIZES = ((64, 64, 64, 64, 64), (150, 130, 70, 33, 129), (1024, 1024, 1024, 1024, 1024))
BLOCKS = ("mlp", "gelu_mlp", "resnet", "attention", "transformer_gelu", "transformer_swiglu")


def host_program(document, target="cpu", bind=None, **options):
    return Lowering(read_program(document, bind), target, options).program()


def excess(program, values):
    """Return how often the least arena goes into that of a program, at some sizes."""
    arena = maximum_at(program.arena_bytes, values)
    least = lower_bound_bytes(program, values)
    return arena / least if least else float(arena != 0) + 1


def excess_of_values(program, values):
    """Return the same of what lies between kernels, without the workspaces of any launch, all of known sizes.

    They lie above all that is alive beside them, and not in a gap below it: how large that is depends on the sizes.
    """
    sizes, own = {buffer.name: aligned_size(buffer.size) for buffer in program.buffers}, set()
    found = Counter()
    for kernel in program.kernels:
        found[kernel.generation] += sum(sizes[name] for name in program.workspaces_of(kernel))
        own |= program.workspaces_of(kernel)
    arena = maximum_at(program.arena_bytes, values) - max(found.values(), default=0)
    between = tuple(each for each in program.buffers if each.name not in own)
    return arena / lower_bound_bytes(replace(program, buffers=between), values)


@pytest.mark.parametrize("fusion", [{}, {"fusion": "none"}], ids=["regions", "a kernel for each op"])
@pytest.mark.parametrize("name", BIND)
def test_the_arena_of_an_example_is_near_its_bound(name, fusion):
    for target in ("cpu", "sim"):
        program = host_program(EXAMPLES / f"{name}.json", target, BIND[name], **fusion)
        assert excess(program, {}) <= 1.1


@pytest.mark.parametrize("fusion", [{}, {"fusion": "none"}], ids=["regions", "a kernel for each op"])
@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("sizes", ["small", "large"])
def test_the_arena_of_a_network_is_near_its_bound(name, sizes, fusion):
    workload = WORKLOADS[name]
    document = workload.build(**(workload.large if sizes == "large" else {}))
    assert excess(host_program(document, **fusion), {}) <= 1.1


def layer(graph, x, hidden):
    """Return a layer of a network with a symbolic batch: a product, a norm of its rows, and x added."""
    width = x.shape[1]
    wide = graph.add("fp32", (x.shape[0], hidden), "MATMUL", x, graph.weights("fp32", width, hidden), dtype="fp32")
    relu = wide.apply("RELU")
    normed = relu - relu.spread("MAX", 1)
    narrow = graph.add("fp32", x.shape, "MATMUL", normed, graph.weights("fp32", hidden, width), dtype="fp32")
    return narrow + x


@pytest.mark.parametrize("width", [64, 50])
def test_the_arena_of_a_network_with_a_symbolic_batch_is_near_its_bound_at_all_sizes(width):
    graph = Graph()
    x = graph.input("x", "fp32", "B", width)
    for hidden in (200, 90, 400):
        x = layer(graph, x, hidden)
    for fusion in ({}, {"fusion": "none"}):
        program = host_program(graph.program(x), **fusion)
        assert program.symbols
        for row in SIZES:
            assert excess_of_values(program, dict(zip(program.symbols, row, strict=False))) <= 1.1


def test_the_arenas_of_random_programs_are_near_their_bounds(random_examples):
    seen = []

    @random_examples(programs(), 15)
    def check(program):
        found = host_program(program.document, bind=program.sizes, fusion="none")
        seen.append(len(found.arena_lifetimes))
        assert excess(found, {}) <= 1.1

    check()
    assert max(seen) >= 5


def test_the_arenas_of_random_graphs_are_near_their_bounds(request):
    count = 100 if request.config.getoption("--long") else 8
    programs_ = [host_program(random_graph(seed, 50 + seed), fusion="none") for seed in range(count)]
    assert max(excess(program, {}) for program in programs_) <= 1.1
    assert sum(len(program.arena_lifetimes) >= 8 for program in programs_) > count / 2
    assert any(kernel.in_place for program in programs_ for kernel in program.kernels)


def test_the_arenas_of_random_graphs_with_a_symbolic_batch_are_near_their_bounds(request):
    """Among the first are those that need most where what kernels have to themselves lies apart: 1.37, at 64 rows."""
    for seed in range(60) if request.config.getoption("--long") else (0, 1, 9, 10):
        program = host_program(random_graph(seed, "B"), fusion="none")
        assert any(program.workspaces_of(kernel) for kernel in program.kernels)
        for batch in (1, 7, 64, 150, 1024, 4096):
            assert excess(program, {"B": batch}) <= 1.1


def run_poisoned(program, target):
    """Run a program that has an arena from poisoned memory; return how many launches poison."""
    lowering = Lowering(read_program(program.document, program.sizes), target, {"fusion": "none"})
    module, count = poisoned(lowering.module("exec"))
    assume(count)  # others are drawn in place of those that have nothing to poison
    model = tinyc.compile(print_ir(module), target=target)
    tiny = lowering.module("tiny")
    assert_agree(program, model.run(**program.inputs), reference.evaluate_module(tiny, program.inputs), tiny)
    return count


@pytest.mark.parametrize("strategy", [programs, fusion_programs])
@pytest.mark.parametrize(("target", "examples"), [("cpu", 10), ("sim", 4)])
def test_no_kernel_reads_what_is_stale(random_examples, strategy, target, examples):
    counts = []

    @random_examples(strategy(), examples)
    def check(program):
        counts.append(run_poisoned(program, target))

    check()
    assert counts


@in_turn("name", "target", ["gelu_mlp", "resnet", "transformer_gelu"], ["cpu", "sim"])
def test_a_network_runs_from_poisoned_memory_with_results_over_operands(name, target):
    document = WORKLOADS[name].build()
    lowering = Lowering(read_program(document), target, {"fusion": "none"})
    assert sum(len(kernel.in_place) for kernel in lowering.program().kernels) >= 9
    module, _ = poisoned(lowering.module("exec"))
    tiny = lowering.module("tiny")
    inputs = random_inputs(tiny, 0)
    model = tinyc.compile(print_ir(module), target=target)
    found, expected = model.run(**inputs), reference.evaluate_module(tiny, inputs)
    for name, value in expected.items():
        assert compare(name, found[name], value, Tolerance(1e-4, 1e-4)).ok
    assert target == "cpu" or all(report.ok for report in model.reports)
