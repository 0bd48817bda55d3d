"""Plans of scheme `mma`: 000's samples, what is chosen, and every field honoured or refused with its reason."""

import dataclasses
import math
from typing import Any

import pytest

from schemes.candidates import gemm, gemm_bias_relu
from schemes.judging import SM80, SM90
from tinyc.analysis.candidate import Candidate
from tinyc.plan.dsl import parse_plan_dsl
from tinyc.plan.fields import ATTRIBUTES, Plan, plan_of_values
from tinyc.plan.refusals import PlanRefusals
from tinyc.schemes.mma import MmaContraction
from tinyc.schemes.mma.case import mma_case
from tinyc.schemes.mma.plan import MMA_FIELDS, unaligned_plan
from tinyc.schemes.scheme import FIELDS_OF_ALL
from tinyc.target.target import Target

MMA = MmaContraction()
BOTH = pytest.mark.parametrize("target", [SM80, SM90], ids=["sm_80", "sm_90a"])


def judged(plan: Plan, candidate: Candidate | None, target: Target) -> tuple[Plan, list[tuple[str, str]]]:
    """The plan that the scheme makes, and what speaks against it: each error's name, and what it says of a field."""
    candidate = candidate or gemm()
    refusals = PlanRefusals(candidate.name, candidate.where)
    done = MMA.complete(plan, candidate, target, refusals)
    return done, [(error.name, error.message.partition(": ")[2]) for error in refusals.errors]


def completed(plan: Plan, candidate: Candidate | None = None, target: Target = SM80) -> Plan:
    done, refused = judged(plan, candidate, target)
    assert refused == []
    assert judged(done, candidate, target) == (done, []), "a complete plan stays as it is"
    return done


def refusal(plan: Plan, candidate: Candidate | None = None, target: Target = SM80) -> tuple[str, str]:
    _, (found,) = judged(plan, candidate, target)
    return found


# --- 000's sample plans -----------------------------------------------------------------------------------------------

DSL = """
split m 128; split n 64; split k 64;
reorder m.o n.o k.o m.i.o n.i.o k.i.o m.i.i n.i.i k.i.i;
bind m.o block.y; bind n.o block.x; bind m.i.o warp.y; bind n.i.o warp.x;
pipeline k.i stages=2;
cache_read A smem at=k.i pingpong=true;
cache_read B smem at=k.i pingpong=true;
vectorize n.i.i 8;
predicate_tail m.i.i n.i.i k.i.i;
epilogue bias relu;
"""
JSON: dict[str, Any] = {
    "tile": [128, 64, 64],
    "stages": 2,
    "bind": {"m.o": "block.y", "n.o": "block.x", "m.i.o": "warp.y", "n.i.o": "warp.x"},
    "warp_tile": "64x64",
    "cache": [
        {"tensor": "A", "where": "smem", "at": "k.i", "pingpong": True},
        {"tensor": "B", "where": "smem", "at": "k.i", "pingpong": True},
    ],
    "vectorize": {"axis": "n.i.i", "width": 8},
    "predicate_tail": ["m.i.i", "n.i.i", "k.i.i"],
    "epilogue": ["bias", "relu"],
    "layout_hints": {"A_swizzle": True, "B_swizzle": True, "C_stride": "row"},
    "algo_choice": {"matmul": "implicit_gemm"},
    "local_edges": [{"from": "sum_k", "to": "relu", "buffer": "reg"}],
}


@BOTH
def test_the_program_of_section_1_7(target):
    plan = completed(parse_plan_dsl(DSL), gemm_bias_relu(), target)
    assert (plan.tile, plan.stages, plan.raster) == ((128, 64, 64), 2, {"along": "n", "group": 1})
    assert plan.bind == {"m.o": "block.y", "n.o": "block.x", "m.i.o": "warp.y", "n.i.o": "warp.x"}
    assert plan.fuse is None


