"""What formation says of a region is what becomes of its kernel: the scheme, and on a GPU the product with its extents.

`--random-examples N` runs more programs than those of CI, new ones each time.
"""

import pytest
from hypothesis import strategies as st

import tinyc
from analysis_programs.region_kernels import matmul
from analysis_programs.scan_programs import running
from analysis_programs.tiny_programs import Program
from parameters import pairwise
from programs.example_bindings import BIND, EXAMPLES
from programs.strategies import fusion_programs, programs
from tinyc import pipeline
from tinyc.analysis.cpu_attention import CpuAttention
from tinyc.analysis.cpu_product import CpuProduct
from tinyc.analysis.graphs import main_function
from tinyc.analysis.host_names import host_names
from tinyc.analysis.kernel_candidate import kernel_candidate
from tinyc.analysis.loop_nest import BlockNest, ElementNest, OrderedNest, ScanNest, StepNest
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.kernel import kernels_of
from tinyc.driver.sources import read_program
from tinyc.fusion.formation import form_regions
from tinyc.schemes.completion import default_plan
from tinyc.target import GENERIC_CPU, SM80, SM90
from workloads import WORKLOADS
from workloads.graph import Graph

#: What a CPU's schemes are, as loops.
CPU_SCHEMES = {
    CpuProduct: "cpu_contraction",
    CpuAttention: "cpu_attention",
    ScanNest: "scan",
    StepNest: "cpu_rows",
    BlockNest: "cpu_rows",
    ElementNest: "cpu_generic",
    OrderedNest: "cpu_generic",
}
MACHINES = pytest.mark.parametrize("machine", [GENERIC_CPU, SM80, SM90], ids=lambda each: each.name)


def regions_and_kernels(module, machine):
    """Each region of a program as it is proposed, and the kernel that launches it."""
    with module.context:
        regions = form_regions(main_function(module), machine).regions
        pipeline.parse(f"tiny-to-region{{target={machine.name}}}").run(module)
    kernels = kernels_of(module)
    launches = [op for op in main_function(module).entry_block.operations if isinstance(op, region.LaunchOp)]
    return [(each, kernels[launch.kernel.value]) for each, launch in zip(regions, launches, strict=False)]


def scheme_of(kernel, candidate, machine):
    """The scheme that builds a kernel."""
    if machine is GENERIC_CPU:
        return CPU_SCHEMES[type(kernel.nest)]
    return default_plan(candidate, machine).plan.scheme


def extents_of(product):
    """The extents of a product and its accumulator, whatever its symbols are."""
    return product and (product.extents, product.accumulator, product.lhs.element, product.rhs.element)


def schemes_built(module, machine):
    """Check that every kernel is built as it was proposed; return the schemes."""
    found = []
    pairs = regions_and_kernels(module, machine)
    with module.context:
        for proposed, kernel in pairs:
            candidate = kernel_candidate(kernel, host_names(module))
            assert proposed.priced.scheme == scheme_of(kernel, candidate, machine), (kernel.name, proposed.members)
            assert extents_of(proposed.priced.candidate.product) == extents_of(candidate.product), kernel.name
            found.append(proposed.priced.scheme)
    return found


@pairwise(name=WORKLOADS, size=["large", "small"], dtype=["fp32", "fp16"], machine=[GENERIC_CPU, SM80, SM90])
def test_workloads(name, size, dtype, machine):
    workload = WORKLOADS[name]
    sizes = workload.large if size == "large" else {}
    assert schemes_built(read_program(workload.build(dtype=dtype, **sizes), None), machine)


@MACHINES
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.json")), ids=lambda path: path.stem)
def test_examples(path, machine):
    assert schemes_built(read_program(path, BIND[path.stem]), machine)


@MACHINES
def test_a_product_keeps_its_tiles_beside_a_result_of_another_shape_that_does_not_read_it(machine):
    p = Program(a="f32 64 1", b="f32 1 48")
    lhs = p.expand(p["a"], shape="64 1 48", broadcast_dimensions=(0, 1))
    rhs = p.expand(p["b"], shape="64 1 48", broadcast_dimensions=(1, 2))
    p.result(p.sum(p.mul(lhs, rhs), 1), p.neg(rhs))
    tiles, _ = schemes_built(p.module, machine)
    assert tiles in ("cpu_contraction", "naive_2x2_per_thread")


@MACHINES
def test_products_that_are_moved_before_they_are_summed_are_no_tiles(machine):
    p = Program(a="f32 64 32", b="f32 32 48")
    lhs = p.expand(p["a"], shape="64 48 32", broadcast_dimensions=(0, 2))
    rhs = p.expand(p["b"], shape="64 48 32", broadcast_dimensions=(2, 1))
    p.result(p.sum(p.permute(p.mul(lhs, rhs), perm=(2, 0, 1)), 0))
    assert schemes_built(p.module, machine)[-1] not in ("cpu_contraction", "naive_2x2_per_thread")


@pytest.mark.parametrize("extent", [64, 1000])
def test_a_scan_of_a_softmax_is_one_kernel_on_a_cpu(extent):
    p = Program(x=f"f32 64 {extent}")
    e = p.exp2(p["x"])
    total = p.expand(p.recip(p.sum(e, 1)), shape=f"64 {extent}", broadcast_dimensions=(0,))
    p.result(running(p, p.mul(e, total), 1, "sum", "f32"))
    assert schemes_built(p.module, GENERIC_CPU) == ["cpu_rows"]


@pytest.mark.parametrize(("rows", "expected"), [(8, ["cpu_rows"]), (64, ["cpu_contraction", "cpu_rows"])])
def test_a_product_keeps_its_tiles_on_a_cpu_if_it_has_rows_for_them(rows, expected):
    p = Program(a=f"f32 {rows} 32", b="f32 48 32")
    scores = p.exp2(matmul(p, p["a"], p.permute(p["b"], perm=(1, 0)), f"{rows} 48 32"))
    total = p.expand(p.recip(p.sum(scores, 1)), shape=f"{rows} 48", broadcast_dimensions=(0,))
    p.result(p.mul(scores, total))
    assert schemes_built(p.module, GENERIC_CPU) == expected


@pytest.mark.parametrize("size", [GENERIC_CPU.step_bytes // 4, GENERIC_CPU.step_bytes // 4 + 1])
def test_rows_are_held_on_a_cpu_while_they_fit(size):
    p = Program(x=f"f32 64 {size} 3")
    total = p.sum(p["x"], 2)
    p.result(p.add(total, p.flip(total, axes=(1,))))
    is_held = 4 * size <= GENERIC_CPU.step_bytes
    assert schemes_built(p.module, GENERIC_CPU)[0] == "cpu_rows"
    assert (len(kernels_of(p.module)) == 1) == is_held


def test_random_programs(random_examples):
    built = set()

    @random_examples(st.one_of(fusion_programs(), programs()), 100)
    def check(program):
        for machine in (GENERIC_CPU, SM80):
            built.update(schemes_built(read_program(program.document, program.bind), machine))

    check()
    assert {*CPU_SCHEMES.values()} - {"scan", "cpu_attention"} <= built


def test_edges_have_the_same_names_beside_a_constant_that_a_kernel_reads():
    graph = Graph()
    numbers = graph.add("fp32", (2, 3), "CONST", values=[[1, 2, 3], [4, 5, 6]], dtype="fp32", shape=[2, 3])
    total = numbers.reduce("SUM", 0, 1)
    program = graph.program(total.reshape(1), numbers.permute(0, 1), total.permute())
    expected = tinyc.compile(program, target="reference").run()
    assert str(tinyc.compile(program).run()) == str(expected)
