"""What kernels of scheme `mma` move, counted on the simulator: no byte twice, wide accesses, no bank conflicts."""

import functools
import math
import re

import numpy as np
import pytest

import ptxsim
import tinyc
from gemm_cases import Product
from mma_kernels.kernels import CLUSTER, COOPERATIVE, MULTISTAGE, PINGPONG, SIMPLE, ProductKernel, report_of
from mma_kernels.launches import launches_of
from mma_kernels.run_ahead import RunAhead

_LARGE = {"tile": [128, 128, 64], "warp_tile": "64x128", "stages": 3, "schedule": "cooperative"}
#: What is multiplied is transposed; the second is slabs of 8 rows of the output.
FEW_ROWS_OF_WARPS = {"tile": [8, 128, 64], "warp_tile": "8x32", "stages": 3}
FEW_ROWS = {"tile": [24, 128, 64], "warp_tile": "24x64", "stages": 3, "schedule": "cooperative"}
#: As the others, with so many steps along k that the bias is next to nothing beside the operands.
DEEP = (
    ProductKernel("multistage, deep", "sm_80", MULTISTAGE.plan, (64, 128, 576)),
    ProductKernel("simple, deep", "sm_90a", SIMPLE.plan, (64, 128, 576)),
    ProductKernel("cooperative, deep", "sm_90a", {**_LARGE, "cluster": [1, 1]}, (256, 256, 576), 2),
    ProductKernel("pairs along m, deep", "sm_90a", {**_LARGE, "cluster": [2, 1]}, (256, 256, 576), 2),
    ProductKernel("pairs along n, deep", "sm_90a", {**_LARGE, "cluster": [1, 2]}, (256, 256, 576), 2),
    ProductKernel("few rows, deep", "sm_80", FEW_ROWS_OF_WARPS, (8, 256, 576)),
    ProductKernel("few rows of warpgroups, deep", "sm_90a", FEW_ROWS, (24, 256, 576), 1),
    ProductKernel("few rows, all threads load", "sm_90a", {**FEW_ROWS, "schedule": "simple"}, (24, 256, 576)),
)
ALL = pytest.mark.parametrize("kernel", DEEP, ids=lambda kernel: kernel.name)
#: Accesses of 16 bytes a thread, or of boxes; the bias is read by the threads that have its columns.
WIDE = re.compile(
    r"cp\.async\.cg\.shared\.global \[\S+\], \[\S+\], 16|cp\.async\.bulk\.tensor|(ld|st)\.global[\w.]*\.v4\.[bf]32"
)
BIAS = "2"  # the number of its parameter


def arrays(kernel):
    """What was counted of each array, by the number of the parameter."""
    return {str(each.arguments[0]): each for each in report_of(kernel).counters.arrays}


def operand_bytes(kernel):
    """The bytes of the tiles of A and of B of all tiles of the output, those that CTAs share counted once."""
    (bm, bn, _), (m, n, k) = kernel.plan["tile"], kernel.sizes
    share_b, share_a = kernel.plan.get("cluster", (1, 1))
    tiles = math.ceil(m / bm) * math.ceil(n / bn)
    return tiles * bm * k * 2 // share_a, tiles * bn * k * 2 // share_b


@ALL
def test_each_byte_of_the_tiles_is_read_once(kernel):
    counted = arrays(kernel)
    assert (counted["0"].read, counted["1"].read) == operand_bytes(kernel)
    sectors = sum(each.sectors_read for each in counted.values())
    assert 32 * sectors <= 1.02 * sum(operand_bytes(kernel))


@ALL
def test_each_byte_of_the_output_is_written_once(kernel):
    m, n, _ = kernel.sizes
    written = {number: (each.written, 32 * each.sectors_written) for number, each in arrays(kernel).items()}
    assert written == {"0": (0, 0), "1": (0, 0), BIAS: (0, 0), "3": (2 * m * n, 2 * m * n)}


@ALL
def test_global_memory_is_accessed_by_16_bytes_or_boxes(kernel):
    counters, lines = report_of(kernel).counters, kernel.ptx.split("\n")
    narrow = {number: lines[number - 1] for number in counters.sectors if not WIDE.search(lines[number - 1])}
    assert all("ld.global" in line for line in narrow.values())
    of_bias = sum(count.units for number, count in counters.sectors.items() if number in narrow)
    assert of_bias == arrays(kernel)[BIAS].sectors_read
    assert all(count.units == count.fewest for number, count in counters.sectors.items() if number not in narrow)


@pytest.mark.parametrize("kernel", [*DEEP, PINGPONG], ids=lambda kernel: kernel.name)
def test_shared_memory_has_no_bank_conflicts(kernel):
    conflicts = report_of(kernel).counters.bank_conflicts
    assert conflicts
    assert not +conflicts


#: Outputs of 32 bits, whose pairs threads store and, of a residual, load by 8 bytes.
_TILES = {
    "sm_80": [
        {"tile": [64, 64, 32], "warp_tile": "32x32", "stages": 4},
        {"tile": [64, 32, 32], "warp_tile": "32x16", "stages": 5},
    ],
    "sm_90a": [
        {"tile": [128, 48, 64], "warp_tile": "64x48", "schedule": "cooperative", "cluster": [1, 1]},
        {"tile": [64, 64, 64], "warp_tile": "64x64", "schedule": "pingpong", "cluster": [1, 1]},
        {"tile": [64, 64, 64], "warp_tile": "64x64", "stages": 3, "schedule": "simple"},
    ],
}


