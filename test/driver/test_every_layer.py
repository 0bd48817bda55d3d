"""The dump of every layer is a program: it runs as the one that it was made of, or says what is missing."""

import re

import numpy as np
import pytest

import tinyc
from parameters import in_turn
from programs.example_bindings import BIND, EXAMPLES
from tinyc import TinycError
from tinyc.driver.listings import LAST_LISTING, LISTINGS
from tinyc.driver.sources import read_program
from tinyc.executors.random_inputs import random_inputs

#: Examples whose sizes stay open, with status slots, several kernels and 16-bit floats among them.
OPEN = ("gather", "gemm_bias_relu", "softmax", "topk")


def dumped(example, target, folder, bind=None):
    """Compile an example, its layers written to a folder; return the model, inputs and the files in walk order."""
    path = EXAMPLES / f"{example}.json"
    inputs = random_inputs(read_program(path, BIND[example]), 0)
    return tinyc.compile(path, target, bind=bind, dump=folder), inputs, sorted(folder.iterdir())


def refusal(source, **options):
    with pytest.raises(TinycError) as caught:
        tinyc.compile(source, **options)
    return caught.value


@in_turn("example", "target", OPEN, ["cpu", "sim"])
def test_a_dump_runs_and_lowers_as_what_it_was_made_of(example, target, tmp_path):
    model, inputs, files = dumped(example, target, tmp_path)
    values, layers = {}, []
    expected = model.run_named(inputs, observe=values.__setitem__)
    for file in files:
        if file.suffix in (".cu", ".s"):
            continue
        again = tinyc.compile(file, target)
        layers.append(again.lowering.entry)
        assert again.text(LAST_LISTING[target]) == model.text(LAST_LISTING[target]), file.name
        assert again.signature == model.signature, file.name
        if again.lowering.entry not in ("region", "plan", "gpu"):  # whose kernels are the same: their code is
            seen = {}
            for name, array in again.run_named(inputs, observe=seen.__setitem__).items():
                np.testing.assert_array_equal(array, expected[name], err_msg=file.name)
            assert seen.keys() == values.keys(), file.name
            nodes = [kernel.where.node for kernel in again.lowering.program().kernels]
            assert nodes == [kernel.where.node for kernel in model.lowering.program().kernels], file.name
    side_tables = {"indexbook": "tiny", "poly_view": "tiny"}
    assert layers == [side_tables.get(name, name) for name in LISTINGS[target] if name not in ("frontend", "cu", "asm")]


def test_the_host_program_stands_below_the_kernels_where_other_tools_skip_it(tmp_path):
    for target, suffix, comment in (("sim", "ptx", "//"), ("cpu", "ll", ";")):
        *_, files = dumped("softmax", target, tmp_path / target)
        (text,) = [file.read_text() for file in files if file.suffix == f".{suffix}"]
        code, mark, host = text.partition(f"{comment} The host program, which launches these kernels")
        assert mark
        assert "exec.function" in host
        assert "exec.function" not in code
        assert all(line.startswith(comment) for line in host.split("\n")[1:-1])


@pytest.mark.parametrize("listing", ["gpu", "exec", "nvvm", "ptx", "cpu exec", "loops", "llvm"])
def test_a_lowered_program_assumes_the_sizes_that_are_bound(listing):
    *on_cpu, layer = listing.split()
    target = "cpu" if on_cpu or layer in ("loops", "llvm") else "sim"
    text = tinyc.compile(EXAMPLES / "softmax.json", target).text(layer)
    bound = tinyc.compile(text, target, bind={"M": 3, "N": 5})
    inputs = random_inputs(bound.lowering.module(bound.lowering.entry), 0)
    assert inputs["X"].shape == (3, 5)
    assert bound.run_named(inputs)["y"].shape == (3, 5)
    with pytest.raises(TinycError, match="the program needs M == 3, and that is 4 and 3") as caught:
        bound(np.ones((4, 5), np.float32))
    assert caught.value.name == "AssumptionViolated"
    unknown = refusal(text, target=target, bind={"Q": 1})
    assert (unknown.name, unknown.message) == ("UnboundSymbol", "bind: the program has no symbol 'Q'; it has 'M', 'N'")


@pytest.mark.parametrize(("target", "layer"), [("cpu", "exec"), ("cpu", "llvm"), ("sim", "nvvm"), ("sim", "ptx")])
def test_a_lowered_program_says_which_inputs_are_indices(target, layer):
    sizes = BIND["gather"]
    text = tinyc.compile(EXAMPLES / "gather.json", target).text(layer)
    module = tinyc.compile(text, target, bind=sizes).lowering.module(layer)
    (index,) = [array for array in random_inputs(module, 0).values() if array.dtype.kind == "i"]
    assert index.min() >= 0
    assert index.max() < sizes["V"]
    model = tinyc.compile(text, target)
    wrong = {name: array - 99 * (array.dtype.kind == "i") for name, array in random_inputs(module, 0).items()}
    with pytest.raises(TinycError, match="index -9") as caught:
        model.run_named(wrong)
    assert (caught.value.name, caught.value.where.node) == ("IndexOutOfRange", "y")


