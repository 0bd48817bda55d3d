// What `tgpu.load_vector` says of itself, wrongly.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// The elements are the buffer's.
gpu.module @kernels {
gpu.func @k(%x: memref<?xf32, #gpu.address_space<global>>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{'tgpu.load_vector' has an element of type f16 of a buffer of f32; give both one type}}
  %1:2 = "tgpu.load_vector"(%x, %0) {resultSegmentSizes = array<i32: 2>} : (memref<?xf32, #gpu.address_space<global>>, index) -> (f32, f16)
  gpu.return
}
}

// -----

// One access takes 16 bytes at most.
gpu.module @kernels {
gpu.func @k(%x: memref<?xf64, #gpu.address_space<global>>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{'tgpu.load_vector' takes 4 elements of f64 at once; an access takes 2, 4, 8 or 16 that are 16 bytes at most}}
  %1:4 = "tgpu.load_vector"(%x, %0) {resultSegmentSizes = array<i32: 4>} : (memref<?xf64, #gpu.address_space<global>>, index) -> (f64, f64, f64, f64)
  gpu.return
}
}

// -----

// It says how many elements it has.
gpu.module @kernels {
gpu.func @k(%x: memref<?xf32, #gpu.address_space<global>>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{'tgpu.load_vector' has resultSegmentSizes = none; expected array<i32: 2> for 2 results}}
  %1:2 = "tgpu.load_vector"(%x, %0) : (memref<?xf32, #gpu.address_space<global>>, index) -> (f32, f32)
  gpu.return
}
}
