"""What the schemes for kernels that memory bounds accept, with which accesses, and which plans they refuse."""

import re

import pytest

from analysis_programs.region_kernels import one_kernel
from analysis_programs.scan_programs import running
from analysis_programs.tiny_programs import Program
from gpu_programs import memory_bound as programs
from schemes.judging import SM80
from tinyc.analysis.kernel_candidate import kernel_candidate
from tinyc.diagnostics import TinycError
from tinyc.dialects.registry import context
from tinyc.expr import extents
from tinyc.plan.fields import Plan
from tinyc.schemes.completion import completed_plan, default_plan, summary_of
from tinyc.schemes.registry import SCHEME_OF
from tinyc.schemes.row_reduce.parts import part_count, part_lengths
from tinyc.schemes.scheme import Acceptance, Refusal


def candidate(program):
    """Return the candidate that a whole program is."""
    with context():
        return kernel_candidate(one_kernel(program), {})


def resources(name, program):
    answer = SCHEME_OF[name].accepts(candidate(program), SM80)
    assert isinstance(answer, Acceptance), answer
    return answer.resources


def refusal(name, program):
    answer = SCHEME_OF[name].accepts(candidate(program), SM80)
    assert isinstance(answer, Refusal)
    assert answer.error == "PlanMismatch"
    return answer.reason


@pytest.mark.parametrize(
    ("program", "summary", "reason"),
    [
        (programs.softmax("64 1024", "f16"), "row_reduce, runs of 8", "its reductions share their rows"),
        (programs.layer_norm("64 768"), "row_reduce, runs of 4", "its reductions share their rows"),
        (programs.total("64 7", "f16"), "row_reduce, runs of 1", "its reductions share their rows"),
        (programs.total("64 1001", "f16"), "row_reduce, runs of 8", "its reductions share their rows"),
        (programs.total("64 60", "f64", axes=(0,)), "row_reduce, runs of 2", "its reductions share their rows"),
        (programs.cumulative("6 64", "f16"), "scan, runs of 8", "it is a cumulative reduction"),
        (programs.gelu("6 64", "bf16"), "elementwise, runs of 8", "it computes element by element"),
        (programs.cast("6 64", "f16", "f32"), "elementwise, runs of 4", "it computes element by element"),
        (programs.cast("6 64", "i1", "i8"), "elementwise, runs of 16", "it computes element by element"),
        (
            programs.transpose("64 60", "f16"),
            "elementwise, runs of 4",
            "it computes element by element, some across another axis",
        ),
    ],
)
def test_the_default_takes_as_many_neighbours_as_memory_allows(program, summary, reason):
    found = default_plan(candidate(program), SM80)
    assert (summary_of(found.plan), found.reason) == (summary, reason)


@pytest.mark.parametrize(
    ("shape", "threads", "ctas", "shared_bytes"),
    [
        ("100 3", 256, 2, 0),  # four lanes of a warp a row
        ("100 128", 256, 13, 0),  # a warp
        ("100 1024", 256, 13, 0),
        ("100 8192", 512, 100, 2 * 16 * 4),  # a CTA, whose warps exchange the largest number and the sum
    ],
)
def test_a_row_gets_lanes_a_warp_or_a_cta_by_its_length(shape, threads, ctas, shared_bytes):
    found = resources("row_reduce", programs.softmax(shape))
    assert (found.threads_per_cta, found.grid[0], found.shared_bytes) == (threads, ctas, shared_bytes)


def test_a_stripe_of_columns_is_whole_sectors():
    assert resources("row_reduce", programs.total("500 1024", "f16", axes=(0,))).grid == (16, 1, 1)  # 128 bytes
    assert resources("row_reduce", programs.total("500 1000", axes=(0,))).grid == (32, 1, 1)


def test_a_square_is_as_wide_as_the_banks():
    found = resources("elementwise", programs.transpose("128 192", "f16"))
    assert (found.grid, found.shared_bytes) == ((2 * 3, 1, 1), 64 * 64 * 2)


def windows():
    p = Program(x="f32 9 5")
    pooled = p.pool(p["x"], kernel=(3,), stride=(1,), dilation=(1,))
    return p.result(p.op("reduce", pooled, op="max", axes=(2,), element="f32"))


def rows_and_columns():
    p = Program(x="f32 6 6")
    return p.result(p.sum(p["x"], 0), p.sum(p["x"], 1))


def search():
    p = Program(x="f32 6 6")
    values = p.topk(p["x"], axis=1, k=2, largest=True)
    return p.result(*values.owner.results)


def backwards():
    p = Program(x="f32 5 6")
    return p.result(p.flip(running(p, p["x"], 1, "sum", "f32"), axes=(1,)))


