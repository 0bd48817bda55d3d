"""The corpus on the simulator: kernels that nvcc, Triton and LLVM compiled give what numpy gives, and nothing is found
in them; what a mutation breaks is found.
"""

import pytest

from ptxsim.report import KINDS
from ptxsim_cases.case_launch import outcome
from ptxsim_cases.cases import CASES, MUTATED

FAULTY = [(case, mutation) for case, mutation in MUTATED if mutation.kinds]
REPAIRED = [(case, mutation) for case, mutation in MUTATED if not mutation.kinds]
#: Kind → the mutated kernels of nvcc and Triton in which it must be found and whose twins are clean.
CAUGHT = {
    kind: [
        (case, mutation)
        for case, mutation in FAULTY
        if kind in mutation.kinds and not case.findings and case.ptx.startswith(("cuda/", "triton/"))
    ]
    for kinds in KINDS.values()
    for kind in kinds
}


def named(pairs):
    return [f"{case.name}: {mutation.name}" for case, mutation in pairs]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_kernel_gives_what_numpy_gives_and_nothing_is_found(case):
    result = outcome(case)
    assert not result.wrong
    assert result.kinds == set(case.findings), str(result.report)


@pytest.mark.parametrize(("case", "mutation"), FAULTY, ids=named(FAULTY))
def test_what_a_mutation_breaks_is_found(case, mutation):
    # by a kind that the unchanged kernel does not have already
    new = outcome(case, mutation).kinds - set(case.findings)
    assert new & set(mutation.kinds), f"found: {sorted(new)}"


@pytest.mark.parametrize(("case", "mutation"), REPAIRED, ids=named(REPAIRED))
def test_a_repaired_kernel_is_clean(case, mutation):
    result = outcome(case, mutation)
    assert not result.wrong
    assert result.report.ok, str(result.report)


@pytest.mark.parametrize("kind", CAUGHT)
def test_each_kind_is_found_in_a_mutated_kernel_whose_twin_is_clean(kind):
    # in what nvcc or Triton compiled, not only in PTX that was written for a test
    assert any(kind in outcome(case, mutation).kinds and outcome(case).report.ok for case, mutation in CAUGHT[kind])
