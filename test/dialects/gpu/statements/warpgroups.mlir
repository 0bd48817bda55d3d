// What statements of warpgroups say of themselves, wrongly, beyond what stands in tensor_cores.mlir.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// A role knows which warpgroup runs it.
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  // expected-error @+1 {{'tgpu.warpgroups' must have a body of one block, whose argument is the number of the warpgroup}}
  "tgpu.warpgroups"() ({
    %c = arith.constant 0 : index
    omp.terminator
  }) {first = 0 : i64, count = 1 : i64, registers = 0 : i64, one_thread = false} : () -> ()
  gpu.return
}
}

// -----

// It is for some warpgroups.
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  // expected-error @+1 {{'tgpu.warpgroups' is for 0 warpgroups from 0 on; a CTA has some from 0 on}}
  "tgpu.warpgroups"() ({
  ^bb0(%g: index):
    omp.terminator
  }) {first = 0 : i64, count = 0 : i64, registers = 0 : i64, one_thread = false} : () -> ()
  gpu.return
}
}

// -----

// Whole warps come to a barrier.
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  // expected-error @+1 {{'tgpu.named_barrier' waits for 100 threads; they are whole warps: give a multiple of 32}}
  "tgpu.named_barrier"() {id = 1 : i64, threads = 100 : i64} : () -> ()
  gpu.return
}
}
