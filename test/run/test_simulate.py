"""`tinyc simulate`: what it prints and writes about kernels of other compilers, and its exit status."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tinyc.driver import cli

CORPUS = Path(__file__).parent.parent / "ptxsim" / "data"
GELU = CORPUS / "triton" / "add_gelu.ptx"
GATHER = CORPUS / "triton" / "gather_rows.ptx"
HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n"
#: Every thread of a warp stores its number to shared memory and loads it, then stores it to `out`.
STRIDED = """
.visible .entry strided(.param .u64 out)
{
  .shared .b32 tile[1024];
  .reg .b32 %r<4>; .reg .b64 %d<4>;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %r0, SHARED_BYTES, %r1;
  st.shared.b32 [%r2], %r0;
  ld.shared.b32 %r3, [%r2];
  ld.param.u64 %d0, [out];
  mul.wide.u32 %d1, %r0, GLOBAL_BYTES;
  add.u64 %d0, %d0, %d1;
  st.global.b32 [%d0], %r3;
  bar.sync 0;
  ret;
}
"""


@pytest.fixture
def run(capfd):
    """Return a function that runs the command and returns its status, stdout and stderr."""

    def call(*arguments):
        status = cli.main(["simulate", *map(str, arguments)])
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err
        assert "InternalError" not in captured.err
        return status, captured.out, captured.err

    return call


@pytest.fixture
def ptx(tmp_path):
    """Return a function that writes a module and returns its path."""

    def write(body):
        path = tmp_path / "kernel.ptx"
        path.write_text(HEAD + body)
        return path

    return write


def strided(shared_words, global_words):
    text = STRIDED.replace("SHARED_BYTES", str(4 * shared_words))
    return text.replace("GLOBAL_BYTES", str(4 * global_words))


def given(*texts):
    return [part for text in texts for part in ("--arg", text)]


def gelu(x="f32[1000]:random"):
    return [GELU, "--grid", 4, *given(f"x={x}", "y=f32[1000]:1", "out=f32[1000]:nan", "i32:1000")]


SCRATCH = given("u64:0", "u64:0")


def row(out, instruction):
    """Return the numbers that stand before an instruction in the tables."""
    (found,) = re.findall(rf"^ +([\d. ]+?)  {re.escape(instruction)}$", out, re.MULTILINE)
    return [float(number) for number in found.split()][1:]


def metadata(folder, **facts):
    """Write what Triton writes beside the PTX and return its path."""
    known = {"name": "add_gelu", "num_warps": 4, "num_ctas": 1, "shared": 0, "tensordesc_meta": []}
    path = folder / "add_gelu.json"
    path.write_text(json.dumps(known | {"global_scratch_size": 0, "profile_scratch_size": 0} | facts))
    return path


def test_a_kernel_without_findings_is_run_and_its_arrays_are_saved(run, tmp_path):
    x_file, out_file = tmp_path / "x.npy", tmp_path / "out.npy"
    status, out, err = run(*gelu(), *SCRATCH, "--save", f"out={out_file}", "--save", f"0={x_file}")
    assert (status, err) == (0, "")
    assert out.endswith("\nresult   no findings\n")
    total = np.load(x_file).astype(float) + 1
    expected = [0.5 * value * (1 + math.erf(value * math.sqrt(0.5))) for value in total]
    np.testing.assert_allclose(np.load(out_file), expected, rtol=1e-5, atol=1e-6)


def test_an_array_of_a_file_is_an_input(run, tmp_path):
    x_file, out_file = tmp_path / "x.npy", tmp_path / "out.npy"
    np.save(x_file, np.full(1000, -1, np.float32))
    assert run(*gelu(x_file), *SCRATCH, "--save", f"out={out_file}")[0] == 0
    assert not np.load(out_file).any()  # gelu(-1 + 1)


def test_triton_s_file_completes_the_launch(run, tmp_path):
    # two more arguments are pointers to scratch memory
    status, out, _ = run(*gelu(), "--triton", metadata(tmp_path, shared=512))
    assert status == 0
    assert "launch   grid 4 × 1 × 1, block 128 × 1 × 1, 512 bytes of dynamic shared memory\n" in out


def test_triton_s_tensor_descriptors_are_given_as_arrays(run, tmp_path):
    facts = json.loads((CORPUS / "triton" / "matmul_tma.json").read_text())
    path = metadata(
        tmp_path, name=facts["entry"], shared=facts["shared_bytes"], tensordesc_meta=facts["tensor_descriptors"]
    )
    arrays = given("a=f16[100,160]:random", "b=f16[72,160]:random", "c=f16[100,72]:nan")
    saves = [part for name in "abc" for part in ("--save", f"{name}={tmp_path / name}.npy")]
    kernel = [CORPUS / "triton" / "matmul_tma.ptx", "--triton", path, "--grid", "2,2"]
    status, out, _ = run(*kernel, *arrays, *given("i32:160"), *saves)
    assert (status, out.splitlines()[-1]) == (0, "result   no findings")
    a, b, c = (np.load(tmp_path / f"{name}.npy").astype(float) for name in "abc")
    np.testing.assert_allclose(c, a @ b.T, rtol=2e-3, atol=4e-3)


def test_a_cluster_of_triton_s_is_one_program(run, tmp_path):
    # the kernel reads which CTA of the cluster it is; a program is two CTAs
    path = tmp_path / "gelu.ptx"
    path.write_text(GELU.read_text().replace(".target sm_80", ".target sm_90"))
    _, out, _ = run(path, *gelu()[1:], "--triton", metadata(tmp_path, num_ctas=2))
    assert "launch   grid 8 × 1 × 1, block 128 × 1 × 1, cluster 2 × 1 × 1\n" in out


def test_a_finding_names_line_text_address_thread_and_has_status_1(run):
    status, out, _ = run(*gelu(x="f32[999]:random"), *SCRATCH)
    assert status == 1
    shown = out[out.index(f"{GELU}:48: ") :].splitlines()
    assert re.match(r".*:48: out-of-bounds: reads 4 bytes .* outside of what is allocated$", shown[0])
    assert shown[1] == "    @%p2 ld.global.b32 { %r10 }, [ %rd4 + 0 ];"
    assert re.match(r"  address: 0x[0-9a-f]+, byte 3996 of array 'x', which has 3996 bytes$", shown[2])
    assert shown[3] == "  by thread (115, 0, 0) of CTA (3, 0, 0)"
    assert out.endswith("\nresult   FAILED: 1 finding\n")


def test_a_finding_names_the_source_where_the_ptx_says_it(run):
    # the index is one short
    arrays = given("f16[21,50]:random", "index=i32[20]:random:0:21", "f16[21,50]:nan")
    status, out, _ = run(GATHER, "--grid", 3, *arrays, *given("i32:21", "i32:50"), *SCRATCH)
    assert status == 1
    assert re.search(r"out-of-bounds: .*\n    .*ld\.global\.b32 .*\n  source: .*elementwise\.py:23:\d+\n", out)
    assert ", byte 80 of array 'index', which has 80 bytes\n" in out


def test_a_finding_in_an_inlined_function_names_the_calls(run, ptx):
    body = """.visible .entry k() {
      .reg .b32 %r<2>; .shared .b32 s[2];
      .loc 2 30 3, function_name $L0, inlined_at 1 7 5
      .loc 3 40 4, function_name $L1, inlined_at 2 30 3
      ld.shared.b32 %r0, [s];
      .loc 1 8 5
      ld.shared.b32 %r1, [s+4];
      ret; }
    .file 1 "mine.cu"\n.file 2 "theirs.h"\n.file 3 "deep.h"
    """
    _, out, _ = run(ptx(body), "--grid", 1, "--block", 1)
    assert (
        "  source: deep.h:40:4\n    inlined at theirs.h:30:3\n    inlined at mine.cu:7:5\n  address: 0x400, s+0\n"
        in out
    )
    assert "  source: mine.cu:8:5\n  address: 0x404, s+4\n" in out


def test_a_long_instruction_is_cut_short(run, ptx):
    registers = ", ".join(["%r0"] * 4)
    body = f".visible .entry k() {{ .reg .b32 %r<1>; .shared .b32 {'s' * 200}[4];\n"
    body += f"ld.shared.v4.b32 {{{registers}}}, [{'s' * 200}]; ret; }}"
    (line,) = re.findall(r"^    ld.*$", run(ptx(body), "--grid", 1, "--block", 1)[1], re.MULTILINE)
    assert line == f"    ld.shared.v4.b32 {{{registers}}}, [{'s' * 200}]"[:124] + "…"


def test_only_the_checks_that_are_asked_for_are_made(run):
    assert run(*gelu(x="f32[999]:random"), *SCRATCH, "--checks", "races,barriers")[0] == 0
    assert run(*gelu(x="f32[999]:random"), *SCRATCH, "--checks", "none")[0] == 0
    assert run(*gelu(x="f32[999]:random"), *SCRATCH, "--checks", "bounds")[0] == 1


#: Thread 1 reads what thread 0 writes, in dynamic shared memory; %r0 is the thread's number.
DYNAMIC = """
.extern .shared .align 16 .b8 pool[];
.visible .entry first(.param .u64 out, .param .f32 scale, .param .align 8 .b8 pair[16]) .reqntid 2
{
  .reg .b32 %r<4>;
  mov.u32 %r0, %tid.x; mov.u32 %r1, pool; shl.b32 %r2, %r0, 2; add.u32 %r2, %r2, %r1;
  st.shared.u32 [%r2+8], %r0;
  ld.shared.u32 %r3, [%r1+12];
  ret;
}
.visible .entry second() .maxntid 64 .reqnctapercluster 2
{
  .shared .b8 tile[48]; .reg .b32 %r<1>;
  mov.u32 %r0, tile;
  ret;
}
"""
FIRST = ["--entry", "first", "--grid", 1, *given("f32[1]:zeros", "f32:1", f"bytes:{'00' * 16}")]


def test_a_shared_address_is_shown_with_its_variable(run, ptx):
    status, out, _ = run(ptx(DYNAMIC), *FIRST, "--dynamic-shared", 16)
    assert status == 1
    assert re.search(r"race: reads .*\n.*\n  address: 0x40c, pool\+12\n", out)


def test_a_lack_of_dynamic_shared_memory_is_named(run, ptx):
    _, out, _ = run(ptx(DYNAMIC), *FIRST)
    assert "no dynamic shared memory for 'pool' (dynamic_shared_bytes, --dynamic-shared)" in out


def test_findings_that_are_ignored_are_counted_at_the_end(run, ptx, tmp_path):
    options = [ptx(DYNAMIC), *FIRST, "--dynamic-shared", 16, "--json", tmp_path / "report.json"]
    status, out, _ = run(*options, "--ignore", "misaligned", "--ignore", "race")
    assert status == 0
    assert out.splitlines()[-1] == "result   no findings; 1 finding ignored"
    assert "race:" not in out
    assert json.loads((tmp_path / "report.json").read_text())["ignored"] == 1
    status, _, error = run(*options, "--ignore", "rece")
    assert status == 2
    assert "there is no kind of finding 'rece'; did you mean 'race'" in error


def test_the_kernels_of_a_file_are_listed(run, ptx):
    status, out, _ = run(ptx(DYNAMIC), "--list")
    assert status == 0
    assert (
        out
        == """\
