"""A C library: it gives the numbers of the reference without Python, from several threads, and refuses by name."""

import ctypes
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tinyc
from importers.documents import node, program, tensor
from programs.agreement import assert_agree
from programs.example_bindings import BIND, EXAMPLES
from programs.strategies import programs
from tinyc.c_library.build import _FEATURES
from tinyc.c_library.interface import CInterface
from tinyc.c_library.source import TILES, _feature_checks
from tinyc.diagnostics import TinycError
from tinyc.driver import cli
from tinyc.executors import reference
from tinyc.executors.random_inputs import random_inputs
from tinyc.runtime import cpu_features
from tinyc.runtime.sizes import solve_symbols
from tinyc.vocabulary.run_key import RUN_KEY

HERE = Path(__file__).parent
#: Two layers, with a product in memory between them.
MLP = {
    "uops": [
        {"id": "x", "uop": "INPUT", "src": [], "arg": {"tensor_id": "x", "dtype": "fp32", "shape": ["M", "K"]}},
        {"id": "w1", "uop": "INPUT", "src": [], "arg": {"tensor_id": "w1", "dtype": "fp32", "shape": ["K", 24]}},
        {"id": "w2", "uop": "INPUT", "src": [], "arg": {"tensor_id": "w2", "dtype": "fp32", "shape": [24, 3]}},
        {"id": "a", "uop": "RESHAPE", "src": ["x"], "arg": {"result_shape": ["M", "K", 1]}},
        {"id": "b", "uop": "EXPAND", "src": ["a"], "arg": {"result_shape": ["M", "K", 24]}},
        {"id": "c", "uop": "EXPAND", "src": ["w1"], "arg": {"result_shape": ["M", "K", 24]}},
        {"id": "d", "uop": "MUL", "src": ["b", "c"], "arg": {}},
        {"id": "e", "uop": "REDUCE", "src": ["d"], "arg": {"op": "SUM", "axes": [1], "dtype": "fp32"}},
        {"id": "h", "uop": "RELU", "src": ["e"], "arg": {}},
        {"id": "i", "uop": "RESHAPE", "src": ["h"], "arg": {"result_shape": ["M", 24, 1]}},
        {"id": "j", "uop": "EXPAND", "src": ["i"], "arg": {"result_shape": ["M", 24, 3]}},
        {"id": "k", "uop": "EXPAND", "src": ["w2"], "arg": {"result_shape": ["M", 24, 3]}},
        {"id": "l", "uop": "MUL", "src": ["j", "k"], "arg": {}},
        {"id": "y", "uop": "REDUCE", "src": ["l"], "arg": {"op": "SUM", "axes": [1], "dtype": "fp32"}},
    ]
}


#: The fields of glibc's `struct mallinfo2`.
MALLINFO2 = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")


@pytest.fixture(scope="module", autouse=True)
def compiler():
    """The C compiler, without which nothing here can run."""
    found = shutil.which("cc")
    if found is None:
        pytest.skip("did not run: there is no cc")
    return found


class Library:
    """A library that is loaded, called as C calls it: by the fields of its Param-Block."""

    def __init__(self, model, path, **options):
        self.paths = model.emit_library(path, "lib", **options)
        self.interface = CInterface(model.lowering.program(), "lib")
        kinds = [ctypes.c_void_p] * len(self.interface.boundary) + [ctypes.c_int64] * len(
            model.lowering.program().symbols
        )
        fields = list(zip(self.interface.fields.values(), kinds, strict=True))
        self.block = type("Params", (ctypes.Structure,), {"_fields_": fields})
        self.code = ctypes.CDLL(str(self.paths[0]))
        self.code.lib_error.restype = ctypes.c_char_p
        self.handle = ctypes.c_void_p()
        assert self.code.lib_init(ctypes.byref(self.handle)) == 0, self.error

    @property
    def error(self):
        return self.code.lib_error().decode()

    def params(self, arrays, symbols):
        """The Param-Block for arrays by the names of the inputs and outputs, and the sizes."""
        fields = self.interface.fields
        addresses = {fields[buffer.name]: arrays[name].ctypes.data for name, buffer in self.interface.boundary}
        return self.block(**addresses, **{fields[name]: value for name, value in symbols.items()})

    def run(self, arrays, symbols):
        return self.code.lib_run(self.handle, ctypes.byref(self.params(arrays, symbols)))

    def free(self):
        self.code.lib_free(self.handle)


