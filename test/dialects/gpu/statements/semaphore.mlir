// What the statements of semaphores say of themselves, wrongly.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// Semaphores are numbers in a row.
!w = !region.memref<tensor<4x4xi32>, [4, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
gpu.func @k(%w: !w {tgpu.workspace}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{they are a !region.memref of one axis of i32}}
  "tgpu.semaphore_release"(%w, %0) : (!w, index) -> ()
  gpu.return
}
}

// -----

// They are integers.
!w = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
gpu.func @k(%w: !w {tgpu.workspace}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{they are a !region.memref of one axis of i32}}
  "tgpu.semaphore_wait"(%w, %0, %0) : (!w, index, index) -> ()
  gpu.return
}
}

// -----

// A turn is an index.
!w = !region.memref<tensor<4xi32>, [1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
gpu.func @k(%w: !w {tgpu.workspace}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %turn = arith.constant 0 : i32
  // expected-error @+1 {{'tgpu.semaphore_wait' has turn of type i32; it must be an index}}
  "tgpu.semaphore_wait"(%w, %0, %turn) : (!w, index, i32) -> ()
  gpu.return
}
}