kernel   first
param    0  .u64, 8 bytes: out
param    1  .f32, 4 bytes: scale
param    2  .b8[16], 16 bytes: pair
block    2 × 1 × 1 (required)
shared   0 bytes, and dynamic shared memory: pool

kernel   second
block    64 × 1 × 1 threads at most
cluster  2 × 1 × 1 (required)
shared   48 bytes
"""
    )


def test_a_file_without_kernels_has_no_list(run, ptx):
    status, _, error = run(ptx(""), "--list")
    assert status == 2
    assert "the file has no kernel" in error


@pytest.mark.parametrize(("words", "passes"), [(1, 1), (2, 2), (4, 4), (32, 32), (31, 1)])
def test_bank_conflicts_stand_at_their_instruction(run, ptx, words, passes):
    # 32 banks of one word each: a stride of s words hits gcd(s, 32) times the same bank
    status, out, _ = run(ptx(strided(words, 1)), "--grid", 1, "--block", 32, *given("i32[32]:0"))
    assert status == 0
    for instruction in ("st.shared.b32 [%r2], %r0;", "ld.shared.b32 %r3, [%r2];"):
        assert row(out, instruction) == [1, passes, passes, passes - 1]


@pytest.mark.parametrize(("words", "sectors"), [(1, 4), (2, 8), (8, 32), (100, 32)])
def test_sectors_stand_at_their_instruction(run, ptx, words, sectors):
    # 32 words of 4 bytes fill 4 sectors of 32 bytes; two warps
    arguments = ["--grid", 2, "--block", 32, *given(f"i32[{32 * words}]:0"), "--checks", "bounds"]
    status, out, _ = run(ptx(strided(1, words)), *arguments)
    assert status == 0
    assert row(out, "st.global.b32 [%d0], %r3;") == [2, 2 * sectors, sectors, 2 * (sectors - 4)]


def test_instructions_bytes_and_barriers_are_counted(run, ptx):
    # three warps; the last has 8 threads
    _, out, _ = run(ptx(strided(1, 1)), "--grid", 1, "--block", 72, *given("i32[72]:0"))
    for counted in (r"mov +6", r"mad +3", r"ld +6", r"bar +3"):
        assert re.search(rf"^  {counted}$", out, re.MULTILINE), counted
    assert re.search(rf"^  global +4 +0 +{72 * 4}$", out, re.MULTILINE)
    assert re.search(rf"^  shared +4 +{72 * 4} +{72 * 4}$", out, re.MULTILINE)
    assert re.search(r"^  barriers of CTAs completed +1$", out, re.MULTILINE)


def test_the_report_as_json(run, ptx, tmp_path):
    path = tmp_path / "report.json"
    status, out, _ = run(ptx(strided(32, 1)), "--grid", 1, "--block", 32, *given("i32[31]:0"), "--json", path)
    report = json.loads(path.read_text())
    assert (status, report["ok"], report["kernel"], report["block"]) == (1, False, "strided", [32, 1, 1])
    assert "result   FAILED" in out
    (finding,) = report["findings"]
    assert finding["kind"] == "out-of-bounds"
    assert finding["text"] == "st.global.b32 [%d0], %r3;"
    assert finding["threads"] == [{"cta": [0, 0, 0], "thread": [31, 0, 0]}]
    assert [count["units"] for count in report["counters"]["passes"]] == [32, 32]
    assert {"space": "global", "width": 4, "read": 0, "written": 128} in report["counters"]["bytes"]


def test_json_on_stdout_is_all_that_is_there(run, ptx):
    _, out, _ = run(ptx(strided(1, 1)), "--grid", 1, "--block", 32, *given("i32[32]:0"), "--json", "-")
    assert json.loads(out)["ok"] is True


def test_a_kernel_among_several_has_to_be_named(run, ptx):
    path = ptx(".visible .entry a() { ret; }\n.visible .entry b() .reqntid 64 { ret; }\n")
    status, _, err = run(path, "--grid", 1)
    assert status == 2
    assert err.startswith("error: the file has the kernels a, b; choose one with --entry [TC401 InputMismatch]")
    assert run(path, "--grid", 1, "--entry", "b")[0] == 0


def test_the_threads_of_a_cta_are_those_that_the_kernel_requires(run, ptx):
    path = ptx(".visible .entry a() { ret; }\n.visible .entry b() .reqntid 8, 4 { ret; }\n")
    assert "block 8 × 4 × 1\n" in run(path, "--grid", 1, "--entry", "b")[1]
    status, _, err = run(path, "--grid", 1, "--entry", "a")
    assert status == 2
    assert "kernel 'a' does not say how many threads a CTA has; say so, as in --block 128" in err


def test_ptx_that_does_not_read_is_an_error_with_its_place(run, ptx):
    path = ptx(".visible .entry a()\n{\n  vanish.u32 1;\n}\n")
    status, _, err = run(path, "--grid", 1, "--block", 1)
    assert status == 2
    assert re.match(rf"{re.escape(str(path))}:6:3: error: .*vanish.* \[TC311 InvalidPtx\]\n", err)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--entry", "gelu"], "there is no kernel 'gelu'; did you mean 'add_gelu'"),
        (["--checks", "bound"], "did you mean 'bounds'"),
        (["--save", "z=z.npy"], "there is no array argument or variable 'z'; there are 0, 1, 2, x, y, out"),
        (["--block", "64"], r"block \(64, 1, 1\) is given, and the kernel requires \(128, 1, 1\)"),
        (["--arg", "i32:1"], r"the kernel has 6 parameters; 7 arguments are given; the parameters are \.u64 add_gelu"),
        (["--triton", "no.json"], r"no\.json: error: cannot read the file"),
        (["--triton", GELU], r"add_gelu\.ptx: error: the file is no JSON"),
        (["--json", "no/report.json"], r"no/report\.json: error: cannot write the file"),
    ],
)
def test_what_does_not_fit_is_an_error(run, options, message):
    status, _, err = run(*gelu(), *SCRATCH, *options)
    assert status == 2
    assert re.search(message, err), err


@pytest.mark.parametrize("facts", [{"num_warps": "4"}, {"shared": -1}, {"tensordesc_meta": [{}]}, {"name": 1}])
def test_a_file_that_is_not_triton_s_is_an_error(run, tmp_path, facts):
    status, _, err = run(*gelu(), "--triton", metadata(tmp_path, **facts))
    assert status == 2
    assert "the file is not what Triton writes beside a kernel's PTX" in err


@pytest.mark.parametrize(
    "options",
    [
        ["--grid", "1,2,3,4"],
        ["--grid", "x"],
        ["--grid", "1", "--block", "-1"],
        ["--grid", "1", "--dynamic-shared", "1k"],
        ["--grid", "1", "--save", "out"],
        [],
    ],
)
def test_a_command_line_that_does_not_read_has_status_2(options, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["simulate", str(GELU), *options])
    assert ended.value.code == 2
    assert "usage: tinyc simulate" in capsys.readouterr().err


def test_the_file_has_to_be_text(run, tmp_path):
    path = tmp_path / "kernel.cubin"
    path.write_bytes(b"\x7fELF\xff")
    status, _, err = run(path, "--grid", 1)
    assert status == 2
    assert "kernel.cubin: error: the file is not text (byte 0xff at offset 4); give PTX [TC311 InvalidPtx]" in err


def test_mlir_is_not_loaded():
    # the simulator runs where MLIR is not installed
    command = "import sys; from tinyc.driver import cli; cli.main(sys.argv[1:]); assert 'tinyc.mlir' not in sys.modules"
    arguments = ["simulate", *map(str, gelu()), *SCRATCH]
    subprocess.run([sys.executable, "-c", command, *arguments], check=True, capture_output=True)
