"""Alternatives of kernels for sizes that are known: launched at these sizes and at no others, on every device."""

import json
import re

import numpy as np
import pytest

import tinyc
from parameters import in_turn
from programs.agreement import assert_agree
from programs.example_bindings import BIND, EXAMPLES
from programs.strategies import programs
from tinyc.diagnostics import TinycError
from tinyc.dialects.region.kernel import kernels_of
from tinyc.dialects.region.plan import plan_of_kernel
from tinyc.executors import reference
from tinyc.executors.random_inputs import random_inputs
from tinyc.runtime.sizes import solve_symbols

SOFTMAX = EXAMPLES / "softmax.json"
#: Examples whose inputs have symbols, in the order in which the exporter would bind them.
SYMBOLIC = (
    "gather",
    "gemm_000",
    "gemm_001",
    "gemm_bias_relu",
    "layer_norm",
    "mlp_gelu_000",
    "softmax",
    "topk",
    "attention",
)


def launched(model, **values):
    """The kernels that are launched at some sizes."""
    return [each.symbol for each in model.lowering.program().launches_at(values)]


def test_an_alternative_is_launched_at_its_sizes_and_nowhere_else():
    model = tinyc.compile(SOFTMAX, sizes=[{"M": 7, "N": 33}, {"M": 5}, {"M": 7, "N": 33}])
    (kernel,) = model.lowering.program().kernels
    name = kernel.symbol
    assert [each.symbol for each in kernel.launches] == [name, f"{name}_M7_N33", f"{name}_M5"]
    assert launched(model, M=7, N=33) == [f"{name}_M7_N33"]
    assert launched(model, M=5, N=33) == [f"{name}_M5"]
    assert launched(model, M=7, N=34) == launched(model, M=6, N=33) == [name]


@in_turn("name", "target", SYMBOLIC, ["cpu", "sim"])
def test_an_example_agrees_at_the_sizes_of_an_alternative_and_at_others(name, target):
    sizes = {symbol: size for symbol, size in BIND[name].items() if symbol in open_symbols(name)}
    model = tinyc.compile(EXAMPLES / f"{name}.json", target=target, sizes=[sizes])
    program = model.lowering.program()
    assert all(kernel.alternatives for kernel in program.kernels)
    for bind in (sizes, {symbol: size + 1 for symbol, size in sizes.items()}):
        bound = tinyc.compile(EXAMPLES / f"{name}.json", target="reference", bind=bind)
        module = bound.lowering.module("tiny")
        inputs = random_inputs(module, 0)
        expected = bound.run_named(inputs)
        for output, array in model.run_named(inputs).items():
            np.testing.assert_allclose(array.astype(np.float64), expected[output].astype(np.float64), 1e-2, 1e-2)
        chosen = program.launches_at(solve_symbols(program, [inputs[each].shape for each in program.inputs]))
        assert all(
            ("_M" in each.symbol or "_B" in each.symbol or "_V" in each.symbol) == (bind is sizes) for each in chosen
        )


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_a_class_of_sizes_has_a_kernel_of_its_own(arch):
    """At most 16 rows: another tile, which both rows that are aligned and others have."""
    model = tinyc.compile(EXAMPLES / "gemm_bias_relu.json", target="sim", arch=arch, sizes=[{"M": "<=16"}])
    plans = {name: plan_of_kernel(kernel) for name, kernel in kernels_of(model.lowering.module("plan")).items()}
    few, any_number = plans["matmul_add_relu_cast_Mle16"], plans["matmul_add_relu_cast"]
    assert few.tile[0] <= 16 < any_number.tile[0]
    random = np.random.default_rng(3)
    for m, k, n in ((16, 64, 72), (1, 61, 67), (17, 64, 72)):
        x, w, bias = (random.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n), (n,)))
        of_class, aligned = "_Mle16" if m <= 16 else "", "_aligned" if k % 8 == 0 else ""
        assert launched(model, M=m, K=k, N=n)[-1] == f"matmul_add_relu_cast{of_class}{aligned}"
        expected = np.maximum(x.astype(np.float32) @ w.astype(np.float32) + bias, 0)
        np.testing.assert_allclose(model(X=x, W=w, bias=bias).astype(np.float32), expected, 1e-3, 1e-3)