@BOTH
def test_the_plan_of_section_7_1(target):
    edge = {"from": "sum_k", "to": "relu", "buffer": "reg"}
    vectorize = {"axis": "n.i.i", "width": 8}
    given = Plan(tile=(128, 64, 64), stages=2, warp_tile="64x64", vectorize=vectorize, local_edges=(edge,))
    plan = completed(given, gemm_bias_relu(), target)
    assert (plan.tile, plan.stages, plan.warp_tile, plan.vectorize) == ((128, 64, 64), 2, "64x64", vectorize)


@BOTH
def test_the_plan_of_section_12_5(target):
    plan = completed(plan_of_values(JSON), gemm_bias_relu(), target)
    assert (plan.tile, plan.warp_tile) == ((128, 64, 64), "64x64")


# --- what is filled in ------------------------------------------------------------------------------------------------


def test_every_field_that_the_scheme_decides_by_is_filled_in():
    agreeing = {"order", "split", "pipeline", "unroll"}  # they say what others say
    plan = completed(Plan(), gemm(4096, 4096, 4096), SM90)
    assert set(plan.values()) == set(MMA_FIELDS) - agreeing | {"algo_choice"}
    assert "registers" not in completed(Plan(), gemm(4096, 4096, 4096), SM80).values()


def test_every_field_is_of_the_scheme_or_of_other_schemes():
    assert set(ATTRIBUTES) - {*MMA_FIELDS, *FIELDS_OF_ALL} == {"loop", "pack"}


def test_the_default_on_hopper_has_producers_and_shares_loads():
    plan = completed(Plan(), gemm(8192, 8192, 8192), SM90)
    assert (plan.tile, plan.warp_tile, plan.stages) == ((128, 256, 64), "64x256", 4)
    assert (plan.schedule, plan.cluster, plan.registers) == ("cooperative", (2, 1), (40, 232))


def test_tiles_are_fused_to_one_walk():
    plan = completed(Plan(raster={"along": "m", "group": 4}), gemm(4096, 4096, 4096), SM80)
    assert plan.fuse == (("n.o", "m.o", "t"),)
    assert plan.bind == {"t": "block.x", "m.i.o": "warp.y", "n.i.o": "warp.x"}


def test_a_batch_runs_along_z_where_a_cta_has_one_tile():
    assert completed(Plan(), gemm(512, 512, 512, batch=8), SM80).bind["batch"] == "block.z"
    persistent = completed(Plan(schedule="cooperative"), gemm(512, 512, 512, batch=8), SM90)
    assert "batch" not in persistent.bind


def test_the_walk_may_be_said_by_any_of_four_fields():
    for plan in (
        Plan(raster={"along": "m", "group": 1}),
        Plan(fuse=(("n.o", "m.o", "w"),)),
        Plan(bind={"m.o": "block.x"}),
        Plan(order=("n.o", "m.o", "k.o", "k.i", "m.i", "n.i")),
    ):
        assert completed(plan, gemm(4096, 4096, 4096)).raster["along"] == "m"


def test_a_split_is_the_tile():
    assert completed(Plan(split={"m": 64, "n": 128, "k": 32})).tile == (64, 128, 32)


def test_slices_are_added_in_order_by_default():
    plan = completed(Plan(split_k=4), gemm(128, 128, 8192))
    assert (plan.algo_choice, plan.split_k) == ({"matmul": "splitk_serial"}, 4)
    parallel = completed(Plan(split_k=4, algo_choice={"matmul": "splitk_parallel"}), gemm(128, 128, 8192))
    assert parallel.algo_choice == {"matmul": "splitk_parallel"}


def test_an_algorithm_with_slices_gets_some():
    assert completed(Plan(algo_choice={"matmul": "splitk_serial"}), gemm(4096, 4096, 4096)).split_k > 1


def test_slices_are_taken_where_tiles_are_too_few():
    plan = completed(Plan(), gemm(128, 128, 8192))
    assert plan.split_k > 1
    assert plan.algo_choice == {"matmul": "splitk_parallel"}
    assert completed(Plan(), gemm(4096, 4096, 4096)).split_k == 1
    assert completed(Plan(algo_choice={"matmul": "implicit_gemm"}), gemm(128, 128, 8192)).split_k == 1


