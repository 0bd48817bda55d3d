"""From PTX to costs: with ptxas and nvdisasm, and what is said where they are missing or refuse."""

import pytest

from ptxsim.clock.sass import kernel_costs, toolchain
from ptxsim.clock.sass.kernel_costs import estimated_cost, kernel_cost, sass_cost
from ptxsim.clock.sass.pipes import Pipe
from ptxsim.clock.sass.toolchain import find_program
from ptxsim.errors import InputError, PtxError
from ptxsim_cases.sass_text import needs_sass_tools

#: The loop is lines 17 to 25.
TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry dot(.param .u64 x, .param .u64 y, .param .u32 n)
{
.reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %rd<6>; .reg .f32 %f<5>;
ld.param.u64 %rd1, [x];
ld.param.u64 %rd2, [y];
ld.param.u32 %r1, [n];
cvta.to.global.u64 %rd3, %rd1;
cvta.to.global.u64 %rd4, %rd2;
mov.f32 %f1, 0f00000000;
mov.u32 %r2, 0;
setp.lt.s32 %p1, %r1, 1;
@%p1 bra DONE;
LOOP:
ld.global.f32 %f2, [%rd3];
ld.global.f32 %f3, [%rd4];
ex2.approx.f32 %f3, %f3;
fma.rn.f32 %f1, %f2, %f3, %f1;
add.s64 %rd3, %rd3, 256;
add.s64 %rd4, %rd4, 512;
add.s32 %r2, %r2, 1;
setp.lt.s32 %p2, %r2, %r1;
@%p2 bra LOOP;
DONE:
st.global.f32 [%rd4], %f1;
ret;
}
.visible .entry half_of(.param .u64 x)
{
.reg .b64 %rd<3>; .reg .f32 %f<3>;
ld.param.u64 %rd1, [x];
cvta.to.global.u64 %rd2, %rd1;
ld.global.f32 %f1, [%rd2];
mul.f32 %f2, %f1, 0f3F000000;
st.global.f32 [%rd2], %f2;
ret;
}
"""


def one_loop(cost):
    (found,) = [run for run in cost.runs if 17 in run.lines]
    return found


@needs_sass_tools
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_the_lines_sum_to_the_sass_of_a_loop_that_ptxas_unrolls(arch):
    cost = sass_cost(TEXT, arch, "dot")
    loop = one_loop(cost)
    most = loop.variants[0]
    assert most.copies > 1
    assert loop.copies == sum(each.copies for each in loop.variants)
    total = sum(each.slots * each.copies for each in cost.lines.values()) + sum(each.slots for each in cost.uncharged)
    assert total == pytest.approx(len(cost.instructions))
    assert cost.stall_cycles == sum(each.control.issue_cycles for each in cost.instructions)
    # the anchors are there once for each execution, the branch once for all copies
    assert [cost.hot[line].pipes[Pipe.LSU] for line in (17, 18)] == [1, 1]
    assert cost.hot[20].pipes == {Pipe.FMA: 1}
    assert cost.hot[25].slots == pytest.approx(1 / most.copies)
    assert (cost.hot[17].scoreboarded, cost.hot[20].latency_cycles) == (True, 4)
    assert {wait.line for wait in cost.hot[20].waits} <= {17, 19}
    assert not cost.estimate


@needs_sass_tools
def test_each_kernel_of_a_file_has_its_own_costs():
    cost = sass_cost(TEXT, "sm_80", "half_of")
    assert set(cost.lines) <= set(range(33, 39))
    assert cost.lines[36].pipes == {Pipe.FMA: 1}
    assert [(each.line, each.operands) for each in cost.lines[36].waits] == [(35, False)]
    assert cost.resources is not None
    assert 0 < cost.resources.registers <= 32
    with pytest.raises(InputError, match="there is no kernel 'half'; did you mean 'half_of'"):
        sass_cost(TEXT, "sm_80", "half")


@needs_sass_tools
def test_ptxas_is_asked_once_for_the_kernels_of_a_text(monkeypatch):
    text = TEXT + "// another text\n"
    asked = []
    disassemble = kernel_costs.disassemble
    monkeypatch.setattr(kernel_costs, "disassemble", lambda *given: asked.append(given[1]) or disassemble(*given))
    for entry in ("dot", "half_of", "dot"):
        sass_cost(text, "sm_80", entry)
    assert asked == ["sm_80"]


@needs_sass_tools
def test_what_ptxas_refuses_has_its_line():
    text = TEXT.replace("fma.rn.f32 %f1, %f2, %f3, %f1;", "fma.rn.f32 %f1, %f2, %f3, %rd1;")
    with pytest.raises(PtxError, match=r"k\.ptx:20:1: error: ptxas [\d.]+ for sm_80 refuses this: .*fma") as error:
        sass_cost(text, "sm_80", "half_of", "k.ptx")
    assert error.value.line == 20


@needs_sass_tools
def test_an_architecture_that_ptxas_does_not_know_or_that_is_too_old_is_refused():
    with pytest.raises(InputError, match="is too old for this PTX or for sm_10"):
        sass_cost(TEXT, "sm_10", "dot")
    with pytest.raises(
        InputError, match=r"the PTX is for a later architecture than sm_80; give the one of its \.target"
    ):
        sass_cost(TEXT.replace("sm_80", "sm_90"), "sm_80", "dot")


def test_without_a_program_there_is_an_estimate_and_a_word_on_what_to_install(monkeypatch):
    monkeypatch.setattr(toolchain, "find_program", lambda name: None)
    monkeypatch.setattr(kernel_costs, "find_program", lambda name: None)
    cost = kernel_cost(TEXT, "sm_80", "dot")
    assert cost.estimate == "there is no ptxas and no nvdisasm"
    assert (cost.instructions, cost.resources, cost.hot) == ((), None, cost.lines)
    with pytest.raises(
        InputError, match=r"no ptxas .* nvidia-cuda-nvcc \(pip install 'tinyc\[clock\]'\).* TINYC_PTXAS"
    ):
        sass_cost(TEXT, "sm_80", "dot")


def test_a_variable_that_names_no_program_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("TINYC_NVDISASM", str(tmp_path))
    with pytest.raises(InputError, match=r"TINYC_NVDISASM names no program: '.*'; unset it or correct it"):
        find_program("nvdisasm")


@needs_sass_tools
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_the_bounds_of_an_estimate_hold_what_ptxas_makes(arch):
    made = sum(each.slots for each in sass_cost(TEXT, arch, "dot").hot.values())
    lines = estimated_cost(TEXT, arch, "dot").lines.values()
    assert sum(each.slots_between[0] for each in lines) <= made <= sum(each.slots_between[1] for each in lines)
