"""What the executor of GPU kernels refuses: accesses that no thread may make, and barriers that not all reach."""

import numpy as np
import pytest

from tinyc import text
from tinyc.dialects.gpu.kernel import gpu_kernels_of
from tinyc.executors.gpu.cta import run_gpu_kernel
from tinyc.executors.gpu.memory import KernelFault
from tinyc.runtime.device_memory import PlacedTensorMap

ROW = "memref<?xf32, #gpu.address_space<global>>"
SHARED = "memref<4xf32, #gpu.address_space<workgroup>>"


def kernel(body, threads):
    source = f"""
gpu.module @kernels {{
  memref.global "private" @tile : {SHARED} = uninitialized
  gpu.func @k(%x: {ROW}) kernel attributes {{known_block_size = array<i32: {threads}, 1, 1>}} {{
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    %tile = memref.get_global @tile : {SHARED}
    {body}
    gpu.return
  }}
}}"""
    return text.parse(source)


def run(body, size=4, threads=4):
    module, x = kernel(body, threads), np.zeros(size, np.float32)
    run_gpu_kernel(gpu_kernels_of(module)["k"], (1, 1, 1), [x])
    return x


def test_a_tensor_map_is_passed_through():
    facts = "buffer = 0 : i64, dims = [4], strides = [], box = [4], swizzle = 0 : i64"
    map_type = f"!tgpu.tensor_map {{tgpu.tensor_map = {{{facts}}}}}"
    body = f"memref.store %one, %x[%i] : {ROW}"
    plain = str(kernel(body, 4)).replace("@kernels {", '@kernels [#nvvm.target<chip = "sm_90a">] {')
    source = plain.replace(">>) kernel", f">>, %map: {map_type}) kernel")
    module, x = text.parse(source), np.zeros(4, np.float32)
    run_gpu_kernel(gpu_kernels_of(module)["k"], (1, 1, 1), [x, PlacedTensorMap(x, (4,), (), (4,), 0)])
    np.testing.assert_array_equal(x, np.ones(4))


def test_each_thread_writes_its_element():
    np.testing.assert_array_equal(run(f"memref.store %one, %x[%i] : {ROW}"), np.ones(4))


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (f"memref.store %one, %x[%i] : {ROW}", "an access is out of bounds"),
        (f"%0 = memref.load %tile[%i] : {SHARED}", "memory is read before it is written"),
        (f"memref.store %one, %x[%c0] : {ROW}", "race: two writes"),
        (
            f"%0 = memref.load %x[%c0] : {ROW}\n%1 = arith.cmpi eq, %i, %c0 : index\n"
            f"scf.if %1 {{ memref.store %one, %x[%c1] : {ROW} }}\n%2 = memref.load %x[%c1] : {ROW}",
            "race: a read beside a write",
        ),
        ("%0 = arith.cmpi eq, %i, %c0 : index\nscf.if %0 { gpu.barrier }", "not all threads reach a barrier"),
        ("%0 = arith.divui %c1, %i : index", "a division by zero"),
        (
            f'"tgpu.store_vector"(%x, %c1, %one, %one) {{operandSegmentSizes = array<i32: 1, 1, 2>}} : '
            f"({ROW}, index, f32, f32) -> ()",
            "an access of 2 elements is not at a multiple of that",
        ),
        (
            f'%0:4 = "tgpu.load_vector"(%x, %c0) {{resultSegmentSizes = array<i32: 4>}} : ({ROW}, index) -> '
            "(f32, f32, f32, f32)",
            "an access is out of bounds",
        ),
        (
            "%w = arith.constant 32 : i32\n%0, %1 = gpu.shuffle xor %one, %w, %w : f32",
            "not all lanes of a warp reach a shuffle",
        ),
    ],
)
def test_a_kernel_that_does_what_it_must_not_is_refused(body, fault):
    with pytest.raises(KernelFault, match=fault):
        run(body, size=3)


def test_a_branch_is_run_by_the_threads_that_take_it():
    body = f"""
    %0 = arith.cmpi ult, %i, %c1 : index
    scf.if %0 {{ memref.store %one, %x[%i] : {ROW} }}"""
    np.testing.assert_array_equal(run(body), [1, 0, 0, 0])


def test_lanes_of_a_warp_exchange_values():
    body = f"""
    %w = arith.constant 32 : i32
    %d = arith.constant 2 : i32
    %0 = arith.index_cast %i : index to i32
    %1 = arith.sitofp %0 : i32 to f32
    %2, %a = gpu.shuffle xor %1, %d, %w : f32
    %3, %b = gpu.shuffle up %2, %d, %w : f32
    memref.store %3, %x[%i] : {ROW}"""
    lane = np.arange(64)
    across = (lane ^ 2) + 0.0
    expected = np.where(lane % 32 < 2, across, across[lane - 2])
    np.testing.assert_array_equal(run(body, size=64, threads=64), expected)


def test_a_thread_moves_neighbours_at_once():
    body = f"""
    %c2 = arith.constant 2 : index
    %at = arith.muli %i, %c2 : index
    %0 = arith.index_cast %i : index to i32
    %1 = arith.sitofp %0 : i32 to f32
    "tgpu.store_vector"(%x, %at, %one, %1) {{operandSegmentSizes = array<i32: 1, 1, 2>}}
      : ({ROW}, index, f32, f32) -> ()
    %2:2 = "tgpu.load_vector"(%x, %at) {{resultSegmentSizes = array<i32: 2>}} : ({ROW}, index) -> (f32, f32)
    memref.store %2#1, %x[%at] : {ROW}"""
    np.testing.assert_array_equal(run(body, size=8), [0, 0, 1, 1, 2, 2, 3, 3])
