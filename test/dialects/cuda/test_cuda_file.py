"""CUDA files: nvcc compiles them; on the CPU, each thread being a fiber, `main` finds no error, or the one there is."""

import json
import re

import numpy as np
import pytest

from cuda_on_host import as_one_file, build, compile_for_gpu, run, run_on
from programs.example_bindings import CONV, EXAMPLES
from programs.strategies import programs
from tinyc.analysis.graphs import main_function
from tinyc.diagnostics import TinycError
from tinyc.dialects.gpu.expand.lowering import GpuExpand
from tinyc.dialects.gpu.to_cuda import GpuToCuda, cuda_text
from tinyc.dialects.region.plan import RegionPlan, candidates_of
from tinyc.dialects.region.to_exec.lowering import RegionToExec
from tinyc.dialects.region.to_gpu.lowering import RegionToGpu
from tinyc.dialects.tiny.to_region import TinyToRegion
from tinyc.executors import reference
from tinyc.executors.compare import compare
from tinyc.executors.rounding import output_tolerances
from tinyc.executors.signature import signature_of, symbol_values
from tinyc.executors.tolerance import Tolerance
from tinyc.importers import tiny_json
from tinyc.passes.runner import run_passes
from tinyc.plan.key import region_key
from tinyc.target import SM80
from tinyc.text import parse
from tinyc.vocabulary.element_type import ElementType

#: What has to be bound; the other symbols are options of the program.
BIND = {"conv2d": {"Cin_total": 4, "Cin": 2, "Cout": 6, **CONV}, "cumulative_sum": {"K": 7}}
NUMPY = {element.json_name: element.dtype for element in ElementType if not element.is_bool}
#: One scatter that adds for each type of numbers.
ADDITIONS = {
    "uops": [
        {"id": "at", "uop": "INPUT", "arg": {"tensor_id": "at", "dtype": "i64", "shape": [4]}},
        *(
            node
            for dtype in NUMPY
            for node in (
                {"id": f"x{dtype}", "uop": "INPUT", "arg": {"tensor_id": f"x_{dtype}", "dtype": dtype, "shape": [5]}},
                {"id": f"u{dtype}", "uop": "INPUT", "arg": {"tensor_id": f"u_{dtype}", "dtype": dtype, "shape": [4]}},
                {
                    "id": f"y_{dtype}",
                    "uop": "SCATTER",
                    "src": [f"x{dtype}", "at", f"u{dtype}"],
                    "arg": {"axis": 0, "op": "ADD"},
                },
            )
        ),
    ]
}
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.json"))


