"""What the cost model chooses: sane tilings for 12 shapes on both architectures, the same every time."""

import itertools
import math
import os
import subprocess
import sys

import pytest

import tinyc
from mma_kernels.kernels import GEMM
from mma_kernels.plans import SHAPES, model_of, named, plan_of, ranked
from schemes.candidates import gemm
from schemes.judging import SM80, SM90
from tinyc.plan.fields import Plan
from tinyc.schemes.mma.case import mma_case
from tinyc.schemes.mma.choice import TilingChoice, choice_of, fastest_of
from tinyc.schemes.mma.cost import predicted
from tinyc.schemes.mma.given import given_of
from tinyc.target.target import Target

BOTH = pytest.mark.parametrize("target", [SM80, SM90], ids=["sm_80", "sm_90a"])


def choice(target: Target, *shape: int | str, plan: Plan | None = None, **options: str) -> TilingChoice:
    case = mma_case(gemm(*shape, **options), target)
    assert not isinstance(case, str), case
    return choice_of(given_of(plan or Plan(), case), case)


@pytest.mark.parametrize(
    "plan",
    [Plan(), Plan(stages=3), Plan(tile=(128, 128, 64)), Plan(algo_choice={"matmul": "splitk_serial"})],
    ids=["open", "stages", "tile", "slices"],
)
@pytest.mark.parametrize(("element", "layout"), [("f16", "nn"), ("i8", "tn")])
@BOTH
def test_the_fastest_is_that_of_the_ranking(target, element, layout, plan):
    for shape in (*SHAPES[::2], (40, 24, 777), ("M", 4096, 4096)):
        case = mma_case(gemm(*shape, element=element, layout=layout), target)
        assert not isinstance(case, str), case
        given = given_of(plan, case)
        ranked_tilings = choice_of(given, case).ranked
        assert fastest_of(given, case) == (ranked_tilings[0] if ranked_tilings else None)


@BOTH
def test_the_fastest_is_found_by_predicting_a_few(target, monkeypatch):
    predictions = []
    monkeypatch.setattr("tinyc.schemes.mma.choice.predicted", lambda *of: predictions.append(of) or predicted(*of))
    case = mma_case(gemm(4096, 4096, 4096), target)
    assert not isinstance(case, str), case
    counts = []
    for search in (fastest_of, choice_of):
        search.cache_clear()
        search(given_of(Plan(), case), case)
        counts.append(len(predictions))
        predictions.clear()
    assert 0 < counts[0] < counts[1] / 4


def best_seconds(target: Target, shape: tuple[int, int, int]) -> float:
    """What no kernel is faster than: the tensor cores' peak, and each operand and the output once."""
    m, n, k = shape
    flops = 2.0 * m * n * k / target.f16_tensor_flops_per_second
    moved = 2.0 * (m * k + k * n + m * n) / target.global_bytes_per_second
    return max(flops, moved)


@BOTH
@pytest.mark.parametrize("shape", SHAPES)
def test_the_prediction_is_between_the_peak_and_a_few_times_that(target, shape):
    seconds = choice(target, *shape).ranked[0].prediction.seconds
    least = best_seconds(target, shape)
    assert least < seconds < 3 * least + 5e-6


@BOTH
@pytest.mark.parametrize("shape", SHAPES)
def test_the_fastest_is_first_and_the_limiter_has_a_name(target, shape):
    found = choice(target, *shape)
    times = [each.prediction.seconds for each in found.ranked]
    assert times == sorted(times)
    limiters = {each.prediction.limiter for each in found.ranked}
    assert limiters <= {
        "tensor cores",
        "shared memory",
        "L2",
        "memory",
        "latency of loads",
        "staging through registers",
    }


@BOTH
def test_large_products_are_limited_by_tensor_cores(target):
    best = choice(target, 8192, 8192, 8192).ranked[0]
    assert best.prediction.limiter == "tensor cores"
    flops = 2 * 8192**3 / best.prediction.seconds
    at_this_clock = target.matrix.macs_per_cycle * 2 * target.sms * target.matrix.hz
    assert flops > 0.93 * at_this_clock


def test_the_largest_tiles_are_those_of_the_best_published_kernels():
    assert choice(SM90, 8192, 8192, 8192).ranked[0].tiling.tile == (128, 256, 64)
    assert choice(SM80, 8192, 8192, 8192).ranked[0].tiling.unit_tile == (64, 64)


def test_what_would_be_faster_with_more_room_is_known():
    ragged, whole = choice(SM90, 2047, 2049, 2047), choice(SM90, 4096, 4096, 4096)
    lacking = ragged.without_room
    assert lacking is not None
    assert lacking in ragged.pruned
    assert {name for name, _, _ in lacking.faults} == {"ResourceExceeded"}
    assert lacking.seconds < ragged.ranked[0].prediction.seconds
    assert whole.without_room is None
    assert any(each.seconds < math.inf for each in whole.pruned)


@BOTH
def test_one_row_is_limited_by_memory(target):
    best = choice(target, 1, 4096, 4096, plan=Plan(algo_choice={"matmul": "splitk_serial"})).ranked[0]
    assert best.prediction.limiter == "memory"
    assert best.tiling.tile[0] == 8