def test_the_first_set_that_a_run_has_decides():
    model = tinyc.compile(SOFTMAX, sizes=[{"M": 7}, {"M": "<=64"}, {"N": "<=8"}])
    (kernel,) = model.lowering.program().kernels
    name = kernel.symbol
    assert launched(model, M=7, N=3) == [f"{name}_M7"]
    assert launched(model, M=0, N=3) == launched(model, M=64, N=900) == [f"{name}_Mle64"]
    assert launched(model, M=65, N=8) == [f"{name}_Nle8"]
    assert launched(model, M=65, N=9) == [name]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([{"M": "<=64"}, {"M": 7}], "'sizes' has M=7 behind M<=64, which holds wherever it does; put it in front"),
        ([{"M": "<64"}], "'sizes' has M = '<64'; give an integer in 0 … 2^63 - 1, or what it is at most, '<=64'"),
        ([{"Q": "<=64"}], "'sizes': the inputs have no symbol 'Q'; they have 'M', 'N'"),
    ],
)
def test_a_class_of_sizes_that_makes_no_sense_is_refused(sizes, message):
    with pytest.raises(TinycError, match=re.escape(message)):
        tinyc.compile(SOFTMAX, sizes=sizes)


def open_symbols(name):
    """The symbols of the inputs of an example."""
    program = tinyc.compile(EXAMPLES / f"{name}.json").lowering.program()
    return {str(extent) for buffer in program.of_kind("input") for extent in buffer.shape}


@pytest.mark.parametrize(("target", "count"), [("cpu", 10), ("sim", 4)])
def test_random_programs_agree_with_alternatives_for_their_sizes(target, count, random_examples):
    @random_examples(programs(), count)
    def check(program):
        document = json.dumps(program.document)
        plain = tinyc.compile(document, bind=program.bind).lowering
        host = plain.program()
        shapes = [program.inputs[name].shape for name in host.inputs]
        sizes = {name: size for name, size in solve_symbols(host, shapes).items() if "." not in name}
        inner = {str(each) for buffer in host.of_kind("input") for each in buffer.shape}
        sets = [{name: size for name, size in sizes.items() if name in inner}]
        model = tinyc.compile(document, target=target, bind=program.bind, sizes=[each for each in sets if each])
        module = model.lowering.module("tiny")
        assert_agree(program, model.run(**program.inputs), reference.evaluate_module(module, program.inputs), module)

    check()


def test_a_c_library_has_the_alternatives():
    """`kernel_impl`, which a C library calls, chooses as the runtime does."""
    model = tinyc.compile(SOFTMAX, sizes=[{"M": 7, "N": 33}])
    text = model.text("llvm")
    assert text.count("_M7_N33") >= 2
    assert "icmp eq i64" in text[text.index("kernel_impl") :]


def test_cuda_text_chooses_among_the_alternatives():
    text = tinyc.compile(SOFTMAX, target="cuda", sizes=[{"M": 7, "N": 33}]).text("cu")
    assert "if (M == 7 && N == 33) {" in text


def test_a_kernel_in_parts_has_no_alternatives():
    document = {
        "uops": [
            {"id": "x", "uop": "INPUT", "src": [], "arg": {"tensor_id": "x", "dtype": "fp32", "shape": ["M", "N"]}},
            {"id": "y", "uop": "REDUCE", "src": ["x"], "arg": {"op": "SUM", "axes": [1], "dtype": "fp32"}},
        ]
    }
    model = tinyc.compile(document, target="sim", sizes=[{"M": 1, "N": 2**20}, {"M": 4096, "N": 64}])
    (told,) = [each for each in model.remarks if each.code == "alternative-left-out"]
    assert "takes rows in parts, which is two kernels" in told.message
    (kernel,) = model.lowering.program().kernels
    assert [each.symbol for each in kernel.alternatives] == [f"{kernel.symbol}_M4096_N64"]


def refused(sizes, source=SOFTMAX, **options):
    with pytest.raises(TinycError) as caught:
        tinyc.compile(source, sizes=sizes, **options)
    return caught.value


def test_what_is_no_set_of_sizes_is_refused():
    assert refused({"M": 3}).name == "InvalidOption"
    assert refused([3]).name == "InvalidOption"
    assert refused([{"M": -1}]).name == "InvalidExtent"
    assert "the inputs have no symbol 'Q'; they have 'M', 'N'" in str(refused([{"Q": 3}]))
    assert refused([{"M": size} for size in range(17)]).name == "InvalidOption"
    region = tinyc.compile(SOFTMAX).text("region")
    assert "leave 'sizes' out" in str(refused([{"M": 3}], source=region))
    with pytest.raises(TinycError, match="reads as no size; write sizes of symbols"):
        tinyc.pipeline.parse("region-specialize{sizes=M}").run(tinyc.text.parse(region))


def test_sizes_at_which_a_program_cannot_run_are_refused():
    document = {
        "uops": [
            {"id": "x", "uop": "INPUT", "src": [], "arg": {"tensor_id": "x", "dtype": "fp32", "shape": ["M"]}},
            {"id": "y", "uop": "RESHAPE", "src": ["x"], "arg": {"result_shape": ["K", 4]}},
        ]
    }
    error = refused([{"M": 6, "K": 2}], source=document)
    assert error.name in ("AssumptionViolated", "UnboundSymbol"), error
