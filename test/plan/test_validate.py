"""Plans against regions and targets: the defaults, and every refusal by itself."""

import dataclasses
from typing import Any

import pytest
from region_kernels import formed_kernels, matmul
from tiny_programs import Program, gemm_bias_relu

from tinyc.diagnostics import TinycError
from tinyc.mlir import context
from tinyc.plan.fields import ATTRIBUTES, NAIVE, SCHEMES, Plan
from tinyc.plan.validate import USED, completed, fits
from tinyc.plan.workload import Workload, workload_of
from tinyc.target import target_of

SM80, SM90 = target_of("sm_80"), target_of("sm_90a")


def workload_in(program: Program) -> Workload:
    (kernel,) = formed_kernels(program).values()
    with context():
        return workload_of(kernel)


def gemm(m: Any = "M", n: Any = "N", k: Any = "K", element: str = "f16", batch: Any = None) -> Workload:
    """Return the workload of a matrix product A × B, or of a batch of them."""
    b = "" if batch is None else f"{batch} "
    p = Program(A=f"{element} {b}{m} {k}", B=f"{element} {b}{k} {n}")
    sums = "f64" if element == "f64" else "f32"
    return workload_in(p.result(matmul(p, p["A"], p["B"], f"{b}{m} {n} {k}", batch is not None, sums)))


def negation() -> Workload:
    p = Program(X="f32 4")
    return workload_in(p.result(p.neg(p["X"])))


def refusals(plan: Plan, workload: Workload | None = None, target=SM80) -> list[tuple[str, str]]:
    with pytest.raises(TinycError) as caught:
        completed(plan, workload or gemm(), target)
    return [(error.name, error.message) for error in caught.value.errors]


def refusal(plan: Plan, workload: Workload | None = None, target=SM80) -> tuple[str, str]:
    """Return the one refusal's name and what it says after the field."""
    ((name, message),) = refusals(plan, workload, target)
    return name, message.partition(": ")[2]


# --- defaults ---------------------------------------------------------------------------------------------------------


def test_the_default_for_the_running_example_is_the_plan_of_the_specification():
    assert completed(None, workload_in(gemm_bias_relu()), SM80) == Plan(
        scheme=NAIVE,
        tile=(64, 64, 32),
        stages=2,
        bind={"m.o": "block.y", "n.o": "block.x"},
        cache=({"tensor": "X", "where": "smem", "at": "k.i"}, {"tensor": "W", "where": "smem", "at": "k.i"}),
        predicate_tail=("m", "n", "k"),
        epilogue=("bias", "relu"),
        arch="sm_80",
        precision="ieee",
        asynchronous={"enable": False},
    )


def test_the_default_for_anything_else_is_generic():
    assert completed(None, negation(), SM90) == Plan(scheme="generic", arch="sm_90a", precision="ieee")


@pytest.mark.parametrize("target", [SM80, SM90], ids=lambda target: target.name)
@pytest.mark.parametrize("plan", [None, Plan(tile=(32, 96, 8), stages=1), Plan(scheme="generic")])
def test_a_complete_plan_is_complete(target, plan):
    once = completed(plan, gemm(batch=3), target)
    assert completed(once, gemm(batch=3), target) == once


def test_every_field_that_the_scheme_decides_by_is_filled_in():
    agreeing = {"order", "split", "pipeline"}  # they say what the tile says
    assert set(completed(None, gemm(), SM80).values()) == set(USED[NAIVE]) - agreeing


def test_wide_elements_have_shorter_steps():
    plan = completed(None, gemm(element="f64"), SM80)
    assert (plan.tile, plan.stages) == ((64, 64, 16), 2)


def test_a_large_tile_has_one_stage():
    assert completed(Plan(tile=(128, 128, 64)), gemm(), SM80).stages == 1


def test_a_split_is_the_tile():
    assert completed(Plan(split={"m": 128, "k": 16}), gemm(), SM80).tile == (128, 64, 16)


def test_axes_that_are_multiples_of_the_tile_are_not_guarded():
    assert completed(None, gemm(m="64*T", n=130, k=96), SM80).predicate_tail == ("n",)