@pytest.mark.parametrize("layer", ["gpu", "ptx"])
def test_sizes_that_contradict_what_a_program_assumes_are_refused(layer):
    bound = tinyc.compile(tinyc.compile(EXAMPLES / "softmax.json", "sim").text(layer), "sim", bind={"M": 3}).text(layer)
    error = refusal(bound, target="sim", bind={"M": 4})
    assert error.name == "AssumptionViolated"
    assert "the program relies on M == 3, and M = 4 makes it 4 and 3" in error.message
    again = tinyc.compile(bound, "sim", bind={"M": 3})
    assert again.text("ptx").count("exec.assume") == tinyc.compile(bound, "sim").text("ptx").count("exec.assume")


@pytest.mark.parametrize("symbol", ["a b", "é", "a\\22b", "a$b", "a(b"])
def test_a_kernel_may_be_called_anything(symbol):
    text = tinyc.compile(EXAMPLES / "softmax.json", "cpu", fusion="none").text("region")
    odd = text.replace('"reduce_max"', f'"{symbol}"').replace("@reduce_max", f'@"{symbol}"')
    assert odd != text
    model = tinyc.compile(odd)
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(tinyc.compile(model.text("llvm"))(x), model(x))


def test_names_that_look_like_code_are_names():
    program = {
        "uops": [
            {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "X", "dtype": "fp32", "shape": [3]}},
            {"id": "__global__", "uop": "RELU", "src": ["x"]},
        ]
    }
    for target in ("cpu", "sim"):
        model = tinyc.compile(program, target)
        for layer in model.layers:
            assert tinyc.compile(model.text(layer), target).signature == model.signature, layer


def test_where_ptx_says_its_target_comments_do_not():
    text = tinyc.compile(EXAMPLES / "softmax.json", "sim").text("ptx")
    for written in (
        "/*\n.target sm_70\n*/\n.version 8.0\n.target sm_80",
        "// .target sm_70\n.version 8.0\n\t.target sm_80",
        ".version 8.0 .target sm_80",
    ):
        model = tinyc.compile(text.replace(".version 8.0\n.target sm_80", written), "sim")
        assert ", sm_80, " in repr(model), written
    error = refusal(text.replace(".target sm_80", ".target sm_89"), target="cuda")
    assert "the PTX is for sm_89, and what runs on a GPU is for sm_80 or sm_90a" in error.message


def test_the_suffix_of_a_file_says_what_it_is(tmp_path):
    for name, message in (
        ("k.ptx", "dump ptx writes"),
        ("k.ll", "dump llvm writes"),
        ("k.cu", "nvcc FILE.cu"),
        ("k.s", "to be read"),
    ):
        file = tmp_path / name
        file.write_text("/* nothing */\n")
        error = refusal(file)
        assert message in error.message
        assert error.where.file == str(file)


def test_line_info_is_of_the_gpu_layer(tmp_path):
    for layer in ("exec", "nvvm", "ptx"):
        text = tinyc.compile(EXAMPLES / "softmax.json", "sim").text(layer)
        error = refusal(text, target="sim", line_info=tmp_path)
        assert f"read at layer '{layer}', and .loc is of layer 'gpu'; leave 'line_info' out" in error.message


def test_what_is_wrong_with_a_dump_and_its_options_names_the_file(tmp_path):
    file = tmp_path / "softmax.ptx"
    file.write_text(tinyc.compile(EXAMPLES / "softmax.json", "sim").text("ptx"))
    for options in ({"target": "cpu"}, {"target": "sim", "arch": "sm_90a"}, {"target": "sim", "bind": {"Q": 3}}):
        assert str(refusal(file, **options)).startswith(f"{file}: error: ")


def test_kernels_that_do_not_take_what_their_launches_pass_are_refused():
    model = tinyc.compile(EXAMPLES / "softmax.json", fusion="none")
    for layer, message in (("loops", "its launch contract asks for"), ("llvm", "its launch contract passes 2 ptr and")):
        text = model.text(layer).replace('#exec.extent<"M">, ', "", 1)
        error = refusal(text)
        assert (error.name, error.where.node) == ("InvalidIr", "reduce_max"), layer
        assert message in error.message
    text = model.text("exec").replace('grid = ["M", 1, 1]', 'grid = ["M + 3000", 1, 1]', 1)
    error = refusal(text)
    assert "@reduce_max has a grid of [M + 3000, 1, 1], and its region one of [M, 1, 1]" in error.message


