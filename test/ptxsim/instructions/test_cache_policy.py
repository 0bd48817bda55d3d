"""Cache policies and hints: they are read, and change nothing."""

import numpy as np
import pytest

from ptxsim import PtxError, load
from ptxsim_cases.kernel_text import kernel, launch, words


@pytest.mark.parametrize(
    "instruction",
    [
        "createpolicy.fractional.L2::evict_last.b64 %d5, 1.0;",
        "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %d5;",
        "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %d5, [%d0], 128, 256;",
        "createpolicy.cvt.L2.b64 %d5, %d0;",
    ],
)
def test_a_load_with_a_policy_is_a_load(instruction):
    body = (
        f"{instruction} st.global.u32 [%d0], 3; ld.global.L2::cache_hint.u32 %r1, [%d0], %d5; st.global.u32 [%d0], %r1;"
    )
    assert (words(body) == 3).all()


@pytest.mark.parametrize(
    "instruction",
    [
        "createpolicy.fractional.L2::evict_never.b64 %d5;",
        "createpolicy.fractional.L2::evict_last.L2::evict_last.b64 %d5;",
        "createpolicy.fractional.b64 %d5;",
        "createpolicy.cvt.L2.b64 %d5;",
        "createpolicy.cvt.L2.b32 %d5, %d0;",
    ],
)
def test_other_forms_are_unknown(instruction):
    with pytest.raises(PtxError, match="createpolicy"):
        load(kernel(instruction + "ret;"))


@pytest.mark.parametrize(
    "instruction",
    [
        "prefetch.L1 [%d0];",
        "prefetch.global.L2 [%d0];",
        "prefetch.local.L1 [%d0];",
        "prefetch.global.L2::evict_last [%d0];",
        "prefetchu.L1 [%d0];",
        "applypriority.global.L2::evict_normal [%d0], 128;",
    ],
)
def test_hints_change_nothing(instruction):
    assert (words(f"st.global.u32 [%d0], 5; {instruction}") == 5).all()


@pytest.mark.parametrize(
    ("instruction", "message"),
    [
        ("prefetch.L3 [%d0];", "not an instruction"),
        ("prefetch.shared.L1 [%r0];", "not an instruction"),
        ("prefetch.local.L2::evict_last [%d0];", "not an instruction"),
        ("prefetchu.L2 [%d0];", "not an instruction"),
        ("prefetch.global.L1 [%d0], 128;", "takes 1 operand, not 2"),
        ("applypriority.L2::evict_first [%d0], 128;", "not an instruction"),
        ("applypriority.L2::evict_normal [%d0], 64;", "128 bytes"),
        ("applypriority.L2::evict_normal [%d0], %r0;", "takes a constant size"),
    ],
)
def test_other_hints_are_refused(instruction, message):
    with pytest.raises(PtxError, match=message):
        load(kernel(instruction + "ret;"))


def test_a_policy_for_an_address_that_nobody_has_written_is_found():
    text = kernel("createpolicy.range.L2::evict_last.b64 %d5, [%d7], 128, 256; ret;")
    assert {each.kind for each in launch(text, [np.zeros(1, np.uint32)]).findings} == {"uninitialized"}
