// What `tgpu.scatter_add` says of itself, wrongly.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// A scatter that adds does not put.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  // expected-error @+1 {{'tgpu.scatter_add' must hold one 'tiny.scatter' with op = "add"}}
  "tgpu.scatter_add"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    %i = "tiny.const"() {value = 1 : i32} : () -> tensor<4xi32>
    %w = "tiny.scatter"(%v, %i, %v) {axis = 0 : i64, op = "set"} : (tensor<4xf32>, tensor<4xi32>, tensor<4xf32>) -> tensor<4xf32>
    "region.yield"(%w, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// A scatter says whether it adds.
!data = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
!at = !region.memref<tensor<4xi32>, [1], 128 : i64, true>
func.func @adds(%x: !data, %i: !at, %y: !data) {
  // expected-error @+1 {{'tgpu.scatter_add' must hold one 'tiny.scatter' with op = "add"}}
  "tgpu.scatter_add"() ({
    %u = "region.read"(%x) : (!data) -> tensor<4xf32>
    %v = "region.read"(%i) : (!at) -> tensor<4xi32>
    %w = "tiny.scatter"(%u, %v, %u) {axis = 0 : i64} : (tensor<4xf32>, tensor<4xi32>, tensor<4xf32>) -> tensor<4xf32>
    "region.yield"(%w, %y) {materialize = "gmem"} : (tensor<4xf32>, !data) -> ()
    omp.terminator
  }) : () -> ()
  return
}