def outputs_by_library(model, inputs, path, **options):
    """What a library gives, in arrays of the shapes that the model itself gives, and the model's own outputs."""
    library, own = Library(model, path, **options), model.run_named(inputs)
    outputs = {name: np.zeros_like(array) for name, array in own.items()}
    given = {name: np.asarray(array, order="C") for name, array in inputs.items()}
    program = model.lowering.program()
    status = library.run({**given, **outputs}, solve_symbols(program, [given[name].shape for name in program.inputs]))
    assert status == 0, library.error
    library.free()
    return outputs, own


@pytest.mark.parametrize("name", BIND)
def test_an_example_gives_the_same_bits_as_from_python(name, tmp_path):
    model = tinyc.compile(EXAMPLES / f"{name}.json", bind=BIND[name])
    inputs = random_inputs(model.lowering.module("tiny"), 0)
    outputs, own = outputs_by_library(model, inputs, tmp_path / "lib.so")
    for output, array in own.items():
        assert outputs[output].tobytes() == array.tobytes()


def test_random_programs_agree_with_the_reference(random_examples, tmp_path):
    count = 0

    @random_examples(programs(), 15)
    def check(program):
        nonlocal count
        count += 1
        model = tinyc.compile(json.dumps(program.document), bind=program.bind)
        module = model.lowering.module("tiny")
        outputs, _ = outputs_by_library(model, program.inputs, tmp_path / f"lib{count}.so")
        assert_agree(program, outputs, reference.evaluate_module(module, program.inputs), module)

    check()