@pytest.mark.parametrize(("element", "layout"), [("f16", "nn"), ("tf32", "nt"), ("i8", "nt")])
@pytest.mark.parametrize(("arch", "plan"), [(arch, plan) for arch, plans in _TILES.items() for plan in plans], ids=str)
def test_epilogues_with_a_residual_have_no_bank_conflicts_and_waste_no_sector(arch, plan, element, layout):
    columns = 2 * plan["tile"][1]
    product = Product(128, columns, 128, element, layout, "residual")
    given = {"scheme": "mma", "precision": product.kind.precision, **plan}
    model = tinyc.compile(product.program, target="sim", arch=arch, plan={k: v for k, v in given.items() if v})
    random = np.random.default_rng(columns)
    inputs = {
        each.name: random.integers(-8, 8, each.type.shape).astype(each.type.element.dtype)
        for each in model.signature.inputs
    }
    model.run(**inputs)
    counters = model.reports[0].counters
    assert not +counters.bank_conflicts
    (of_residual,) = [each for each in counters.arrays if str(each.arguments[0]) == "2"]
    assert 32 * of_residual.sectors_read == of_residual.read == inputs["residual"].nbytes


#: Of tf32, so that the lines of either operand are swizzled by 128, 64 and 32 bytes.
_OF_WORDS = [
    {"tile": [64, 64, 32], "warp_tile": "32x32", "stages": 4},
    {"tile": [32, 16, 16], "warp_tile": "16x16", "stages": 3},
    {"tile": [16, 24, 16], "warp_tile": "16x24", "stages": 3},
]


@pytest.mark.parametrize("layout", ["nn", "tt", "tn"])
@pytest.mark.parametrize("plan", _OF_WORDS, ids=lambda plan: plan["warp_tile"])
def test_tf32_across_k_is_copied_as_it_lies_and_read_without_bank_conflicts(plan, layout):
    (bm, bn, _), k = plan["tile"], 128
    product = Product(2 * bm, 2 * bn, k, "tf32", layout)
    model = tinyc.compile(
        product.program, target="sim", arch="sm_80", plan={"scheme": "mma", "precision": "tf32", **plan}
    )
    random = np.random.default_rng(k)
    inputs = {each.name: random.integers(-8, 8, each.type.shape).astype(np.float32) for each in model.signature.inputs}
    model.run(**inputs)
    counters, lines = model.reports[0].counters, model.text("ptx").split("\n")
    assert counters.bank_conflicts
    assert not +counters.bank_conflicts
    assert all(WIDE.search(lines[number - 1]) for number in counters.sectors)
    read = {str(each.arguments[0]): (each.read, 32 * each.sectors_read) for each in counters.arrays}
    of_a, of_b = 4 * bm * k * 4, 4 * bn * k * 4
    assert (read["0"], read["1"]) == ((of_a, of_a), (of_b, of_b))
    assert [remark.code for remark in model.remarks] == ["plan-given"]


def test_what_ctas_of_a_cluster_share_is_read_once_for_all_of_them():
    alone, along_m, along_n = map(arrays, DEEP[2:5])
    assert (2 * along_m["1"].read, along_m["0"].read) == (alone["1"].read, alone["0"].read)
    assert (2 * along_n["0"].read, along_n["1"].read) == (alone["0"].read, alone["1"].read)


#: A warpgroup has the tiles of the output in turn with another one, of so many steps along k.
IN_TURN = {PINGPONG: PINGPONG.sizes[2] // PINGPONG.plan["tile"][2]}


@functools.cache
def observed(kernel):
    """How far loads are ahead of products and of stores, by tiles along k, and how many of these a CTA has in all.

    A stage that CTAs share is free when all have read it: of a cluster the one that comes last counts.
    """
    (launch,) = launches_of(tinyc.compile(kernel.ptx, target="sim"))
    rows, columns = map(int, kernel.plan["warp_tile"].split("x"))
    observer = RunAhead(rows // 16 * (columns // 8) * (kernel.plan["tile"][2] // 16), IN_TURN.get(kernel, 0))
    shape = launch.grid, launch.block, launch.args, launch.dynamic_shared_bytes, launch.cluster
    ptxsim.load(launch.ptx).launch_observed(observer, launch.kernel, *shape)
    found = []
    for noted in (observer.ahead, observer.ahead_of_stores):
        of_clusters = {}
        for (cta, step), count in noted.items():
            key = cta // math.prod(launch.cluster), step
            of_clusters[key] = max(count, of_clusters.get(key, 0))
        found.append(of_clusters)
    return *found, max(step for _, step in found[0]) + 1


@pytest.mark.parametrize("kernel", [MULTISTAGE, SIMPLE, COOPERATIVE, PINGPONG, CLUSTER], ids=lambda kernel: kernel.name)
def test_loads_are_all_other_stages_ahead(kernel):
    (ahead, _, steps), stages = observed(kernel), kernel.plan["stages"]
    assert {count for (_, step), count in ahead.items() if step <= steps - stages} == {stages - 1}


@pytest.mark.parametrize("kernel", [COOPERATIVE, PINGPONG, CLUSTER], ids=lambda kernel: kernel.name)
def test_a_tile_is_stored_while_the_next_ones_are_loaded(kernel):
    """At each store, but those of the last tile, the loads for all stages behind it have begun."""
    (_, ahead, steps), stages = observed(kernel), kernel.plan["stages"]
    along_k = kernel.sizes[2] // kernel.plan["tile"][2]
    counts = {(cta, step): count for (cta, step), count in ahead.items() if step < steps - 1}
    assert {step for _, step in counts} == set(range(along_k - 1, steps - 1, along_k))
    assert set(counts.values()) == {stages}
