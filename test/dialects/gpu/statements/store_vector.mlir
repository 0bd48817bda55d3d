// What `tgpu.store_vector` says of itself, wrongly.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// One access takes a power of two of elements.
gpu.module @kernels {
gpu.func @k(%x: memref<?xf32, #gpu.address_space<global>>, %n: index {tgpu.extent = "N"}) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %0 = arith.constant 1.0 : f32
  // expected-error @+1 {{'tgpu.store_vector' takes 3 elements of f32 at once; an access takes 2, 4, 8 or 16 that are 16 bytes at most}}
  "tgpu.store_vector"(%x, %n, %0, %0, %0) {operandSegmentSizes = array<i32: 1, 1, 3>} : (memref<?xf32, #gpu.address_space<global>>, index, f32, f32, f32) -> ()
  gpu.return
}
}

// -----

// The place is a number.
gpu.module @kernels {
gpu.func @k(%x: memref<?xf32, #gpu.address_space<global>>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %0 = arith.constant 1.0 : f32
  // expected-error @+1 {{'tgpu.store_vector' has index of type f32; it must be an index}}
  "tgpu.store_vector"(%x, %0, %0, %0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (memref<?xf32, #gpu.address_space<global>>, f32, f32, f32) -> ()
  gpu.return
}
}
