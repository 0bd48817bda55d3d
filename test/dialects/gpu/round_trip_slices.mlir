// The statements by which CTAs hand on partial sums in turn survive printing and parsing.
// RUN: tinyc-opt --stock-printing --verify-roundtrip %s | filecheck %s

!acc = !tgpu.acc<tensor<64x64xf32, #tgpu.fragments<"mma", 32 : i64, 32 : i64>>>
!sums = !region.memref<tensor<1x64x64xf32>, [4096, 64, 1], 128 : i64, true>
!semaphores = !region.memref<tensor<4xi32>, [1], 128 : i64, true>
// CHECK-LABEL: gpu.func @k
// CHECK-SAME: {tgpu.name = "semaphores", tgpu.workspace}
// CHECK: "tgpu.semaphore_wait"
// CHECK: "tgpu.add_partial"
// CHECK: scf.if
// CHECK: "tgpu.store_partial"
// CHECK: "tgpu.semaphore_release"
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%sums: !sums {tgpu.name = "sums", tgpu.workspace}, %semaphores: !semaphores {tgpu.name = "semaphores", tgpu.workspace})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %slice = gpu.block_id z
    %acc = "tgpu.zero"() : () -> !acc
    "tgpu.semaphore_wait"(%semaphores, %c0, %slice) : (!semaphores, index, index) -> ()
    gpu.barrier
    %total = "tgpu.add_partial"(%acc, %sums, %c0, %c0, %c0) : (!acc, !sums, index, index, index) -> !acc
    %is_last = arith.cmpi eq, %slice, %c0 : index
    scf.if %is_last {
    } else {
      "tgpu.store_partial"(%total, %sums, %c0, %c0, %c0) : (!acc, !sums, index, index, index) -> ()
      gpu.barrier
      "tgpu.semaphore_release"(%semaphores, %c0) : (!semaphores, index) -> ()
    }
    gpu.return
  }
}