def test_tf32_is_chosen_by_precision_alone():
    plan = completed(Plan(precision="tf32"), gemm(4096, 4096, 4096, element="f32", layout="nt"), SM90)
    assert plan.precision == "tf32"
    assert plan.vectorize == {"axis": "n.i.i", "width": 4}


def test_the_plan_where_operands_are_not_aligned_has_no_producer():
    candidate = gemm("M", "N", "K", batch="B")
    plan = completed(Plan(schedule="cooperative"), candidate, SM90)
    other = unaligned_plan(plan, mma_case(candidate, SM90))
    assert (other.schedule, other.cluster, other.registers) == ("simple", (1, 1), None)
    # What passes through registers leaves room for fewer accumulators.
    assert math.prod(other.tile) < math.prod(plan.tile)
    assert other.bind["batch"] == "block.z"


# --- refused: the hardware --------------------------------------------------------------------------------------------

WIDE = gemm(4096, 4096, 4096)
REFUSED_BY_HARDWARE = [
    (
        SM80,
        {"schedule": "cooperative"},
        "'schedule' is 'cooperative', and sm_80 has no TMA and no wgmma for warps with roles; write \"simple\"",
    ),
    (
        SM80,
        {"registers": (40, 232)},
        "'registers' are set per role, and sm_80 has no setmaxnreg, which sm_90a has; leave it out",
    ),
    (SM80, {"cluster": (2, 1)}, "'cluster' is 2x1, and sm_80 has no clusters; write [1, 1]"),
    (SM80, {"wait_depth": 1}, "'wait_depth' is 1, and sm_80 multiplies by mma.sync, which is not in flight; write 0"),
    (
        SM80,
        {"vectorize": {"axis": "n.i.i", "width": 16}},
        "'vectorize' has width 16, and a global store takes 16 bytes, 8 elements of the output; write 8",
    ),
    (
        SM80,
        {"tile": (128, 128, 40)},
        "'tile' has 40 along k, not a multiple of the 16 of an instruction for f16; choose 32",
    ),
    (
        SM80,
        {"warp_tile": "60x64", "tile": (120, 64, 64)},
        "'warp_tile' is 60x64 for a warp, not made of mma.sync m16n8k16 for f16; choose 48x64",
    ),
    (
        SM90,
        {"warp_tile": "36x64", "tile": (64, 64, 64)},
        "'warp_tile' is 36x64 for a warpgroup, not made of wgmma m64nNk16 for f16; choose 64x64",
    ),
    (
        SM90,
        {"layout_hints": {"B_swizzle": False}},
        "'layout_hints' has B_swizzle off, and wgmma reads shared memory by descriptors of swizzled "
        "tiles; leave it out",
    ),
    (
        SM90,
        {"tile": (512, 64, 64)},
        "'tile' has 512x64, and a box of TMA has at most 256 lines; choose a smaller one",
    ),
]


@pytest.mark.parametrize(("target", "fields", "message"), REFUSED_BY_HARDWARE)
def test_what_the_hardware_does_not_have(target, fields, message):
    assert refusal(Plan(**fields), WIDE, target) == ("UnsupportedPlan", message)


def test_on_hopper_tf32_and_i8_lie_with_k_contiguous_or_pass_through_registers():
    candidate = gemm(4096, 4096, 4096, element="i8")
    assert completed(Plan(), candidate, SM90).schedule == "simple"
    name, message = refusal(Plan(schedule="cooperative"), candidate, SM90)
    assert name == "UnsupportedPlan"
    assert message == (
        "'schedule' is 'cooperative', whose producer loads by TMA, and B is not loaded so, since tensor cores take i8 "
        'with k contiguous, and its other side is; write "simple"'
    )
    assert completed(Plan(schedule="cooperative"), gemm(4096, 4096, 4096, element="i8", layout="nt"), SM90)


# --- refused: the template's structure --------------------------------------------------------------------------------

