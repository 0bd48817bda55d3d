"""Kernels of scheme `mma` with a defect are found on the simulator: each wait, fence, barrier and stage is needed.

A defect is a finding, a deadlock, or a result that is wrong. `bench/mma_mutants.py` prints what is found of which.
"""

import pytest

from mma_kernels.kernels import KERNELS, defect
from mma_kernels.mutants import UNSEEN, Mutant, mutants_of


def _has_to_be_found(kernel) -> list[Mutant]:
    """The mutants of a kernel but those in which nothing is found for a reason."""
    mutants = list(mutants_of(kernel.ptx, kernel.stage_bytes))
    assert len({each.name for each in mutants}) == len(mutants)
    return [each for each in mutants if (kernel.name, each.place) not in UNSEEN]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_the_kernel_itself_has_no_defect(kernel):
    assert defect(kernel, kernel.ptx) == ""


# Each kind in the first kernel that has it: a wait, a fence, a barrier, a commit, a phase, a stage of each opcode.
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_the_first_mutant_of_each_kind_is_found(kernel):
    before = {each.kind for other in KERNELS[: KERNELS.index(kernel)] for each in _has_to_be_found(other)}
    first = {each.kind: each for each in reversed(_has_to_be_found(kernel)) if each.kind not in before}
    assert len(first) > 5 or kernel is not KERNELS[0]
    missed = [each.name for each in first.values() if not defect(kernel, each.text)]
    assert not missed


@pytest.mark.long
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_every_mutant_is_found(kernel):
    missed = [each.name for each in _has_to_be_found(kernel) if not defect(kernel, each.text)]
    assert not missed


def test_what_is_not_found_is_a_mutant_of_a_kernel():
    places = {(kernel.name, each.place) for kernel in KERNELS for each in mutants_of(kernel.ptx, kernel.stage_bytes)}
    assert set(UNSEEN) <= places
