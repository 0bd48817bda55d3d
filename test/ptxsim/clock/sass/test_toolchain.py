"""What programs that are not what they should be make the clock say: scripts stand for ptxas and nvdisasm."""

import pytest

from ptxsim.clock.sass import kernel_costs
from ptxsim.clock.sass.kernel_costs import sass_of
from ptxsim.clock.sass.toolchain import SassTools, disassemble, find_sass_tools
from ptxsim.errors import FileError, InputError, PtxError
from ptxsim_cases.kernel_text import kernel

#: Writes the file that ptxas is asked for: its last argument.
MAKES_IT = "for last; do :; done; : > $last"


@pytest.fixture
def programs(tmp_path, monkeypatch):
    def made(ptxas, nvdisasm):
        for name, does in (("ptxas", ptxas), ("nvdisasm", nvdisasm)):
            script = tmp_path / name
            script.write_text(f"#!/bin/sh\n[ $1 = --version ] && echo V12.0.1 && exit\n{does}\n")
            script.chmod(0o755)
            monkeypatch.setenv(f"TINYC_{name.upper()}", str(script))
        return find_sass_tools()

    return made


def test_machine_code_that_nvdisasm_cannot_read_is_refused(programs):
    tools = programs(MAKES_IT, "echo 'unknown SM' >&2; exit 1")
    said = r"nvdisasm 12\.0\.1 cannot read what ptxas 12\.0\.1 makes for sm_80: unknown SM; install one as new"
    with pytest.raises(InputError, match=said):
        disassemble(kernel("ret;"), "sm_80", tools)


def test_what_ptxas_refuses_without_a_line_is_told_as_it_says_it(programs):
    for does, said in (("echo 'out of registers'; exit 1", "out of registers"), ("exit 1", "it says nothing")):
        with pytest.raises(PtxError, match=f"for sm_80 refuses the PTX: {said}"):
            disassemble(kernel("ret;"), "sm_80", programs(does, "exit 0"))


def test_a_program_that_the_machine_cannot_run_is_named(programs, tmp_path):
    tools = programs(MAKES_IT, "exit 0")
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF")
    broken.chmod(0o755)
    with pytest.raises(FileError, match="broken: error: cannot run it: ") as caught:
        disassemble(kernel("ret;"), "sm_80", SassTools(broken, tools.nvdisasm, "", ""))
    assert caught.value.file == str(broken)


def test_a_kernel_of_which_ptxas_makes_no_code_is_refused(programs, monkeypatch):
    monkeypatch.setattr(kernel_costs, "_disassemblies", {})
    programs(MAKES_IT, "exit 0")
    with pytest.raises(InputError, match=r"ptxas 12\.0\.1 makes no code of 'k'; it makes none"):
        sass_of(kernel("ret;"), "sm_80", "k")
