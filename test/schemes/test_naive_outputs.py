"""A contraction with several results, or results whose elements stand elsewhere: a kernel of tiles all the same."""

import pytest

import tinyc
from analysis_programs.tiny_programs import Program
from tinyc.driver.verification import verify_model
from tinyc.executors.random_inputs import random_inputs


def product(p, m, n, k):
    """The matrix product of the inputs a [m, k] and b [k, n]."""
    left = p.expand(p["a"], shape=f"{m} {n} {k}", broadcast_dimensions=(0, 2))
    right = p.expand(p.permute(p["b"], perm=(1, 0)), shape=f"{m} {n} {k}", broadcast_dimensions=(1, 2))
    return p.sum(p.mul(left, right), 2, name="c")


def two_epilogues():
    p = Program(a="f32 70 33", b="f32 33 50")
    c = product(p, 70, 50, 33)
    return p.result(p.relu(c, name="y"), p.neg(c, name="z"))


def the_product_and_what_is_made_of_it():
    p = Program(a="f32 30 7", b="f32 7 22")
    c = product(p, 30, 22, 7)
    return p.result(c, p.relu(c, name="y"))


def moved_before_its_bias():
    p = Program(a="f32 64 32", b="f32 32 48", bias="f32 16 12 4")
    c = p.permute(p.reshape(product(p, 64, 48, 32), shape="4 16 12 4"), perm=(1, 0, 2, 3))
    return p.result(p.add(c, p.expand(p["bias"], shape="16 4 12 4", broadcast_dimensions=(0, 2, 3)), name="y"))


def transposed_and_not():
    p = Program(a="f32 30 7", b="f32 7 22")
    c = product(p, 30, 22, 7)
    return p.result(p.permute(c, perm=(1, 0), name="t"), p.relu(c, name="y"))


def symbolic_rows_merged():
    p = Program(a="f32 M 7", b="f32 7 12")
    c = p.reshape(product(p, "M", 12, 7), shape="M 3 4")
    return p.result(p.relu(c, name="y"))


@pytest.mark.parametrize(
    "program",
    [
        two_epilogues,
        the_product_and_what_is_made_of_it,
        moved_before_its_bias,
        transposed_and_not,
        symbolic_rows_merged,
    ],
)
@pytest.mark.parametrize("target", ["sim", "cpu"])
def test_the_results_of_tiles_stand_where_they_belong(program, target):
    module = program().module
    model = tinyc.compile(str(module), target=target, bind={"M": 21} if program is symbolic_rows_merged else None)
    assert len(model.lowering.program().kernels) == 1
    if target == "sim":
        (told,) = [each for each in model.remarks if each.code == "plan-default"]
        assert "naive_2x2_per_thread" in told.message
    inputs = random_inputs(model.lowering.module("tiny"), 0)
    assert [step.failure for step in verify_model(model, inputs) if step.failure] == []


def test_what_reads_a_sum_at_other_indices_is_no_epilogue():
    p = Program(a="f32 30 7", b="f32 7 30")
    c = product(p, 30, 30, 7)
    model = tinyc.compile(str(p.result(p.add(c, p.permute(c, perm=(1, 0)), name="y")).module), target="sim")
    assert len(model.lowering.program().kernels) == 2
