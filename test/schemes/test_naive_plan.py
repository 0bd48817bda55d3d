"""Plans of scheme `naive_2x2_per_thread`: the defaults, and every refusal by itself."""

import dataclasses
from typing import Any

import pytest

from schemes.candidates import gemm, gemm_bias_relu
from schemes.judging import SM80
from schemes.judging import refusal as refusal_of
from tinyc.analysis.candidate import Candidate
from tinyc.diagnostics import TinycError
from tinyc.dialects.gpu.dialect import THREAD_TILE
from tinyc.plan.fields import ATTRIBUTES, Plan
from tinyc.schemes.completion import completed_plan
from tinyc.schemes.naive.plan import MICRO, NAIVE_FIELDS, NAME
from tinyc.schemes.scheme import FIELDS_OF_ALL

TAKEN = {*FIELDS_OF_ALL, *NAIVE_FIELDS}


def completed(plan: Plan, candidate: Candidate) -> Plan:
    """The complete plan of the scheme."""
    return completed_plan(dataclasses.replace(plan, scheme=NAME), candidate, SM80)


def refusal(plan: Plan, candidate: Candidate | None = None) -> tuple[str, str]:
    """What speaks against a plan of the scheme."""
    return refusal_of(dataclasses.replace(plan, scheme=NAME), candidate)


def test_the_default_for_the_running_example_is_the_plan_of_the_specification():
    assert completed(Plan(), gemm_bias_relu()) == Plan(
        scheme=NAME,
        tile=(64, 64, 32),
        stages=2,
        bind={"m.o": "block.y", "n.o": "block.x"},
        cache=({"tensor": "X", "where": "smem", "at": "k.i"}, {"tensor": "W", "where": "smem", "at": "k.i"}),
        predicate_tail=("m", "n", "k"),
        epilogue=("bias", "relu"),
        arch="sm_80",
        precision="ieee",
        asynchronous={"enable": False},
        algo_choice={"matmul": "implicit_gemm"},
        local_edges=({"from": "sum_k", "to": "relu", "buffer": "reg"},),
    )


def test_a_thread_s_accumulators_are_those_that_a_plan_counts():
    assert (MICRO, MICRO) == THREAD_TILE


def test_every_field_that_the_scheme_decides_by_is_filled_in():
    agreeing = {"order", "split", "pipeline"}  # they say what the tile says
    assert set(completed(Plan(), gemm()).values()) == set(TAKEN) - agreeing


def test_wide_elements_have_shorter_steps():
    plan = completed(Plan(), gemm(element="f64"))
    assert (plan.tile, plan.stages) == ((64, 64, 16), 2)


def test_a_large_tile_has_one_stage():
    assert completed(Plan(tile=(128, 128, 64)), gemm()).stages == 1


def test_a_split_is_the_tile():
    assert completed(Plan(split={"m": 128, "k": 16}), gemm()).tile == (128, 64, 16)


def test_axes_that_are_multiples_of_the_tile_are_not_guarded():
    assert completed(Plan(), gemm(m="64*T", n=130, k=96)).predicate_tail == ("n",)


def test_more_axes_may_be_guarded_than_must():
    plan = completed(Plan(predicate_tail=("k.i", "m.i", "n.i")), gemm(64, 64, 64))
    assert plan.predicate_tail == ("m", "n", "k")


def test_a_batch_runs_along_z():
    assert completed(Plan(), gemm(batch="B")).bind == {"m.o": "block.y", "n.o": "block.x", "batch": "block.z"}


def test_the_other_binding_may_be_asked_for_by_half():
    assert completed(Plan(bind={"m.o": "block.x"}), gemm()).bind == {"m.o": "block.x", "n.o": "block.y"}


def test_many_rows_of_tiles_run_along_x():
    assert completed(Plan(), gemm(m=65536 * 64)).bind == {"m.o": "block.x", "n.o": "block.y"}


