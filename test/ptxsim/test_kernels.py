"""What modules of one text share, and that nothing of a launch or of a module outlives it."""

import gc

import numpy as np
import pytest

import ptxsim
from ptxsim.kernels import kernels_of
from ptxsim.memory.byte_array import ByteArray
from ptxsim_cases.case_launch import launch
from ptxsim_cases.cases import CASES

COUNTER = """.version 8.6
.target sm_90a
.address_size 64
.visible .global .align 4 .u32 step = 1;
.visible .entry count(.param .u64 x) {
    .reg .b64 %d<2>; .reg .b32 %r<2>;
    ld.param.u64 %d0, [x]; ld.global.u32 %r0, [step]; st.global.u32 [%d0], %r0; ret;
}
.visible .entry other() { ret; }
"""


def counted(module: ptxsim.Module) -> int:
    out = np.zeros(1, np.uint32)
    assert module.launch("count", (1, 1, 1), (1, 1, 1), [out]).ok
    return int(out[0])


def test_modules_of_one_text_have_variables_of_their_own():
    first, second = ptxsim.load(COUNTER), ptxsim.load(COUNTER)
    first.variable("step").write(np.uint32(7))
    assert (counted(first), counted(second), counted(ptxsim.load(COUNTER))) == (7, 1, 1)


def test_a_kernel_is_compiled_once_for_all_modules_of_a_text(monkeypatch):
    kernels_of.cache_clear()
    compiled = []
    compile_code = ptxsim.kernels.compile_code
    monkeypatch.setattr(
        "ptxsim.kernels.compile_code", lambda code: compiled.append(code.kernel.function.name) or compile_code(code)
    )
    assert counted(ptxsim.load(COUNTER)) == counted(ptxsim.load(COUNTER)) == 1
    assert compiled == ["count"]  # and `other` not at all: nobody has asked for it


@pytest.mark.parametrize("name", ["gemm_f16", "tma_ring", "cluster_sum", "sm90_gemm_tma_wgmma"])
def test_a_launch_gives_back_its_memory_without_the_garbage_collector(name):
    case = next(case for case in CASES if case.name == name)
    module = ptxsim.load(case.text())
    gc.collect()
    gc.disable()
    try:
        before = sum(type(each) is ByteArray for each in gc.get_objects())
        launch(case, module, case.arrays())
        assert sum(type(each) is ByteArray for each in gc.get_objects()) == before
    finally:
        gc.enable()