def test_more_axes_may_be_guarded_than_must():
    plan = completed(Plan(predicate_tail=("k.i", "m.i", "n.i")), gemm(64, 64, 64), SM80)
    assert plan.predicate_tail == ("m", "n", "k")


def test_a_batch_runs_along_z():
    assert completed(None, gemm(batch="B"), SM80).bind == {"m.o": "block.y", "n.o": "block.x", "batch": "block.z"}


def test_the_other_binding_may_be_asked_for_by_half():
    assert completed(Plan(bind={"m.o": "block.x"}), gemm(), SM80).bind == {"m.o": "block.x", "n.o": "block.y"}


def test_many_rows_of_tiles_run_along_x():
    assert completed(None, gemm(m=65536 * 64), SM80).bind == {"m.o": "block.x", "n.o": "block.y"}


def test_a_batch_that_no_grid_has_room_for_is_generic():
    assert completed(None, gemm(batch=65536), SM80).scheme == "generic"


def test_operands_without_one_name_are_staged_as_a_and_b():
    p = Program(X="f32 M K", Y="f32 M K", W="f32 K N")
    workload = workload_in(p.result(matmul(p, p["X"], p["W"]), matmul(p, p["Y"], p["W"])))
    assert [each["tensor"] for each in completed(None, workload, SM80).cache] == ["A", "W"]


def test_one_tensor_on_both_sides_is_staged_once():
    p = Program(X="f32 M M")
    workload = workload_in(p.result(matmul(p, p["X"], p["X"], "M M M")))
    plan = completed(None, workload, SM80)
    assert plan.cache == ({"tensor": "X", "where": "smem", "at": "k.i"},)
    assert completed(plan, workload, SM80) == plan


def test_a_plan_for_either_architecture_stays_one():
    plan = Plan(arch="sm80_or_sm90")
    assert {completed(plan, gemm(), target).arch for target in (SM80, SM90)} == {"sm80_or_sm90"}


def test_loops_that_agree_with_the_tile_are_accepted():
    plan = Plan(order=("m.o", "n.o", "k.o", "k.i"), split={"m": 64}, tile=(64, 64, 32), pipeline="k.i")
    assert completed(plan, gemm(), SM80).order == plan.order


def test_a_contraction_may_be_generic():
    assert completed(Plan(scheme="generic"), gemm(), SM80) == Plan(scheme="generic", arch="sm_80", precision="ieee")


def test_a_plan_without_a_scheme_fits_where_its_fields_are_used():
    assert [fits(Plan(tile=(64, 64, 8)), each) for each in (gemm(), negation())] == [True, False]
    assert fits(Plan(arch="sm80"), negation())


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_all_refusals_of_a_plan_are_reported_together():
    plan = Plan(tile=(48, 64, 32), arch="sm90", precision="tf32", epilogue=("gelu",))
    assert [name for name, _ in refusals(plan)] == [
        "PlanMismatch",
        "UnsupportedPlan",
        "UnsupportedPlan",
        "PlanMismatch",
    ]


def test_a_refusal_names_the_region_and_the_field():
    ((_, message),) = refusals(Plan(split_k=2))
    assert message.startswith("the plan of @matmul: 'split_k' is not used by scheme 'naive_2x2_per_thread'")


@pytest.mark.parametrize("scheme", sorted(set(SCHEMES) - set(USED)))
def test_a_scheme_that_is_not_there_yet(scheme):
    name, message = refusal(Plan(scheme=scheme))
    assert name == "UnsupportedPlan"
    assert message == (
        f"'scheme' is '{scheme}', which this version has no kernel builder for; choose naive_2x2_per_thread or generic"
    )


def test_a_contraction_scheme_on_another_region():
    assert refusal(Plan(scheme=NAIVE), negation()) == (
        "PlanMismatch",
        "'scheme' is 'naive_2x2_per_thread', and @elementwise_neg is no contraction: it is not one reduction whose "
        "result is written element by element; choose generic",
    )


