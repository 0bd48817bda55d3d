"""`createpolicy`: it is read, and its policy changes nothing."""

import numpy as np
import pytest
from kernel_text import kernel, launch, words

from tinyc.simulator import PtxError, load


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


def test_a_policy_for_an_address_that_nobody_has_written_is_found():
    text = kernel("createpolicy.range.L2::evict_last.b64 %d5, [%d7], 128, 256; ret;")
    assert {each.kind for each in launch(text, [np.zeros(1, np.uint32)]).findings} == {"uninitialized"}
