// What `tgpu.report_index` says of itself, wrongly.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// A status buffer holds i64.
gpu.module @kernels {
gpu.func @k(%y: memref<?xf32, #gpu.address_space<global>> {tgpu.tensor = tensor<4xf32>}) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{'tgpu.report_index' notes an index in memref<?xf32, #gpu.address_space<global>>; a status buffer is a memref<2xi64, …>}}
  "tgpu.report_index"(%y, %0) : (memref<?xf32, #gpu.address_space<global>>, index) -> ()
  gpu.return
}
}