def test_operands_without_one_name_are_staged_as_a_and_b():
    candidate = gemm(names=(("X", "Y"), ("W",)))
    assert [each["tensor"] for each in completed(Plan(), candidate).cache] == ["A", "W"]


def test_one_tensor_on_both_sides_is_staged_once():
    candidate = gemm("M", "M", "M", names=(("X",), ("X",)))
    plan = completed(Plan(), candidate)
    assert plan.cache == ({"tensor": "X", "where": "smem", "at": "k.i"},)
    assert completed(plan, candidate) == plan


def test_loops_that_agree_with_the_tile_are_accepted():
    plan = Plan(order=("m.o", "n.o", "k.o", "k.i"), split={"m": 64}, tile=(64, 64, 32), pipeline="k.i")
    assert completed(plan, gemm()).order == plan.order


UNUSED = {
    "warp_tile": "64x64",
    "fuse": (("m.o", "n.o", "t"),),
    "unroll": {"k.i": 4},
    "vectorize": {"axis": "n.i", "width": 8},
    "layout_hints": {"A_swizzle": True},
    "split_k": 2,
    "schedule": "simple",
    "cluster": (2, 1),
    "raster": {"along": "m", "group": 8},
    "wait_depth": 1,
    "registers": (40, 232),
    "loop": {"use_shared_memory": True},
    "pack": {"A": True},
}


def test_every_field_is_used_or_is_refused():
    assert UNUSED.keys() == ATTRIBUTES.keys() - set(TAKEN)


@pytest.mark.parametrize("field", UNUSED)
def test_a_field_that_the_scheme_does_not_use(field):
    name, message = refusal(Plan(scheme=NAME, **{field: UNUSED[field]}))
    assert name == "UnsupportedPlan"
    assert message.startswith(f"'{field}' is not used by scheme 'naive_2x2_per_thread', which takes scheme")


@pytest.mark.parametrize(
    ("tile", "choices"), [((48, 64, 32), "32x64 or 64x64"), ((64, 48, 32), "64x32 or 64x64"), ((16, 40, 32), "32x64")]
)
def test_a_tile_that_the_threads_do_not_cover(tile, choices):
    assert refusal(Plan(tile=tile)) == (
        "UnsupportedPlan",
        f"'tile' has accumulator tile {tile[0]}x{tile[1]}, not divisible by 32x32 (16x16 threads, 2x2 each); "
        f"choose {choices}",
    )


def test_a_tile_of_more_accumulators_than_registers():
    assert refusal(Plan(tile=(256, 256, 8))) == (
        "ResourceExceeded",
        "'tile' has accumulator tile 256x256, about 336 registers per thread (16x16 accumulators in f32); sm_80 has "
        "255; choose a smaller tile",
    )


def test_wide_accumulators_take_two_registers_each():
    name, message = refusal(Plan(tile=(256, 128, 8)), gemm(element="f64"))
    assert name == "ResourceExceeded"
    assert "about 352 registers per thread (16x8 accumulators in f64)" in message
    assert completed(Plan(tile=(256, 128, 8)), gemm(element="f32")).tile == (256, 128, 8)


def test_a_circular_buffer_of_more_bytes_than_shared_memory():
    assert refusal(Plan(tile=(128, 128, 64), stages=2)) == (
        "ResourceExceeded",
        "'tile' and 'stages' take 2 x (128x64 f16 + 64x128 f16) = 65536 bytes of static shared memory per CTA; sm_80 "
        "has 49152; choose a smaller tile or fewer stages",
    )


def test_a_circular_buffer_of_exactly_shared_memory():
    assert completed(Plan(tile=(64, 64, 32), stages=6), gemm()).stages == 6
    assert refusal(Plan(tile=(64, 64, 32), stages=7))[0] == "ResourceExceeded"


@pytest.mark.parametrize("stages", [0, 9])
def test_stages_out_of_range(stages):
    with pytest.raises(TinycError, match=rf"'stages' is {stages}; give an integer in 1 … 8") as caught:
        Plan(stages=stages)
    assert caught.value.name == "InvalidPlan"


