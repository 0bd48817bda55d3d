// What `tgpu.atomic_add` says of itself, wrongly.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// What is added is an element.
gpu.module @kernels {
gpu.func @k(%y: memref<?xf32, #gpu.address_space<global>> {tgpu.tensor = tensor<4xf32>}) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1.0 : f64
  // expected-error @+1 {{'tgpu.atomic_add' adds f64 to an element of type f32; give both one type}}
  "tgpu.atomic_add"(%1, %y, %0) : (f64, memref<?xf32, #gpu.address_space<global>>, index) -> ()
  gpu.return
}
}

// -----

// A buffer is one row of elements.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{'tgpu.atomic_add' works on a memref of one axis, not on index}}
  "tgpu.atomic_add"(%0, %0, %0) : (index, index, index) -> ()
  gpu.return
}
}