UNUSED = {
    "warp_tile": "64x64",
    "fuse": (("m.o", "n.o", "t"),),
    "unroll": {"k.i": 4},
    "vectorize": {"axis": "n.i", "width": 8},
    "layout_hints": {"A_swizzle": True},
    "algo_choice": {"matmul": "streamk"},
    "split_k": 2,
    "local_edges": ({"from": "a", "to": "b", "buffer": "reg"},),
    "schedule": "simple",
    "cluster": (2, 1),
    "raster": {"along": "m", "group": 8},
    "wait_depth": 1,
    "registers": (40, 232),
    "loop": {"use_shared_memory": True},
}


def test_every_field_is_used_or_is_refused():
    assert UNUSED.keys() == ATTRIBUTES.keys() - set(USED[NAIVE])


@pytest.mark.parametrize("field", UNUSED)
def test_a_field_that_the_scheme_does_not_use(field):
    name, message = refusal(Plan(**{field: UNUSED[field]}))
    assert name == "UnsupportedPlan"
    assert message.startswith(f"'{field}' is not used by scheme 'naive_2x2_per_thread', which takes scheme")


def test_a_field_that_generic_does_not_use():
    name, message = refusal(Plan(scheme="generic", tile=(64, 64, 32)))
    assert name == "UnsupportedPlan"
    assert message == "'tile' is not used by scheme 'generic', which takes scheme, arch, precision; leave it out"


@pytest.mark.parametrize(("axis", "tile"), [("m", (48, 64, 32)), ("n", (64, 48, 32))])
def test_a_tile_that_the_threads_do_not_cover(axis, tile):
    assert refusal(Plan(tile=tile)) == (
        "UnsupportedPlan",
        f"'tile' has 48 along {axis}, and must be a multiple of 32 there: 16 × 16 threads have 2 × 2 sums each; "
        "choose 32 or 64",
    )


def test_a_tile_of_more_sums_than_registers():
    assert refusal(Plan(tile=(256, 256, 8))) == (
        "ResourceExceeded",
        "'tile' is 256 × 256: 256 sums in f32 for each thread, about 336 registers per thread; sm_80 has 255 registers "
        "per thread; choose a smaller tile",
    )


def test_wide_sums_take_two_registers_each():
    name, message = refusal(Plan(tile=(256, 128, 8)), gemm(element="f64"))
    assert name == "ResourceExceeded"
    assert "128 sums in f64 for each thread, about 352 registers per thread" in message
    assert completed(Plan(tile=(256, 128, 8)), gemm(element="f32"), SM80).tile == (256, 128, 8)


def test_a_ring_of_more_bytes_than_shared_memory():
    assert refusal(Plan(tile=(128, 128, 64), stages=2)) == (
        "ResourceExceeded",
        "'tile' and 'stages' take 2 × (128·64 f16 + 64·128 f16) = 65536 bytes of shared memory; sm_80 has 49152 bytes "
        "of static shared memory per block; choose a smaller tile or fewer stages",
    )


def test_a_ring_of_exactly_shared_memory():
    assert completed(Plan(tile=(64, 64, 32), stages=6), gemm(), SM80).stages == 6
    assert refusal(Plan(tile=(64, 64, 32), stages=7))[0] == "ResourceExceeded"


@pytest.mark.parametrize("stages", [0, 9])
def test_stages_out_of_range(stages):
    with pytest.raises(TinycError, match=rf"'stages' is {stages}; give an integer in 1 … 8") as caught:
        Plan(stages=stages)
    assert caught.value.name == "InvalidPlan"


def test_another_architecture():
    assert refusal(Plan(arch="sm90")) == (
        "PlanMismatch",
        "'arch' is 'sm90', and the plan is used for sm_80; write sm_80, or compile for sm90",
    )


@pytest.mark.parametrize("scheme", USED)
def test_tensor_cores_that_the_scheme_does_not_use(scheme):
    assert refusal(Plan(scheme=scheme, precision="tf32")) == (
        "UnsupportedPlan",
        f"'precision' is 'tf32', and scheme '{scheme}' does not use tensor cores; write \"ieee\"",
    )