@pytest.mark.parametrize(
    ("name", "program", "reason"),
    [
        ("row_reduce", programs.gelu("4 4"), "it has no reduction"),
        ("row_reduce", programs.cumulative("4 4"), "'v4' is a scan"),
        ("row_reduce", windows(), "'v2' reduces windows, which overlap"),
        ("row_reduce", rows_and_columns(), "'v1' has several elements in a row"),
        ("row_reduce", search(), "its results are not computed row by row"),
        ("elementwise", programs.softmax("4 4"), "it has a reduction"),
        ("elementwise", search(), "its results are not computed element by element"),
        ("scan", programs.softmax("4 4"), "its reductions are not one scan"),
        ("scan", backwards(), "'v4' does not go along with 'v3'"),
    ],
)
def test_what_is_another_kind_of_kernel_is_refused_for_its_reason(name, program, reason):
    assert refusal(name, program) == reason


@pytest.mark.parametrize(
    ("program", "vectorize", "message"),
    [
        (
            programs.gelu("4 64"),
            {"axis": "m", "width": 4},
            "'vectorize' has the axis m, and scheme 'elementwise' takes neighbours along n; write n",
        ),
        (
            programs.softmax("4 60", "f16"),
            {"axis": "n", "width": 8},
            "'vectorize' has the width 8, and a run of neighbours has 4 here at most; choose 4 or less",
        ),
    ],
)
def test_a_plan_that_asks_for_other_neighbours_is_refused(program, vectorize, message):
    with pytest.raises(TinycError) as caught:
        completed_plan(Plan(vectorize=vectorize), candidate(program), SM80)
    assert caught.value.name == "PlanMismatch"
    assert caught.value.message == f"the plan of @k: {message}"


@pytest.mark.parametrize(
    ("program", "split", "message"),
    [
        (
            programs.total("4 5000"),
            {"m": 64},
            "'split' splits m, and scheme 'row_reduce' splits rows, whose axis is k; write k",
        ),
        (
            programs.softmax("1 5000"),
            {"k": 64},
            "'split' asks for parts of rows that have none, since 'v' needs another reduction of the row; leave it out",
        ),
    ],
)
def test_a_plan_that_asks_for_parts_of_other_rows_is_refused(program, split, message):
    with pytest.raises(TinycError) as caught:
        completed_plan(Plan(split=split, scheme="row_reduce"), candidate(program), SM80)
    assert caught.value.name == "PlanMismatch"
    assert re.sub(r"'v\d+'", "'v'", caught.value.message) == f"the plan of @k: {message}"


def test_long_rows_are_in_parts_that_make_the_grid_as_large_as_the_machine():
    program = programs.total("4096 1024", axes=(0, 1))
    assert summary_of(default_plan(candidate(program), SM80).plan) == "row_reduce, runs of 4, parts of 9710"
    assert resources("row_reduce", program).grid == (512, 1, 1)


M, N = map(extents.symbol, "MN")


@pytest.mark.parametrize(
    ("reduced", "most", "lengths", "count"),
    [
        ((4096, 1024), 9710, (8, 1024), 512),  # rows of a part that divide all rows
        ((4099, 1024), 10240, (10, 1024), 409),  # what is left is no more than a part
        ((1000003,), 4096, (4096,), 244),
        ((100, 20480), 4096, (1, 4096), 500),
        ((50, 39999), 39000, (1, 39999), 50),  # fifty times what is left would be more than a part
        ((64,), 64, (64,), 1),
        ((100,), 64, (100,), 1),  # one whole part is none
        ((M, N), 4096, (1, N), M),
        ((M, 40), 4096, (102, 40), extents.floordiv(M, 102)),
        ((0, 5), 4096, (0, 5), 1),
    ],
)
def test_a_part_is_cut_out_of_the_axes_that_are_reduced(reduced, most, lengths, count):
    assert part_lengths(reduced, most) == lengths
    assert part_count(reduced, lengths) == count


def test_a_plan_may_ask_for_fewer_neighbours():
    given = Plan(vectorize={"axis": "n", "width": 2})
    for program in (programs.gelu("4 64", "f16"), programs.softmax("4 64", "f16"), programs.cumulative("4 64", "f16")):
        assert completed_plan(given, candidate(program), SM80).vectorize == given.vectorize


def test_an_access_is_as_wide_as_that_of_the_widest_elements():
    assert resources("elementwise", programs.cast("6 64", "f16", "f32")).vector_bytes == 16
    assert resources("elementwise", programs.transpose("99 101", "f16")).vector_bytes == 2
    assert resources("row_reduce", programs.softmax("6 1001", "f16")).vector_bytes == 16
    assert resources("scan", programs.cumulative("6 7")).vector_bytes == 4