@pytest.mark.parametrize(
    ("target", "m", "layout", "rows"),
    [
        (SM80, 5, "nn", 8),
        (SM80, 16, "nn", 16),
        (SM80, 21, "nn", 24),
        (SM90, 16, "nn", 16),
        (SM90, 40, "nt", 40),
        (SM90, 5, "tn", 16),
    ],
)
def test_few_rows_have_tiles_that_fit_them(target, m, layout, rows):
    """Along the columns of an instruction, if they do not fill its rows; wgmma reads lines of 32 bytes at least."""
    best = choice(target, m, 4096, 4096, layout=layout).ranked[0].tiling
    assert best.tile[0] == best.unit_tile[0] == rows
    assert best.unit_tile[1] % {SM80: 16, SM90: 64}[target] == 0


@BOTH
@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("element", ["f16", "i8"])
def test_there_is_a_plan_for_every_few_rows_and_columns(target, layout, element):
    for m, n in itertools.product((5, 24, 41, 48, 49), (3, 21, 512)):
        assert choice(target, m, n, 777, layout=layout, element=element).ranked


@BOTH
def test_few_columns_have_tiles_that_fit_them(target):
    assert choice(target, 4096, 24, 4096, layout="nt").ranked[0].tiling.tile[1] == 24


@BOTH
def test_few_rows_give_each_multiprocessor_at_most_a_tile(target):
    """Those with more would be waited for; slices of k are for an n that is short, too."""
    wide, short = (choice(target, 8, n, 28672).ranked[0].tiling for n in (8192, 1024))
    assert (wide.slices, 8192 // wide.tile[1] <= target.sms) == (1, True)
    assert target.sms // 2 < 1024 // short.tile[1] * short.slices <= target.sms


def test_where_m_is_not_known_no_product_is_transposed_unless_a_plan_says_so():
    assert choice(SM90, "M", 4096, 4096).ranked[0].tiling.unit_tile[0] % 64 == 0
    assert choice(SM90, "M", 4096, 4096, plan=Plan(tile=(16, 128, 64))).ranked[0].tiling.unit_tile == (16, 64)


@BOTH
def test_few_tiles_along_a_long_k_are_sliced(target):
    best = choice(target, 128, 128, 8192, plan=Plan(algo_choice={"matmul": "splitk_serial"})).ranked[0].tiling
    m, n, _ = best.tile
    ctas = 128 // min(m, 128) * (128 // min(n, 128)) * best.slices
    assert best.slices > 1
    assert ctas > target.sms // 4


_RANKED = """
from mma_kernels.plans import named, ranked
for arch in ("sm_80", "sm_90a"):
    print(*(named(each.tiling) for each in ranked(arch, (1000, 3000, 777))), sep="\\n")
"""


def test_a_choice_is_the_same_for_every_hash_seed():
    found: set[str] = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", _RANKED], env=environment, capture_output=True, text=True, check=True
        )
        found.add(done.stdout)
    (order,) = found
    assert order.count("\n") > 100


@pytest.mark.parametrize("sizes", SHAPES, ids=str)
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_a_program_is_compiled_by_the_plan_that_is_ranked_first(arch, sizes):
    compiled = tinyc.compile(GEMM, target="sim", arch=arch, bind=dict(zip("MNK", sizes, strict=True)))
    assert compiled.text("plan") == model_of(arch, plan_of(ranked(arch, sizes)[0].tiling), sizes).text("plan")


@BOTH
@pytest.mark.parametrize("sizes", [(128, 128, 16384), (16, 1024, 28672), (64, 64, 65536)])
def test_few_tiles_along_a_long_k_are_sliced_by_default(target, sizes):
    best = choice(target, *sizes).ranked[0].tiling
    assert best.slices > 1


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_each_plan_of_a_ranking_has_a_name_of_its_own(arch):
    tilings = [each.tiling for each in ranked(arch, (1, 4096, 4096))]
    assert {each.algorithm for each in tilings if each.slices > 1} == {"splitk_serial", "splitk_parallel"}
    assert len({named(each) for each in tilings}) == len(tilings)


def test_sizes_that_are_not_known_count_as_4096():
    unknown, known = choice(SM90, "M", "N", "K").ranked[0], choice(SM90, 4096, 4096, 4096).ranked[0]
    assert unknown.tiling == known.tiling


def test_what_is_pruned_says_why():
    pruned = choice(SM90, 4095, 4097, 4096).pruned
    reasons = {field: message for each in pruned for _, field, message in each.faults}
    assert reasons["schedule"].endswith('cp.async takes; write "simple"')
    reasons = {message for each in choice(SM80, 4096, 4096, 4096).pruned for _, field, message in each.faults}
    assert any("bytes of shared memory per CTA; sm_80 has 166912" in message for message in reasons)