def test_a_c_program_runs_a_model_from_eight_threads(compiler, tmp_path):
    tinyc.compile(MLP).emit_library(tmp_path / "mlp.so", "mlp")
    options = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{tmp_path}"]
    program = tmp_path / "threads"
    subprocess.run([compiler, *options, HERE / "threads.c", tmp_path / "mlp.so", "-lm", "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True, env={"LD_LIBRARY_PATH": str(tmp_path)})
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stdout + done.stderr


@pytest.mark.parametrize("language", ["c++", "c"])
def test_the_header_is_c_and_cpp_without_a_warning(language, compiler, tmp_path):
    document = json.loads(json.dumps(MLP).replace('"w1"', '"int"').replace('"w2"', '"*/ é"'))
    _, header = tinyc.compile(document).emit_library(tmp_path / "odd.so", "odd")
    options = ["-x", language, "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]
    subprocess.run([compiler, *options, header], check=True)
    assert "const float *int_1;" in header.read_text()


def test_only_what_the_header_declares_can_be_seen(tmp_path):
    path, _ = tinyc.compile(MLP).emit_library(tmp_path / "mlp.so", "mlp")
    shown = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1] for line in shown.splitlines()}
    assert names == {f"mlp_{each}" for each in ("init", "run", "free", "error", "required_memory")}


def test_random_numbers_are_those_of_python(tmp_path):
    document = {
        "uops": [
            {"id": "r", "uop": "RAND", "arg": {"shape": [50], "dtype": "fp32", "distribution": "uniform", "seed": 7}}
        ]
    }
    model = tinyc.compile(document)
    library = Library(model, tmp_path / "lib.so")
    make_key = library.code.lib_run_key
    make_key.argtypes, make_key.restype = [ctypes.c_uint64, ctypes.c_uint64], ctypes.c_int64
    for seed, offset in ((3, 0), (2**63 + 5, 2**40)):
        numbers = np.zeros(50, np.float32)
        assert library.run({"r": numbers}, {RUN_KEY: make_key(seed, offset)}) == 0
        assert numbers.tobytes() == model.run(seed=seed, offset=offset)["r"].tobytes()
    library.free()


WEIGHTED = {
    "uops": [
        {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": ["M", 4]}},
        {"id": "w", "uop": "INPUT", "arg": {"tensor_id": "w", "dtype": "fp32", "shape": [4], "weight": True}},
        {"id": "c", "uop": "CONST", "arg": {"values": [1, 2, 3, 4], "dtype": "fp32"}},
        {"id": "v", "uop": "MUL", "src": ["w", "c"]},
        {"id": "e", "uop": "EXPAND", "src": ["v"], "arg": {"result_shape": ["M", 4]}},
        {"id": "y", "uop": "ADD", "src": ["x", "e"]},
    ]
}


@pytest.mark.parametrize("fusion", [None, "none"])
def test_weights_and_constants_are_in_the_library(fusion, tmp_path):
    """Without fusion the product of the two is prepared when a model is made."""
    model = tinyc.compile(WEIGHTED, fusion=fusion)
    assert any(kernel.prepare for kernel in model.lowering.program().kernels) == (fusion == "none")
    with pytest.raises(TinycError, match="the weights 'w' have not been set"):
        model.emit_library(tmp_path / "lib.so")
    model.set_weights({"w": np.full(4, 2, np.float32)})
    inputs = {"x": np.arange(12, dtype=np.float32).reshape(3, 4)}
    outputs, own = outputs_by_library(model, inputs, tmp_path / "lib.so")
    assert outputs["y"].tobytes() == own["y"].tobytes()
    np.testing.assert_array_equal(outputs["y"], inputs["x"] + [2, 4, 6, 8])


def test_an_index_that_is_out_of_range_is_told(tmp_path):
    model = tinyc.compile(EXAMPLES / "gather.json", bind={"V": 9, "D": 5, "B": 2, "T": 3})
    library = Library(model, tmp_path / "lib.so")
    arrays = {"table": np.zeros((9, 5), np.float16), "index": np.full((2, 3), 9, np.int32)}
    assert library.run({**arrays, "y": np.zeros((2, 3, 5), np.float16)}, {}) == 4
    assert "index 9 in kernel" in library.error
    assert "is outside axis 0 of extent 9" in library.error
    arrays["index"][:] = 8
    assert library.run({**arrays, "y": np.zeros((2, 3, 5), np.float16)}, {}) == 0
    library.free()


def test_assumptions_are_checked(tmp_path):
    document = {
        "uops": [
            {"id": "x", "uop": "INPUT", "src": [], "arg": {"tensor_id": "x", "dtype": "fp32", "shape": ["M"]}},
            {"id": "p", "uop": "POOL", "src": ["x"], "arg": {"kernel": [3]}},
            {"id": "y", "uop": "REDUCE", "src": ["p"], "arg": {"op": "SUM", "axes": [1], "dtype": "fp32"}},
        ]
    }
    library = Library(tinyc.compile(document), tmp_path / "lib.so")
    arrays = {"x": np.arange(8, dtype=np.float32), "y": np.zeros(8, np.float32)}
    assert library.run(arrays, {"M": 1}) == 2
    assert "the program needs" in library.error or "would have" in library.error
    assert library.run(arrays, {"M": 5}) == 0
    assert list(arrays["y"][:3]) == [3, 6, 9]
    library.free()


def test_a_library_may_be_for_a_plain_cpu(tmp_path):
    model = tinyc.compile(MLP)
    inputs = {
        "x": np.ones((3, 4), np.float32),
        "w1": np.full((4, 24), 0.5, np.float32),
        "w2": np.ones((24, 3), np.float32),
    }
    outputs, _ = outputs_by_library(model, inputs, tmp_path / "lib.so", cpu="x86-64")
    assert (outputs["y"] == 48).all()


@pytest.mark.parametrize("cpu", ["v4+amx", "v4+avx512bf16", "v4+avx512vnni", "v3+avxvnni", "v3+avxvnniint8"])
def test_a_library_for_a_cpu_with_more_says_where_that_is_not_there(tmp_path, cpu):
    path, header = tinyc.compile(MLP).emit_library(tmp_path / "lib.so", "lib", cpu=cpu)
    unsupported = re.search(r"LIB_UNSUPPORTED_CPU = (\d+)", header.read_text())
    assert unsupported
    code, model = ctypes.CDLL(str(path)), ctypes.c_void_p()
    flags = cpu_features.flags_of(cpu_features.level_features(f"x86-64-{cpu}"))
    expected = 0 if set(flags) <= cpu_features._machine_flags() else int(unsupported[1])
    assert code.lib_init(ctypes.byref(model)) == expected


def test_a_library_looks_for_all_that_a_cpu_may_have_more():
    """Of AMX, tiles alone: what has them has both kinds of products."""
    features = {each for level in cpu_features._EXTENSIONS.values() for more in level.values() for each in more}
    found = _FEATURES.keys() | set(cpu_features.flags_of(["amx-bf16", "amx-int8"]))
    assert set(cpu_features.flags_of(sorted(features))) <= found


def test_a_machine_without_tiles_refuses_them_by_their_name():
    """What `init` asks Linux, where all else is there."""
    interface = CInterface(tinyc.compile(MLP).lowering.program(), "lib")
    checks = _feature_checks(interface, [TILES])
    assert checks[0] == "extern long syscall(long number, ...);"
    assert checks[1].startswith("if (!(syscall(158, 4131, 18) == 0)) return fail(LIB_UNSUPPORTED_CPU")


def test_repeated_runs_keep_one_arena(tmp_path):
    """The arena of a run is the next one's: glibc hands out no more memory after the first."""
    library = Library(tinyc.compile(MLP), tmp_path / "lib.so")
    arrays = {
        "x": np.ones((512, 64), np.float32),
        "w1": np.ones((64, 24), np.float32),
        "w2": np.ones((24, 3), np.float32),
        "y": np.zeros((512, 3), np.float32),
    }
    libc = ctypes.CDLL(None)

    class Mallinfo2(ctypes.Structure):
        _fields_ = [(name, ctypes.c_size_t) for name in MALLINFO2]

    libc.mallinfo2.restype = Mallinfo2
    assert library.run(arrays, {"M": 512, "K": 64}) == 0
    before = libc.mallinfo2()
    for _ in range(1000):
        library.run(arrays, {"M": 512, "K": 64})
    after = libc.mallinfo2()
    assert after.uordblks + after.hblkhd - before.uordblks - before.hblkhd < 16384
    library.free()


def refused(name, **options):
    with pytest.raises(TinycError) as caught:
        tinyc.compile(MLP).emit_library(**{"path": "lib.so", **options})
    assert caught.value.name == name
    return str(caught.value)


def test_what_cannot_be_written_is_refused(monkeypatch, tmp_path):
    assert "ends in .so" in refused("UnreadableFile", path=tmp_path / "lib.a")
    (tmp_path / "file").write_text("")
    assert "cannot be written" in refused("UnreadableFile", path=tmp_path / "file" / "lib.so")
    assert "no identifier of C" in refused("InvalidOption", prefix="a b")
    assert "no identifier of C" in refused("InvalidOption", prefix="int")
    assert "'cpu' is 'foo'; choose" in refused("UnsupportedTarget", path=tmp_path / "lib.so", cpu="foo")
    with pytest.raises(TinycError, match="for 'sim'; compile it for 'cpu'"):
        tinyc.compile(MLP, target="sim").emit_library(tmp_path / "lib.so")
    monkeypatch.setenv("CC", "no-compiler")
    assert "CC names 'no-compiler', which is no program" in refused("NoCompiler", path=tmp_path / "lib.so")
    monkeypatch.setenv("CC", 'gcc "')
    assert "CC is 'gcc \"', no command" in refused("NoCompiler", path=tmp_path / "lib.so")
    monkeypatch.setenv("CC", "false")
    assert "'/usr/bin/false' compiles no C program: it says nothing; install" in refused(
        "NoCompiler", path=tmp_path / "lib.so"
    )
    monkeypatch.setenv("CC", "gcc -Wl,-l-no-such-library")
    assert "fails with status 1" in refused("NoCompiler", path=tmp_path / "lib.so")
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "there is no cc, gcc or clang on PATH" in refused("NoCompiler", path=tmp_path / "lib.so")


@pytest.mark.parametrize("prefix", ["size", "int8", "pthread_mutex"])
def test_a_prefix_that_names_a_type_of_c_is_refused(tmp_path, prefix):
    assert f"{prefix}_t is a name of C's own headers" in refused("InvalidOption", path=tmp_path / "l.so", prefix=prefix)


def test_names_that_c_has_a_meaning_for_are_the_users(tmp_path):
    x, y = (tensor(name, "M", "K") for name in ("NULL", "%s%n"))
    model = tinyc.compile(program(x, y, node("EOF", "ADD", "NULL", "%s%n")))
    _, header = model.emit_library(tmp_path / "l.so", prefix="arena")
    assert "const float *NULL_1;" in header.read_text()
    assert "float *EOF_1;" in header.read_text()
    library = ctypes.CDLL(str(tmp_path / "l.so"))
    assert all(hasattr(library, f"arena_{name}") for name in ("init", "run", "free", "required_memory", "error"))
    assert not hasattr(library, "kernel_main")


def test_a_name_in_a_message_is_no_format(tmp_path):
    document = program(tensor("%s%lld", "M", 4), node("y", "SHRINK", "%s%lld", lo=[2, 0], hi=["M", 4]))
    lines = tinyc.compile(document).text("exec").splitlines()
    unchecked = "\n".join(line for line in lines if "exec.assume" not in line)
    tinyc.compile(unchecked).emit_library(tmp_path / "l.so")
    library = ctypes.CDLL(str(tmp_path / "l.so"))
    library.model_error.restype = ctypes.c_char_p
    library.model_required_memory.restype = ctypes.c_int64
    params = (ctypes.c_int64 * 8)(0, 0, 1)  # M is 1, and the result would have -1 rows
    assert library.model_required_memory(params) == -1
    assert b"would have -1 elements" in library.model_error()


def test_what_a_link_refers_to_is_replaced(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "lib.so").symlink_to(tmp_path / "kept" / "lib.so.1")
    tinyc.compile(MLP).emit_library(tmp_path / "lib.so")
    assert (tmp_path / "lib.so").is_symlink()
    assert os.access(tmp_path / "kept" / "lib.so.1", os.X_OK), "as linkers leave it"
    ctypes.CDLL(str(tmp_path / "lib.so"))


def test_the_command_line_writes_one(tmp_path, capsys):
    library = tmp_path / "softmax.so"
    assert cli.main(["compile", str(EXAMPLES / "softmax.json"), "--emit-lib", str(library), "--prefix", "softmax"]) == 0
    assert f"library  {library}" in capsys.readouterr().out
    assert "int softmax_run(softmax_t *model, const softmax_params *params);" in library.with_suffix(".h").read_text()
    with pytest.raises(SystemExit):
        cli.main(["compile", str(EXAMPLES / "softmax.json"), "--prefix", "softmax"])
    assert "--prefix: it is about a C library; give --emit-lib, too" in capsys.readouterr().err


def test_a_library_for_aarch64_gives_the_same_numbers_there(tmp_path, monkeypatch):
    tools = [shutil.which(name) for name in ("aarch64-linux-gnu-gcc", "qemu-aarch64")]
    if None in tools:
        pytest.skip("did not run: there is no aarch64-linux-gnu-gcc, or no qemu-aarch64")
    monkeypatch.setenv("CC", "aarch64-linux-gnu-gcc")
    model = tinyc.compile(MLP, bind={"M": 20, "K": 30})
    model.emit_library(tmp_path / "mlp.so", cpu="aarch64")
    rng = np.random.default_rng(0)
    shapes = {"x": (20, 30), "w1": (30, 24), "w2": (24, 3)}
    arrays = {name: rng.standard_normal(shape, np.float32) for name, shape in shapes.items()}
    (tmp_path / "in").write_bytes(b"".join(each.tobytes() for each in arrays.values()))
    (tmp_path / "main.c").write_text(
        """#include "mlp.h"
        #include <stdio.h>
        int main(void) {
          static float x[600], w1[720], w2[72], y[60];
          model_t *model;
          model_params params = {x, w1, w2, y};
          if (fread(x, 4, 600, stdin) + fread(w1, 4, 720, stdin) + fread(w2, 4, 72, stdin) != 1392) return 1;
          if (model_init(&model) || model_run(model, &params)) return 2;
          return fwrite(y, 4, 60, stdout) != 60;
        }"""
    )
    subprocess.run([tools[0], "main.c", "./mlp.so", "-o", "main"], cwd=tmp_path, check=True)
    command = [tools[1], "-L", "/usr/aarch64-linux-gnu", "./main"]
    given = (tmp_path / "in").read_bytes()
    done = subprocess.run(command, cwd=tmp_path, check=True, input=given, capture_output=True)
    (expected,) = model.run_named(arrays).values()
    np.testing.assert_allclose(np.frombuffer(done.stdout, np.float32).reshape(20, 3), expected, 1e-5)


def test_a_compiler_for_another_architecture_is_told(tmp_path, compiler):
    machine = subprocess.run([compiler, "-dumpmachine"], capture_output=True, text=True, check=True).stdout
    if not machine.startswith("x86_64"):
        pytest.skip(f"did not run: cc links for {machine.strip()}")
    with pytest.raises(TinycError, match=r"links for x86_64.*, and the kernels are for aarch64; name a compiler"):
        tinyc.compile(MLP).emit_library(tmp_path / "mlp.so", cpu="aarch64")
