"""`tinyc compile -o` and `tinyc run` of a model: files that are written, lines that are printed, options refused."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

import tinyc
from programs.example_bindings import EXAMPLES
from tinyc.driver.sources import read_program
from tinyc.executors.random_inputs import random_inputs
from tinyc.vocabulary.element_type import ElementType

SOFTMAX = EXAMPLES / "softmax.json"


@pytest.fixture
def file(run, tmp_path):
    assert run("compile", SOFTMAX, "-o", tmp_path / "m.tinyc")[0] == 0
    return tmp_path / "m.tinyc"


def test_compile_writes_a_model(run, tmp_path):
    file = tmp_path / "m.tinyc"
    status, out, err = run("compile", SOFTMAX, "-o", file, "--cpu", "x86-64-v2")
    assert (status, err) == (0, "")
    line = rf"model    {file}: 1 kernel, 2 buffers, \d+ bytes of object code for x86-64-v2; {file.stat().st_size} bytes"
    assert re.fullmatch(line, out.splitlines()[-1])
    x = np.ones((2, 4), np.float32)
    assert tinyc.load(file)(x).tolist() == [[0.25] * 4] * 2


@pytest.mark.parametrize(("target", "code"), [("cpu", "object code"), ("sim", "PTX"), ("cuda", "PTX")])
def test_compile_alone_says_what_it_would_write(run, tmp_path, monkeypatch, target, code):
    monkeypatch.chdir(tmp_path)
    status, out, _ = run("compile", SOFTMAX, "--target", target)
    said = re.fullmatch(
        rf"model    1 kernel, 2 buffers, \d+ bytes of {code} for \S+; -o FILE.tinyc writes it, (\d+) bytes",
        out.splitlines()[-1],
    )
    assert status == 0
    assert said is not None
    assert list(tmp_path.iterdir()) == []
    assert tinyc.compile(SOFTMAX, target).save(tmp_path / "m.tinyc") == int(said[1])


def test_what_is_dumped_or_has_no_code_needs_no_such_line(run, tmp_path):
    for options in (["--dump", "region", "--dump-dir", tmp_path], ["--target", "reference"]):
        status, out, _ = run("compile", SOFTMAX, *options)
        assert status == 0
        assert not re.search("^model", out, re.MULTILINE)
    status, _, err = run("compile", SOFTMAX, "--target", "reference", "-o", tmp_path / "m.tinyc")
    assert status == 1
    assert "error: target 'reference' runs the program itself, and has no code; compile it for another target" in err


def test_run_runs_a_model(run, file, tmp_path):
    status, out, err = run("run", file, "--bind", "M=3,N=7", "--random", "4", "--outputs", tmp_path / "model.npz")
    assert (status, err) == (0, "")
    assert re.match(rf"model    {file} on cpu\nload     .* s\ninputs   random, seed 4\nrun .*\noutput   y: fp32 ", out)
    inputs = random_inputs(read_program(SOFTMAX, {"M": 3, "N": 7}), 4)  # those of the program itself
    np.testing.assert_array_equal(np.load(tmp_path / "model.npz")["y"], tinyc.compile(SOFTMAX).run(**inputs)["y"])
    np.savez(tmp_path / "in.npz", X=np.zeros((1, 2), np.float32))
    status, out, _ = run("run", file, "--inputs", tmp_path / "in.npz")
    assert (status, out.splitlines()[-1]) == (0, "output   y: fp32 [1, 2]  0.5 0.5")


def test_run_of_a_model_loads_no_compiler(file):
    code = (
        "import sys; from tinyc.driver import cli; status = cli.main(sys.argv[1:]); "
        "print(status, [m for m in ('numba_cuda_mlir', 'llvmlite', 'islpy', 'tinyc.mlir') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code, "run", str(file), "--bind", "M=3,N=7"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 []"


OF_PROGRAMS = (
    "--plan={} --fuse=a,b --no-fuse=a,b --fusion=none --line-info --dump=tiny --dump-dir=there --stock-printing --check"
)


@pytest.mark.parametrize("option", OF_PROGRAMS.split())
def test_options_about_programs_are_refused(run, file, option):
    status, out, err = run("run", file, option)
    name = option.partition("=")[0]
    said = f"error: {name}: the model is compiled, and has neither program nor layers; leave it out"
    assert (status, out) == (1, "")
    assert err == f"{file}: {said} [TC315 InvalidOption]\n"


def test_sizes_of_a_model_are_refused_where_they_mean_nothing(run, file, tmp_path):
    assert "random inputs need the size of 'N'; bind them, as in --bind N=16" in run("run", file, "--bind", "M=3")[2]
    assert "bind: the model has no symbol 'Q'; there are M, N" in run("run", file, "--bind", "Q=3")[2]
    assert "--bind: the model is compiled" in run("run", file, "--bind", "M=3", "--inputs", tmp_path / "in.npz")[2]


@pytest.mark.parametrize("command", [["compile"], ["verify"], ["explain", "--fusion"]])
def test_commands_about_programs_say_what_a_model_is_for(run, file, command):
    status, _, err = run(command[0], file, *command[1:])
    assert status == 1
    assert f"{file}: error: this is a compiled model; run it by tinyc run, load it by tinyc.load, or give its" in err


def test_a_file_that_is_no_model_is_refused(run, file):
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    assert run("run", file)[2].startswith(f"{file}: error: the model is cut off: it has {len(whole) - 1} bytes of ")
    file.write_text("{}")
    assert run("run", file)[2].startswith(f"{file}: error: this is no tinyc model: it begins with b'{{}}'; give a file")


@pytest.fixture
def weighted(tmp_path):
    """Return a program with a weight, and files of weights of both formats."""
    document = {
        "uops": [
            {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "X", "dtype": "bf16", "shape": [3]}},
            {"id": "w", "uop": "INPUT", "arg": {"tensor_id": "W", "dtype": "bf16", "shape": [3], "weight": True}},
            {"id": "y", "uop": "ADD", "src": ["x", "w"]},
        ]
    }
    (tmp_path / "p.json").write_text(json.dumps(document))
    array = np.array([10, 20, 30], ElementType.BF16.dtype)
    np.savez(tmp_path / "w.npz", W=array.view(np.uint16))
    header = json.dumps({"W": {"dtype": "BF16", "shape": [3], "data_offsets": [0, 6]}}).encode()
    (tmp_path / "w.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + array.tobytes())
    np.savez(tmp_path / "x.npz", X=np.ones(3, ElementType.BF16.dtype).view(np.uint16))
    return tmp_path


@pytest.mark.parametrize("weights", ["w.npz", "w.safetensors"])
def test_weights_are_in_a_file(run, weighted, weights):
    given = "--weights", weighted / weights
    _, out, _ = run("run", weighted / "p.json", "--inputs", weighted / "x.npz", "--check", *given)
    assert "11 21 31" in out
    _, out, _ = run("verify", weighted / "p.json", "--inputs", weighted / "x.npz", *given)
    assert "all layers agree" in out
    run("compile", weighted / "p.json", "-o", weighted / "set.tinyc", *given)
    _, out, _ = run("run", weighted / "set.tinyc", "--inputs", weighted / "x.npz")
    assert "11 21 31" in out


def test_a_model_without_its_weights_says_so_and_takes_them_later(run, weighted):
    _, out, _ = run("compile", weighted / "p.json", "-o", weighted / "m.tinyc")
    assert "weights  not set: W; give them by --weights FILE, or when it runs" in out
    _, out, _ = run("run", weighted / "m.tinyc", "--inputs", weighted / "x.npz", "--weights", weighted / "w.npz")
    assert "11 21 31" in out
    assert "output   y: bf16 [3]" in run("run", weighted / "m.tinyc")[1], "random weights, as random inputs"
    np.savez(weighted / "both.npz", **np.load(weighted / "x.npz"), **np.load(weighted / "w.npz"))
    assert "11 21 31" in run("run", weighted / "m.tinyc", "--inputs", weighted / "both.npz")[1]


def test_what_is_written_is_not_the_program(run, weighted):
    before = (weighted / "p.json").read_text()
    (weighted / "link.tinyc").symlink_to("p.json")
    status, _, err = run("compile", weighted / "p.json", "-o", weighted / "link.tinyc")
    assert status == 1
    assert "that is the program, which would be gone; name another file" in err
    assert (weighted / "p.json").read_text() == before


def test_dumps_with_all_constants_run(run, tmp_path):
    np.savez(tmp_path / "c.npz", c=np.arange(4000, dtype=np.float32))
    nodes = [
        {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "X", "dtype": "fp32", "shape": [4000]}},
        {"id": "c", "uop": "CONST", "arg": {"file": "c.npz", "name": "c"}},
        {"id": "y", "uop": "ADD", "src": ["x", "c"]},
    ]
    (tmp_path / "p.json").write_text(json.dumps({"uops": nodes}))
    for target in ("cpu", "sim"):
        folder = tmp_path / target
        on = "--target", target
        run("compile", tmp_path / "p.json", *on, "--dump-dir", folder, "--dump-constants")
        runs = {
            run("run", dump, *on)[1].splitlines()[-1] for dump in folder.iterdir() if dump.suffix not in (".cu", ".s")
        }
        assert len(runs) == 1
    run("compile", tmp_path / "p.json", "--dump", "tiny", "--dump-dir", tmp_path / "short")
    (dump,) = (tmp_path / "short").iterdir()
    assert "tinyc compile --dump-constants" in run("run", dump)[2]