REFUSED_BY_STRUCTURE = [
    (
        SM80,
        {"stages": 1},
        "'stages' is 1, and the template's circular buffer is filled while another stage is multiplied; give 2 to 8",
    ),
    (SM80, {"pipeline": "m.i"}, "'pipeline' is 'm.i', and the template's circular buffer runs along k; write k.i"),
    (
        SM80,
        {"unroll": {"k.i": 3}, "tile": (128, 128, 64)},
        "'unroll' has k.i by 3, and the template unrolls all 4 steps of a tile; write that",
    ),
    (
        SM80,
        {"unroll": {"m.i": 4}},
        "'unroll' has the axis m.i, and the template unrolls the steps of a tile along k.i; leave it out",
    ),
    (
        SM80,
        {"fuse": (("m.o", "k.o", "t"),)},
        '\'fuse\' is not m.o with n.o, the one axis of tiles that scheme \'mma\' has; write [["m.o", "n.o", "t"]]',
    ),
    (
        SM80,
        {"layout_hints": {"C_stride": "col"}},
        "'layout_hints' has C_stride col, and the template writes rows of neighbouring elements; write row",
    ),
    (
        SM80,
        {"vectorize": {"axis": "m.i.i", "width": 8}},
        "'vectorize' has the axis m.i.i, and the template writes neighbours along n.i.i; write that",
    ),
    (
        SM90,
        {"cluster": (2, 2)},
        "'cluster' is 2x2, and the template shares loads between two CTAs; write [2, 1], [1, 2] or [1, 1]",
    ),
    (
        SM90,
        {"cluster": (2, 1), "schedule": "simple"},
        "'cluster' is 2x1, and the template shares loads between producers, which 'simple' has none of; write [1, 1]",
    ),
    (
        SM90,
        {"cluster": (2, 1), "asynchronous": {"enable": False}},
        "'cluster' is 2x1, and what is shared is loaded by TMA, which 'async' switches off; write [1, 1]",
    ),
    (
        SM90,
        {"cluster": (1, 2), "tile": (24, 128, 64), "schedule": "cooperative"},
        "'cluster' is 1x2, and of the 24 lines of A that 2 CTAs share each loads a multiple of 8; write [1, 1]",
    ),
    (
        SM90,
        {"warp_tile": "64x32", "tile": (256, 64, 64), "schedule": "cooperative"},
        "'warp_tile' makes 8 warpgroups of 256x64, and the schedule 'cooperative' has room for 3; "
        "choose a larger one or a smaller tile",
    ),
    (
        SM80,
        {"order": ("k.o", "m.o", "n.o")},
        "'order' is k.o m.o n.o, and scheme 'mma' nests its loops in another order; write m.o n.o "
        "k.o m.i.o n.i.o k.i.o m.i.i n.i.i k.i.i, or leave it out",
    ),
]


@pytest.mark.parametrize(("target", "fields", "message"), REFUSED_BY_STRUCTURE)
def test_what_the_template_does_not_have(target, fields, message):
    assert refusal(Plan(**fields), WIDE, target) == ("UnsupportedPlan", message)


def test_a_binding_that_the_template_does_not_have():
    name, message = refusal(Plan(bind={"m.i.o": "warp.x"}))
    assert name == "UnsupportedPlan"
    assert message.startswith("'bind' has m.i.o at warp.x, and scheme 'mma' binds m.o and n.o to block.y and block.x")


def test_an_operand_that_is_staged_elsewhere():
    entries = tuple({"tensor": each, "where": "smem", "at": "k.o"} for each in "AB")
    _, refused = judged(Plan(cache=entries), None, SM80)
    assert refused[0] == ("UnsupportedPlan", "'cache' has 'A' at k.o, and scheme 'mma' stages at k.i; write that")


# --- refused: another field, or the region, says otherwise ------------------------------------------------------------

