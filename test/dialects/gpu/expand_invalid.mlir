// What cannot be written as code for one thread.
// RUN: tinyc-opt --gpu-expand --split-input-file --verify-diagnostics %s

// Nothing lies across.
!x = !region.memref<tensor<6x16xf16>, [16, 1], 128 : i64, true>
gpu.module @kernels {
  gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @+1 {{'tgpu.transpose' has nothing that lies across one axis; use 'tgpu.map_runs' [TC205 NoGpuKernel]}}
    "tgpu.transpose"() ({
      %0 = "region.read"(%x) : (!x) -> tensor<6x16xf16>
      "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<6x16xf16>, !x) -> ()
      omp.terminator
    }) {tile = 64 : i64, width = 8 : i64} : () -> ()
    gpu.return
  }
}

// -----

// A scan is missing.
!x = !region.memref<tensor<6x16xf16>, [16, 1], 128 : i64, true>
gpu.module @kernels {
  gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 32, 8, 1>} {
    // expected-error @+1 {{'tgpu.scan_rows' takes a body with one scan; use 'tgpu.map' [TC205 NoGpuKernel]}}
    "tgpu.scan_rows"() ({
      %0 = "region.read"(%x) : (!x) -> tensor<6x16xf16>
      "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<6x16xf16>, !x) -> ()
      omp.terminator
    }) {lanes = "x", width = 8 : i64} : () -> ()
    gpu.return
  }
}

// -----

// Where data says which sum is read, there are no loops.
!x = !region.memref<tensor<6x16xf32>, [16, 1], 128 : i64, true>
!i = !region.memref<tensor<4xi64>, [1], 128 : i64, true>
!y = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
  gpu.func @k(%x: !x, %i: !i, %y: !y, %status: memref<36xi64, #gpu.address_space<global>> {tgpu.status}) kernel attributes {known_block_size = array<i32: 32, 8, 1>} {
    // expected-error @+1 {{'tgpu.reduce_rows' takes a body of fused loops, and this has none: }}
    "tgpu.reduce_rows"() ({
      %0 = "region.read"(%x) : (!x) -> tensor<6x16xf32>
      %1 = "region.read"(%i) : (!i) -> tensor<4xi64>
      %2 = "tiny.reduce"(%0) {op = "sum", axes = array<i64: 1>} : (tensor<6x16xf32>) -> tensor<6xf32>
      %3 = "tiny.gather"(%2, %1) {axis = 0 : i64} : (tensor<6xf32>, tensor<4xi64>) -> tensor<4xf32>
      "region.yield"(%3, %y) {materialize = "gmem"} : (tensor<4xf32>, !y) -> ()
      omp.terminator
    }) {lanes = "x", unrolled = true, width = 8 : i64} : () -> ()
    gpu.return
  }
}

// -----

// A reduction that has several results in each step is none that the threads of a row have in common.
!x = !region.memref<tensor<6x16xf32>, [16, 1], 128 : i64, true>
!y = !region.memref<tensor<6xf32>, [1], 128 : i64, true>
!z = !region.memref<tensor<16xf32>, [1], 128 : i64, true>
gpu.module @kernels {
  gpu.func @k(%x: !x, %y: !y, %z: !z) kernel attributes {known_block_size = array<i32: 32, 8, 1>} {
    // expected-error @+1 {{'tgpu.reduce_rows' takes reductions of one result for each row, and '}}
    "tgpu.reduce_rows"() ({
      %0 = "region.read"(%x) : (!x) -> tensor<6x16xf32>
      %1 = "tiny.reduce"(%0) {op = "sum", axes = array<i64: 1>} : (tensor<6x16xf32>) -> tensor<6xf32>
      %2 = "tiny.reduce"(%0) {op = "sum", axes = array<i64: 0>} : (tensor<6x16xf32>) -> tensor<16xf32>
      "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<6xf32>, !y) -> ()
      "region.yield"(%2, %z) {materialize = "gmem"} : (tensor<16xf32>, !z) -> ()
      omp.terminator
    }) {lanes = "x", unrolled = true, width = 8 : i64} : () -> ()
    gpu.return
  }
}

// -----

// Where runs of rows do not divide them, lanes of a warp have all the same part of them.
!x = !region.memref<tensor<16x37xf32>, [37, 1], 128 : i64, true>
!y = !region.memref<tensor<37xf32>, [1], 128 : i64, true>
gpu.module @kernels {
  gpu.func @k(%x: !x, %y: !y) kernel attributes {known_block_size = array<i32: 8, 32, 1>} {
    // expected-error @+1 {{'tgpu.reduce_rows' takes 4 rows beside each other, which do not divide all of them; give it a width that does, or 32 threads along x}}
    "tgpu.reduce_rows"() ({
      %0 = "region.read"(%x) : (!x) -> tensor<16x37xf32>
      %1 = "tiny.reduce"(%0) {op = "sum", axes = array<i64: 0>} : (tensor<16x37xf32>) -> tensor<37xf32>
      "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<37xf32>, !y) -> ()
      omp.terminator
    }) {lanes = "y", unrolled = true, width = 4 : i64} : () -> ()
    gpu.return
  }
}