def test_warpgroups_read_lines_that_a_swizzle_takes():
    found = choice(SM90, 1024, 1024, 1024, plan=Plan(tile=(64, 72, 64), warp_tile="64x72"))
    assert not found.ranked
    (fault, *_) = found.pruned[0].faults
    assert fault == (
        "UnsupportedPlan",
        "warp_tile",
        "is 64x72, and lines of B in shared memory are no multiple of 32 bytes, which wgmma reads swizzled; choose a "
        "multiple of 16 along the other side than k",
    )
    assert choice(SM90, 1024, 1024, 1024, plan=Plan(tile=(64, 72, 64), warp_tile="64x72"), layout="nt").ranked


def test_rows_that_are_not_made_of_instructions_are_refused_with_what_would_be():
    found = choice(SM80, 1024, 1024, 1024, plan=Plan(tile=(100, 64, 64)))
    assert not found.ranked
    message = "is 100x64 for a warp, not made of mma.sync m16n8k16 for f16; choose 96x64"
    assert all(("UnsupportedPlan", "warp_tile", message) in each.faults for each in found.pruned)


def test_sharing_loads_is_worth_it_where_l2_limits():
    shared = choice(SM90, 8192, 8192, 8192, plan=Plan(tile=(128, 256, 64), cluster=(2, 1))).ranked[0].prediction
    alone = choice(SM90, 8192, 8192, 8192, plan=Plan(tile=(128, 256, 64), cluster=(1, 1))).ranked[0].prediction
    assert (alone.limiter, shared.limiter) == ("L2", "tensor cores")
    assert shared.seconds < alone.seconds


def test_clusters_are_of_ctas_with_producers():
    """Where no schedule is said, a cluster leaves those whose producers share loads, or none."""
    plan = Plan(cluster=(2, 1))
    assert all(each.tiling.is_persistent for each in choice(SM90, 128, 4096, 4096, plan=plan).ranked)
    assert not choice(SM90, 1000, 3000, 777, plan=plan).ranked  # a pitch that TMA does not take


def test_a_walk_in_bands_reads_less_of_what_l2_does_not_hold():
    times = {
        group: choice(SM80, 16384, 16384, 16384, plan=Plan(raster={"along": "n", "group": group})).ranked[0].prediction
        for group in (1, 8)
    }
    assert times[8].memory_seconds < times[1].memory_seconds


def test_deeper_rings_wait_less():
    def seconds(stages: int) -> float:
        plan = Plan(tile=(64, 64, 64), warp_tile="64x64", stages=stages, schedule="cooperative", cluster=(1, 1))
        return choice(SM90, 4096, 4096, 4096, plan=plan).ranked[0].prediction.seconds

    assert all(seconds(few) >= seconds(more) for few, more in itertools.pairwise((2, 3, 4, 6)))
    assert seconds(2) > seconds(6)


def test_a_last_round_that_is_not_full_costs_a_round_though_its_tiles_have_l2_for_themselves():
    def seconds(tiles: int) -> float:
        plan = Plan(tile=(128, 256, 64), cluster=(1, 1), schedule="cooperative")
        return choice(SM90, 128 * tiles, 256, 4096, plan=plan).ranked[0].prediction.seconds

    assert 0.9 * seconds(264) < seconds(133) < seconds(264)
    assert seconds(133) > 1.8 * seconds(132)


def test_an_epilogue_is_hidden_where_warpgroups_take_turns():
    def tile_cycles(schedule: str) -> float:
        plan = Plan(tile=(64, 256, 64), warp_tile="64x256", schedule=schedule, cluster=(1, 1), wait_depth=1)
        return choice(SM90, 8192, 8192, 1024, plan=plan).ranked[0].prediction.tile_cycles

    assert tile_cycles("pingpong") < tile_cycles("cooperative")


def test_what_passes_through_registers_is_slower():
    copied = choice(SM80, 4096, 4096, 4096).ranked[0].prediction.seconds
    staged = choice(SM80, 4096, 4096, 4096, plan=Plan(asynchronous={"enable": False})).ranked[0].prediction.seconds
    assert staged > copied


@pytest.mark.parametrize("sizes", [(1, 4096, 4096), (16, 4096, 14336)])
def test_few_rows_that_memory_limits_are_copied_by_the_threads_that_multiply(sizes):
    """What they load arrives sooner than by TMA, and memory fills the gaps in which they load."""
    best = choice(SM90, *sizes).ranked[0]
    assert (best.prediction.limiter, best.tiling.schedule) == ("memory", "simple")


def test_what_memory_brings_last_is_multiplied_behind_it():
    def seconds(depth: int) -> float:
        plan = Plan(tile=(128, 128, depth), warp_tile="64x32", stages=4, split_k=3)
        return choice(SM80, 128, 4096, 4096, plan=plan).ranked[0].prediction.seconds

    assert seconds(32) < seconds(64)


def test_what_passes_through_registers_has_no_use_for_many_stages():
    """Threads wait for it in each stage; another CTA multiplies meanwhile, where stages leave room for one."""
    best = choice(SM90, 1000, 3000, 777).ranked[0]
    more = Plan(tile=best.tiling.tile, stages=best.tiling.stages + 2)
    assert best.resources.ctas_per_sm == 2
    assert choice(SM90, 1000, 3000, 777, plan=more).ranked[0].prediction.seconds > 1.2 * best.prediction.seconds
