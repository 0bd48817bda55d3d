"""Kernels of scheme `mma` with a defect are found on the simulator: each wait, fence, barrier and stage is needed.

A defect is a finding, a deadlock, or a result that is wrong. `bench/mma_mutants.py` prints what is found of which.
"""

import pytest

from mma_kernels.kernels import CLUSTER, FRAGMENTS, KERNELS, MULTISTAGE, defect
from mma_kernels.mutants import UNSEEN, mutants_of


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_the_kernel_itself_has_no_defect(kernel):
    assert defect(kernel, kernel.ptx) == ""


@pytest.mark.parametrize("kernel", [MULTISTAGE, CLUSTER, FRAGMENTS], ids=lambda kernel: kernel.name)
def test_the_first_mutant_of_each_kind_is_found(kernel):
    first = {each.kind: each for each in reversed(list(mutants_of(kernel.ptx, kernel.stage_bytes)))}
    assert len(first) > 5
    missed = [each.name for each in first.values() if not each.unseen and not defect(kernel, each.text)]
    assert not missed


@pytest.mark.long
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_every_mutant_is_found(kernel):
    mutants = list(mutants_of(kernel.ptx, kernel.stage_bytes))
    assert len({each.name for each in mutants}) == len(mutants)
    missed = [each.name for each in mutants if not each.unseen and not defect(kernel, each.text)]
    assert not missed


def test_what_is_not_found_is_in_some_kernel():
    kinds = {each.kind for each in mutants_of(CLUSTER.ptx, CLUSTER.stage_bytes)}
    assert kinds >= set(UNSEEN)
