// What `tgpu.share` says of itself, wrongly.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// An array in shared memory has a size that is known.
!buffer = !region.memref<tensor<?xf32, #tiny.dims<["N"]>>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %N: index {tgpu.extent = "N"}) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  // expected-error @+1 {{'tgpu.share' shares fp32 [N]; an array in shared memory has known extents above 0}}
  "tgpu.share"(%x) {aligned_to = 4 : i64, operandSegmentSizes = array<i32: 1>, width = 4 : i64} : (!buffer) -> ()
  gpu.return
}
}

// -----

// What is shared is a buffer of the kernel.
gpu.module @kernels {
gpu.func @k(%N: index {tgpu.extent = "N"}) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  // expected-error @+1 {{'tgpu.share' takes a buffer of the kernel, not index}}
  "tgpu.share"(%N) {aligned_to = 4 : i64, operandSegmentSizes = array<i32: 1>, width = 4 : i64} : (index) -> ()
  gpu.return
}
}

// -----

// A thread takes as many neighbours as an access may have.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  // expected-error @+1 {{'tgpu.share' has width = 3 : i64; a thread takes 1, 2, 4, 8 or 16 neighbours at a time}}
  "tgpu.share"(%x) {aligned_to = 1 : i64, operandSegmentSizes = array<i32: 1>, width = 3 : i64} : (!buffer) -> ()
  gpu.return
}
}

// -----

// They begin at multiples of a part of their number.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  // expected-error @+1 {{'tgpu.share' has aligned_to = 3 : i64; it must divide the width, 4}}
  "tgpu.share"(%x) {aligned_to = 3 : i64, operandSegmentSizes = array<i32: 1>, width = 4 : i64} : (!buffer) -> ()
  gpu.return
}
}

// -----

// It is done once.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has a 'tgpu.share' in a loop; shared memory is reserved once, in front of it}}
gpu.func @k(%x: !buffer) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c1 = arith.constant 1 : index
  scf.for %i = %c1 to %c1 step %c1 {
    "tgpu.share"(%x) {aligned_to = 4 : i64, operandSegmentSizes = array<i32: 1>, width = 4 : i64} : (!buffer) -> ()
  }
  gpu.return
}
}