CONFLICTS = [
    (
        SM80,
        {"tile": (96, 64, 64), "warp_tile": "64x64"},
        "'warp_tile' is 64x64, and 'tile' has 96x64, not divisible by it; choose a tile that is, or leave it out",
    ),
    (
        SM90,
        {"tile": (128, 128, 64), "warp_tile": "64x128", "schedule": "pingpong"},
        "'warp_tile' is 64x128, and in the schedule 'pingpong' each warpgroup has a tile of its own; write 128x128",
    ),
    (
        SM90,
        {"registers": (40, 232), "schedule": "simple"},
        "'registers' are set per role, and in the schedule 'simple' all warps have one; leave it out",
    ),
    (
        SM80,
        {"split": {"m.i": 32}, "tile": (128, 128, 32), "warp_tile": "64x64"},
        "'split' has 32 along m.i, and 'tile' has 64; they must agree: leave it out",
    ),
    (
        SM80,
        {"split_k": 2, "algo_choice": {"matmul": "implicit_gemm"}},
        "'split_k' is 2, and 'algo_choice' has implicit_gemm, which does not slice k; write "
        "splitk_serial or splitk_parallel, or split_k 1",
    ),
    (
        SM80,
        {"split_k": 1, "algo_choice": {"matmul": "splitk_serial"}},
        "'split_k' is 1, and 'algo_choice' has splitk_serial; give at least 2, or write implicit_gemm",
    ),
    (
        SM80,
        {"split_k": 200, "tile": (128, 128, 64)},
        "'split_k' is 200, and there are 64 tiles of 64 along k; choose at most 64, or a 'tile' that is less deep",
    ),
    (
        SM80,
        {"raster": {"along": "n", "group": 8}, "fuse": (("n.o", "m.o", "t"),)},
        "'fuse' walks along m, and 'raster' along n; they must agree",
    ),
    (
        SM80,
        {"raster": {"along": "n", "group": 8}, "bind": {"m.o": "block.y"}},
        "'bind' has m.o and n.o at a CTA index each, and 'raster' has bands of 8, which are one "
        "walk; fuse m.o n.o -> t and bind t to block.x",
    ),
    (
        SM80,
        {"fuse": (("m.o", "n.o", "t"),), "bind": {"m.o": "block.y"}},
        "'bind' has m.o at a CTA index, and 'fuse' makes t of them; bind that",
    ),
    (
        SM80,
        {"epilogue": ("relu",)},
        "'epilogue' is relu, and the region's epilogue is empty; a plan cannot change that: leave it out",
    ),
]


@pytest.mark.parametrize(("target", "fields", "message"), CONFLICTS)
def test_fields_that_disagree(target, fields, message):
    assert refusal(Plan(**fields), WIDE, target) == ("PlanMismatch", message)


def test_a_tail_that_must_be_guarded():
    name, message = refusal(Plan(predicate_tail=("n", "k"), tile=(128, 128, 64)), gemm(m=100))
    assert (name, message.partition(",")[0]) == ("PlanMismatch", "'predicate_tail' lacks m")


# --- refused: what comes later ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "algorithm", "reason"),
    [
        ("matmul", "streamk", "a tile of the template is whole along k, or in equal slices"),
        ("conv", "winograd_3x3", "it comes with convolution"),
        ("conv", "fft_conv", "it comes with convolution"),
        ("attention", "online_softmax", "it comes with attention"),
    ],
)
def test_algorithms_that_are_missing_say_with_what_they_come(pattern, algorithm, reason):
    assert MMA.why_not_algorithm(pattern, algorithm).startswith(reason)


def test_slices_of_a_convolution_come_with_it():
    conv = dataclasses.replace(gemm(4096, 256, 2304), pattern="conv")
    assert refusal(Plan(split_k=2), conv) == (
        "UnsupportedPlan",
        "'split_k' is 2, and slices of k of a convolution come with convolution; write 1",
    )
    assert completed(Plan(), conv).algo_choice == {"conv": "implicit_gemm"}


# --- refused: room ----------------------------------------------------------------------------------------------------


def test_a_ring_of_more_bytes_than_shared_memory():
    assert refusal(Plan(tile=(128, 256, 64), warp_tile="64x64", stages=4), WIDE) == (
        "ResourceExceeded",
        "'stages' and 'tile' take 4 x (128x64 + 64x256 f16) = 196608 bytes and 0 for the epilogue and barriers, 196608 "
        "bytes of shared memory per CTA; sm_80 has 166912; choose 3 stages or a smaller tile",
    )
    assert completed(Plan(tile=(128, 256, 64), warp_tile="64x64", stages=3), WIDE).stages == 3


