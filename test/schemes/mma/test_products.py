"""Products of every kind on the simulator, with all of its checks: no finding, and what the reference gives.

`--long` runs the full product of what CI takes in pairs; `bench/results/mma_products.txt` records it.
"""

import json
from dataclasses import replace

import numpy as np
import pytest

import tinyc
from parameters import pairwise
from programs.products import BATCHES, EPILOGUES, LAYOUTS, PROLOGUES, Product
from tinyc.executors import reference
from tinyc.executors.compare import compare
from tinyc.executors.gpu.program import ThreadsExecutable
from tinyc.executors.tolerance import Tolerance

_SPECIALISED = {"tile": [128, 64, 32], "warp_tile": "64x64", "stages": 3, "schedule": "cooperative"}
KERNELS = {
    "warps": ("sm_80", {"tile": [64, 64, 32], "warp_tile": "32x32", "stages": 3}),
    "narrow_warps": ("sm_80", {"tile": [16, 32, 64], "warp_tile": "16x16", "stages": 2}),
    "simple": ("sm_90a", {"tile": [64, 64, 32], "warp_tile": "64x64", "stages": 3, "schedule": "simple"}),
    "cooperative": ("sm_90a", {**_SPECIALISED, "cluster": [1, 1]}),
    "cluster_2x1": ("sm_90a", {**_SPECIALISED, "cluster": [2, 1]}),
    "cluster_1x2": ("sm_90a", {**_SPECIALISED, "cluster": [1, 2]}),
    "pingpong": ("sm_90a", {**_SPECIALISED, "tile": [64, 64, 32], "schedule": "pingpong"}),
    # Fewer rows than an instruction has: what is multiplied is transposed.
    "warps_transposed": ("sm_80", {"tile": [8, 64, 32], "warp_tile": "8x32", "stages": 3}),
    "simple_transposed": ("sm_90a", {"tile": [32, 64, 32], "warp_tile": "32x64", "stages": 3, "schedule": "simple"}),
    "cooperative_transposed": ("sm_90a", {**_SPECIALISED, "tile": [16, 128, 32], "warp_tile": "16x64"}),
}
#: Whole tiles; tiles that reach beyond rows of 16-byte multiples; odd pitches; a row; less than an instruction takes.
SIZES = {
    "whole": (64, 128, 64),
    "ragged": (80, 144, 112),
    "odd": (33, 77, 45),
    "row": (1, 144, 80),
    "small": (5, 7, 3),
}
ELEMENTS = ("fp16", "bf16", "i8", "fp32")
#: Sums in another order may be rounded to the next number: of bf16, with 8 bits of mantissa, up to 2**-7 away, which no
#: kernel has within 1e-3; of fp16, with 11, up to 2**-10.
_RELATIVE = {"bfloat16": 2**-7, "float16": 1e-3, "float32": 1e-3}


def by_tma(layout, size):
    """Whether TMA brings both operands to shared memory, as they lie."""
    m, n, k = SIZES[size]
    lines = (k if layout[0] == "n" else m, n if layout[1] == "n" else k)
    return all(each % 16 == 0 for each in lines)


def made_in_registers(element, layout, prologue):
    """Whether A, and B, are made in registers: what something is in front of, or what hardware does not transpose."""
    is_wide = element in ("fp16", "bf16")
    a = prologue == "shift" or (prologue == "cast" and element != "i8") or not (is_wide or layout[0] == "n")
    return a, prologue == "scale" or not (is_wide or layout[1] == "t")


def is_specialised(kernel):
    return KERNELS[kernel][1].get("schedule") in ("cooperative", "pingpong")


def fits_operands(kernel, element, layout, prologue, size):
    """One operand may be made in registers; of a tile of few rows, whose operands are transposed, B."""
    if not is_specialised(kernel):
        return True
    a, b = made_in_registers(element, layout, prologue)
    return by_tma(layout, size) and not (a and (b or kernel.endswith("transposed")))


def fits_results(kernel, element, batch, epilogue, size):
    """B of each batch beside one A is columns in two runs, which no box of TMA has."""
    return fits_operands(kernel, element, "nt", "none", size) and not (is_specialised(kernel) and batch == "same_a")


def fits_slices(kernel, element, layout, epilogue, algorithm):
    """Kernels of slices load as others do."""
    return fits_operands(kernel, element, layout, "none", "ragged")


def fits_all(kernel, layout, prologue, epilogue, batch, algorithm, told):
    """Rows that lie beside each other are two runs where batches share B, and a box of TMA has one."""
    is_two_runs = is_specialised(kernel) and batch == "same_b" and layout[0] == "t"
    return fits_operands(kernel, "fp16", layout, prologue, "ragged") and not is_two_runs


def compiled(kernel, product, algorithm="implicit_gemm"):
    arch, fields = KERNELS[kernel]
    precision = {"precision": "tf32"} if product.element == "fp32" else {}
    slices = {} if algorithm == "implicit_gemm" else {"split_k": 2, "algo_choice": {"matmul": algorithm}}
    plan = {"scheme": "mma", **fields, **precision, **slices}
    return tinyc.compile(json.dumps(product.document), target="sim", arch=arch, plan=plan)


