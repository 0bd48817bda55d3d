// What `tgpu.map_runs` says of itself, wrongly.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// A thread takes as many neighbours as an access does.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 32, 8, 1>} {
  // expected-error @+1 {{'tgpu.map_runs' has width = 3 : i64; a thread takes 1, 2, 4, 8 or 16 neighbours at a time}}
  "tgpu.map_runs"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) {width = 3 : i64} : () -> ()
  gpu.return
}
}