def test_asynchronous_copies():
    assert refusal(Plan(scheme="naive_2x2_per_thread", asynchronous={"enable": True})) == (
        "UnsupportedPlan",
        "'async' is enabled, and scheme 'naive_2x2_per_thread' copies by plain loads and stores; "
        'write {"enable": false}',
    )


@pytest.mark.parametrize("axis", ["h.o", "batch"])
def test_a_binding_of_an_axis_that_the_region_lacks(axis):
    assert refusal(Plan(bind={axis: "block.z"})) == (
        "PlanMismatch",
        f"'bind' has the axis '{axis}', and the region's axes are m, n, k; name one of them",
    )


@pytest.mark.parametrize(("axis", "index"), [("k.o", "block.z"), ("m.i.o", "warp.y"), ("m.o", "block.z")])
def test_a_binding_that_the_scheme_does_not_have(axis, index):
    assert refusal(Plan(bind={axis: index})) == (
        "UnsupportedPlan",
        f"'bind' has {axis} at {index}, and scheme 'naive_2x2_per_thread' binds m.o and n.o to block.y and block.x, "
        "either way, batch to block.z, and nothing else; leave it out",
    )


def test_two_axes_at_one_cta_index():
    assert refusal(Plan(bind={"m.o": "block.x", "n.o": "block.x"})) == (
        "PlanMismatch",
        "'bind' has both m.o and n.o at block.x; bind one to block.x and one to block.y",
    )


def test_more_ctas_than_the_grid_has():
    assert refusal(Plan(bind={"m.o": "block.y"}), gemm(m=65536 * 64)) == (
        "ResourceExceeded",
        "'bind' has m.o at block.y, 65536 CTAs; sm_80 launches at most 65535 along y; "
        "bind it to block.x, or choose a larger tile",
    )


def test_more_ctas_than_any_cta_index_counts():
    assert refusal(Plan(scheme=NAME), gemm(m=2**31 * 64)) == (
        "ResourceExceeded",
        "'bind' has m.o at block.x, 2147483648 CTAs; sm_80 launches at most 2147483647 along x; choose a larger tile",
    )


def test_a_larger_batch_than_the_grid_has():
    assert refusal(Plan(scheme=NAME), gemm(batch=65536)) == (
        "ResourceExceeded",
        "'bind' has batch at block.z, 65536 CTAs; sm_80 launches at most 65535 along z; choose another scheme",
    )


@pytest.mark.parametrize(("extent", "shown"), [(100, "100"), ("M", "M")])
def test_an_axis_that_must_be_guarded(extent, shown):
    assert refusal(Plan(predicate_tail=("n", "k")), gemm(m=extent)) == (
        "PlanMismatch",
        f"'predicate_tail' lacks m, whose extent {shown} is not known to be a multiple of its tile 64; list m, or "
        "choose a tile that divides it",
    )


def test_a_guard_of_an_axis_that_the_region_lacks():
    assert refusal(Plan(predicate_tail=("m", "n", "k", "h"))) == (
        "PlanMismatch",
        "'predicate_tail' has the axis 'h', and the region's axes are m, n, k; name one of them",
    )


def test_a_guard_of_the_batch():
    assert refusal(Plan(predicate_tail=("m", "n", "k", "batch")), gemm(batch="B")) == (
        "UnsupportedPlan",
        "'predicate_tail' has batch, which has no tiles; list m, n and k only",
    )


@pytest.mark.parametrize("ops", [("relu", "bias"), ("bias",), ()])
def test_an_epilogue_that_is_not_the_regions(ops):
    written = " ".join(ops) or "empty"
    assert refusal(Plan(epilogue=ops), gemm_bias_relu()) == (
        "PlanMismatch",
        f"'epilogue' is {written}, and the region's epilogue is bias relu; a plan cannot change that: leave it out",
    )


def staged(*tensors: str, **entry: Any) -> tuple[dict[str, Any], ...]:
    return tuple({"tensor": tensor, "where": "smem", "at": "k.i", **entry} for tensor in tensors)


