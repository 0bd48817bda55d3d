"""A plan against a candidate and a target: which scheme it is for, and what every scheme refuses."""

import dataclasses

import pytest

from schemes.candidates import elementwise, gemm
from schemes.judging import SM80, SM90, refusal, refusals
from tinyc.diagnostics import TinycError, either
from tinyc.plan.fields import Plan
from tinyc.schemes import completion
from tinyc.schemes.completion import completed_plan, default_plan, fits, require_fit
from tinyc.schemes.naive.plan import NAME
from tinyc.schemes.names import SCHEME_NAMES
from tinyc.schemes.registry import SCHEME_OF, SCHEMES


def test_the_default_for_anything_else_is_generic():
    assert default_plan(elementwise(), SM90).plan == Plan(scheme="generic", arch="sm_90a", precision="ieee")


@pytest.mark.parametrize("target", [SM80, SM90], ids=lambda target: target.name)
@pytest.mark.parametrize("plan", [None, Plan(scheme=NAME, tile=(32, 96, 8), stages=1), Plan(scheme="generic")])
def test_a_complete_plan_is_complete(target, plan):
    candidate = gemm(batch=3)
    once = default_plan(candidate, target).plan if plan is None else completed_plan(plan, candidate, target)
    assert completed_plan(once, candidate, target) == once


def test_a_batch_that_no_grid_has_room_for_is_generic():
    assert default_plan(gemm(batch=65536), SM80).plan.scheme == "generic"


def test_a_plan_for_either_architecture_stays_one():
    plan = Plan(arch="sm80_or_sm90")
    assert {completed_plan(plan, gemm(), target).arch for target in (SM80, SM90)} == {"sm80_or_sm90"}


def test_a_contraction_may_be_generic():
    plan = completed_plan(Plan(scheme="generic"), gemm(), SM80)
    assert (plan.scheme, plan.arch, plan.precision) == ("generic", "sm_80", "ieee")


def test_a_plan_without_a_scheme_fits_where_its_fields_are_used():
    assert [fits(Plan(tile=(64, 64, 8)), each, SM80) for each in (gemm(), elementwise())] == [True, False]
    assert fits(Plan(arch="sm80"), elementwise(), SM80)


def test_a_plan_with_a_scheme_fits_what_is_of_its_kind():
    for candidate, expected in ((gemm(), True), (gemm(batch=65536), True), (elementwise(), False)):
        assert fits(Plan(scheme=NAME), candidate, SM80) is expected
    for candidate, expected in ((gemm(), True), (gemm(element="f32"), False), (elementwise(), False)):
        assert fits(Plan(scheme="mma"), candidate, SM80) is expected
    assert not fits(Plan(scheme="scan"), gemm(), SM80)


def test_a_plan_without_a_scheme_is_for_the_first_that_takes_its_fields():
    plan = Plan(tile=(128, 64, 64))
    assert completed_plan(plan, gemm(), SM90).scheme == "mma"
    assert completed_plan(plan, gemm(element="f32"), SM90).scheme == NAME


def test_the_default_says_why_it_is_the_default():
    assert default_plan(gemm(), SM80).reason == "it is a contraction for tensor cores"
    assert default_plan(gemm(element="f32"), SM80).reason == "it is a contraction"
    assert default_plan(elementwise(), SM80).reason == f"{elementwise().no_product}; {elementwise().loops}"
    too_many = "its tiles are more CTAs than sm_80 launches at once"
    assert default_plan(gemm(batch=65536), SM80).reason == f"{too_many}; {gemm().loops}"


def test_a_plan_that_fits_nothing_says_why_of_every_region():
    candidates = [elementwise(name=f"k{number}") for number in range(10)]
    candidates = [dataclasses.replace(each, no_product="it is a copy") for each in candidates]
    with pytest.raises(TinycError) as caught:
        require_fit(Plan(tile=(64, 64, 8)), candidates, SM80)
    assert caught.value.name == "PlanMismatch"
    assert caught.value.message == (
        "the plan is for scheme 'mma', which accepts no region of the module: "
        + ", ".join(f"@k{number} (it is a copy)" for number in range(8))
        + " and 2 more; leave the plan out"
    )


def test_a_plan_that_no_scheme_takes_is_refused_for_the_most_particular_region():
    with pytest.raises(TinycError, match="the plan of @matmul: 'loop' is not used by scheme 'mma'"):
        require_fit(Plan(loop={"use_shared_memory": True}), [elementwise(), gemm()], SM80)