def test_kernels_without_their_host_program_are_refused_with_the_file_that_has_it(tmp_path):
    sim, cpu = (tinyc.compile(EXAMPLES / "softmax.json", target) for target in ("sim", "cpu"))
    for model, target, layer in ((sim, "sim", "ptx"), (cpu, "cpu", "llvm")):
        file = tmp_path / f"kernels.{layer}"
        file.write_text("".join(line for line in model.text(layer).splitlines(True) if "| " not in line[:4]))
        error = refusal(file, target=target)
        assert error.where.file == str(file)
        assert f"the file that tinyc compile --dump {layer} writes" in error.message
    for model, target, layer in ((sim, "sim", "nvvm"), (cpu, "cpu", "loops")):
        kernels, _, _ = model.text(layer).partition('  "exec.function"')
        assert refusal(kernels + "}", target=target).name == "InvalidIr"
    kernels, _, _ = cpu.text("loops").partition('  "exec.function"')
    assert "the kernels are at layer 'loops', and there is no exec.function" in refusal(kernels + "}").message
    kernels, _, _ = sim.text("nvvm").partition('  "exec.function"')
    message = refusal(kernels + "}", target="sim").message
    assert "the kernels are at layer 'nvvm', and there is no exec.function" in message
    assert "tinyc compile --dump nvvm" in message


def test_a_host_program_without_its_kernels_is_refused():
    text = tinyc.compile(EXAMPLES / "softmax.json", "sim", fusion="none").text("ptx")
    error = refusal(text.replace(".entry reduce_max(", ".entry reduce_min("), target="sim")
    assert "there is no kernel @reduce_max in the module; it has @reduce_min" in error.message
    text = tinyc.compile(EXAMPLES / "softmax.json", "cpu", fusion="none").text("llvm")
    error = refusal(text.replace("@kernel.reduce_max(", "@kernel.reduce_min("), target="cpu")
    assert "there is no kernel @reduce_max in the module; it has @reduce_min" in error.message


def test_an_error_in_the_host_program_has_its_place_in_the_file(tmp_path):
    file = tmp_path / "kernels.ptx"
    text = tinyc.compile(EXAMPLES / "softmax.json", "sim").text("ptx")
    file.write_text(text.replace('kind = "output"', 'kind = "outputs"'))
    (line,) = [number for number, each in enumerate(file.read_text().split("\n"), 1) if '"outputs"' in each]
    error = refusal(file, target="sim")
    assert (error.where.file, error.where.line) == (str(file), line)


@pytest.mark.parametrize(("layer", "reached"), [("exec", "sim"), ("nvvm", "sim"), ("ptx", "sim"), ("loops", "cpu")])
def test_a_program_on_its_way_to_one_target_is_refused_for_another(layer, reached):
    text = tinyc.compile(EXAMPLES / "softmax.json", reached).text(layer)
    error = refusal(text, target="cpu" if reached == "sim" else "sim")
    assert error.name == "UnsupportedTarget"
    ways = "'sim' or 'cuda'" if reached == "sim" else "'cpu'"
    assert f"use target {ways}, or an earlier layer" in error.message


def test_a_layer_that_a_dump_lies_behind_is_not_to_be_had(tmp_path):
    nvvm = tinyc.compile(tinyc.compile(EXAMPLES / "softmax.json", "sim").text("nvvm"), "sim")
    assert nvvm.layers == ("nvvm", "ptx")
    with pytest.raises(TinycError, match="was read at layer 'nvvm' and has no layer 'region'; it has nvvm, ptx"):
        nvvm.lowering.dump(tmp_path, ("region", "ptx"))
    assert not list(tmp_path.iterdir())


def test_ops_that_no_layer_has_are_refused():
    linalg = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { %y = linalg.exp ins(%x : tensor<4xf32>) "
    error = refusal(f"{linalg} outs(%x : tensor<4xf32>) -> tensor<4xf32>\n return %y : tensor<4xf32> }}")
    assert "the module is at layer 'tiny', and has ops of linalg" in error.message


def test_cuda_text_is_refused_with_what_compiles_it(tmp_path):
    file = tmp_path / "softmax.cu"
    file.write_text(tinyc.compile(EXAMPLES / "softmax.json", "sim").text("cu"))
    assert "nvcc FILE.cu" in refusal(file).message


@pytest.mark.parametrize(
    ("target", "layer", "written", "message"),
    [
        ("cpu", "llvm", ("fsub float", "fsub double"), "LLVM does not take the kernels: LLVM IR parsing error"),
        ("cpu", "llvm", (r"(phi i64 \[ [^]]+ \]), \[[^]]+\]", r"\1"), "PHINode should have one entry"),
        ("sim", "ptx", ("ret;", "ret"), "expected an operand, found '}'"),
        ("sim", "ptx", (r"\.target", "// target"), "the PTX does not say which GPU it is for"),
    ],
)
def test_code_that_does_not_read_is_an_error_of_its_file(target, layer, written, message, tmp_path):
    file = tmp_path / layer
    file.write_text(re.sub(*written, tinyc.compile(EXAMPLES / "softmax.json", target).text(layer)))
    error = refusal(file, target=target)
    assert error.name in ("InvalidIr", "InvalidPtx")
    assert message in error.message
    assert error.where.file == str(file)
    if "PHINode" not in message and "GPU" not in message:
        assert error.where.line > 1