RANDOM = {
    "uops": [
        {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": ["N"]}},
        {
            "id": "r",
            "uop": "RAND",
            "arg": {"distribution": "uniform", "seed": 7, "stream": 0, "dtype": "fp32", "shape": ["N"]},
        },
        {"id": "y", "uop": "ADD", "src": ["x", "r"]},
    ]
}


def gpu_module(document, bind=None):
    """The kernels of a program as a CPU runs them, too: inline PTX is for GPUs, so that none is on tensor cores."""
    module = tiny_json.import_program(document, bind=bind or {})
    run_passes(module, [TinyToRegion()])
    products = [kernel for kernel, candidate in candidates_of(module, SM80).items() if candidate.product]
    if products:
        table = {region_key(kernel.op): {"scheme": "naive_2x2_per_thread"} for kernel in products}
        run_passes(module, [RegionPlan(plan=json.dumps(table))])
    run_passes(module, [RegionToGpu()])
    return module


@pytest.fixture(scope="module")
def text_of():
    """Return the CUDA file of an example, made once."""
    texts = {}

    def text(name):
        if name not in texts:
            document = (EXAMPLES / f"{name}.json").read_text(encoding="utf-8")
            texts[name] = cuda_text(gpu_module(document, BIND.get(name)))
        return texts[name]

    return text


@pytest.fixture(scope="module")
def running_example(text_of, tmp_path_factory):
    return build(text_of("gemm_bias_relu"), tmp_path_factory.mktemp("gemm"))


def test_nvcc_compiles_the_examples_for_both_architectures(text_of, tmp_path):
    """Their headers take nvcc longer than they do, so they are one file."""
    compile_for_gpu(as_one_file({name: text_of(name) for name in NAMES}), tmp_path, "80", "90")


def test_nvcc_and_its_host_compiler_take_a_file_as_it_is(text_of, tmp_path):
    compile_for_gpu(text_of("gemm_bias_relu"), tmp_path, "80", "90", host=True)


def test_nvcc_compiles_additions_to_every_type(tmp_path):
    compile_for_gpu(cuda_text(gpu_module(json.dumps(ADDITIONS))), tmp_path, "80", "90", host=True)


def test_additions_to_every_type_are_right(tmp_path):
    """Each update is added where it belongs, in types for which the hardware has no atomic addition too."""
    inputs = {"at": np.array([2, 0, 2, 2], np.int64)}
    outputs = {}
    for dtype, kind in NUMPY.items():
        inputs[f"x_{dtype}"], inputs[f"u_{dtype}"] = np.arange(5).astype(kind), np.array([1, 2, 3, 100]).astype(kind)
        outputs[f"y_{dtype}"] = np.array([2, 1, 106, 3, 4]).astype(kind)
    ran, actual = run_on(cuda_text(gpu_module(json.dumps(ADDITIONS))), inputs, outputs, tmp_path)
    assert ran.status == 0, ran.errors
    for name, expected in outputs.items():
        np.testing.assert_array_equal(actual[name], expected)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_agrees_with_the_cpu_at_its_own_sizes(name, text_of, tmp_path):
    text = text_of(name)
    ran = run(build(text, tmp_path))
    assert (ran.errors, ran.status) == ("", 0)
    if "__shfl" not in text:  # threads that share a sum add it up in another order
        assert ran.line == "max_abs_err=0.000000"


def test_results_over_operands_are_right_in_the_kernels_and_in_what_checks_them(tmp_path):
    module = tiny_json.import_program((EXAMPLES / "layer_norm.json").read_text(encoding="utf-8"))
    run_passes(module, [TinyToRegion(fusion="none"), RegionToGpu(), RegionToExec()])
    assert str(module).count("in_place = [[") >= 5
    text = cuda_text(module)
    restricted = re.findall(r"^(?:__global__|static) void .*?{", text, re.MULTILINE | re.DOTALL)
    assert any("__restrict__" not in each for each in restricted)
    ran = run(build(text, tmp_path))
    assert (ran.errors, ran.status) == ("", 0)


def test_an_arena_is_as_large_as_the_largest_of_its_sizes(tmp_path):
    """The values of W lie where those of x come later: either may be the larger ones."""
    document = {
        "uops": [
            {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": ["M", 64]}},
            {"id": "w", "uop": "INPUT", "arg": {"tensor_id": "w", "dtype": "fp32", "shape": [64, 64]}},
            {"id": "v", "uop": "RELU", "src": ["w"]},
            {"id": "t", "uop": "REDUCE", "src": ["v"], "arg": {"op": "SUM", "axes": [0], "dtype": "fp32"}},
            {"id": "r", "uop": "RESHAPE", "src": ["t"], "arg": {"result_shape": [1, 64]}},
            {"id": "e", "uop": "EXPAND", "src": ["r"], "arg": {"result_shape": ["M", 64]}},
            {"id": "d", "uop": "SUB", "src": ["x", "e"]},
            {"id": "y", "uop": "RELU", "src": ["d"]},
        ],
        "outputs": ["y", "t"],
    }
    module = tiny_json.import_program(json.dumps(document))
    run_passes(module, [TinyToRegion(fusion="none"), RegionToGpu(), RegionToExec()])
    assert 'arena_bytes = [16384, "256*M"]' in str(module)
    program = build(cuda_text(module), tmp_path)
    for size in (1, 64, 200):
        ran = run(program, f"M={size}")
        assert (ran.errors, ran.status) == ("", 0)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (7, 5, 3), (64, 64, 32), (150, 130, 70), (0, 5, 3), (7, 5, 0)], ids=str)
def test_the_running_example_is_right_at_odd_sizes(sizes, running_example):
    ran = run(running_example, *(f"{name}={size}" for name, size in zip("MNK", sizes, strict=True)))
    assert (ran.line, ran.status) == ("max_abs_err=0.000000", 0)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("fmaf(a0, b0, acc0)", "fmaf(a0, b1, acc0)"),
        ("__syncthreads();", ""),
        ("if (inside0) {", "if (false) {"),
    ],
    ids=["another factor", "no barrier", "no store"],
)
def test_a_broken_kernel_is_found(right, wrong, text_of, tmp_path):
    text = text_of("gemm_bias_relu")
    assert right in text
    ran = run(build(text.replace(right, wrong, 1), tmp_path))
    assert ran.status == 1
    assert not ran.max_abs_err <= 1e-3
    assert "output Y is off by" in ran.errors