def test_more_elements_than_an_extent_can_say_are_no_kernel():
    large = "*".join(["A"] * 24)
    for refused in (lambda each: default_plan(each, SM80), lambda each: completed_plan(Plan(), each, SM80)):
        with pytest.raises(TinycError, match="its element count is not a representable extent") as caught:
            refused(elementwise(large, large, large))
        assert caught.value.name == "NoGpuKernel"


def test_all_refusals_of_a_plan_are_reported_together():
    plan = Plan(tile=(48, 64, 32), arch="sm90", precision="tf32", epilogue=("gelu",))
    assert [name for name, _ in refusals(plan)] == [
        "PlanMismatch",
        "UnsupportedPlan",
        "UnsupportedPlan",
        "PlanMismatch",
    ]


def test_a_refusal_names_the_region_and_the_field():
    ((_, message),) = refusals(Plan(scheme=NAME, split_k=2))
    assert message.startswith("the plan of @matmul: 'split_k' is not used by scheme 'naive_2x2_per_thread'")


@pytest.mark.parametrize("scheme", SCHEME_NAMES)
def test_a_scheme_that_is_not_there_yet(monkeypatch, scheme):
    there = tuple(each for each in SCHEMES if each.name != scheme)
    monkeypatch.setattr(completion, "kinds_of", lambda _: there)
    name, message = refusal(Plan(scheme=scheme))
    assert name == "UnsupportedPlan"
    known = either(each.name for each in there)
    what = f"'scheme' is '{scheme}', which this version has no kernel builder for on sm_80"
    assert message == f"{what}; choose {known}"


def test_a_contraction_scheme_on_another_region():
    assert refusal(Plan(scheme=NAME), elementwise()) == (
        "PlanMismatch",
        "'scheme' is 'naive_2x2_per_thread', which does not accept @elementwise_neg: it is not one reduction "
        "whose result is written element by element; choose generic",
    )


def test_a_field_that_generic_does_not_use():
    name, message = refusal(Plan(scheme="generic", tile=(64, 64, 32)))
    assert name == "UnsupportedPlan"
    fields = "scheme, arch, precision, algo_choice, local_edges"
    assert message == f"'tile' is not used by scheme 'generic', which takes {fields}; leave it out"


@pytest.mark.parametrize("scheme", ["naive_2x2_per_thread", "generic"])
def test_an_algorithm_that_the_scheme_does_not_build(scheme):
    assert refusal(Plan(scheme=scheme, algo_choice={"matmul": "streamk"})) == (
        "UnsupportedPlan",
        f"'algo_choice' is 'streamk', and scheme '{scheme}' builds a matmul as implicit_gemm; write that",
    )


def test_an_algorithm_for_another_pattern():
    assert refusal(Plan(algo_choice={"conv": "implicit_gemm"})) == (
        "PlanMismatch",
        "'algo_choice' is for a pattern 'conv', and its contraction is a matmul; leave it out",
    )
    assert refusal(Plan(algo_choice={"matmul": "implicit_gemm"}), elementwise()) == (
        "PlanMismatch",
        "'algo_choice' is for a pattern 'matmul', and it has no contraction; leave it out",
    )


@pytest.mark.parametrize(
    "edge", [{"from": "sum_k", "to": "relu", "buffer": "reg"}, {"from": "sum_k", "to": "cast", "buffer": "gmem"}]
)
def test_a_local_edge_that_the_region_does_not_have_or_has_elsewhere(edge):
    assert refusal(Plan(local_edges=(edge,))) == (
        "PlanMismatch",
        f"'local_edges' has {edge['from']} to {edge['to']} in {edge['buffer']}, and the region's edges are sum_k to "
        "cast in reg; leave it out",
    )


def test_what_formation_decides_is_in_the_complete_plan_and_may_be_given():
    plan = default_plan(gemm(), SM80).plan
    assert plan.algo_choice == {"matmul": "implicit_gemm"}
    assert plan.local_edges == ({"from": "sum_k", "to": "cast", "buffer": "reg"},)
    formed = Plan(algo_choice=plan.algo_choice, local_edges=plan.local_edges)
    assert default_plan(gemm(), SM80, formed).plan == plan


def test_another_architecture():
    assert refusal(Plan(arch="sm90")) == (
        "PlanMismatch",
        "'arch' is 'sm90', and the plan is used for sm_80; write sm_80, or compile for sm90",
    )


@pytest.mark.parametrize("scheme", [name for name, scheme in SCHEME_OF.items() if "tf32" not in scheme.precisions])
def test_tensor_cores_that_the_scheme_does_not_use(scheme):
    name, message = refusals(Plan(scheme=scheme, precision="tf32"))[0]
    assert name == "UnsupportedPlan"
    assert message.endswith(f"'precision' is 'tf32', and scheme '{scheme}' does not use tensor cores; write \"ieee\"")
