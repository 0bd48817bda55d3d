"""`tinyc run | compile | verify`: what they print and write, their exit status; no input ends in a traceback."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import ml_dtypes
import numpy as np
import pytest

import tinyc
from programs.example_bindings import EXAMPLES
from tinyc.driver import cli

GEMM = """
{"uops": [ // X [M,K] times W [K,N], plus a bias
  {"uop": "RESHAPE", "src": ["X"], "arg": {"result_shape": ["M", 1, "K"]}, "out": "X1"},
  {"uop": "RESHAPE", "src": ["W"], "arg": {"result_shape": [1, "K", "N"]}, "out": "W1"},
  {"uop": "PERMUTE", "src": ["W1"], "arg": {"dims": [0, 2, 1]}, "out": "W2"},
  {"uop": "MUL", "src": ["X1", "W2"], "out": "P"},
  {"uop": "REDUCE", "src": ["P"], "arg": {"op": "SUM", "axes": [-1], "acc_dtype": "fp32"}, "out": "Y"}],
 "values": {"X": {"dtype": "fp16", "shape": ["M", "K"]}, "W": {"dtype": "fp16", "shape": ["K", "N"]}}}
"""
SIZES = "M=5,N=4,K=3"


@pytest.fixture
def gemm(tmp_path):
    path = tmp_path / "gemm.json"
    path.write_text(GEMM)
    return path


def in_a_process(*arguments, **options):
    command = [sys.executable, "-m", "tinyc.driver.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, **options)


def test_run_prints_layers_outputs_errors_and_times(run, gemm):
    status, out, err = run("run", gemm, "--bind", SIZES, "--random", "0", "--check")
    assert (status, err) == (0, "")
    for line in (
        r"layers +tiny -> region -> plan -> exec -> loops -> llvm",
        r"compile +\d+\.\d+ s",
        r"run +\d+\.\d+ s",
        r"output +Y: fp32 \[5, 4\]  -?\d",
        r"check +output 'Y': largest error \S+ \(rtol 1e-05, atol 1e-05\): ok",
    ):
        assert re.search(f"^{line}", out, re.MULTILINE), (line, out)


def test_a_program_comes_from_standard_input(gemm):
    module = tinyc.compile(GEMM, target="reference").text("tiny")
    for source in (GEMM, module):
        for command in ("run", "compile", "verify", "explain"):
            done = in_a_process(command, "-", "--bind", SIZES, input=source)
            assert (done.returncode, done.stderr) == (0, ""), command
    done = in_a_process("run", "-", "--bind", SIZES, "--check", input=GEMM)
    assert done.stdout.startswith("program  <stdin> on cpu\n")
    assert done.stdout.endswith(": ok\n")


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("", "<stdin>: error: the source is empty;"),
        ("{\n,}", "<stdin>:2:1: error: "),
        ("module {\n  nonsense\n}", "<stdin>:2:3: error: "),
        ("module {}", "<stdin>: error: the module has no function to run"),
        ('{"uops": [{"id": "y", "uop": "NEGATE"}]}', "<stdin>:1:11, node 'y': error: "),
    ],
)
def test_an_error_in_standard_input_says_so(source, error):
    done = in_a_process("run", "-", input=source)
    assert done.returncode == 1
    assert done.stderr.startswith(error)


def test_a_closed_standard_input_is_an_error():
    command = f"{sys.executable} -m tinyc.driver.cli run - <&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("<stdin>: error: cannot read the file: ")


def test_run_on_the_reference(run, gemm):
    status, out, _ = run("run", gemm, "--target=reference", f"--bind={SIZES}")
    assert status == 0
    assert re.search("^layers +tiny$", out, re.MULTILINE)


def test_a_failed_check_is_named_and_has_status_1(run, gemm, monkeypatch):
    right = tinyc.Model.run_named

    def wrong(self, inputs, **options):
        outputs = right(self, inputs, **options)
        outputs["Y"][1, 2] += 1
        return outputs

    monkeypatch.setattr(tinyc.Model, "run_named", wrong)
    status, out, _ = run("run", gemm, "--bind", SIZES, "--check")
    assert status == 1
    assert re.search(r"^check +output 'Y'.*element \[1, 2\] is .* and should be .*FAILED$", out, re.MULTILINE)
    status, out, _ = run("verify", gemm, "--bind", SIZES)
    assert status == 1
    assert re.search(
        r"^result +FAILED, first at: cpu \(llvm\) against the reference \(tiny\): output 'Y'.*\[1, 2\]",
        out,
        re.MULTILINE,
    )


def test_verify_compares_every_layer(run, gemm):
    status, out, _ = run("verify", gemm, "--bind", SIZES)
    assert status == 0
    titles = re.findall("^verify +(.*)$", out, re.MULTILINE)
    assert titles == [
        "reference (tiny) against the f64 oracle",
        "reference (region) against the reference (tiny)",
        "cpu (llvm) against the reference (tiny)",
    ]
    assert out.count(": ok\n") == 3
    assert "all layers agree" in out


def test_verify_goes_down_to_the_ptx_of_a_target(run, gemm):
    status, out, _ = run("verify", gemm, "--bind", SIZES, "--target", "sim", "--arch", "sm_90a")
    assert status == 0
    assert re.findall("^verify +(.*)$", out, re.MULTILINE)[2:] == [
        "threads (gpu) against the reference (tiny)",
        "sim (ptx) against the reference (tiny)",
    ]
    assert out.count(": ok\n") == 4


def test_what_has_no_reference_is_not_verified(run, gemm, tmp_path):
    ptx = tmp_path / "gemm.ptx"
    ptx.write_text(tinyc.compile(gemm, target="sim").text("ptx"))
    status, out, err = run("verify", ptx, "--target", "sim", "--bind", SIZES)
    assert (status, "verify   " in out) == (1, False)
    assert (
        "verify: the reference reads programs of frontend, tiny, region or plan, and this one is at layer 'ptx'" in err
    )
    assert "say with --against what it was made of" in err


@pytest.mark.parametrize(
    ("target", "layer", "edit"),
    [("cpu", "llvm", ("fsub float", "fadd float")), ("sim", "ptx", ("sub.rn.f32", "add.rn.f32"))],
)
def test_an_edited_dump_is_verified_against_what_it_was_made_of(run, tmp_path, target, layer, edit):
    # Softmax is the same whatever is added to a row: only the values on the way show the edit.
    softmax, dump = EXAMPLES / "softmax.json", tmp_path / f"edited.{layer}"
    text = tinyc.compile(softmax, target, fusion="none").text(layer)
    options = ("--target", target, "--against", softmax, "--bind", "M=3,N=4")
    wrong = rf"FAILED, first at: {target} \({layer}\) against the reference \(tiny\): value 'd'"
    for edited, status, result in ((text, 0, "all layers agree"), (text.replace(*edit), 1, wrong)):
        dump.write_text(edited)
        found, out, _ = run("verify", dump, *options)
        assert found == status
        assert re.search(f"^result   {result}", out, re.MULTILINE)


def test_a_dump_is_not_verified_against_another_program(run, tmp_path):
    dump = tmp_path / "softmax.ptx"
    dump.write_text(tinyc.compile(EXAMPLES / "softmax.json", "sim").text("ptx"))
    options = ("--target", "sim", "--bind", "M=3,N=4", "--against")
    status, _, err = run("verify", dump, *options, EXAMPLES / "topk.json")
    assert status == 1
    assert f"{EXAMPLES / 'topk.json'}: error: --against: y: f32 and p: f32, t#1: i64 are the outputs of the two" in err
    status, _, err = run("verify", dump, *options, dump)
    assert (status, "give it at an earlier layer" in err) == (1, True)


def test_verify_starts_at_the_layer_of_the_program(run, gemm, tmp_path):
    region = tmp_path / "gemm.mlir"
    region.write_text(tinyc.compile(gemm).text("region"))
    status, out, _ = run("verify", region, "--bind", SIZES)
    assert status == 0
    assert "reference (region) against the f64 oracle" in out


def test_compile_dumps_the_layers_that_are_asked_for(run, gemm, tmp_path):
    folder = tmp_path / "made" / "layers"
    assert run("compile", gemm, "--dump=tiny,region,llvm", "--dump-dir", folder)[0] == 0
    assert sorted(path.name for path in folder.iterdir()) == ["01_tiny.mlir", "04_region.mlir", "08_llvm.ll"]
    assert "region.kernel" in (folder / "04_region.mlir").read_text()


def test_compile_for_a_gpu_dumps_its_layers(run, gemm, tmp_path):
    plan = tmp_path / "plan.json"
    plan.write_text('{"tile": [64, 32, 64]}')
    arguments = ["--target", "cuda", "--arch", "sm_90a", "--plan", plan, "--dump", "region,plan,gpu,nvvm,ptx,cu"]
    status, out, _ = run("compile", gemm, *arguments, "--dump-dir", tmp_path / "layers")
    assert status == 0
    assert re.search(r"^layers +tiny -> region -> plan -> gpu -> exec -> nvvm -> ptx$", out, re.MULTILINE)
    texts = {path.name: path.read_text() for path in (tmp_path / "layers").iterdir()}
    names = ["04_region.mlir", "05_plan.mlir", "06_gpu.mlir", "08_nvvm.mlir", "09_ptx.ptx", "10_cu.cu"]
    assert sorted(texts) == names
    assert "tile = array<i64: 64, 32, 64>" in texts["05_plan.mlir"]
    assert ".target sm_90a" in texts["09_ptx.ptx"]


def test_a_plan_that_is_refused_leaves_no_file_behind(run, gemm, tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    status, _, err = run("compile", gemm, "--target", "cuda", "--plan", 'set tile = [50, 64, 32];\n# it\'s "50"')
    assert status == 1
    assert re.fullmatch(
        r".*'warp_tile' is 50x64 for a warp, not made of .*; choose 48x64 \[TC204 UnsupportedPlan\]\n", err
    )
    assert not list((tmp_path / "temporary").iterdir())


def test_run_on_a_gpu_that_is_not_there_says_what_to_do(run, gemm, monkeypatch):
    monkeypatch.setattr("tinyc.runtime.cuda_driver._BINDINGS", "tinyc.there_is_no_such_module")
    status, _, err = run("run", gemm, "--target", "cuda", "--bind", SIZES)
    assert status == 1
    assert "or compile with target='cpu' [TC409 NoDriver]" in err


@pytest.mark.parametrize("command", ["run", "verify", "bench"])
def test_a_gpu_is_looked_for_before_the_compiler_takes_its_time(run, gemm, monkeypatch, command):
    def compiled(*given, **options):
        raise AssertionError("there is nothing to compile for")

    monkeypatch.setattr("tinyc.runtime.cuda_driver._BINDINGS", "tinyc.there_is_no_such_module")
    monkeypatch.setattr("tinyc.driver.compilation.Lowering", compiled)
    status, _, err = run(command, gemm, "--target", "cuda", "--bind", SIZES)
    assert (status, "[TC409 NoDriver]" in err) == (1, True)


def test_a_program_in_the_place_of_a_command_is_told_what_to_write(capsys, gemm):
    for word in ("model.onnx", str(gemm)):
        with pytest.raises(SystemExit) as caught:
            cli.main([word, "--check"])
        told = f"tinyc: error: {word!r} is a program, and in front of it stands a command; tinyc run {word}\n"
        assert (caught.value.code, capsys.readouterr().err.endswith(told)) == (2, True)
    with pytest.raises(SystemExit):
        cli.main(["rum"])
    assert "invalid choice: 'rum'" in capsys.readouterr().err


def test_the_package_is_the_command():
    done = subprocess.run([sys.executable, "-m", "tinyc", "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"tinyc {tinyc.__version__}\n")


def test_a_program_at_the_gpu_layer_cannot_be_checked(run, gemm, tmp_path):
    gpu = tmp_path / "gemm.mlir"
    gpu.write_text(tinyc.compile(gemm, target="cuda", bind={"M": 5, "N": 4, "K": 3}).text("gpu"))
    status, _, err = run("run", gpu, "--target", "cuda", "--check")
    assert status == 1
    assert (
        "--check: the reference reads programs of frontend, tiny, region or plan, and this one is at layer 'gpu'" in err
    )


def test_a_dump_folder_alone_gets_all_layers(run, gemm, tmp_path):
    assert run("run", gemm, "--bind", SIZES, "--dump-dir", tmp_path / "all")[0] == 0
    assert len(list((tmp_path / "all").iterdir())) == 9


def test_options_that_are_repeated_add_up(run, gemm, tmp_path):
    options = ("--bind", "M=2", "--bind", "N=3,K=4", "--dump", "tiny", "--dump", "region", "--dump-dir", tmp_path)
    status, out, _ = run("run", gemm, *options)
    assert (status, " [2, 3] " in out) == (0, True)
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".mlir") == [
        "01_tiny.mlir",
        "04_region.mlir",
    ]
    with pytest.raises(SystemExit):
        run("run", gemm, "--bind", "M=2", "--bind", "M=3")


@pytest.mark.parametrize("command", ["run", "compile", "verify"])
def test_edges_are_kept_and_nothing_is_fused_as_asked(run, command):
    sizes = () if command == "compile" else ("--bind", "M=3,N=4")
    for asked, fused, is_kept in ((), 7, False), (("--no-fuse", "e,z"), 5, True), (("--fusion", "none"), 1, True):
        status, _, err = run(command, EXAMPLES / "softmax.json", *sizes, *asked, "--remarks")
        assert (status, err.count("[fusion-fused]")) == (0, fused)
        assert ("e -> z: kept (user), it was asked for" in err) is is_kept


def test_the_value_of_fusion_is_none(run, gemm, capfd):
    with pytest.raises(SystemExit) as ended:
        run("run", gemm, "--fusion", "all")
    assert ended.value.code == 2
    assert "argument --fusion: invalid choice: 'all' (choose from " in capfd.readouterr().err


def test_integers_are_shown_as_they_are(run, tmp_path):
    program = tmp_path / "program.json"
    node = {"id": "y", "uop": "ADD", "src": ["x", 123456789012]}
    x = {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "X", "dtype": "i64", "shape": [2]}}
    program.write_text(json.dumps({"uops": [x, node]}))
    np.savez(tmp_path / "in.npz", X=np.array([1, 2]))
    _, out, _ = run("run", program, "--inputs", tmp_path / "in.npz")
    assert "i64 [2]  123456789013 123456789014\n" in out


def test_arrays_come_from_and_go_to_files(run, gemm, tmp_path):
    x, w = (np.arange(12, dtype=np.float16).reshape(shape) for shape in ((4, 3), (3, 4)))
    np.savez(tmp_path / "in.npz", X=x, W=w)
    status, _, _ = run("run", gemm, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    assert status == 0
    np.testing.assert_array_equal(np.load(tmp_path / "out.npz")["Y"], x.astype(np.float32) @ w)


def test_bf16_arrays_stand_as_uint16_in_files(run, tmp_path):
    program = tmp_path / "neg.json"
    arg = {"tensor_id": "x", "dtype": "bf16", "shape": ["M"]}
    program.write_text(
        json.dumps({"uops": [{"id": "i", "uop": "INPUT", "arg": arg}, {"id": "y", "uop": "NEG", "src": ["i"]}]})
    )
    x = np.array([1.5, -2], ml_dtypes.bfloat16)
    for stored in (x.view(np.uint16), x):  # numpy.savez keeps a bf16 array as void bytes
        np.savez(tmp_path / "in.npz", x=stored)
        assert run("run", program, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")[0] == 0
        y = np.load(tmp_path / "out.npz")["y"]
        assert y.dtype == np.uint16
        np.testing.assert_array_equal(y.view(ml_dtypes.bfloat16), -x)


def test_remarks_go_to_stderr_and_to_a_file(run, gemm, tmp_path):
    file = tmp_path / "remarks.json"
    status, _, err = run("compile", gemm, "--remarks", "--remarks-json", file)
    assert status == 0
    assert "[broadcast-inserted]" in err
    codes = [json.loads(line)["code"] for line in file.read_text().splitlines()]
    assert codes.count("broadcast-inserted") == 2


def test_random_inputs_need_sizes(run, gemm):
    status, _, err = run("run", gemm)
    assert status == 1
    assert "--bind M=16,K=16,N=16" in err
    assert "TC108 UnboundSymbol" in err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["run", "/does/not/exist.json"], "TC308"),
        (["compile", "{gemm}", "--bind", "Q=1"], "TC108"),
        (["run", "{gemm}", "--target", "sim", "--arch", "sm_70"], "TC404"),
        (["run", "{gemm}", "--arch", "sm_80"], "TC404"),
        (["compile", "{gemm}", "--target", "cuda", "--arch", "sm_70"], "TC404"),
        (["compile", "{gemm}", "--target", "cuda", "--plan", "{{"], "TC201"),
        (["compile", "{gemm}", "--dump", "ptx"], "TC407"),
        (["run", "{gemm}", "--bind", SIZES, "--inputs", "/does/not/exist.npz"], "TC308"),
        (["run", "{gemm}", "--bind", SIZES, "--inputs", "{gemm}"], "TC308"),
        (["run", "{gemm}", "--bind", SIZES, "--outputs", "/does/not/exist/y.npz"], "TC308"),
        (["compile", "{gemm}", "--dump-dir", "{gemm}"], "TC308"),
        (["compile", "{gemm}", "--remarks-json", "{gemm}-missing/remarks.json"], "TC308"),
        (["run", "{gemm}", "--bind", "M=1000000000,N=1,K=1000000000"], "TC405"),
    ],
)
def test_errors_have_status_1_and_a_code(run, gemm, arguments, code):
    status, _, err = run(*(each.format(gemm=gemm) for each in arguments))
    assert status == 1
    assert f"[{code} " in err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--target", "tpu"], "'target' is 'tpu'"),
        (["--target", "cuda", "--arch", "sm_70"], "'arch' is 'sm_70'"),
        (["--target", "cuda", "--plan", '{"tile": 3}'], "plan:1:2: error: 'tile' is 3"),
        (["--target", "cuda", "--plan", "set tile = 3;"], "plan:1:5: error: 'tile' is 3"),
        (["--target", "cuda", "--plan", "missing.json"], "missing.json: error: cannot read the file: "),
        (["--arch", "sm_80"], "takes no 'arch'; leave it out"),
        (["--line-info"], "takes no 'line_info'; leave it out"),
        (["--dump-dir", "/dev/null/dump"], "/dev/null/dump/01_tiny.mlir: error: cannot write the file: "),
    ],
)
def test_an_error_names_the_option_or_the_file(run, gemm, arguments, named):
    status, _, err = run("compile", gemm, *arguments)
    assert status == 1
    assert named in err


def test_what_is_no_npz_file_is_not_taken_for_an_unsafe_one(run, gemm, tmp_path):
    np.save(tmp_path / "one.npy", np.ones(3))
    for file in (gemm, tmp_path / "one.npy"):
        _, _, err = run("run", gemm, "--bind", SIZES, "--inputs", file)
        assert f"{file}: error: cannot read the file: it is no .npz file; save the arrays with numpy.savez" in err


def test_random_inputs_are_refused_before_the_program_is_compiled(run, gemm, monkeypatch):
    monkeypatch.setattr("tinyc.driver.compilation.Lowering", lambda *_, **__: pytest.fail("compiled"))
    for command in ("run", "verify"):
        status, _, err = run(command, gemm, "--random", "1")
        assert status == 1
        assert "TC108 UnboundSymbol" in err


@pytest.mark.parametrize("target", ["cpu", "reference"])
def test_a_module_without_a_function_is_named(run, tmp_path, target):
    program = tmp_path / "empty.mlir"
    program.write_text("module {}")
    status, _, err = run("run", program, "--target", target)
    assert status == 1
    assert err.startswith(f"{program}: error: the module has no function to run;")


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
def test_an_output_that_cannot_be_written_is_one_line(gemm, redirection):
    command = f"{sys.executable} -m tinyc.driver.cli run {gemm} --bind {SIZES} {redirection}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "[TC308 UnreadableFile]" in done.stderr


def test_names_of_outputs_cannot_command_the_terminal(run, tmp_path):
    program = tmp_path / "neg.json"
    arg = {"tensor_id": "x", "dtype": "fp32", "shape": [1]}
    nodes = [{"id": "x", "uop": "INPUT", "arg": arg}, {"id": "y\x1b[31m", "uop": "NEG", "src": ["x"]}]
    program.write_text(json.dumps({"uops": nodes}))
    status, out, _ = run("run", program)
    assert status == 0
    assert "output   y\\x1b[31m: fp32 [1]" in out


def test_every_error_of_a_program_is_reported(run, tmp_path):
    program = tmp_path / "bad.json"
    nodes = [{"id": "a", "uop": "NEGATE", "src": []}, {"id": "b", "uop": "NEG", "src": ["missing"]}]
    program.write_text(json.dumps({"uops": nodes}))
    status, _, err = run("compile", program)
    assert status == 1
    assert "node 'a'" in err
    assert "node 'b'" in err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["simulate"],
        ["run"],
        ["run", "x.json", "--bind", "M"],
        ["run", "x.json", "--bind", "M=-1"],
        ["run", "x.json", "--bind", "M=1,M=2"],
        ["run", "x.json", "--dump", "sass"],
        ["run", "x.json", "--random", "x"],
        ["run", "x.json", "--random", "1", "--inputs", "a.npz"],
    ],
)
def test_a_command_line_that_does_not_read_has_status_2(arguments):
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2


@pytest.mark.parametrize("threads", ["0", "513"])
def test_threads_have_one_range(capsys, threads):
    with pytest.raises(SystemExit):
        cli.main(["run", "x.json", "--threads", threads])
    assert "give an integer in 1 … 512" in capsys.readouterr().err


def test_a_closed_pipe_is_no_error(gemm):
    command = f"{sys.executable} -m tinyc.driver.cli run {gemm} --bind {SIZES} | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.stderr == ""


def test_a_narrow_terminal_encoding_is_no_error(gemm):
    done = in_a_process("run", gemm, "--bind", "M=5,N=4,K=3", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u2026" in done.stdout


def test_a_defect_is_a_sentence_and_a_file(run, gemm, monkeypatch):
    def broken(*arguments, **options):
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr("tinyc.driver.commands.random_arrays", broken)
    status, _, err = run("run", gemm, "--bind", SIZES)
    assert status == 1
    file = re.fullmatch(r"error: tinyc failed: ZeroDivisionError: by nothing; .* (\S+) \[TC901 InternalError\]\n", err)
    with open(file.group(1)) as report:
        assert "ZeroDivisionError" in report.read()
    os.unlink(file.group(1))


def test_version():
    assert in_a_process("--version").stdout == f"tinyc {tinyc.__version__}\n"


#: Its run takes hours: two million sums of 10^7 terms.
LONG_SUMS = """{"uops": [
  {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "X", "dtype": "fp32", "shape": [2000000]}},
  {"id": "e", "uop": "EXPAND", "src": ["x"],
   "arg": {"result_shape": [2000000, 10000000], "broadcast_dimensions": [0]}},
  {"id": "y", "uop": "REDUCE", "src": ["e"], "arg": {"op": "SUM", "axes": [1], "dtype": "fp32"}}]}"""


def test_ctrl_c_ends_a_run_with_a_word_and_its_exit_status(tmp_path):
    # Nothing else stands on stderr, which is no terminal: no progress.
    program = tmp_path / "sums.json"
    program.write_text(LONG_SUMS)
    command = [sys.executable, "-u", "-m", "tinyc.driver.cli", "run", str(program)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while not process.stdout.readline().startswith("inputs"):
            pass
        time.sleep(2.5)  # the kernel runs now
        process.send_signal(signal.SIGINT)
        try:
            _, err = process.communicate(timeout=10)
        finally:
            process.kill()
    assert (process.returncode, err) == (130, "interrupted\n")
