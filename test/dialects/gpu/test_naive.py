"""The naive contraction against numpy at odd sizes: its threads one by one, as a sequential function, and as PTX."""

import re

import numpy as np
import pytest

from gpu_programs.naive_kernel import Naive
from gpu_programs.running import call, compiled, expanded
from tinyc import pipeline, simulator, text
from tinyc.dialects.gpu.kernel import kernels_of_statements
from tinyc.dialects.nvvm.to_ptx import ptx_text
from tinyc.executors.gpu.cta import run_gpu_kernel
from tinyc.executors.gpu.memory import KernelFault
from tinyc.target import SM80, TARGETS
from tinyc.vocabulary.element_type import ElementType

SIZES = ((1, 1, 1), (7, 5, 3), (33, 65, 40), (64, 64, 32))
#: By type of the elements, the type of the accumulator.
ACCUMULATORS = {"f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64", "i8": "i32", "ui8": "i32", "i32": "i32"}


def operands(kernel, size):
    m, n, k = size
    rng = np.random.default_rng(0)
    low = 0 if kernel.element.startswith("u") else -3
    x, w, bias = (rng.integers(low, 4, shape) for shape in ((m, k), (k, n), (n,)))
    exact = np.maximum(x @ w, 0) + bias
    dtype, sums = (ElementType(element).dtype for element in (kernel.element, kernel.accumulator))
    return x.astype(dtype), w.astype(dtype), bias.astype(sums), exact.astype(sums)


def rows(arrays):
    """Return the memory of arrays; unsigned numbers are stored as their bits."""
    return [
        array.reshape(-1).view(array.dtype if array.dtype.kind != "u" else f"i{array.itemsize}") for array in arrays
    ]


def run_threads(kernel, size):
    x, w, bias, exact = operands(kernel, size)
    y = np.full(exact.shape, 99, exact.dtype)
    module = text.parse(kernel.text())
    function = expanded(module)["gemm"]
    (tile_m, tile_n, _), (m, n, _) = kernel.tile, size
    symbols = [value for name, value in zip(("M", "N", "K"), size, strict=True) if name in kernel.extents]
    run_gpu_kernel(function, (-(-n // tile_n), -(-m // tile_m), 1), [*rows([x, w, bias, y]), *symbols])
    return y, exact


def run_serial(kernel, size):
    x, w, bias, exact = operands(kernel, size)
    y = np.full(exact.shape, 99, exact.dtype)
    module = text.parse(kernel.text())
    (kernel_of_statements,) = kernels_of_statements(module)
    symbols = [value for name, value in zip(("M", "N", "K"), size, strict=True) if name in kernel.extents]
    call(compiled(kernel_of_statements), [*rows([x, w, bias, y]), *symbols])
    return y, exact


def emitted(source, target):
    """Return the PTX of a kernel's text."""
    attribute = f'#nvvm.target<O = 3, chip = "{target.chip}", features = "{target.features}">'
    module = text.parse(source.replace("gpu.module @kernels", f"gpu.module @kernels [{attribute}]"))
    pipeline.parse("gpu-expand,gpu-to-nvvm,nvvm-to-ptx").run(module)
    return ptx_text(module)


def run_on_the_simulator(kernel, size, ptx):
    x, w, bias, exact = operands(kernel, size)
    y = np.full(exact.shape, 99, exact.dtype)
    (tile_m, tile_n, _), (m, n, _) = kernel.tile, size
    symbols = [np.int64(value) for name, value in zip(("M", "N", "K"), size, strict=True) if name in kernel.extents]
    module = simulator.load(ptx)
    (block,) = (module.kernel(name).directives["reqntid"] for name in module.kernels)
    grid = (-(-n // tile_n), -(-m // tile_m), 1)
    report = module.launch("gemm", grid=grid, block=block, args=[x, w, bias, y, *symbols])
    return y, exact, report


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
@pytest.mark.parametrize("stages", [1, 2, 3])
def test_the_emitted_ptx_computes_the_same_without_a_finding(stages, target):
    kernel = Naive(stages=stages)
    ptx = emitted(kernel.text(), target)
    for size in SIZES:
        y, exact, report = run_on_the_simulator(kernel, size, ptx)
        assert report.ok, str(report)
        np.testing.assert_array_equal(y, exact)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("stages", [1, 2, 3])
def test_threads_compute_every_element_once(stages, size):
    y, exact = run_threads(Naive(stages=stages), size)
    np.testing.assert_array_equal(y, exact)


@pytest.mark.parametrize("tile", [(32, 64, 8), (64, 32, 16), (64, 64, 32)], ids=str)
def test_a_thread_owns_pieces_all_over_the_tile(tile):
    y, exact = run_threads(Naive(tile=tile), (33, 65, 40))
    np.testing.assert_array_equal(y, exact)


@pytest.mark.parametrize("element", ACCUMULATORS)
def test_products_are_formed_in_the_type_of_the_accumulator(element):
    kernel = Naive(element=element, accumulator=ACCUMULATORS[element])
    for run in (run_threads, run_serial):
        y, exact = run(kernel, (7, 5, 19))
        np.testing.assert_array_equal(y, exact)


def test_tiles_that_fit_are_not_guarded():
    kernel = Naive(extents=(64, 32, 16), guarded=False)
    module = text.parse(kernel.text())
    assert "scf.if" not in str(expanded(module)["gemm"].op)
    y, exact = run_threads(kernel, (64, 32, 16))
    np.testing.assert_array_equal(y, exact)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_sequential_form_computes_the_same(size):
    y, exact = run_serial(Naive(), size)
    np.testing.assert_array_equal(y, exact)


@pytest.mark.parametrize("stages", [1, 2])
def test_each_barrier_is_needed(stages):
    """That the check finds races is what the tests above rest on."""
    kernel = Naive(stages=stages)
    x, w, bias, exact = operands(kernel, (7, 5, 40))
    source = kernel.text()
    for barrier in re.finditer("gpu.barrier", source):
        cut = source[: barrier.start()] + source[barrier.end() :]
        module = text.parse(cut)
        function = expanded(module)["gemm"]
        with pytest.raises(KernelFault, match="race"):
            run_gpu_kernel(function, (1, 1, 1), [*rows([x, w, bias, np.zeros_like(exact)]), 7, 5, 40])
        report = run_on_the_simulator(kernel, (7, 5, 40), emitted(cut, SM80))[2]
        assert "race" in {finding.kind for finding in report.findings}
