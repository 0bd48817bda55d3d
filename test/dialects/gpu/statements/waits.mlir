// What statements of groups and mbarriers say of themselves, wrongly, beyond what stands in tensor_cores.mlir.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// What waits for copies gives no accumulators.
!acc = !tgpu.acc<tensor<64x128xf32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %z = "tgpu.zero"() : () -> !acc
  // expected-error @+1 {{'tgpu.wait_group' has operands, and waits for bulk; accumulators are those of wgmma}}
  "tgpu.wait_group"(%z) {kind = "bulk", pending = 0 : i64, operandSegmentSizes = array<i32: 1>, resultSegmentSizes = array<i32: 0>} : (!acc) -> ()
  gpu.return
}
}

// -----

// A wait is for groups of a kind.
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{'tgpu.wait_group' has kind = "copies"; it must be one of cp_async, bulk, wgmma}}
  "tgpu.wait_group"() {kind = "copies", pending = 0 : i64, operandSegmentSizes = array<i32: 0>, resultSegmentSizes = array<i32: 0>} : () -> ()
  gpu.return
}
}

// -----

// Only of stores to memory there is more to wait for.
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{'tgpu.wait_group' has pending = -1 : i64; from 0 to 7 groups may be}}
  "tgpu.wait_group"() {kind = "cp_async", pending = -1 : i64, operandSegmentSizes = array<i32: 0>, resultSegmentSizes = array<i32: 0>} : () -> ()
  gpu.return
}
}

// -----

// mbarriers are as many as there are stages.
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  // expected-error @+1 {{'tgpu.mbarrier_init' takes a !tgpu.mbarrier of at least one stage, not !tgpu.mbarrier<0 : i64>}}
  %full = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !tgpu.mbarrier<0 : i64>
  gpu.return
}
}

// -----

// A phase is waited for at an mbarrier.
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %p = arith.constant 0 : i32
  // expected-error @+1 {{'tgpu.mbarrier_wait' takes a !tgpu.mbarrier of at least one stage, not index}}
  "tgpu.mbarrier_wait"(%0, %0, %p) : (index, index, i32) -> ()
  gpu.return
}
}

// -----

// Its stage is a number of type index.
!bars = !tgpu.mbarrier<2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %p = arith.constant 0 : i32
  %full = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !bars
  // expected-error @+1 {{'tgpu.mbarrier_arrive' has stage of type i32; it must be an index}}
  "tgpu.mbarrier_arrive"(%full, %p) {ctas = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>} : (!bars, i32) -> ()
  gpu.return
}
}

// -----

// An attribute is of the kind that its statement declares.
func.func @kind() {
  // expected-error @+1 {{'tgpu.mbarrier_init' has arrivals = unit; it must be a number, 1 : i64}}
  %b = "tgpu.mbarrier_init"() {arrivals} : () -> !tgpu.mbarrier<2 : i64>
  return
}

// -----

// An array has as many numbers as it says.
func.func @length(%a: !tgpu.smem<tensor<64x32xf16>, 2 : i64>, %s: index) {
  // expected-error @+1 {{'tgpu.ldmatrix' has warps = array<i64>; it must be two numbers, array<i64: …, …>}}
  %f = "tgpu.ldmatrix"(%a, %s) {first = 0 : i64, k = 0 : i64, warps = array<i64>} : (!tgpu.smem<tensor<64x32xf16>, 2 : i64>, index) -> !tgpu.frag<tensor<32x16xf16>, "a">
  return
}
