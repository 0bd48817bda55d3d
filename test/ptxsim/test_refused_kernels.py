"""What the simulator does not know refuses the kernels that use it, directly or by calls, and no others of the file."""

import numpy as np
import pytest

import ptxsim
from ptxsim.__main__ import main
from ptxsim.errors import PtxError

HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n"
RUNS = ".visible .entry runs(.param .u64 x) { .reg .b64 %d0; ld.param.u64 %d0, [x]; st.global.u32 [%d0], 7; ret; }\n"
UNKNOWN = ".func helper() { vanish.b32; ret; }\n.visible .entry calls() { call helper; ret; }\n"
TEXT = HEAD + RUNS + UNKNOWN + ".visible .entry vanishes() { vanish.u32; ret; }\n"


def test_a_kernel_without_the_unknown_instruction_runs():
    out = np.zeros(1, np.uint32)
    module = ptxsim.load(TEXT)
    assert module.kernels == ("runs", "calls", "vanishes")
    assert module.launch("runs", (1, 1, 1), (1, 1, 1), [out]).ok
    assert out.tolist() == [7]


@pytest.mark.parametrize(("name", "line", "what"), [("calls", 5, "vanish.b32"), ("vanishes", 7, "vanish.u32")])
def test_a_kernel_that_reaches_it_is_refused_with_its_line(name, line, what):
    with pytest.raises(PtxError, match=f"kernel '{name}' cannot run: '{what}' is not an instruction") as error:
        ptxsim.load(TEXT).launch(name, (1, 1, 1), (1, 1, 1), [])
    assert error.value.line == line


def test_a_file_of_which_nothing_can_run_is_refused_as_a_whole():
    with pytest.raises(PtxError, match=r"'vanish\.b32' is not an instruction") as error:
        ptxsim.load(HEAD + UNKNOWN)
    assert error.value.line == 4


def test_the_list_says_which_kernels_are_refused_and_why(tmp_path, capsys):
    path = tmp_path / "k.ptx"
    for text, refused in ((TEXT, ["calls", "vanishes"]), (HEAD + UNKNOWN, ["calls"])):
        path.write_text(text)
        assert main([str(path), "--list"]) == 0
        kernels = capsys.readouterr().out.split("\n\n")
        assert [each.split()[1] for each in kernels if "refused  line" in each] == refused
    assert "refused  line 4: 'vanish.b32' is not an instruction that the simulator knows" in kernels[0]


def test_the_command_names_the_file_of_a_refused_kernel(tmp_path, capsys):
    path = tmp_path / "k.ptx"
    path.write_text(TEXT)
    assert main([str(path), "--entry", "vanishes", "--grid", "1", "--block", "1"]) == 2
    assert capsys.readouterr().err.startswith(f"{path}:7:30: error: kernel 'vanishes' cannot run")
    assert main([str(path), "--entry", "runs", "--grid", "1", "--block", "1", "--arg", "u32[1]:0"]) == 0
