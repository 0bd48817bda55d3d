// What `tgpu.report_index` says of itself, wrongly.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// A status buffer holds i64.
gpu.module @kernels {
gpu.func @k(%y: memref<?xf32, #gpu.address_space<global>> {tgpu.tensor = tensor<4xf32>}) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{'tgpu.report_index' notes an index in memref<?xf32, #gpu.address_space<global>>; a status buffer is a memref<36xi64, …>}}
  "tgpu.report_index"(%y, %0, %0) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (memref<?xf32, #gpu.address_space<global>>, index, index) -> ()
  gpu.return
}
}

// -----

// The place among the indices is of numbers.
gpu.module @kernels {
gpu.func @k(%s: memref<36xi64, #gpu.address_space<global>> {tgpu.status}) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 0 : i64
  // expected-error @+1 {{'tgpu.report_index' has a place of type i64; it must be an index}}
  "tgpu.report_index"(%s, %0, %0, %1) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (memref<36xi64, #gpu.address_space<global>>, index, index, i64) -> ()
  gpu.return
}
}

// -----

// It has an extent.
gpu.module @kernels {
gpu.func @k(%s: memref<36xi64, #gpu.address_space<global>> {tgpu.status}) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 0 : i64
  // expected-error @+1 {{'tgpu.report_index' has 2 operands; expected 3 or more}}
  "tgpu.report_index"(%s, %0) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (memref<36xi64, #gpu.address_space<global>>, index) -> ()
  gpu.return
}
}

// -----

// Each operand but the last ones is one.
gpu.module @kernels {
gpu.func @k(%s: memref<36xi64, #gpu.address_space<global>> {tgpu.status}) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 0 : i64
  // expected-error @+1 {{'tgpu.report_index' has operandSegmentSizes = array<i32: 1, 2, 0, 0>; expected array<i32: 1, 1, 1, 0> for 3 operands}}
  "tgpu.report_index"(%s, %0, %0) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 2, 0, 0>} : (memref<36xi64, #gpu.address_space<global>>, index, index) -> ()
  gpu.return
}
}
