"""All cases of the corpus: one or more for each kernel of `data/`.

In: the lists of cases, by family. Out: `CASES`, and `MUTATED`, each case with each of its mutations.
"""

from ptxsim_cases import (
    control_cases,
    float_cases,
    handover_cases,
    hopper_cases,
    integer_cases,
    memory_cases,
    mixed_cases,
    mma_cases,
    recipe_cases,
    sm90_cases,
    tensor_map_cases,
    triton_cases,
    triton_matmul_cases,
    wgmma_cases,
    wmma_cases,
)
from ptxsim_cases.case import Case, Mutation

CASES: tuple[Case, ...] = (
    *integer_cases.CASES,
    *float_cases.CASES,
    *control_cases.CASES,
    *mixed_cases.CASES,
    *memory_cases.CASES,
    *mma_cases.CASES,
    *hopper_cases.CASES,
    *handover_cases.CASES,
    *wgmma_cases.CASES,
    *wmma_cases.CASES,
    *tensor_map_cases.CASES,
    *sm90_cases.CASES,
    *triton_cases.CASES,
    *triton_matmul_cases.CASES,
    *recipe_cases.CASES,
)
MUTATED: tuple[tuple[Case, Mutation], ...] = tuple((case, mutation) for case in CASES for mutation in case.mutations)
