"""Which products tensor cores compute, by which instruction, and why they do not compute others."""

import dataclasses

import pytest

from schemes.candidates import elementwise, gemm
from schemes.judging import SM80, SM90
from tinyc.plan.fields import Plan
from tinyc.schemes.mma import MmaContraction
from tinyc.schemes.mma.matrix_unit import MatrixUnit, matrix_unit
from tinyc.schemes.scheme import Acceptance, Refusal
from tinyc.vocabulary.element_type import ElementType

MMA = MmaContraction()


@pytest.mark.parametrize(
    ("element", "precision", "depth"),
    [("f16", "ieee", 16), ("bf16", "ieee", 16), ("i8", "ieee", 32), ("f32", "tf32", 8)],
)
def test_the_depth_of_an_instruction_is_32_bytes(element, precision, depth):
    for target, rows, threads in ((SM80, 16, 32), (SM90, 64, 128)):
        unit = matrix_unit(gemm(element=element).product, target, precision)
        assert isinstance(unit, MatrixUnit), unit
        assert (unit.factor, unit.rows, unit.depth, unit.threads) == (element, rows, depth, threads)
        assert unit.transposes == (element in (("f16", "bf16", "f32") if target is SM80 else ("f16", "bf16")))


def test_the_narrowest_type_that_holds_both_operands_is_multiplied():
    product = gemm(element="f16").product
    wide = (ElementType.F32, ElementType.F16)
    lhs = dataclasses.replace(product.lhs, element=ElementType.F32, exact=wide)
    rhs = dataclasses.replace(product.rhs, element=ElementType.F32, exact=wide)
    assert matrix_unit(dataclasses.replace(product, lhs=lhs, rhs=rhs), SM80).factor == "f16"


def test_integers_have_the_columns_that_wgmma_has_for_them():
    unit = matrix_unit(gemm(element="i8").product, SM90)
    assert [n for n in range(8, 80, 8) if unit.admits_columns(n)] == [8, 16, 24, 32, 48, 64]


@pytest.mark.parametrize(
    ("element", "reason"),
    [
        ("f32", 'tensor cores round f32 to tf32, which a plan has to ask for: "precision": "tf32"'),
        (
            "f64",
            "tensor cores multiply f16, bf16, i8 or, as tf32, f32 by the same, and it multiplies f64 by f64",
        ),
    ],
)
def test_other_types_are_for_other_schemes(element, reason):
    assert MMA.accepts(gemm(element=element), SM90) == Refusal("PlanMismatch", reason)


def test_different_types_are_for_other_schemes():
    product = gemm(element="f16").product
    rhs = gemm(element="bf16").product.rhs
    reason = matrix_unit(dataclasses.replace(product, rhs=rhs), SM80)
    assert reason.endswith("and it multiplies f16 by bf16")


def test_sums_in_another_type_are_for_other_schemes():
    product = dataclasses.replace(gemm().product, accumulator=ElementType.F64)
    assert matrix_unit(product, SM80) == "tensor cores sum products of f16 in f32, and it sums them in f64"


def test_tf32_is_for_f32():
    assert isinstance(MMA.accepts_in("tf32", gemm(512, 512, 512, element="f32"), SM80), Acceptance)
    assert MMA.accepts_in("tf32", gemm(), SM80) == Refusal(
        "PlanMismatch", "'precision' tf32 is for factors in f32, and they are in f16"
    )


def test_what_is_no_product_is_for_other_schemes():
    assert MMA.accepts(elementwise(), SM80) == Refusal("PlanMismatch", elementwise().no_product)


def test_a_product_is_accepted_with_its_resources():
    answer = MMA.accepts(gemm(4096, 4096, 4096), SM90)
    assert isinstance(answer, Acceptance)
    assert (answer.resources.grid, answer.resources.threads_per_cta) == ((132, 1, 1), 384)
    assert answer.resources.product_tile == (128, 256)


def test_the_summary_says_what_decides_speed():
    plan = Plan(tile=(128, 256, 64), warp_tile="64x256", stages=4, schedule="cooperative")
    assert MMA.summary(plan) == "mma, tile 128 × 256 × 64 by 64x256, stages 4, cooperative"
