"""PTX to machine code: which `ptxas` is taken, what it says of each kernel, and what goes wrong."""

import importlib.util
import stat

import pytest

from tinyc.diagnostics import InternalError, TinycError, collect_remarks
from tinyc.runtime import assembler
from tinyc.runtime.assembler import KernelResources, assemble, find_ptxas

PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 from, .param .u64 to) {
  .reg .b64 %rd<3>;
  .reg .f32 %f<2>;
  .shared .align 4 .b8 tile[128];
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  ld.global.f32 %f1, [%rd1];
  st.shared.f32 [tile], %f1;
  ld.shared.f32 %f1, [tile];
  st.global.f32 [%rd2], %f1;
  ret;
}
.visible .entry idle() {
  ret;
}
"""
needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="there is no ptxas: not assembled")

#: What ptxas prints of a kernel that spills, and calls a function with a stack of its own.
SAID = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'large' for 'sm_80'
ptxas info    : Function properties for large
    32 bytes stack frame, 24 bytes spill stores, 28 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 4096 bytes smem, 368 bytes cmem[0]
ptxas info    : Function properties for called
    8 bytes stack frame, 0 bytes spill stores, 4 bytes spill loads
ptxas info    : Compiling entry function 'small' for 'sm_80'
ptxas info    : Function properties for small
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 0 barriers, 352 bytes cmem[0]
"""


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Return a function that puts a program in ptxas' place."""

    def put(script):
        program = tmp_path / "ptxas"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv(assembler.VARIABLE, str(program))
        return program

    return put


@needs_ptxas
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_ptx_becomes_machine_code(arch):
    assembled = assemble(PTX, arch)
    assert assembled.cubin.startswith(b"\x7fELF")
    copy, idle = assembled.kernels
    assert (copy.name, copy.shared_bytes, copy.spill_store_bytes) == ("copy", 128, 0)
    assert copy.registers > 0
    assert (idle.name, idle.shared_bytes) == ("idle", 0)


@needs_ptxas
def test_ptx_that_is_refused_is_a_defect_that_names_what_ptxas_says():
    with pytest.raises(InternalError, match=r"(?s)ptxas for sm_80 refuses.*line 11.*Unknown modifier '\.globl'"):
        assemble(PTX.replace("ld.global", "ld.globl"), "sm_80")


@needs_ptxas
@pytest.mark.parametrize(("ptx", "arch"), [(PTX.replace("8.0", "99.0"), "sm_80"), (PTX, "sm_999")])
def test_a_ptxas_that_is_too_old_is_no_defect(ptx, arch):
    with pytest.raises(TinycError, match="is too old for") as caught:
        assemble(ptx, arch)
    assert caught.value.name == "UnsupportedTarget"


def test_what_ptxas_says_of_each_kernel_is_read(fake):
    fake(f"cat <<'END' >&2\n{SAID}END\ntouch \"$5\"")  # -v -arch ARCH -o FILE
    with collect_remarks() as remarks:
        assembled = assemble(PTX, "sm_80")
    assert assembled.kernels == (
        KernelResources("large", 255, 24, 32, 40, 4096),
        KernelResources("small", 4, 0, 0, 0, 0),
    )
    (told,) = remarks
    assert told.code == "kernel-spills"
    assert "@large spills: a thread stores 24 bytes of registers to local memory and loads 32" in told.message


def test_the_environment_variable_comes_first(fake):
    program = fake("exit 0")
    assert find_ptxas() == program


@pytest.mark.parametrize("name", ["", "missing"])
def test_a_variable_that_names_no_program_is_refused(monkeypatch, tmp_path, name):
    monkeypatch.setenv(assembler.VARIABLE, str(tmp_path / name))
    with pytest.raises(TinycError, match="TINYC_PTXAS names no program") as caught:
        find_ptxas()
    assert caught.value.name == "UnreadableFile"


def test_the_newest_package_comes_before_the_path(monkeypatch, tmp_path):
    monkeypatch.delenv(assembler.VARIABLE, raising=False)
    older, packages, on_path = (tmp_path / name for name in ("nvidia/cuda_nvcc/bin", "nvidia/cu13/bin", "bin"))
    for folder in (older, packages, on_path):
        folder.mkdir(parents=True)
        (folder / "ptxas").write_text("#!/bin/sh\n")
        (folder / "ptxas").chmod(0o755)
    monkeypatch.setenv("PATH", str(on_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert find_ptxas() == on_path / "ptxas"
    spec = type("Spec", (), {"submodule_search_locations": [str(tmp_path / "nvidia")]})
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    assert find_ptxas() == packages / "ptxas"


def test_without_a_ptxas_the_error_says_how_to_get_one(monkeypatch):
    monkeypatch.delenv(assembler.VARIABLE, raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert find_ptxas() is None
    with pytest.raises(TinycError, match=r"there is no ptxas .*pip install 'tinyc\[cuda\]'") as caught:
        assemble(PTX, "sm_80")
    assert caught.value.name == "NoDriver"


def test_a_program_that_does_not_run_is_named(fake):
    program = fake("")
    program.write_bytes(b"\x7fELF\0")
    with pytest.raises(TinycError, match="cannot run it") as caught:
        assemble(PTX, "sm_80")
    assert caught.value.name == "UnreadableFile"
