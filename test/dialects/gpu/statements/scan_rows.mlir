// What `tgpu.scan_rows` says of itself, wrongly.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// The threads of a row are along one axis.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 32, 8, 1>} {
  // expected-error @+1 {{'tgpu.scan_rows' has lanes = 0 : i64; it must be a text, "…"}}
  "tgpu.scan_rows"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) {lanes = 0 : i64, width = 4 : i64} : () -> ()
  gpu.return
}
}

// -----

// Where rows go across, each thread has its own.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has a CTA of 32x2x1 threads, whose warps do not share rows; give x and y powers of two, 32 threads or more, and to one side 32 at most}}
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 32, 2, 1>} {
  "tgpu.scan_rows"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) {lanes = "y", width = 4 : i64} : () -> ()
  gpu.return
}
}