def test_an_index_out_of_range_is_reported(text_of, tmp_path):
    text = text_of("gather")
    assert "generator, 0, V - 1)" in text
    ran = run(build(text.replace("generator, 0, V - 1)", "generator, V, V)"), tmp_path), "V=9")
    assert ran.status == 3
    assert "gather: index 9 at [0, 0] is outside axis 0 of extent 9" in ran.errors


@pytest.mark.parametrize(
    ("argument", "message"),
    [("Q=1", "'Q=1' is no size"), ("M=x", "'M=x' is no size"), ("M=-1", "the program needs M >= 0")],
)
def test_sizes_that_make_no_sense_are_refused(argument, message, running_example):
    ran = run(running_example, argument)
    assert ran.status == 2
    assert message in ran.errors


def test_symbols_without_any_fitting_sizes_are_named():
    shape = {"tensor_id": "x", "dtype": "fp32", "shape": ["M"]}
    document = {
        "uops": [
            {"id": "x", "uop": "INPUT", "arg": shape},
            {"id": "y", "uop": "SHRINK", "src": ["x"], "arg": {"lo": ["M - 1000000007"], "hi": ["M"]}},
        ]
    }
    with pytest.raises(TinycError, match=r"none of the sizes that were tried for 'M'.*bind") as raised:
        cuda_text(gpu_module(json.dumps(document)))
    assert raised.value.name == "UnboundSymbol"


def test_a_program_without_symbols_has_its_sizes_however_large():
    document = (EXAMPLES / "gemm_bias_relu.json").read_text(encoding="utf-8")
    text = cuda_text(gpu_module(document, {"M": 32768, "N": 32768, "K": 8192}))
    assert "std::vector<half> X(268435456);" in text


def test_kernels_without_their_statements_are_refused():
    module = gpu_module((EXAMPLES / "gemm_bias_relu.json").read_text(encoding="utf-8"))
    run_passes(module, [RegionToExec(), GpuExpand()])
    with pytest.raises(TinycError, match=r"has been lowered further.*before --gpu-expand and --gpu-to-nvvm"):
        cuda_text(module)


def test_names_that_mean_something_in_cuda_are_changed(tmp_path):
    shape = {"dtype": "fp32", "shape": [3]}
    document = {
        "uops": [
            {"id": "a", "uop": "INPUT", "arg": {"tensor_id": "float", **shape}},
            {"id": "b", "uop": "INPUT", "arg": {"tensor_id": "status", **shape}},
            {"id": 'main"', "uop": "ADD", "src": ["a", "b"]},
        ]
    }
    ran = run(build(cuda_text(gpu_module(json.dumps(document))), tmp_path))
    assert (ran.line, ran.status) == ("max_abs_err=0.000000", 0)


def test_a_tensor_may_be_called_like_a_function_that_its_kernel_calls(tmp_path):
    document = (EXAMPLES / "gemm_bias_relu.json").read_text(encoding="utf-8")
    renamed = document.replace('"X"', '"fma"').replace('"W"', '"cudaFree"')
    text = cuda_text(gpu_module(re.sub('"fp(16|32)"', '"fp64"', renamed)))
    assert re.search(r" fma\(", text), "the kernel calls it"
    assert run(build(text, tmp_path)).status == 0


def test_a_printed_module_gives_the_same_file(text_of):
    document = (EXAMPLES / "gemm_bias_relu.json").read_text(encoding="utf-8")
    assert cuda_text(parse(str(gpu_module(document)))) == text_of("gemm_bias_relu")


def test_random_programs_compute_what_the_reference_does(tmp_path_factory, random_examples):
    """The kernels on the program's inputs, fiber by fiber, against numpy: not against the file's own CPU loop."""

    @random_examples(programs(), 6)
    def check(program):
        tiny = tiny_json.import_program(json.dumps(program.document), bind=program.bind)
        expected = reference.evaluate_module(tiny, program.inputs)
        text = cuda_text(gpu_module(json.dumps(program.document), program.bind))
        sizes = [f"{name}={size}" for name, size in symbols(tiny, program.inputs).items() if f'"{name}"' in text]
        ran, actual = run_on(text, program.inputs, expected, tmp_path_factory.mktemp("random"), sizes)
        assert ran.status == 0, ran.errors
        derived = output_tolerances(tiny, program.inputs)
        for name, error in program.errors.items():
            tolerance = derived[name] if error else Tolerance()
            comparison = compare(
                name, actual[name], expected[name], Tolerance(tolerance.rtol, max(tolerance.atol, error))
            )
            assert comparison.ok, f"{comparison}\n{json.dumps(program.document)}"

    check()


