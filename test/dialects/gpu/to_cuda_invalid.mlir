// What CUDA text cannot be made of is refused, and the message says what to run instead.
// RUN: tinyc-opt %s --split-input-file --verify-diagnostics --gpu-to-cuda

// There is no kernel.
// expected-error@unknown {{there is no gpu.func to print; --region-to-gpu makes them from regions}}
module {
}

// -----

// An op that no kernel at the scalar level has.
gpu.module @kernels {
  gpu.func @copies(%x: memref<?xf32, #gpu.address_space<global>>, %y: memref<?xf32, #gpu.address_space<global>>) kernel {
    // expected-error @+1 {{CUDA text has no spelling for 'memref.copy'; run --gpu-expand first}}
    memref.copy %x, %y : memref<?xf32, #gpu.address_space<global>> to memref<?xf32, #gpu.address_space<global>>
    gpu.return
  }
}

// -----

// A function whose name in C no row has.
gpu.module @kernels {
  gpu.func @angle(%x: f32, %y: memref<?xf32, #gpu.address_space<global>>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{CUDA text has no spelling for 'math.atan'; name its C function in the row's c_functions}}
    %0 = math.atan %x : f32
    memref.store %0, %y[%c0] : memref<?xf32, #gpu.address_space<global>>
    gpu.return
  }
}

// -----

// What the CPU computes to compare with is one product.
!buffer = !region.memref<tensor<32x32xf32>, [32, 1], 128 : i64, true>
!tiles = !tgpu.smem<tensor<32x32xf32>, 1 : i64>
!acc = !tgpu.acc<tensor<32x32xf32>>
gpu.module @kernels {
  gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>, tgpu.grid = [1, 1, 1]} {
    %c0 = arith.constant 0 : index
    %tiles = "tgpu.alloc_smem"() : () -> !tiles
    %zero = "tgpu.zero"() : () -> !acc
    %once = "tgpu.fma"(%tiles, %tiles, %c0, %zero) : (!tiles, !tiles, index, !acc) -> !acc
    %twice = "tgpu.fma"(%tiles, %tiles, %c0, %once) : (!tiles, !tiles, index, !acc) -> !acc
    // expected-error @+1 {{'tgpu.epilogue' has 2 products in one accumulator; the CUDA check takes one product, of two operands with one load each; print the kernel without its host: remove the function that launches it from the module}}
    "tgpu.epilogue"(%twice, %c0, %c0, %c0) ({
    ^bb0(%sum: tensor<32x32xf32>):
      "region.yield"(%sum, %y) {materialize = "gmem"} : (tensor<32x32xf32>, !buffer) -> ()
      omp.terminator
    }) {rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = [], kinds = []} : (!acc, index, index, index) -> ()
    gpu.return
  }
}
func.func @main(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %k = "region.launch"() {kernel = @k} : () -> ((tensor<32x32xf32>) -> tensor<32x32xf32>)
  %0 = call_indirect %k(%x) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

// Each operand of the product has one load, which says what it is.
!buffer = !region.memref<tensor<32x32xf32>, [32, 1], 128 : i64, true>
!tiles = !tgpu.smem<tensor<32x32xf32>, 1 : i64>
!acc = !tgpu.acc<tensor<32x32xf32>>
gpu.module @kernels {
  gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>, tgpu.grid = [1, 1, 1]} {
    %c0 = arith.constant 0 : index
    %tiles = "tgpu.alloc_smem"() : () -> !tiles
    %zero = "tgpu.zero"() : () -> !acc
    %once = "tgpu.fma"(%tiles, %tiles, %c0, %zero) : (!tiles, !tiles, index, !acc) -> !acc
    // expected-error @+1 {{'tgpu.epilogue' has 0 loads of one operand; the CUDA check takes one product, of two operands with one load each; print the kernel without its host: remove the function that launches it from the module}}
    "tgpu.epilogue"(%once, %c0, %c0, %c0) ({
    ^bb0(%sum: tensor<32x32xf32>):
      "region.yield"(%sum, %y) {materialize = "gmem"} : (tensor<32x32xf32>, !buffer) -> ()
      omp.terminator
    }) {rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = [], kinds = []} : (!acc, index, index, index) -> ()
    gpu.return
  }
}
func.func @main(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %k = "region.launch"() {kernel = @k} : () -> ((tensor<32x32xf32>) -> tensor<32x32xf32>)
  %0 = call_indirect %k(%x) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}
