"""What holds of every scheme, and what each accepts at which price; judged without MLIR."""

import dataclasses
import subprocess
import sys

import pytest

from schemes.candidates import elementwise, gemm
from schemes.judging import SM80, SM90
from tinyc.analysis.candidate import ScatteredUpdates
from tinyc.expr import extents
from tinyc.plan.fields import ATTRIBUTES
from tinyc.schemes.completion import fields_by_scheme
from tinyc.schemes.generic import Generic
from tinyc.schemes.naive import NaiveContraction
from tinyc.schemes.names import SCHEME_NAMES, SCHEME_SPELLINGS
from tinyc.schemes.registry import SCHEMES
from tinyc.schemes.scheme import FIELDS_OF_ALL, Acceptance, Refusal, Resources


def test_every_scheme_has_a_name_of_the_plan_format():
    names = [scheme.name for scheme in SCHEMES]
    assert set(names) <= set(SCHEME_NAMES)
    assert len(set(names)) == len(names)
    assert set(SCHEME_SPELLINGS.values()) <= set(SCHEME_NAMES)
    assert SCHEME_SPELLINGS.keys() <= ATTRIBUTES.keys()


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
def test_a_scheme_takes_fields_that_a_plan_has(scheme):
    assert set(scheme.fields) <= ATTRIBUTES.keys() - set(FIELDS_OF_ALL)


@pytest.mark.parametrize("candidate", [gemm(), gemm(batch=65536), elementwise()], ids=["gemm", "batch", "elementwise"])
@pytest.mark.parametrize("target", [SM80, SM90], ids=lambda target: target.name)
def test_the_last_scheme_accepts_what_others_refuse(candidate, target):
    assert isinstance(SCHEMES[-1].accepts(candidate, target), Acceptance)


def test_a_contraction_costs_shared_memory_and_accumulators():
    answer = NaiveContraction().accepts(gemm(batch="B"), SM80)
    grid = tuple(map(extents.parse_extent, ("(N + 63) floordiv 64", "(M + 63) floordiv 64", "B")))
    shared = 2 * (64 * 32 + 32 * 64) * 2  # two stages of both operands in f16
    assert answer == Acceptance("it is a contraction", Resources(grid, 256, shared, 16, product_tile=(64, 64)))


def test_accumulators_of_two_words_take_two_registers():
    answer = NaiveContraction().accepts(gemm(64, 64, 64, element="f64"), SM80)
    assert isinstance(answer, Acceptance)
    assert answer.resources == Resources((1, 1, 1), 256, 2 * (64 * 16 + 16 * 64) * 8, 32, product_tile=(64, 64))


def test_a_contraction_of_more_tiles_than_a_grid_has_is_refused():
    reason = "its tiles are more CTAs than sm_80 launches at once"
    assert NaiveContraction().accepts(gemm(batch=65536), SM80) == Refusal("ResourceExceeded", reason)


def test_what_is_not_a_contraction_is_refused_for_its_reason():
    candidate = elementwise()
    assert NaiveContraction().accepts(candidate, SM80) == Refusal("PlanMismatch", candidate.no_product)


@pytest.mark.parametrize(
    ("changes", "ctas"),
    [
        ({}, 4),  # the outputs' 1000 elements
        ({"scatter": ScatteredUpdates((300,), adds=True)}, 2),
        ({"scatter": ScatteredUpdates((300,), adds=False)}, 6),  # the data's elements, then the updates
        ({"top_k": (50, 10)}, 2),
    ],
)
def test_any_region_has_a_thread_for_each_element(changes, ctas):
    answer = Generic().accepts(dataclasses.replace(elementwise(100, 10), **changes), SM80)
    assert isinstance(answer, Acceptance)
    assert answer.resources == Resources((ctas, 1, 1), 256, inlines_reductions=True)


def test_threads_take_turns_where_a_grid_is_too_small():
    answer = Generic().accepts(elementwise(2**40), SM80)
    assert isinstance(answer, Acceptance)
    assert answer.resources.grid == (2**31 - 1, 1, 1)


PROGRAM = """
import sys
from tinyc.analysis.candidate import Candidate
from tinyc.diagnostics import Where
from tinyc.plan.fields import Plan
from tinyc.schemes.completion import completed_plan, default_plan
from tinyc.schemes.registry import SCHEMES
from tinyc.target import SM80

candidate = Candidate("k", Where(), ((4,),), None, "it is a copy")
assert [bool(scheme.accepts(candidate, SM80)) for scheme in SCHEMES]
completed_plan(default_plan(candidate, SM80).plan, candidate, SM80)
print([name for name in sys.modules if name.startswith(("tinyc.mlir", "tinyc.dialects", "numba_cuda_mlir"))])
"""


def test_a_candidate_is_judged_without_mlir():
    printed = subprocess.check_output([sys.executable, "-c", PROGRAM], text=True)
    assert printed.splitlines() == ["[]"]


def test_the_help_of_plans_names_the_fields_of_every_scheme():
    text = fields_by_scheme()
    for scheme in SCHEMES:
        assert not scheme.fields or f"scheme {scheme.name} takes {', '.join(scheme.fields)};" in text
    assert text.endswith("every scheme takes scheme, arch, precision, algo_choice, local_edges")