def test_asynchronous_copies():
    assert refusal(Plan(asynchronous={"enable": True})) == (
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


def test_two_axes_at_one_block_index():
    assert refusal(Plan(bind={"m.o": "block.x", "n.o": "block.x"})) == (
        "PlanMismatch",
        "'bind' has both m.o and n.o at block.x; bind one to block.x and one to block.y",
    )


def test_more_blocks_than_the_grid_has():
    assert refusal(Plan(bind={"m.o": "block.y"}), gemm(m=65536 * 64)) == (
        "ResourceExceeded",
        "'bind' puts m.o at block.y, which makes 65536 blocks; sm_80 launches at most 65535 blocks along y; "
        "bind it to block.x, or choose a larger tile",
    )


def test_more_blocks_than_any_block_index_counts():
    assert refusal(Plan(scheme=NAIVE), gemm(m=2**31 * 64)) == (
        "ResourceExceeded",
        "'bind' puts m.o at block.x, which makes 2147483648 blocks; sm_80 launches at most 2147483647 blocks along x; "
        "choose a larger tile",
    )


def test_a_larger_batch_than_the_grid_has():
    assert refusal(Plan(scheme=NAIVE), gemm(batch=65536)) == (
        "ResourceExceeded",
        "'bind' puts batch at block.z, which makes 65536 blocks; sm_80 launches at most 65535 blocks along z; "
        "choose scheme generic",
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
    written = " ".join(ops) or "nothing"
    assert refusal(Plan(epilogue=ops), workload_in(gemm_bias_relu())) == (
        "PlanMismatch",
        f"'epilogue' is {written}, and the region does bias relu after the sum; a plan cannot change that: "
        "leave it out",
    )


def staged(*tensors: str, **entry: Any) -> tuple[dict[str, Any], ...]:
    return tuple({"tensor": tensor, "where": "smem", "at": "k.i", **entry} for tensor in tensors)


def test_a_staged_tensor_that_is_no_operand():
    assert refusal(Plan(cache=staged("X", "W", "bias")), workload_in(gemm_bias_relu())) == (
        "PlanMismatch",
        "'cache' has the tensor 'bias', which is no operand of the product; the operands are X or A and W or B; "
        "name one of them",
    )


def test_an_operand_that_is_not_staged():
    assert refusal(Plan(cache=staged("A")), workload_in(gemm_bias_relu())) == (
        "UnsupportedPlan",
        "'cache' lacks the operand W, and scheme 'naive_2x2_per_thread' stages both; list it",
    )


def test_an_operand_that_is_staged_elsewhere():
    assert refusal(Plan(cache=staged("A", at="m.o") + staged("B"))) == (
        "UnsupportedPlan",
        "'cache' has 'A' at m.o, and scheme 'naive_2x2_per_thread' stages at k.i; write that",
    )


@pytest.mark.parametrize(("stages", "pingpong"), [(1, True), (2, False)])
def test_a_ring_that_is_not_as_deep_as_it_says(stages, pingpong):
    assert refusal(Plan(stages=stages, cache=staged("A", pingpong=pingpong) + staged("B"))) == (
        "PlanMismatch",
        f"'cache' has pingpong {str(pingpong).lower()} for 'A', and 'stages' is {stages}; a ring is ping-pong from two "
        "stages on: leave it out",
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


def test_an_order_of_blocks_that_is_not_that_of_their_indices():
    message = "; write n.o m.o k.o k.i m.i n.i, or leave it out"
    swapped = Plan(order=("m.o", "n.o"), bind={"m.o": "block.x", "n.o": "block.y"})
    assert refusal(swapped)[1].endswith(message)
    swapped = dataclasses.replace(swapped, order=("n.o", "m.o"))
    assert completed(swapped, gemm(), SM80).order == ("n.o", "m.o")


def test_an_order_of_an_axis_that_the_region_lacks():
    assert refusal(Plan(order=("m.o", "n.o", "h.o"))) == (
        "PlanMismatch",
        "'order' has the axis 'h.o', and the region's axes are m, n, k; name one of them",
    )


def test_a_ring_along_another_axis():
    assert refusal(Plan(pipeline="m.i")) == (
        "UnsupportedPlan",
        "'pipeline' is 'm.i', and scheme 'naive_2x2_per_thread' fills its ring for k.i; write k.i",
    )
