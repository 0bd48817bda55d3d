"""The four kernels of `data/recipes/`: what each can be launched with, and why some cannot be right as they are.

`test_corpus_runs.py` shows that with what is missing they are clean and right; these tests show what is missing.
"""

import dataclasses
import re

import numpy as np
import pytest

from ptxsim_cases.attention_completion import BARRIERS, FENCE, PRODUCER, SUMS
from ptxsim_cases.case_launch import differences, outcome, run
from ptxsim_cases.kernel_text import kinds
from ptxsim_cases.recipe_cases import CASES, product, scores

KERNELS = {case.name: case for case in CASES}
ATTENTION = KERNELS["sm90_attention_consumer"]
PRODUCTS = [KERNELS["sm90_gemm_tma_wgmma"], KERNELS["sm90_gemm_tma_store"]]


def attention(*completions):
    """The report and the arrays of the attention kernel with some of what it lacks."""
    return run(dataclasses.replace(ATTENTION, completions=completions))


def lines(text, pattern):
    return {number for number, line in enumerate(text.splitlines(), 1) if re.search(pattern, line)}


def test_the_attention_kernel_waits_for_barriers_that_nobody_has_initialised():
    # PTX ISA, "mbarrier": any operation on a word that is no valid mbarrier object is undefined
    report, _ = attention()
    waits = lines(ATTENTION.recorded(), r"mbarrier\.try_wait")
    assert {finding.line for finding in report.findings if finding.kind == "uninitialized"} & waits
    assert "mbarrier.init" not in ATTENTION.recorded()


def test_nobody_loads_the_tiles_of_the_attention_kernel():
    # with barriers that are initialised its consumers wait for ever, and nothing is stored
    report, arrays = attention(BARRIERS)
    assert kinds(report) == {"deadlock"}
    np.testing.assert_array_equal(arrays["out"].view(np.uint8), 0xA5)
    assert "cp.async.bulk" not in ATTENTION.recorded()


def test_the_attention_kernel_divides_by_a_quarter_of_each_sum():
    # lane l has the columns 2 (l mod 4) and 2 (l mod 4) + 1 of every eight keys, and adds only those
    report, arrays = attention(BARRIERS, PRODUCER, FENCE)
    assert report.ok, str(report)
    raised = scores(arrays)
    quarters = raised.reshape(len(raised), -1, 4, 2).sum((1, 3))
    found = raised @ arrays["kv"][1].astype(float)
    found = found.reshape(len(raised), -1, 4, 2) / quarters[:, None, :, None]
    np.testing.assert_allclose(arrays["out"].astype(float), found.reshape(len(raised), -1), rtol=4e-3, atol=4e-3)
    assert differences(ATTENTION, arrays)


def test_the_zeros_of_the_scores_are_not_before_a_fence():
    # PTX ISA, wgmma.fence: between an access to an accumulator's registers and the wgmma.mma_async that uses them
    report, _ = attention(BARRIERS, PRODUCER, SUMS)
    assert kinds(report) == {"wgmma-fence-missing"}


@pytest.mark.parametrize("case", PRODUCTS, ids=lambda case: case.name)
def test_the_zeros_of_the_products_are_not_before_a_fence(case):
    # only the first group of four uses them; it is the kernel's one defect, and the numbers are right
    result = outcome(case)
    group = case.text().partition("wgmma.commit_group")[0]
    assert {finding.line for finding in result.report.findings} == lines(group, r"^wgmma\.mma_async")
    assert result.kinds == {"wgmma-fence-missing"}
    assert not result.wrong


def test_two_tiles_are_loaded_of_a_product_that_has_one():
    # the prologue of the pipeline by cp.async fills two stages before it looks at k
    case = KERNELS["sm80_gemm_cp_async"]
    make, expected, again = product(256, 256, 32, 256)
    arguments = (*case.arguments[:-1], np.int32(32))
    report, _ = run(dataclasses.replace(case, arguments=arguments, make=make, expected=expected, again=again))
    prologue = lines(case.text().partition("$L__BB0_2:")[0], r"cp\.async\.cg")
    assert {finding.line for finding in report.findings if finding.kind == "out-of-bounds"} <= prologue
    assert "out-of-bounds" in kinds(report)


@pytest.mark.parametrize("name", ["sm80_gemm_cp_async", "sm90_gemm_tma_wgmma"])
def test_rows_are_stored_that_the_product_does_not_have(name):
    # neither kernel looks at m: with 200 rows the second tile of 128 ends behind the array
    case = KERNELS[name]
    report, _ = run(dataclasses.replace(case, make=lambda generator: with_rows(case.make(generator), 200)))
    stores = lines(case.text(), r"st\.global")
    assert {finding.line for finding in report.findings if finding.kind == "out-of-bounds"} <= stores
    assert "out-of-bounds" in kinds(report)


def with_rows(arrays, rows):
    return arrays | {"c": arrays["c"][:rows].copy()}