def test_a_staged_tensor_that_is_not_an_operand():
    assert refusal(Plan(cache=staged("X", "W", "bias")), gemm_bias_relu()) == (
        "PlanMismatch",
        "'cache' has 'bias', which is not an operand of the contraction; name one of X, A, W, B",
    )


def test_an_operand_that_is_not_staged():
    assert refusal(Plan(cache=staged("A")), gemm_bias_relu()) == (
        "UnsupportedPlan",
        "'cache' lacks the operand W, and scheme 'naive_2x2_per_thread' stages both; list it",
    )


def test_an_operand_that_is_staged_elsewhere():
    assert refusal(Plan(cache=staged("A", at="m.o") + staged("B"))) == (
        "UnsupportedPlan",
        "'cache' has 'A' at m.o, and scheme 'naive_2x2_per_thread' stages at k.i; write that",
    )


@pytest.mark.parametrize(("stages", "pingpong"), [(1, True), (2, False)])
def test_a_circular_buffer_that_is_not_as_deep_as_it_says(stages, pingpong):
    assert refusal(Plan(stages=stages, cache=staged("A", pingpong=pingpong) + staged("B"))) == (
        "PlanMismatch",
        f"'cache' has pingpong {str(pingpong).lower()} for 'A', and 'stages' is {stages}; a circular buffer is "
        "ping-pong from two stages on: leave it out",
    )


def test_a_split_that_is_not_the_tile():
    assert refusal(Plan(tile=(64, 64, 32), split={"m": 128, "n": 64})) == (
        "PlanMismatch",
        "'split' has 128 along m, and 'tile' has 64; they must agree: leave it out",
    )


def test_a_split_of_an_axis_that_the_region_lacks():
    assert refusal(Plan(split={"h": 4})) == (
        "PlanMismatch",
        "'split' has the axis 'h', and the region's axes are m, n, k; name one of them",
    )


def test_a_split_of_a_part_of_an_axis():
    assert refusal(Plan(split={"m.i": 2})) == (
        "UnsupportedPlan",
        "'split' has the axis m.i, and scheme 'naive_2x2_per_thread' splits m, n and k only; leave it out",
    )


def test_loops_that_the_scheme_does_not_have():
    assert refusal(Plan(order=("m.o", "n.o", "m.i.o", "k.i.o"))) == (
        "UnsupportedPlan",
        "'order' has m.i.o k.i.o, which scheme 'naive_2x2_per_thread' has no loops for; "
        "write m.o n.o k.o k.i m.i n.i, or leave it out",
    )


def test_loops_in_another_order():
    assert refusal(Plan(order=("k.o", "m.o", "n.o"))) == (
        "UnsupportedPlan",
        "'order' is k.o m.o n.o, and scheme 'naive_2x2_per_thread' nests its loops in another order; "
        "write m.o n.o k.o k.i m.i n.i, or leave it out",
    )


def test_an_order_of_ctas_that_is_not_that_of_their_indices():
    message = "; write n.o m.o k.o k.i m.i n.i, or leave it out"
    swapped = Plan(order=("m.o", "n.o"), bind={"m.o": "block.x", "n.o": "block.y"})
    assert refusal(swapped)[1].endswith(message)
    swapped = dataclasses.replace(swapped, order=("n.o", "m.o"))
    assert completed(swapped, gemm()).order == ("n.o", "m.o")


def test_an_order_of_an_axis_that_the_region_lacks():
    assert refusal(Plan(order=("m.o", "n.o", "h.o"))) == (
        "PlanMismatch",
        "'order' has the axis 'h.o', and the region's axes are m, n, k; name one of them",
    )


def test_a_circular_buffer_along_another_axis():
    assert refusal(Plan(pipeline="m.i")) == (
        "UnsupportedPlan",
        "'pipeline' is 'm.i', and scheme 'naive_2x2_per_thread' fills its stages for k.i; write k.i",
    )