def symbols(module, inputs):
    return symbol_values(signature_of(main_function(module)).inputs, inputs)


def test_inputs_are_filled_alike_in_every_run(running_example):
    assert run(running_example) == run(running_example)


def test_bools_and_bytes_are_stored_as_bytes(tmp_path):
    document = {
        "uops": [
            {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "u8", "shape": [4]}},
            {"id": "y", "uop": "INPUT", "arg": {"tensor_id": "y", "dtype": "bool", "shape": [4]}},
            {"id": "s", "uop": "ADD", "src": ["x", "x"]},
            {"id": "n", "uop": "NOT", "src": ["y"]},
        ]
    }
    inputs = {"x": np.array([0, 1, 128, 255], np.uint8), "y": np.array([True, False, True, False])}
    outputs = {"s": np.zeros(4, np.uint8), "n": np.zeros(4, bool)}
    ran, actual = run_on(cuda_text(gpu_module(json.dumps(document))), inputs, outputs, tmp_path)
    assert ran.status == 0
    assert actual["s"].tolist() == [0, 2, 0, 254]
    assert actual["n"].tolist() == [False, True, False, True]


def test_a_position_that_is_known_is_a_number_of_64_bits(tmp_path):
    """The only position along an axis is a literal, which the helpers for i64 are called with."""
    document = {"uops": [{"id": "y", "uop": "IOTA", "arg": {"shape": [1], "axis": 0, "dtype": "bf16"}}]}
    ran, actual = run_on(
        cuda_text(gpu_module(json.dumps(document))), {}, {"y": np.ones(1, ElementType.BF16.dtype)}, tmp_path
    )
    assert (ran.status, actual["y"].tolist()) == (0, [0])


def test_what_else_stands_in_the_module_is_left_out(text_of):
    module = str(gpu_module((EXAMPLES / "gemm_bias_relu.json").read_text(encoding="utf-8")))
    beside = "module {\n%a = arith.constant 1.0 : f32\n%b = arith.negf %a : f32\n"
    module = parse(module.replace("module {\n", beside, 1))
    run_passes(module, [GpuToCuda()])
    assert cuda_text(module) == text_of("gemm_bias_relu")


def test_random_numbers_are_those_of_the_programs_own_seeds(tmp_path):
    x = np.zeros(300, np.float32)
    ran, found = run_on(cuda_text(gpu_module(RANDOM)), {"x": x}, {"y": x}, tmp_path, ["N=300"])
    assert (ran.status, ran.max_abs_err) == (0, 0)
    module = tiny_json.import_program(RANDOM)
    np.testing.assert_array_equal(found["y"], reference.evaluate_module(module, {"x": x})["y"])


def test_a_file_has_its_constants_and_takes_weights_as_inputs(tmp_path):
    document = {
        "uops": [
            {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": [3]}},
            {"id": "w", "uop": "INPUT", "arg": {"tensor_id": "w", "dtype": "fp32", "shape": [2, 3], "weight": True}},
            {"id": "c", "uop": "CONST", "arg": {"values": [0.5, 2, -1], "dtype": "fp32"}},
            {"id": "s", "uop": "REDUCE", "src": ["w"], "arg": {"op": "SUM", "axes": [0], "dtype": "fp32"}},
            {"id": "t", "uop": "MUL", "src": ["s", "c"]},
            {"id": "y", "uop": "ADD", "src": ["t", "x"]},
        ]
    }
    module = tiny_json.import_program(document)
    run_passes(module, [TinyToRegion(fusion="none"), RegionToGpu()])
    inputs = {"x": np.arange(3, dtype=np.float32), "w": np.arange(6, dtype=np.float32).reshape(2, 3)}
    expected = inputs["w"].sum(0) * np.array([0.5, 2, -1], np.float32) + inputs["x"]
    ran, found = run_on(cuda_text(module), inputs, {"y": expected}, tmp_path)
    assert (ran.status, ran.errors) == (0, "")
    np.testing.assert_array_equal(found["y"], expected)