def test_more_accumulators_than_a_thread_has_registers():
    name, message = refusal(Plan(tile=(128, 128, 32), warp_tile="128x128"), WIDE)
    assert name == "ResourceExceeded"
    assert message.startswith("'warp_tile' has accumulator tile 128x128, about 680 registers per thread (512 accumul")
    assert message.endswith("sm_80 has 255; choose a smaller one")


def test_more_registers_than_consumers_set():
    plan = Plan(tile=(128, 256, 64), warp_tile="64x256", schedule="cooperative", registers=(40, 152))
    assert refusal(plan, WIDE, SM90) == (
        "ResourceExceeded",
        "'warp_tile' has accumulator tile 64x256, about 162 registers per thread (128 accumulators); consumers set "
        "152; choose a smaller one",
    )


def test_more_registers_than_a_cta_has():
    name, message = refusal(Plan(tile=(256, 256, 32), warp_tile="64x64", stages=2), WIDE)
    assert name == "ResourceExceeded"
    assert message.startswith(
        "'tile' has accumulator tile 256x256, about 220 registers for each of 512 threads; sm_80 "
    )


def test_what_registers_ask_for_together():
    name, message = refusal(Plan(registers=(80, 240), tile=(128, 256, 64), warp_tile="64x256"), WIDE, SM90)
    assert name == "ResourceExceeded"
    assert message.startswith("'registers' are 80 and 240: with 2 consumers 560 for each 128 threads")


def test_registers_of_which_a_launch_has_less_than_an_sm():
    """What ptxas launches 384 threads with, 168 for each, is all that `setmaxnreg` can give."""
    name, message = refusal(Plan(registers=(48, 232), tile=(128, 256, 64), warp_tile="64x256"), WIDE, SM90)
    assert name == "ResourceExceeded"
    assert message == (
        "'registers' are 48 and 232: with 2 consumers 512 for each 128 threads; a CTA of 384 threads is launched with "
        "504 on sm_90a; choose [48, 224]"
    )


def test_where_the_default_does_not_fit_a_smaller_one_is_chosen():
    """A tile whose usual stages do not fit gets fewer (000 §10)."""
    assert completed(Plan(tile=(256, 128, 64), warp_tile="64x64"), WIDE).stages == 3
    assert completed(Plan(tile=(128, 128, 32)), WIDE).stages == 4


@pytest.mark.parametrize("sizes", [(), (4096, 4096, 4096)], ids=["symbolic", "static"])
@pytest.mark.parametrize(
    "given",
    [
        Plan(warp_tile="64x256"),
        Plan(warp_tile="128x64"),
        Plan(split={"m": 128}, warp_tile="64x128"),
        Plan(registers=(40, 104), tile=(128, 128, 64)),
        Plan(registers=(40, 176)),
    ],
)
def test_the_rest_of_a_tiling_is_chosen_for_a_part_of_it(given, sizes):
    found = completed(given, gemm(*sizes), SM90)
    rows, columns = map(int, found.warp_tile.split("x"))
    assert (found.tile[0] % rows, found.tile[1] % columns) == (0, 0)
    assert all(asked in (None, getattr(found, name)) for name, asked in vars(given).items() if name != "split")


def test_a_warp_tile_that_no_tile_is_divided_by():
    name, message = refusal(Plan(tile=(128, 128, 64), warp_tile="64x256"), gemm(4096, 4096, 4096), SM90)
    assert (name, message) == (
        "PlanMismatch",
        "'warp_tile' is 64x256, and 'tile' has 128x128, not divisible by it; choose a tile that is, or leave it out",
    )


def test_what_is_asked_for_is_refused_not_a_tile_that_nobody_gave():
    name, message = refusal(Plan(warp_tile="128x64"))
    assert name == "ResourceExceeded"
    assert message.startswith("'warp_tile' has accumulator tile 128x64, about ")