def assert_right(model, inputs):
    """Compare with the reference: integers are equal, floats within a rounding of theirs."""
    given, expected = model.run(**inputs), reference.evaluate_module(model.lowering.module("tiny"), inputs)
    assert all(not report.findings for report in model.reports)
    for name, array in expected.items():
        relative = _RELATIVE.get(array.dtype.name, 0.0)
        comparison = compare(name, given[name], array, Tolerance(relative, relative))
        assert comparison.ok, str(comparison)


@pairwise(
    fits_operands,
    kernel=KERNELS,
    element=ELEMENTS,
    layout=LAYOUTS,
    prologue=PROLOGUES,
    size=SIZES,
)
def test_operands_of_every_kind(kernel, element, layout, prologue, size):
    product = Product(element, layout, prologue=prologue, sizes=SIZES[size])
    assert_right(compiled(kernel, product), product.inputs())


@pairwise(
    fits_results,
    kernel=KERNELS,
    element=ELEMENTS,
    batch=BATCHES,
    epilogue=EPILOGUES,
    size=SIZES,
)
def test_results_of_every_kind(kernel, element, batch, epilogue, size):
    product = Product(element, "nt", batch, epilogue=epilogue, sizes=SIZES[size])
    assert_right(compiled(kernel, product), product.inputs())


@pairwise(
    fits_slices,
    kernel=("warps", "simple", "cooperative", "pingpong", "warps_transposed", "cooperative_transposed"),
    element=ELEMENTS,
    layout=LAYOUTS,
    epilogue=EPILOGUES,
    algorithm=("implicit_gemm", "splitk_serial", "splitk_parallel"),
)
def test_slices_and_results_of_every_layout(kernel, element, layout, epilogue, algorithm):
    product = Product(element, layout, epilogue=epilogue, sizes=SIZES["ragged"])
    assert_right(compiled(kernel, product, algorithm), product.inputs())


@pairwise(
    lambda kernel, element, layout: not is_specialised(kernel) or not all(made_in_registers(element, layout, "none")),
    kernel=("warps", "simple", "cooperative", "pingpong"),
    element=("fp16", "i8", "fp32"),
    layout=LAYOUTS,
)
def test_sizes_that_a_run_tells(kernel, element, layout):
    """One model for all of them: where pitches are multiples of 16 bytes, and where they are not."""
    model = compiled(kernel, Product(element, layout, epilogue="bias", dynamic=True))
    for sizes in SIZES["ragged"], SIZES["odd"]:
        assert_right(model, Product(element, layout, epilogue="bias", sizes=sizes, dynamic=True).inputs())


@pairwise(
    fits_all,
    kernel=(name for name in KERNELS if name != "narrow_warps"),
    layout=("nn", "tn"),
    prologue=("none", "scale", "shift"),
    epilogue=("column", "residual", "outputs"),
    batch=("one", "batched", "same_b"),
    algorithm=("implicit_gemm", "splitk_serial", "splitk_parallel"),
    told=("compiled", "run"),
)
def test_what_else_meets(kernel, layout, prologue, epilogue, batch, algorithm, told):
    """What is in front of a product and behind it, batches, slices of k, and sizes that are told at a run."""
    product = Product("fp16", layout, batch, prologue, epilogue, SIZES["ragged"], dynamic=told == "run")
    model = compiled(kernel, product, algorithm)
    for size in ("ragged", "odd") if product.dynamic else ("ragged",):
        assert_right(model, replace(product, sizes=SIZES[size]).inputs())


def to_tf32(values, half):
    """f32 values of which tf32 has all bits: rounded to nearest, ties away, or with bits dropped."""
    return ((values.view(np.uint32) + np.uint32(half)) & np.uint32(0xFFFFE000)).view(np.float32)


@pytest.mark.parametrize(
    ("kernel", "layout", "halves"),
    [
        ("warps", "nt", (0x1000, 0x1000)),  # both pass through registers on the way to an MMA
        ("warps", "tn", (0x1000, 0x1000)),
        ("simple", "nt", (0, 0)),  # wgmma reads from shared memory what was copied there, and drops bits
        ("simple", "nn", (0, 0x1000)),  # B is transposed in registers
        ("simple", "tt", (0x1000, 0)),  # A is
        ("simple", "tn", (0x1000, 0x1000)),  # A is, and B on its way to shared memory
        ("cooperative", "nt", (0, 0)),
        ("cooperative", "nn", (0, 0x1000)),
    ],
)
def test_f32_is_rounded_to_tf32_where_it_passes_through_registers(kernel, layout, halves):
    product = Product("fp32", layout, sizes=SIZES["whole"])
    random = np.random.default_rng(0)
    inputs = {name: random.standard_normal(each.shape).astype(np.float32) for name, each in product.inputs().items()}
    rounded = [to_tf32(inputs[name], half).astype(np.float64) for name, half in zip("AB", halves, strict=True)]
    a, b = (each.T if turned == "t" else each for each, turned in zip(rounded, layout, strict=True))
    model = compiled(kernel, product)
    tiles = ThreadsExecutable(model.lowering.program(), model.lowering.module("exec"), model.lowering.constants())
    for given in (model.run(**inputs), tiles.run(inputs)):
        np.testing.assert_allclose(*given.values(), a @ b, rtol=1e-5, atol=2e-5)


def test_a_producer_loads_by_tma_or_the_plan_is_refused():
    with pytest.raises(tinyc.TinycError, match="whose producer loads by TMA, and B is not loaded so") as refused:
        compiled("cooperative", Product("i8", "tn"))
    assert refused.value.name == "UnsupportedPlan"
