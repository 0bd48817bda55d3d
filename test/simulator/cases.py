"""All cases of the corpus: one or more for each kernel of `data/`.

In: the lists of cases, by family. Out: `CASES`, and `MUTATED`, each case with each of its mutations.
"""

import control_cases
import float_cases
import handover_cases
import hopper_cases
import integer_cases
import memory_cases
import mixed_cases
import mma_cases
import recipe_cases
import sm90_cases
import triton_cases
import triton_matmul_cases
import wgmma_cases
from case import Case, Mutation

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
    *sm90_cases.CASES,
    *triton_cases.CASES,
    *triton_matmul_cases.CASES,
    *recipe_cases.CASES,
)
MUTATED: tuple[tuple[Case, Mutation], ...] = tuple((case, mutation) for case in CASES for mutation in case.mutations)
