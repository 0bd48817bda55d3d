"""`.cu` files: compiled by `nvcc` where there is one; else the error says how."""

import shutil
import stat

import pytest

from ptxsim.__main__ import main
from ptxsim.command import cuda_source
from tinyc.driver import cli

PTX = ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n st.global.u32 [0], 1; ret; }\n"
SOURCE = """
#include <cstdio>
extern "C" __global__ void k(int* o) {
    o[threadIdx.x] = threadIdx.x;
    printf("thread %d of %llu: %s %.1f\\n", threadIdx.x, 1ull << 40, "text", 0.5f);
}
"""
LAUNCH = ["--grid", "1", "--block", "2", "--arg"]


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Return a function that puts an `nvcc` on PATH, alone, which does what a shell script says."""

    def put(script):
        program = tmp_path / "bin" / "nvcc"
        program.parent.mkdir()
        program.write_text(f"#!{shutil.which('sh')}\n{script}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", str(program.parent))
        (tmp_path / "k.cu").write_text(SOURCE)
        return str(tmp_path / "k.cu")

    return put


def test_nvcc_is_asked_for_ptx_with_lines_of_the_architecture(stand_in, tmp_path, capsys):
    script = f"""echo "$@" > {tmp_path / "said"}\nwhile [ "$1" != -o ]; do shift; done\nprintf '%s' '{PTX}' > "$2" """
    path = stand_in(script.replace("\n.", "\n."))
    assert main([path, "--arch", "sm_80", "--grid", "1", "--block", "1"]) == 1
    assert (tmp_path / "said").read_text().startswith(f"-ptx -arch=sm_80 -lineinfo {path} -o ")
    assert f"\n{path} [PTX]:5: out-of-bounds: writes 4 bytes" in capsys.readouterr().out


def test_the_architecture_is_sm_90a_where_none_is_given(stand_in, tmp_path):
    path = stand_in(f'echo "$@" > {tmp_path / "said"}; exit 2')
    assert main([path, "--list"]) == 2
    assert (tmp_path / "said").read_text().startswith("-ptx -arch=sm_90a -lineinfo ")


@pytest.mark.parametrize("command", [main, lambda argv: cli.main(["simulate", *argv])], ids=["ptxsim", "tinyc"])
@pytest.mark.parametrize("arch", ["foo", "sm_90a"])
def test_an_architecture_is_for_cuda_files_only(command, arch, tmp_path, capsys):
    path = tmp_path / "k.ptx"
    path.write_text(PTX)
    with pytest.raises(SystemExit) as ended:
        command([str(path), "--list", "--arch", arch])
    assert ended.value.code == 2
    message = (
        f"argument --arch: '{arch}' is for nvcc, which compiles .cu files; {path} is run as it is, leave --arch out"
    )
    assert message in capsys.readouterr().err


def test_what_nvcc_says_is_the_error(stand_in, capsys):
    path = stand_in("echo 'k.cu(3): error: expected a ;' >&2; exit 2")
    assert main([path, "--list"]) == 2
    assert capsys.readouterr().err == f"{path}: error: nvcc does not compile the file:\nk.cu(3): error: expected a ;\n"


@pytest.mark.parametrize("command", [main, lambda argv: cli.main(["simulate", *argv])], ids=["ptxsim", "tinyc"])
def test_without_nvcc_the_error_says_how_to_compile(command, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(cuda_source, "_nvcc", lambda: None)
    path = tmp_path / "k.cu"
    path.write_text(SOURCE)
    assert command([str(path), "--list", "--arch", "sm_80"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"{path}: error: this is CUDA source, and there is no nvcc to compile it: install the CUDA")
    assert "(nvcc -ptx -arch=sm_80 -lineinfo k.cu -o k.ptx) and give the PTX" in error


@pytest.mark.skipif(cuda_source._nvcc() is None, reason="did not run: there is no nvcc")
def test_a_cuda_file_runs_prints_and_is_checked_with_lines_of_its_source(tmp_path, capsys):
    path = tmp_path / "k.cu"
    path.write_text(SOURCE)
    assert cli.main(["simulate", str(path), *LAUNCH, "o=i32[2]:0"]) == 0
    assert "\nprintf   thread 1 of 1099511627776: text 0.5\n" in capsys.readouterr().out
    assert cli.main(["simulate", str(path), *LAUNCH, "o=i32[1]:0"]) == 1
    out = capsys.readouterr().out
    assert f"  source: {path}:4:5\n" in out
    assert "byte 4 of array 'o', which has 4 bytes\n" in out


@pytest.mark.skipif(cuda_source._nvcc() is None, reason="did not run: there is no nvcc")
@pytest.mark.parametrize(("pragma", "status"), [("#pragma unroll 1", 0), ("", 1)])
def test_a_loop_with_a_return_and_a_barrier_is_taken_as_nvcc_unrolls_it(tmp_path, pragma, status):
    path = tmp_path / "k.cu"
    loop = f"\n{pragma}\nfor (int i = 0; i < n; ++i) {{ if (threadIdx.x == i) return; __syncthreads(); }}"
    path.write_text(f'extern "C" __global__ void k(int n) {{ {loop} }}')
    assert main([str(path), "--grid", "1", "--block", "64", "--arg", "i32:40"]) == status
