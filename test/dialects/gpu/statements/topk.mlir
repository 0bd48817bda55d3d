// What `tgpu.topk` says of itself, wrongly.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// A top-k searches.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  // expected-error @+1 {{'tgpu.topk' must hold one 'tiny.topk'}}
  "tgpu.topk"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// A search yields what it finds.
!data = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
!best = !region.memref<tensor<2xf32>, [1], 128 : i64, true>
func.func @best(%x: !data, %y: !best) {
  // expected-error @+1 {{'tgpu.topk' has 'tiny.topk' beside other results; it must be all that is yielded, once}}
  "tgpu.topk"() ({
    %0 = "region.read"(%x) : (!data) -> tensor<4xf32>
    %1, %2 = "tiny.topk"(%0) {axis = 0 : i64, k = 2 : i64, largest = true} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi64>)
    %3 = "tiny.neg"(%1) : (tensor<2xf32>) -> tensor<2xf32>
    "region.yield"(%3, %y) {materialize = "gmem"} : (tensor<2xf32>, !best) -> ()
    omp.terminator
  }) : () -> ()
  return
}
